"""Functions of floats evaluated as C evaluates them: on doubles, and rounded once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

from affdsl.ir.attributes import DenseArrayAttr, StringAttr, SymbolAttr
from affdsl.ir.core import Op
from affdsl.ir.dialects import arith, math, scf, vector
from affdsl.ir.dialects.func import Module
from affdsl.ir.dialects.opaque import Opaque
from affdsl.ir.expr import Value
from affdsl.ir.formats import FORMATS
from affdsl.ir.traverse import rewrite, with_fields
from affdsl.ir.types import BF16, F32, F64, I1, I32, FloatType, Type, VectorType, element_of, same_shape
from affdsl.passes.lowering.in_doubles import KINDS, Kind, is_close_to_middle
from affdsl.passes.lowering.maker import Maker

_EXACT = frozenset("absf ceil floor round roundeven sqrt trunc rsqrt copysign fpowi".split())
"""Functions that every library rounds alike, or that are made of such."""


def expanded_math(module: Module) -> Module:
    """The same program with functions of floats as C has them, so that they are the same bits once MLIR is lowered.

        math.exp %x : f32               ->   arith.truncf (math.exp (arith.extf %x) : f64)
        math.exp %x : vector<8xf32>     ->   arith.truncf (2**n * polynomial(arith.extf %x - n * ln(2)))
        math.log %x : vector<8xf32>     ->   likewise, and scf.if some lane may be rounded wrongly: math.log on doubles
        math.expm1 %x : f64             ->   llvm.call @expm1(%x), and likewise for each lane of a vector

    MLIR lowers a function of f32 to that of the C library for float, which rounds in its own way; and it makes
    exp(x) - 1 of expm1, where nothing is left of a small x.

    >>> from affdsl.mlir.readers import parse
    >>> print(expanded_math(parse('''func.func @f(%x: f32) -> f32 {
    ...     %y = math.exp %x : f32
    ...     return %y : f32
    ... }''')).functions[0])
    func.func @f(%x: f32) -> f32 {
      %0 = arith.extf %x : f32 to f64
      %1 = math.exp %0 : f64
      %y = arith.truncf %1 : f64 to f32
      return %y : f32
    }
    """

    called: dict[str, Op] = {}

    def widen(op: Op) -> Sequence[Op] | None:
        if not isinstance(op, math.Unary | math.Binary):
            return None
        if isinstance(op, math.Unary) and op.kind in KINDS and _is_row_of_floats(op.result.type):
            return tuple(_in_doubles(op, KINDS[op.kind]))
        element = element_of(op.result.type)
        wide = _evaluated_in(op.kind, element) if isinstance(element, FloatType) else element
        return None if wide == element or not isinstance(wide, FloatType) else _widened(op, wide)

    def call(op: Op) -> Sequence[Op] | None:
        if not (isinstance(op, math.Unary) and op.kind in _CALLED and element_of(op.result.type) == F64):
            return None
        called[op.kind] = _declared(op.kind)
        return tuple(_calls(op))

    made = rewrite(rewrite(module, widen), call)
    return with_fields(made, body=(*called.values(), *made.body)) if called else made


_CALLED = frozenset(("expm1", "log1p"))
"""Functions of which convert-math-to-llvm makes others, of numbers that are rounded already."""


def _evaluated_in(kind: str, type: FloatType) -> FloatType:
    """The type in which a function of floats of a type is evaluated."""
    if kind == "rsqrt" and type == BF16:  # its root is not rounded to bf16
        return F32
    return type if kind in _EXACT else F64


def _is_row_of_floats(type: Type) -> bool:
    return isinstance(type, VectorType) and type.element == F32 and len(type.shape) == 1 and not any(type.scalable)


def _in_doubles(op: math.Unary, kind: Kind) -> Iterator[Op]:
    """A function of the lanes of a vector as arithmetic, where no lane has to be asked of the C library."""
    floats = Maker(op.result.type, FORMATS["f32"], op.location)
    given = op.operand
    if kind.ends is not None:
        least, most = map(floats.number, kind.ends)
        given = floats.choose("ogt", given, most, most, given)
        given = floats.choose("olt", given, least, least, given)
    doubles = floats.in_f64()
    found = kind.of(doubles, doubles.extended(given))
    if kind.is_exact:
        yield from floats.giving(floats.narrowed(found), op.result)
        return
    close, some = is_close_to_middle(doubles, found), Value(I1)
    yield from floats.ops
    yield vector.Reduction(some, "or", close, location=op.location)
    asked, rounded = Value(op.result.type), Value(op.result.type)
    then = (*_widened(with_fields(op, result=asked), F64), scf.Yield((asked,), location=op.location))
    narrowed = arith.Cast(rounded, "truncf", found, location=op.location)
    orelse = (narrowed, scf.Yield((rounded,), location=op.location))
    yield scf.If(some, then, orelse, (op.result,), location=op.location)


def _widened(op: math.Unary | math.Binary, wide: FloatType) -> Sequence[Op]:
    """A function on numbers of a wider type, and its result rounded."""
    names = ("operand",) if isinstance(op, math.Unary) else ("left", "right")
    extended = {}
    for name in names:
        operand: Value = getattr(op, name)
        extended[name] = arith.Cast(Value(same_shape(operand.type, wide)), "extf", operand, location=op.location)
    result = Value(same_shape(op.result.type, wide))
    function = with_fields(op, result=result, **{name: each.result for name, each in extended.items()})
    return *extended.values(), function, arith.Cast(op.result, "truncf", result, location=op.location)


def _declared(name: str) -> Opaque:
    """A function of the C library, in the dialect of LLVM: one of func would be asked for a wrapper for C."""
    return Opaque("llvm.func", (), (), (("sym_name", StringAttr(name)),), text=(f"llvm.func @{name}(f64) -> f64",))


def _calls(op: math.Unary) -> Iterator[Op]:
    """A call of the function of the C library, or one for each lane."""
    type = op.result.type
    if not isinstance(type, VectorType):
        yield _call(op, op.operand, op.result)
        return
    lanes: list[Value] = []
    for position in product(*map(range, type.shape)):
        lane, found = Value(F64), Value(F64)
        yield vector.Extract(lane, op.operand, (), position, location=op.location)
        yield _call(op, lane, found)
        lanes.append(found)
    yield vector.FromElements(op.result, tuple(lanes), location=op.location)


def _call(op: math.Unary, operand: Value, result: Value) -> Opaque:
    sizes = (("op_bundle_sizes", DenseArrayAttr(I32, ())), ("operandSegmentSizes", DenseArrayAttr(I32, ("1", "0"))))
    callee = ("callee", SymbolAttr((op.kind,)))
    return Opaque("llvm.call", (operand,), (result,), (callee, *sizes), location=op.location)
