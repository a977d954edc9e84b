"""A loop that begins at the largest of several numbers, as one for each of them, of which the right one runs."""

from __future__ import annotations

from affdsl.ir.core import Op
from affdsl.ir.dialects import affine
from affdsl.ir.expr import Constraint, Value
from affdsl.passes.transforms.loops.pieces import as_it_is, bounded, copied_loop

MOST = 2
"""From more numbers than these on, copies of the loop would be too many."""


def by_lower_bounds(loop: affine.For) -> tuple[Op, tuple[Value, ...]] | None:
    """A condition around loops that begin at one number each, and their counters; None where the loop has one, or many.

        for i = max(a, b) to n: S(i)   ->   if a >= b: { for i = a to n: S(i) } else: { for i = b to n: S(i) }

    Vectors of those need no masks in front. A loop that carries values stays as it is.
    """
    if not 1 < len(loop.lower) <= MOST or loop.results:
        return None
    upper = as_it_is(loop, "upper")
    *others, last = (
        bounded(loop if k == 0 else copied_loop(loop), (low,), upper, loop.step) for k, low in enumerate(loop.lower)
    )
    made: affine.For | affine.If = last
    for k, each in reversed([*enumerate(others)]):
        larger = tuple(Constraint(loop.lower[k] - low) for low in loop.lower[k + 1 :])
        made = affine.If(larger, (each,), (made,), location=loop.location)
    return made, tuple(each.iv for each in (*others, last))
