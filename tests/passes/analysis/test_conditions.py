"""Conditions that are joined: their alternatives hold where they do; what is not known, or too much, is None."""

from __future__ import annotations

from itertools import product

from affdsl.ir.core import Op
from affdsl.ir.dialects import arith
from affdsl.ir.expr import Value
from affdsl.ir.types import I1, INDEX
from affdsl.passes.analysis.conditions import MOST_ALTERNATIVES, alternatives

A, B, C = (Value(INDEX, name) for name in "abc")


def joined(kind: str, *conditions: Value, makers: dict[Value, Op]) -> Value:
    """Conditions joined from the left to the right."""
    found = conditions[0]
    for each in conditions[1:]:
        made = Value(I1)
        makers[made] = arith.Binary(made, kind, found, each)
        found = made
    return found


def compared(predicate: str, left: Value, right: Value, makers: dict[Value, Op]) -> Value:
    made = Value(I1)
    makers[made] = arith.Compare(made, "cmpi", predicate, left, right)
    return made


def test_two_conditions_hold_where_one_of_their_alternatives_does():
    for kind, holds in product(("andi", "ori"), (True, False)):
        makers: dict[Value, Op] = {}
        first, second = compared("slt", A, B, makers), compared("ne", B, C, makers)
        found = alternatives(joined(kind, first, second, makers=makers), makers, holds=holds)
        assert found is not None
        for a, b, c in product(range(3), repeat=3):
            at = {A: a, B: b, C: c}
            parts = [[(x.expr.evaluate(at), x.equality) for x in part] for part in found]
            is_met = any(all(n == 0 if equality else n >= 0 for n, equality in part) for part in parts)
            whole = (a < b and b != c) if kind == "andi" else (a < b or b != c)
            assert is_met == (whole == holds)


def test_a_condition_with_one_that_is_not_known_is_not_known():
    for kind in ("andi", "ori"):
        makers: dict[Value, Op] = {}
        known, data = compared("slt", A, B, makers), Value(I1)
        for order in ((known, data), (data, known), (data, Value(I1))):
            assert alternatives(joined(kind, *order, makers=makers), makers) is None


def test_of_more_alternatives_none_are_said():
    for count in (MOST_ALTERNATIVES, MOST_ALTERNATIVES + 1):
        makers: dict[Value, Op] = {}
        rows = [compared("slt", Value(INDEX), B, makers) for _ in range(count)]
        found = alternatives(joined("ori", *rows, makers=makers), makers)
        assert (found is None) == (count > MOST_ALTERNATIVES)
