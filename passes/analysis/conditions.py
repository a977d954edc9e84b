"""Conditions that are computed: comparisons of indices, joined by and and or, as alternatives of constraints."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, arith
from affdsl.ir.expr import Affine, Constraint, Value
from affdsl.ir.types import INDEX

MOST_ALTERNATIVES = 16
"""A condition that takes more is not followed."""
Condition = tuple[tuple[Constraint, ...], ...]
"""Conjunctions of which at least one holds."""

_OPPOSITE = {"slt": "sge", "sge": "slt", "sgt": "sle", "sle": "sgt", "eq": "ne", "ne": "eq"}


def alternatives(value: Value, makers: Mapping[Value, Op], *, holds: bool = True) -> Condition | None:
    """When a condition holds, or when it does not, by the indices that are compared; None for other conditions."""
    match makers.get(value):
        case arith.Compare(kind="cmpi", predicate=predicate, left=left, right=right) if left.type == INDEX:
            if predicate not in _OPPOSITE:
                return None
            return _compared(predicate if holds else _OPPOSITE[predicate], left - Affine.of(right))
        case arith.Binary(kind="andi" | "ori" as kind, left=left, right=right):
            first, second = (alternatives(each, makers, holds=holds) for each in (left, right))
            if first is None or second is None:
                return None
            if (kind == "ori") == holds:
                found = (*first, *second)
            else:
                found = tuple((*a, *b) for a in first for b in second)
            return found if len(found) <= MOST_ALTERNATIVES else None
    return None


def is_computed(value: Value, makers: Mapping[Value, Op], is_fixed: Callable[[Value], bool]) -> bool:
    """Whether an index is computed by maps from constants and from numbers that are fixed."""
    if is_fixed(value):
        return True
    match makers.get(value):
        case arith.Constant():
            return True
        case affine.Apply(expr=expr):
            return all(is_computed(v, makers, is_fixed) for v in expr.values())
    return False


def _compared(predicate: str, difference: Affine) -> Condition:
    match predicate:
        case "slt":
            return ((Constraint(-difference - 1),),)
        case "sle":
            return ((Constraint(-difference),),)
        case "sgt":
            return ((Constraint(difference - 1),),)
        case "sge":
            return ((Constraint(difference),),)
        case "eq":
            return ((Constraint(difference, equality=True),),)
    return (Constraint(difference - 1),), (Constraint(-difference - 1),)
