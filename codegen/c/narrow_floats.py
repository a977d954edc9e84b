"""Vectors of narrow floats as C: lanes that are floats, each rounded as its own type would be."""

from __future__ import annotations

from affdsl.codegen.c.context import Context
from affdsl.codegen.c.expressions import Code
from affdsl.codegen.c.types import value_type
from affdsl.codegen.c.vector_arithmetic import OPERATORS, computed
from affdsl.codegen.c.vector_types import (
    Mask,
    address_of,
    is_narrow,
    lane_kind,
    lanes_of,
    on_vectors,
    type_name,
)
from affdsl.ir.core import Op
from affdsl.ir.dialects import arith, math
from affdsl.ir.dialects.arith import ROUNDING
from affdsl.ir.expr import Value
from affdsl.ir.types import FloatType, VectorType


def computed_lanes(c: Context, op: Op) -> Code | None:
    """An operation on whole vectors as an expression, as `computed`, of narrow floats, too."""
    (result,) = op.defines()
    if not any(map(is_narrow, (result, *op.reads()))):
        return computed(c, op)
    match op:
        case arith.Binary(kind=kind) if kind in OPERATORS:
            shown = computed(c, op)
            return None if shown is None else rounded(c, result, shown)
        case arith.Cast():
            return _cast(c, op)
        case math.Fma():
            return None
        case math.Unary(kind=kind) if kind != "absf":
            return None  # what a function gives is rounded once
    return computed(c, op)


def rounded(c: Context, result: Value, shown: Code) -> Code:
    """A vector of floats, each rounded to the narrow type of a result."""
    shown = address_of(c, type_name(c, result), shown)
    return on_vectors(c, f"round_{_name(result)}", lane_kind(c, result), lanes_of(result), shown)


def _cast(c: Context, op: arith.Cast) -> Code | None:
    """From and to floats; None for what is converted lane by lane."""
    source, target = (lane_kind(c, v) for v in (op.operand, op.result))
    if is_narrow(op.operand):
        return computed(c, op) if op.kind == "extf" else None
    is_float = value_type(source) == value_type(target) == "float" and op.kind == "truncf"
    if not is_float or op.rounding != ROUNDING[0] or (shown := computed(c, op)) is None:
        return None
    return rounded(c, op.result, shown)


def loaded(c: Context, result: Value, pointer: Code) -> Code:
    """The narrow floats that begin at an element of an array."""
    return on_vectors(c, f"of_{_name(result)}", lane_kind(c, result), lanes_of(result), pointer)


def masked_load(c: Context, result: Value, pointer: Code, mask: Value, otherwise: Value) -> Code:
    """The same where a mask is set; the others are not read."""
    stem = f"masked_of_{_name(result)}"
    return on_vectors(c, stem, lane_kind(c, result), lanes_of(result), pointer, Mask(mask), otherwise)


def stored(c: Context, value: Value, pointer: Code) -> Code:
    """The call that stores narrow floats from an element of an array on."""
    return on_vectors(c, f"to_{_name(value)}", lane_kind(c, value), lanes_of(value), pointer, value)


def masked_store(c: Context, value: Value, pointer: Code, mask: Value) -> Code:
    """The same where a mask is set; the others are not touched."""
    return on_vectors(c, f"masked_to_{_name(value)}", lane_kind(c, value), lanes_of(value), pointer, Mask(mask), value)


def _name(value: Value) -> str:
    assert isinstance(value.type, VectorType)
    assert isinstance(value.type.element, FloatType)
    return value.type.element.name
