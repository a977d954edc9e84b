"""Conditions made simpler: constraints that say nothing new go, and a condition that never holds is recognised."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import gcd

from affdsl.ir.expr import Affine, Atom, Constraint
from affdsl.passes.simplify.context import NOTHING, Context
from affdsl.passes.simplify.expressions import simplify

NEVER = (Constraint(Affine((), 1), equality=True),)
"""The condition that never holds: 1 == 0, as MLIR writes it."""
ALWAYS = Constraint(Affine())
"""The constraint that always holds: 0 >= 0."""
ROUNDS = 10


def simplify_constraints(constraints: Sequence[Constraint], context: Context = NOTHING) -> tuple[Constraint, ...]:
    """Constraints that hold together exactly where the given ones do, wherever the facts of the context hold.

        2*i - 5 >= 0                    ->  i - 3 >= 0
        i >= 0, i - 2 >= 0              ->  i - 2 >= 0
        i - n >= 0, n - i >= 0          ->  i - n == 0
        i + 1 >= 0, n >= 0              ->  n >= 0         where i >= 0
        n - 1 - i >= 0                  ->                 where i < n

    () holds always; `NEVER` is what is left of a condition that holds nowhere. The result is a fixed point. Where
    nothing changes it is equal to what was given.
    """
    current = tuple(constraints)
    if context.is_contradictory:
        return current
    for _ in range(ROUNDS):
        simpler = _once(current, context)
        if simpler == current:
            break
        current = simpler
    return current


def _once(constraints: tuple[Constraint, ...], context: Context) -> tuple[Constraint, ...]:
    merged = _merge(_tighten(c) for c in constraints)
    if merged is None:
        return NEVER
    rest = list(merged)
    for position, constraint in enumerate(rest):  # each in the light of all others
        others = context.knowing(c for k, c in enumerate(rest) if k != position and c != ALWAYS)
        if others.is_contradictory:
            return NEVER
        simpler = _tighten(Constraint(simplify(constraint.expr, others), constraint.equality))
        if others.proves(simpler):
            simpler = ALWAYS
        rest[position] = simpler
    kept = tuple(c for c in rest if c != ALWAYS)
    return NEVER if kept and context.excludes(kept) else kept


def _tighten(constraint: Constraint) -> Constraint:
    """The same condition, its coefficients without a common factor; ALWAYS or never where that settles it."""
    expr = constraint.expr
    if not expr.terms:
        holds = expr.constant == 0 if constraint.equality else expr.constant >= 0
        return ALWAYS if holds else NEVER[0]
    factor = gcd(*(c for _, c in expr.terms))
    if factor == 1:
        return constraint
    if constraint.equality and expr.constant % factor:
        return NEVER[0]
    terms = tuple((atom, c // factor) for atom, c in expr.terms)
    return Constraint(Affine(terms, expr.constant // factor), constraint.equality)


def _merge(constraints: Iterable[Constraint]) -> tuple[Constraint, ...] | None:
    """Constraints whose terms are the same, or of opposite sign, made one or two; None if two exclude each other."""
    forms: dict[tuple[tuple[Atom, int], ...], _Ends] = {}
    for constraint in constraints:
        if constraint in NEVER:
            return None
        if constraint == ALWAYS:
            continue
        terms = constraint.expr.terms
        opposite = tuple((atom, -c) for atom, c in terms)
        ends = forms.get(opposite)
        if ends is not None:
            ends.opposite(constraint)
        else:
            forms.setdefault(terms, _Ends()).same(constraint)
    result: list[Constraint] = []
    for terms, ends in forms.items():
        if ends.low is not None and ends.high is not None and ends.low > ends.high:
            return None
        result.extend(ends.constraints(terms))
    return tuple(result)


class _Ends:
    """low <= terms <= high; an end of None is open."""

    def __init__(self) -> None:
        self.low: int | None = None
        self.high: int | None = None

    def same(self, constraint: Constraint) -> None:
        """terms + constant >= 0, or == 0"""
        k = constraint.expr.constant
        self._narrow(-k, -k if constraint.equality else None)

    def opposite(self, constraint: Constraint) -> None:
        """-terms + constant >= 0, or == 0"""
        k = constraint.expr.constant
        self._narrow(k if constraint.equality else None, k)

    def constraints(self, terms: tuple[tuple[Atom, int], ...]) -> Iterable[Constraint]:
        """What is left to say."""
        expr = Affine(terms)
        if self.low is not None and self.low == self.high:
            yield Constraint(expr - self.low, equality=True)
            return
        if self.low is not None:
            yield Constraint(expr - self.low)
        if self.high is not None:
            yield Constraint(self.high - expr)

    def _narrow(self, low: int | None, high: int | None) -> None:
        self.low = low if self.low is None else self.low if low is None else max(self.low, low)
        self.high = high if self.high is None else self.high if high is None else min(self.high, high)
