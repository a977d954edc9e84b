"""Folds of the elementary functions of math, on constants."""

from __future__ import annotations

from cmath import isfinite

from affdsl.ir import semantics
from affdsl.ir.dialects import math
from affdsl.ir.numeric import Number
from affdsl.ir.types import F64, FloatType, IndexType, IntegerType
from affdsl.passes.cleanup.canonicalize.graph import Graph
from affdsl.passes.cleanup.canonicalize.numbers import all_lanes, binary, element_of, known, lanes, numbers
from affdsl.passes.cleanup.canonicalize.rules import Folded, Rules

_EXACT = frozenset({"absf", "ceil", "floor", "trunc", "round", "roundeven", "absi", "ctlz", "cttz", "ctpop"})
"""What is computed exactly, in all types."""
_ROUNDED = frozenset({"sqrt"})
"""What is rounded in one way only."""


def fold_unary(graph: Graph, op: math.Unary) -> Folded:
    """An elementary function of a constant.

    Those of the C library are computed for f64 alone: there, all take the same one.
    """
    number, element = numbers(graph, op.operand), element_of(op.operand.type)
    if number is None or element is None:
        return None
    if op.kind in _EXACT:
        return known(lanes(semantics.unary(op.kind, element), number), op.result.type)
    from_library = op.kind in semantics.LIBM_UNARY and op.kind != "cbrt" and element == F64
    if not from_library and not (op.kind in _ROUNDED and isinstance(element, FloatType) and element.width >= 32):
        return None
    made = lanes(semantics.unary(op.kind, element), number)
    return known(made, op.result.type) if all_lanes(_is_finite, made) and all_lanes(_is_finite, number) else None


def _is_finite(number: Number) -> bool:
    return isfinite(number)


def fold_binary(graph: Graph, op: math.Binary) -> Folded:
    """A function of two constants."""
    left, right, element = numbers(graph, op.left), numbers(graph, op.right), element_of(op.result.type)
    if left is None or right is None:
        return None
    match op.kind, element:
        case "copysign", _:
            pass
        case "ipowi", IntegerType() | IndexType() if all_lanes(lambda n: bool(n >= 0), right):
            pass
        case "atan2" | "powf", FloatType("f64"):
            if not all_lanes(_is_finite, lanes(binary(op.kind, op.result.type), left, right)):
                return None
        case _:
            return None
    return known(lanes(binary(op.kind, op.result.type), left, right), op.result.type)


ELEMENTARY = Rules(folds={math.Unary: fold_unary, math.Binary: fold_binary})
