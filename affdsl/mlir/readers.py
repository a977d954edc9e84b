"""How each operation is read after its name, and `parse`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from affdsl.ir.core import Block, Op
from affdsl.ir.dialects import affine, arith, func, math, memref, scf
from affdsl.ir.expr import Affine, Value
from affdsl.ir.numeric import from_bits
from affdsl.ir.types import I1, INDEX, FloatType, FunctionType, IndexType, IntegerType, MemRefType, Type, VectorType
from affdsl.mlir.literals import constant_name, literal, nearest
from affdsl.mlir.parser import Head, Parser, Reader, Use


def parse(text: str, file: str = "<mlir>") -> func.Module:
    """The module that the text holds; functions without a module around them make one.

    Operations, types and attributes that the IR does not have are refused, not dropped. What is read is not verified:
    `affdsl.ir.verifier.verify` does that.

    Parameters
    ----------
    text
        MLIR as `print_op` and mlir-opt print it: the custom form of the operations that the IR has.
    file
        What messages and locations call the text.

    Raises
    ------
    ParseError
        With the place, the line and a caret under what was not expected.

    >>> module = parse("func.func @f(%A: memref<8xf32>) { affine.for %i = 0 to 8 { } return }")
    >>> module.functions[0].symbol
    'f'
    """
    parser = Parser(text, file, READERS)
    try:
        return parser.module()
    except RecursionError:
        parser.scanner.fail("this is nested too deeply")


# affine


def _affine_for(p: Parser, head: Head) -> Op:
    s = p.scanner
    iv = p.use()
    s.expect("=")
    lower = _bound(p, "max")
    s.expect("to")
    upper = _bound(p, "min")
    step = s.integer() if s.accept("step") else 1
    names, inits = _carried(p)
    with p.scope():
        value = p.define(iv.name, INDEX, iv.offset)
        carried = tuple(p.define(n.name, i.type, n.offset) for n, i in zip(names, inits, strict=True))
        body = p.block()
    p.no_attributes(head)
    results = p.results(head, [v.type for v in carried])
    return affine.For(value, lower, upper, body, step, inits, carried, results, location=head.location)


def _bound(p: Parser, prefix: str) -> tuple[Affine, ...]:
    s = p.scanner
    if s.token.startswith("%"):
        return (Affine.of(p.operand(INDEX)),)
    if s.token == "-" or s.token.isdigit():
        return (Affine((), s.integer()),)
    place, several = s.start, s.accept(prefix)
    exprs = p.applied_map()
    if len(exprs) != 1 and not several:
        s.fail(f"a bound with {len(exprs)} results needs '{prefix}' before it", place)
    return exprs


def _carried(p: Parser) -> tuple[list[Use], tuple[Value, ...]]:
    """`iter_args(%a = %b, ...) -> (types)`"""
    s = p.scanner
    if not s.accept("iter_args"):
        return [], ()

    def pair() -> tuple[Use, Use]:
        name = p.use()
        s.expect("=")
        return name, p.use()

    pairs = p.listed(pair)
    s.expect("->")
    return [name for name, _ in pairs], p.typed([init for _, init in pairs], p.types())


def _affine_if(p: Parser, head: Head) -> Op:
    condition = p.applied_set()
    types, then, orelse = _branches(p)
    p.no_attributes(head)
    return affine.If(condition, then, orelse, p.results(head, types), location=head.location)


def _branches(p: Parser) -> tuple[tuple[Type, ...], Block, Block]:
    types = p.types() if p.scanner.accept("->") else ()
    then = p.block()
    return types, then, p.block() if p.scanner.accept("else") else ()


def _affine_parallel(p: Parser, head: Head) -> Op:
    s = p.scanner
    ivs = p.listed(p.use)
    s.expect("=")
    lower = p.listed(lambda: _group(p, "max"))
    s.expect("to")
    upper = p.listed(lambda: _group(p, "min"))
    steps = p.listed(s.integer) if s.accept("step") else (1,) * len(ivs)
    kinds: tuple[str, ...] = ()
    types: tuple[Type, ...] = ()
    if s.accept("reduce"):
        kinds = p.listed(s.string)
        s.expect("->")
        types = p.types()
    if not len(ivs) == len(lower) == len(upper) == len(steps):
        s.fail("the numbers of variables, bounds and steps differ", head.offset)
    with p.scope():
        values = tuple(p.define(iv.name, INDEX, iv.offset) for iv in ivs)
        body = p.block()
    p.no_attributes(head)
    return affine.Parallel(values, lower, upper, steps, body, kinds, p.results(head, types), location=head.location)


def _group(p: Parser, prefix: str) -> tuple[Affine, ...]:
    return p.listed(p.subscript) if p.scanner.accept(prefix) else (p.subscript(),)


def _apply(p: Parser, head: Head) -> Op:
    exprs = p.applied_map()
    p.no_attributes(head)
    if head.name == "affine.apply":
        if len(exprs) != 1:
            p.scanner.fail(f"affine.apply takes a map with one result, got {len(exprs)}", head.offset)
        return affine.Apply(p.result(head, INDEX), exprs[0], location=head.location)
    kind = affine.Min if head.name == "affine.min" else affine.Max
    return kind(p.result(head, INDEX), exprs, location=head.location)


def _affine_load(p: Parser, head: Head) -> Op:
    buffer = p.use()
    index = p.listed(p.subscript, "[", "]")
    type = _memref_type(p, head)
    return affine.Load(p.result(head, type.element), p.resolve(buffer, type), index, location=head.location)


def _affine_store(p: Parser, head: Head) -> Op:
    value = p.use()
    p.scanner.expect(",")
    buffer = p.use()
    index = p.listed(p.subscript, "[", "]")
    type = _memref_type(p, head)
    return affine.Store(p.resolve(value, type.element), p.resolve(buffer, type), index, location=head.location)


def _memref_type(p: Parser, head: Head) -> MemRefType:
    p.no_attributes(head)
    p.scanner.expect(":")
    place, type = p.scanner.start, p.type()
    if not isinstance(type, MemRefType):
        p.scanner.fail(f"{head.name} needs a memref", place)
    return type


def _terminator(p: Parser, head: Head) -> Op:
    values: tuple[Value, ...] = ()
    if p.scanner.token.startswith("%"):
        uses = p.uses()
        p.scanner.expect(":")
        types = [p.type()]
        while p.scanner.accept(","):
            types.append(p.type())
        values = p.typed(uses, types, head.offset)
    kinds = {"affine.yield": affine.Yield, "scf.yield": scf.Yield}
    return kinds.get(head.name, func.Return)(values, location=head.location)


# scf


def _scf_for(p: Parser, head: Head) -> Op:
    s = p.scanner
    iv = p.use()
    s.expect("=")
    lower = p.use()
    s.expect("to")
    upper = p.use()
    s.expect("step")
    step = p.use()
    names, inits = _carried(p)
    type = p.type() if s.accept(":") else INDEX
    first, last, by = p.typed((lower, upper, step), (type,) * 3)
    with p.scope():
        value = p.define(iv.name, type, iv.offset)
        carried = tuple(p.define(n.name, i.type, n.offset) for n, i in zip(names, inits, strict=True))
        body = p.block()
    p.no_attributes(head)
    results = p.results(head, [v.type for v in carried])
    return scf.For(value, first, last, by, body, inits, carried, results, location=head.location)


def _scf_if(p: Parser, head: Head) -> Op:
    condition = p.operand(I1)
    types, then, orelse = _branches(p)
    p.no_attributes(head)
    return scf.If(condition, then, orelse, p.results(head, types), location=head.location)


# arith and math


def _constant(p: Parser, head: Head) -> Op:
    s = p.scanner
    p.no_attributes(head)
    if s.token in ("true", "false"):
        value: int | float | bool = s.advance() == "true"
        type: Type = p.type() if s.accept(":") else I1
    else:
        splat = s.accept("dense")
        if splat:
            s.expect("<")
        negative, number = s.accept("-"), s.advance()
        if splat:
            s.expect(">")
        s.expect(":")
        place, type = s.start, p.type()
        if splat and not isinstance(type, VectorType):
            s.fail("a dense constant is a vector here", place)
        element = type.element if splat and isinstance(type, VectorType) else type
        value = _number(p, head, negative, number, element, place)
    result = p.result(head, type)
    if re.fullmatch(rf"{re.escape(constant_name(value, type))}(_\d+)?", result.hint):
        result.hint = ""  # the name that printers give it anyway
    return arith.Constant(result, value, location=head.location)


def _number(p: Parser, head: Head, negative: bool, number: str, type: Type, place: int) -> int | float | bool:
    fail = p.scanner.fail
    if isinstance(type, IntegerType) and number in ("true", "false"):
        return number == "true"
    if isinstance(type, FloatType):
        if number.startswith("0x"):
            return float(from_bits(int(number, 16), type))
        if "." not in number:
            fail(f"a constant of type {type} needs a decimal point", head.offset)
        return nearest(float(f"-{number}" if negative else number), type)
    if not isinstance(type, IndexType | IntegerType):
        fail(f"constants of type {type} are not read yet", place)
    if not (number.isdigit() or number.startswith("0x")):
        fail(f"{number} is no integer", head.offset)
    value = -int(number, 0) if negative else int(number, 0)
    width = 64 if isinstance(type, IndexType) else type.width
    if not -(2 ** (width - 1)) <= value < 2**width:
        fail(f"{value} does not fit into {type}", head.offset)
    return int(literal(value, type)) if type != I1 else bool(value)


def _binary(p: Parser, head: Head) -> Op:
    left, right, type = _two(p, head)
    cls = arith.Binary if head.name.startswith("arith.") else math.Binary
    kind = head.name.partition(".")[2]
    power = p.type() if kind == "fpowi" and _comma(p) else type
    values = p.resolve(left, type), p.resolve(right, power)
    return cls(p.result(head, type), kind, *values, location=head.location)


def _comma(p: Parser) -> bool:
    p.scanner.expect(",")
    return True


def _two(p: Parser, head: Head) -> tuple[Use, Use, Type]:
    left = p.use()
    p.scanner.expect(",")
    right = p.use()
    p.no_attributes(head)
    p.scanner.expect(":")
    return left, right, p.type()


def _extended(p: Parser, head: Head) -> Op:
    left, right, type = _two(p, head)
    high = p.type() if head.name == "arith.addui_extended" and _comma(p) else type
    a, b = p.typed((left, right), (type, type))
    low, over = p.results(head, (type, high))
    return arith.Extended(low, over, head.name.partition(".")[2], a, b, location=head.location)


def _unary(p: Parser, head: Head) -> Op:
    operand = p.use()
    p.no_attributes(head)
    p.scanner.expect(":")
    type = p.type()
    value = p.resolve(operand, type)
    if head.name == "arith.negf":
        return arith.Negate(p.result(head, type), value, location=head.location)
    kind = head.name.partition(".")[2]
    result = p.result(head, I1 if kind in math.FLOAT_TESTS else type)
    return math.Unary(result, kind, value, location=head.location)


def _compare(p: Parser, head: Head) -> Op:
    predicates = arith.INTEGER_PREDICATES if head.name == "arith.cmpi" else arith.FLOAT_PREDICATES
    if p.scanner.token not in predicates:
        p.scanner.fail(f"expected a predicate: {', '.join(predicates)}")
    predicate = p.scanner.advance()
    p.scanner.expect(",")
    left, right, type = _two(p, head)
    values = p.typed((left, right), (type, type))
    kind = head.name.partition(".")[2]
    return arith.Compare(p.result(head, I1), kind, predicate, *values, location=head.location)


def _cast(p: Parser, head: Head) -> Op:
    operand = p.use()
    p.no_attributes(head)
    p.scanner.expect(":")
    value = p.resolve(operand, p.type())
    p.scanner.expect("to")
    result = p.result(head, p.type())
    if head.name == "memref.cast":
        return memref.Cast(result, value, location=head.location)
    return arith.Cast(result, head.name.partition(".")[2], value, location=head.location)


def _select(p: Parser, head: Head) -> Op:
    condition, if_true, if_false = _several(p, head, 3)
    type = p.type()
    values = p.typed((condition, if_true, if_false), (I1, type, type))
    return arith.Select(p.result(head, type), *values, location=head.location)


def _fma(p: Parser, head: Head) -> Op:
    uses = _several(p, head, 3)
    type = p.type()
    values = p.typed(uses, (type,) * 3)
    return math.Fma(p.result(head, type), *values, location=head.location)


def _several(p: Parser, head: Head, count: int) -> Sequence[Use]:
    uses = p.uses()
    if len(uses) != count:
        p.scanner.fail(f"{head.name} takes {count} values, got {len(uses)}", head.offset)
    p.no_attributes(head)
    p.scanner.expect(":")
    return uses


# memref


def _alloc(p: Parser, head: Head) -> Op:
    s = p.scanner
    sizes = p.listed(lambda: p.operand(INDEX))
    alignment = None
    if s.accept("{"):
        if s.token != "alignment":
            s.fail(f"this attribute of {head.name} is not kept yet")
        s.advance()
        s.expect("=")
        alignment = s.integer()
        s.expect(":")
        s.expect("i64")
        s.expect("}")
    type = _memref_type(p, head)
    cls = memref.Alloc if head.name == "memref.alloc" else memref.Alloca
    return cls(p.result(head, type), sizes, alignment, location=head.location)


def _dealloc(p: Parser, head: Head) -> Op:
    use = p.use()
    return memref.Dealloc(p.resolve(use, _memref_type(p, head)), location=head.location)


def _dim(p: Parser, head: Head) -> Op:
    use = p.use()
    p.scanner.expect(",")
    index = p.operand(INDEX)
    buffer = p.resolve(use, _memref_type(p, head))
    return memref.Dim(p.result(head, INDEX), buffer, index, location=head.location)


def _memref_load(p: Parser, head: Head) -> Op:
    buffer = p.use()
    indices = p.listed(lambda: p.operand(INDEX), "[", "]")
    type = _memref_type(p, head)
    return memref.Load(p.result(head, type.element), p.resolve(buffer, type), indices, location=head.location)


def _memref_store(p: Parser, head: Head) -> Op:
    value = p.use()
    p.scanner.expect(",")
    buffer = p.use()
    indices = p.listed(lambda: p.operand(INDEX), "[", "]")
    type = _memref_type(p, head)
    return memref.Store(p.resolve(value, type.element), p.resolve(buffer, type), indices, location=head.location)


def _copy(p: Parser, head: Head) -> Op:
    source, target = _several(p, head, 2)
    types = [p.type()]
    p.scanner.expect("to")
    types.append(p.type())
    return memref.Copy(*p.typed((source, target), types), location=head.location)


# func


def _call(p: Parser, head: Head) -> Op:
    callee = p.symbol()
    uses = p.listed(p.use)
    p.no_attributes(head)
    p.scanner.expect(":")
    place, type = p.scanner.start, p.type()
    if not isinstance(type, FunctionType):
        p.scanner.fail("expected the type of a function, like (f32) -> f32", place)
    args = p.typed(uses, type.inputs, head.offset)
    return func.Call(p.results(head, type.results), callee, args, location=head.location)


READERS: Mapping[str, Reader] = {
    "affine.for": _affine_for, "affine.if": _affine_if, "affine.parallel": _affine_parallel,
    "affine.apply": _apply, "affine.min": _apply, "affine.max": _apply,
    "affine.load": _affine_load, "affine.store": _affine_store, "affine.yield": _terminator,
    "scf.for": _scf_for, "scf.if": _scf_if, "scf.yield": _terminator,
    "arith.constant": _constant, "arith.cmpi": _compare, "arith.cmpf": _compare, "arith.select": _select,
    "arith.negf": _unary, "math.fma": _fma,
    "memref.alloc": _alloc, "memref.alloca": _alloc, "memref.dealloc": _dealloc, "memref.dim": _dim,
    "memref.load": _memref_load, "memref.store": _memref_store, "memref.copy": _copy, "memref.cast": _cast,
    "func.call": _call, "call": _call, "func.return": _terminator, "return": _terminator,
} | {f"arith.{kind}": _binary for kind in (*arith.INTEGER_BINARY, *arith.FLOAT_BINARY)} \
  | {f"arith.{kind}": _cast for kind in arith.CASTS} \
  | {f"arith.{kind}": _extended for kind in arith.EXTENDED} \
  | {f"math.{kind}": _unary for kind in (*math.FLOAT_UNARY, *math.FLOAT_TESTS, *math.INTEGER_UNARY)} \
  | {f"math.{kind}": _binary for kind in (*math.FLOAT_BINARY, "fpowi", "ipowi")}  # fmt: skip
