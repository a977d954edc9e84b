"""The operations of arith and math as C: expressions, folded into their use or under a name, or loops over lanes."""

from __future__ import annotations

from collections.abc import Callable

from affdsl.codegen.c import tables
from affdsl.codegen.c.context import Context
from affdsl.codegen.c.expressions import Code, call, negate
from affdsl.codegen.c.lanes import fill_flat, flat_lane, keep_vector, lane_type, vector_constant
from affdsl.codegen.c.lone_lanes import is_by_chance
from affdsl.codegen.c.narrow_floats import computed_lanes
from affdsl.codegen.c.products import rounded_apart
from affdsl.codegen.c.restarts import is_masked
from affdsl.codegen.c.types import number_type, scalar, value_type
from affdsl.errors import UnsupportedError
from affdsl.ir.core import Op
from affdsl.ir.dialects import arith, math, ub
from affdsl.ir.expr import Affine, Value
from affdsl.ir.interpreter.lanes import has_vectors
from affdsl.ir.messages import op_name
from affdsl.ir.types import ComplexType, FloatType, IndexType, VectorType


def constant(c: Context, op: arith.Constant) -> None:
    """A literal; a vector of them, if that is not one for all lanes, as an array."""
    if isinstance(op.result.type, VectorType):
        vector_constant(c, op)
        return
    kind = scalar(op.result.type)
    assert not isinstance(op.value, tuple), "a scalar is one number"
    if isinstance(kind, IndexType):
        c.values.affine[op.result] = Affine.of(int(op.value))
        return
    shown = tables.headers_of(tables.literal(op.value, kind), c.unit)
    if op.result.hint:
        c.values.name(op.result, shown)
    else:
        c.values.codes[op.result] = shown


def compute(c: Context, op: Op) -> None:
    """An operation on scalars, or on each lane of vectors."""
    (result,) = op.defines()
    if not has_vectors(op):
        c.values.define(result, arithmetic(c, op, c.values.of))
        return
    if (shown := computed_lanes(c, op)) is not None:
        keep_vector(c, result, shown)
        return
    single = {v: c.values.again(v) for v in dict.fromkeys(op.reads()) if not isinstance(v.type, VectorType)}

    def of(lane: Code) -> Callable[[Value], Code]:
        return lambda v: single[v] if v in single else flat_lane(c, v, lane)

    fill_flat(c, result, lambda lane: arithmetic(c, op, of(lane)))


def arithmetic(c: Context, op: Op, value: Callable[[Value], Code]) -> Code:
    """What an operation computes; `value` gives its operands, or a lane of each."""
    unit = c.unit
    match op:
        case arith.Binary() | math.Binary():
            left, right = value(op.left), value(op.right)
            if op in c.fusible:
                left = rounded_apart(left, unit)
                right = right if op.kind == "subf" else rounded_apart(right, unit)
            found = tables.binary(op.kind, lane_type(op.result), left, right, unit, waits=op in c.waiting)
            return _read(c, found, left, right)
        case math.Unary():
            return tables.unary(op.kind, lane_type(op.operand), value(op.operand), unit, paired=op in c.paired)
        case math.Fma():
            return tables.fma(lane_type(op.result), value(op.a), value(op.b), value(op.c), unit)
        case arith.Negate():
            return negate(value(op.operand))
        case arith.Compare():
            left, right = value(op.left), value(op.right)
            return _read(c, tables.compare(op.predicate, lane_type(op.left), left, right, unit), left, right)
        case arith.Cast():
            source, target = lane_type(op.operand), lane_type(op.result)
            return tables.convert(op.kind, source, target, value(op.operand), unit, op.rounding)
        case arith.Select() if is_masked(op):
            if isinstance(op.result.type, FloatType):
                helper = unit.helper(f"masked_{lane_type(op.result)}")
                return call(helper, value(op.condition), value(op.if_true), value(op.if_false))
            return tables.masked(lane_type(op.result), value(op.condition), value(op.if_true))
        case arith.Select() if is_by_chance(op):
            helper = unit.helper(f"chosen_{lane_type(op.result)}")
            return call(helper, value(op.condition), value(op.if_true), value(op.if_false))
        case arith.Select():
            of = op.result.type if isinstance(op.result.type, ComplexType) else lane_type(op.result)
            return tables.select(of, value(op.condition), value(op.if_true), value(op.if_false))
    raise UnsupportedError(f"C output does not know the operation {op_name(op)} yet")


def _read(c: Context, shown: Code, *operands: Code) -> Code:
    """shown, which may be a constant or one of its operands: then the others are not read."""
    if not shown.parts or any(shown is operand for operand in operands):
        c.lines.drop(*(operand for operand in operands if operand is not shown))
    return shown


def extended(c: Context, op: arith.Extended) -> None:
    """An operation with two results, of scalars or of each lane of vectors."""
    if has_vectors(op):
        _extended_lanes(c, op)
        return
    kind = scalar(op.left.type)
    left, right = c.values.stable(op.left), c.values.stable(op.right)
    is_sum = op.kind == "addui_extended"
    if is_sum:
        named = tables.extended_low(op.kind, kind, left, right, c.unit)
        right = c.values.codes[op.low] = c.lines.keep(op.low.hint, "sum", value_type(op.low.type), named)
    elif c.values.uses[op.low]:
        c.values.define(op.low, tables.extended_low(op.kind, kind, left, right, c.unit))
    if c.values.uses[op.high]:
        c.values.define(op.high, _high(c, op, left, right))
    elif not c.values.uses[op.low] and not is_sum:
        c.lines.drop(left, right)


def _high(c: Context, op: arith.Extended, left: Code, right: Code) -> Code:
    high = tables.extended_high(op.kind, lane_type(op.left), left, right, c.unit)
    if not high.parts and not c.values.uses[op.low]:
        c.lines.drop(left, right)
    return high


def _extended_lanes(c: Context, op: arith.Extended) -> None:
    def low(lane: Code) -> Code:
        left, right = flat_lane(c, op.left, lane), flat_lane(c, op.right, lane)
        return tables.extended_low(op.kind, lane_type(op.left), left, right, c.unit)

    def high(lane: Code) -> Code:
        left = flat_lane(c, op.left, lane)
        if op.kind == "addui_extended":
            return _high(c, op, left, low(lane))
        return _high(c, op, left, flat_lane(c, op.right, lane))

    if c.values.uses[op.low]:
        fill_flat(c, op.low, low)
    if c.values.uses[op.high]:
        fill_flat(c, op.high, high)


def no_value(c: Context, op: ub.Poison) -> None:
    """What is poison may be any number."""
    kind = number_type(op.result.type)
    if isinstance(kind, IndexType):
        c.values.affine[op.result] = Affine.of(0)
    else:
        c.values.codes[op.result] = tables.headers_of(tables.literal(0, kind), c.unit)
