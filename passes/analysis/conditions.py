"""Conditions that are computed: comparisons of indices, joined by and and or, as alternatives of constraints."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, arith
from affdsl.ir.expr import Affine, Constraint, Value
from affdsl.ir.traverse import operands_first
from affdsl.ir.types import INDEX

MOST_ALTERNATIVES = 16
"""A condition that takes more is not followed."""
Condition = tuple[tuple[Constraint, ...], ...]
"""Conjunctions of which at least one holds."""

_OPPOSITE = {"slt": "sge", "sge": "slt", "sgt": "sle", "sle": "sgt", "eq": "ne", "ne": "eq"}


def alternatives(value: Value, makers: Mapping[Value, Op], *, holds: bool = True) -> Condition | None:
    """When a condition holds, or when it does not, by the indices that are compared; None for other conditions."""
    found: dict[Value, Condition | None] = {}
    for each in operands_first(value, lambda v: _combined(makers.get(v))):
        match makers.get(each):
            case arith.Compare(kind="cmpi", predicate=predicate, left=left, right=right) if left.type == INDEX:
                if predicate in _OPPOSITE:
                    found[each] = _compared(predicate if holds else _OPPOSITE[predicate], left - Affine.of(right))
            case arith.Binary(kind="andi" | "ori" as kind, left=left, right=right):
                found[each] = _both(found.get(left), found.get(right), either=(kind == "ori") == holds)
    return found.get(value)


def _combined(op: Op | None) -> tuple[Value, ...]:
    """The conditions that one is made of."""
    return (op.left, op.right) if isinstance(op, arith.Binary) and op.kind in ("andi", "ori") else ()


def _both(first: Condition | None, second: Condition | None, *, either: bool) -> Condition | None:
    """Where one of two conditions holds, or where both do; None where that is too many alternatives, or not known."""
    if first is None or second is None or (not either and len(first) * len(second) > MOST_ALTERNATIVES):
        return None
    joined = (*first, *second) if either else (tuple(dict.fromkeys((*a, *b))) for a in first for b in second)
    found = tuple(dict.fromkeys(joined))
    return found if len(found) <= MOST_ALTERNATIVES else None


def is_computed(value: Value, makers: Mapping[Value, Op], is_fixed: Callable[[Value], bool]) -> bool:
    """Whether an index is computed by maps from constants and from numbers that are fixed."""
    seen: set[Value] = set()
    waiting = [value]
    while waiting:
        each = waiting.pop()
        if each in seen or is_fixed(each):
            continue
        seen.add(each)
        match makers.get(each):
            case arith.Constant():
                pass
            case affine.Apply(expr=expr):
                waiting += expr.values()
            case _:
                return False
    return True


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
