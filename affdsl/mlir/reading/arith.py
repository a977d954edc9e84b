"""The arith and math dialects, read from their custom form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from affdsl.ir.attributes import Attribute, Attributes, DenseAttr, FloatAttr, IntegerAttr, OpaqueAttr, UnitAttr
from affdsl.ir.core import Op
from affdsl.ir.dialects import arith, math
from affdsl.ir.dialects.opaque import Opaque
from affdsl.ir.expr import Value
from affdsl.ir.opaque_types import truth_text
from affdsl.ir.types import I1, I64, IntegerType, MemRefType, OpaqueType, Type
from affdsl.ir.verifier.types import truth
from affdsl.mlir.attributes import attribute_text
from affdsl.mlir.constants import constant
from affdsl.mlir.enumerations import FLAGS, PROPERTIES, problem_of_flag, problem_of_words
from affdsl.mlir.parser import Head, Parser, Reader, Use
from affdsl.mlir.reading.opaque import opaque, parted


def read_constant(p: Parser, head: Head) -> Op:
    """`arith.constant 1.0 : f32`"""
    attributes = p.dictionary()
    place, value = p.scanner.start, p.attribute()
    match value:
        case IntegerAttr(_, type) | FloatAttr(_, type) | DenseAttr(_, type) | OpaqueAttr(_, type) if type is not None:
            return constant(p, head, value, type, attributes, place)
    text = f"expected a number, true, false, or dense<...> with its type, not {attribute_text(value)}"
    return p.scanner.fail(text, place)


def read_binary(p: Parser, head: Head) -> Op:
    """`arith.addf %a, %b fastmath<fast> : f32`"""
    left, right, flags = _two(p, head)
    type = p.colon_type()
    kind = head.name.partition(".")[2]
    power = p.type() if kind == "fpowi" and p.scanner.accept(",") else type
    values = p.resolve(left, type), p.resolve(right, power)
    if isinstance(type, OpaqueType) or isinstance(power, OpaqueType):
        return _opaque(p, head, values, (type,), flags)
    cls = arith.Binary if head.name.startswith("arith.") else math.Binary
    return cls(p.result(head, type), kind, *values, location=head.location, attributes=flags)


def _two(p: Parser, head: Head) -> tuple[Use, Use, Attributes]:
    left = p.use()
    p.scanner.expect(",")
    return left, p.use(), flags(p, head)


def flags(p: Parser, head: Head) -> Attributes:
    """`to_nearest_even fastmath<fast> {attributes}`, `overflow<nsw>` or `exact`: what the operation takes, or none."""
    s = p.scanner
    taken = FLAGS.get(head.name, ())
    found: list[tuple[str, Attribute]] = []
    for flag in taken:
        if flag == "roundingmode":
            if s.token in arith.ROUNDING:
                found.append((flag, IntegerAttr(arith.ROUNDING.index(s.advance()), IntegerType(32))))
        elif s.accept(flag):
            text = "" if flag == "exact" else _words(p, flag)
            found.append((PROPERTIES[flag], OpaqueAttr(f"#arith.{flag}{text}") if text else UnitAttr()))
    if s.is_word:
        s.fail(f"{head.name} has no {s.token} here")
    place, said = s.start, p.dictionary()
    for name, attribute in said:
        if name in [PROPERTIES[flag] for flag in taken] and (problem := problem_of_flag(name, attribute)) is not None:
            s.fail(problem, place)
        if name in dict(found):
            s.fail(f"{name} is said twice", place)
    return (*found, *said)


def _opaque(p: Parser, head: Head, operands: tuple[Value, ...], results: Sequence[Type], said: Attributes) -> Opaque:
    """An operation whose operands or results have types without a class: it is kept as it is."""
    return opaque(p, head, operands, results, *parted(said, ("predicate", *PROPERTIES.values())))


def truth_of(type: OpaqueType) -> Type:
    """The type of a comparison: i1, or a tensor of i1."""
    return OpaqueType(truth_text(type)) if type.text.startswith("tensor") else I1


def _words(p: Parser, flag: str) -> str:
    """`<nnan, ninf>`"""
    place, text = p.scanner.start, p.scanner.balanced()
    if (problem := problem_of_words(f"arith.{flag}", text[1:-1])) is not None:
        p.scanner.fail(problem, place)
    return text


def read_extended(p: Parser, head: Head) -> Op:
    """`arith.addui_extended %a, %b : i8, i1`"""
    left, right, attributes = _two(p, head)
    type = p.colon_type()
    high = type
    if head.name == "arith.addui_extended":
        p.scanner.expect(",")
        high = p.type()
    a, b = p.typed((left, right), (type, type))
    if isinstance(type, OpaqueType):
        return _opaque(p, head, (a, b), (type, high), attributes)
    low, over = p.results(head, (type, high))
    kind = head.name.partition(".")[2]
    return arith.Extended(low, over, kind, a, b, location=head.location, attributes=attributes)


def read_unary(p: Parser, head: Head) -> Op:
    """`math.exp %a fastmath<fast> : f32`"""
    use, attributes = p.use(), flags(p, head)
    type = p.colon_type()
    value = p.resolve(use, type)
    if isinstance(type, OpaqueType):
        tests = head.name.partition(".")[2] in math.FLOAT_TESTS
        return _opaque(p, head, (value,), (truth_of(type) if tests else type,), attributes)
    if head.name == "arith.negf":
        return arith.Negate(p.result(head, type), value, location=head.location, attributes=attributes)
    kind = head.name.partition(".")[2]
    result = p.result(head, truth(type) if kind in math.FLOAT_TESTS else type)
    return math.Unary(result, kind, value, location=head.location, attributes=attributes)


def read_compare(p: Parser, head: Head) -> Op:
    """`arith.cmpi slt, %a, %b : i32`"""
    s = p.scanner
    predicates = arith.INTEGER_PREDICATES if head.name == "arith.cmpi" else arith.FLOAT_PREDICATES
    predicate = s.token[1:-1] if s.is_string else s.token
    if predicate not in predicates:
        s.fail(f"expected a predicate: {', '.join(predicates)}, not {predicate}")
    s.advance()
    s.expect(",")
    left, right, attributes = _two(p, head)
    type = p.colon_type()
    values = p.typed((left, right), (type, type))
    kind = head.name.partition(".")[2]
    if isinstance(type, OpaqueType):
        number = IntegerAttr(predicates.index(predicate), I64)
        return _opaque(p, head, values, (truth_of(type),), (("predicate", number), *attributes))
    result = p.result(head, truth(type))
    return arith.Compare(result, kind, predicate, *values, location=head.location, attributes=attributes)


def read_cast(p: Parser, head: Head) -> Op:
    """`arith.extf %a : f32 to f64`"""
    use, attributes = p.use(), flags(p, head)
    value = p.resolve(use, p.colon_type())
    p.scanner.expect("to")
    type = p.type()
    if isinstance(value.type, OpaqueType | MemRefType) or isinstance(type, OpaqueType | MemRefType):
        return _opaque(p, head, (value,), (type,), attributes)
    result, kind = p.result(head, type), head.name.partition(".")[2]
    return arith.Cast(result, kind, value, location=head.location, attributes=attributes)


def read_select(p: Parser, head: Head) -> Op:
    """`arith.select %c, %a, %b : f32`, or with the type of a vector of choices before"""
    condition, if_true, if_false, attributes = _three(p, head)
    type = p.colon_type()
    chosen: Type = I1
    if p.scanner.accept(","):
        chosen, type = type, p.type()
    values = p.typed((condition, if_true, if_false), (chosen, type, type))
    if isinstance(type, OpaqueType) or isinstance(chosen, OpaqueType):
        return _opaque(p, head, values, (type,), attributes)
    return arith.Select(p.result(head, type), *values, location=head.location, attributes=attributes)


def read_fma(p: Parser, head: Head) -> Op:
    """`math.fma %a, %b, %c : f32`"""
    a, b, c, attributes = _three(p, head)
    type = p.colon_type()
    values = p.typed((a, b, c), (type,) * 3)
    if isinstance(type, OpaqueType):
        return _opaque(p, head, values, (type,), attributes)
    return math.Fma(p.result(head, type), *values, location=head.location, attributes=attributes)


def _three(p: Parser, head: Head) -> tuple[Use, Use, Use, Attributes]:
    a = p.use()
    p.scanner.expect(",")
    b = p.use()
    p.scanner.expect(",")
    return a, b, p.use(), flags(p, head)


READERS: Mapping[str, Reader] = {
    "arith.constant": read_constant, "arith.cmpi": read_compare, "arith.cmpf": read_compare,
    "arith.select": read_select, "arith.negf": read_unary, "math.fma": read_fma,
} | {f"arith.{kind}": read_binary for kind in (*arith.INTEGER_BINARY, *arith.FLOAT_BINARY)} \
  | {f"arith.{kind}": read_cast for kind in arith.CASTS} \
  | {f"arith.{kind}": read_extended for kind in arith.EXTENDED} \
  | {f"math.{kind}": read_unary for kind in (*math.FLOAT_UNARY, *math.FLOAT_TESTS, *math.INTEGER_UNARY)} \
  | {f"math.{kind}": read_binary for kind in (*math.FLOAT_BINARY, "fpowi", "ipowi")}  # fmt: skip
