"""Groups of bounds made simpler: what never is the smallest, or the largest, goes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from affdsl.ir.expr import Affine, Constraint
from affdsl.passes.simplify.context import NOTHING, Context
from affdsl.passes.simplify.expressions import simplify

MOST_EXPRS = 64
"""In larger groups only equal expressions go: comparing each with each is quadratic."""


def simplify_bounds(
    exprs: Sequence[Affine], kind: Literal["min", "max"], context: Context = NOTHING
) -> tuple[Affine, ...]:
    """Expressions with the same minimum, or maximum, wherever the facts of the context hold: never more, at least one.

        min(n, n + 4)         ->  n
        min(i + 8, 16*n)      ->  i + 8     where i + 8 <= 16*n
        max(i, j, k)          ->  max(i, k) where j <= i or j <= k, whichever holds

    Upper bounds of loops and affine.min are a "min", lower bounds and affine.max a "max". The result is a fixed point.

    >>> from affdsl.ir.types import INDEX
    >>> from affdsl.ir.expr import Value
    >>> i, n = Value(INDEX, "i"), Value(INDEX, "n")
    >>> simplify_bounds([Affine.of(n), n + 4, Affine.of(i)], "min", Context().knowing([Constraint(i - n)])) == (n + 0,)
    True
    """
    current = tuple(dict.fromkeys(simplify(e, context) for e in exprs))
    if context.is_contradictory or not 1 < len(current) <= MOST_EXPRS:
        return current
    sign = 1 if kind == "min" else -1
    while len(kept := _dropped(current, sign, context)) < len(current):
        current = kept
    return current


def _dropped(exprs: tuple[Affine, ...], sign: int, context: Context) -> tuple[Affine, ...]:
    """exprs without those that never win; the later ones go first."""
    kept = list(exprs)
    for expr in reversed(exprs):
        others = [e for e in kept if e != expr]
        if others and _never_wins(expr, others, sign, context):
            kept = others
    return tuple(kept)


def _never_wins(expr: Affine, others: Sequence[Affine], sign: int, context: Context) -> bool:
    """Whether at every point some other expression is at least as small; for sign = -1, as large."""
    rivals = []
    for other in others:
        difference = (expr - other) * sign
        where = context.range_of(difference)
        if where.low is not None and where.low >= 0:
            return True
        if where.high is None or where.high >= 0:
            rivals.append(difference)
    return bool(rivals) and context.excludes([Constraint(-1 - r) for r in rivals])
