"""Loops of a few iterations, whose number is known: as straight code, which a register holds and a loop around sees."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy

from affdsl.ir.core import Lanewise
from affdsl.ir.dialects import affine, memref
from affdsl.ir.traverse import holders, walk
from affdsl.optimize.nests import Counts, counts_inside, loop_called, names_in, unfit_where_refused
from affdsl.optimize.unfit import UnfitError
from affdsl.schedule.schedule import Schedule

_COUNTED = (Lanewise, affine.Access, memref.Load, memref.Store)
MOST_ITERATIONS = 8
MOST_OPERATIONS = 320
"""How much straight code may be made of one loop: operations on numbers, loads and stores."""
MOST_LEFT = 192
"""How many of these may be left of all loops, after what is done alike is done once: each is compared with each."""


def take(s: Schedule, root: str) -> tuple[Schedule, str]:
    """The schedule with all short loops inside of a loop unrolled, from outside to inside, and what these are called.

        for i: for k < 3: S(i, k)   ->   for i: { S(i, 0); S(i, 1); S(i, 2) }

    Loops of a short one whose bounds move with it are as short for each of its iterations. Raises UnfitError if there
    are none, or where straight code of all of them is too long.
    """
    made, unrolled = copy(s), list[str]()
    known = names_in(s, root)
    while name := next((name for name, count in _short(made, root) if count <= MOST_OPERATIONS), ""):
        with unfit_where_refused():
            made.unroll(name)
        unrolled += [name] if name in known else []
    loop = loop_called(made, root)
    left = sum(isinstance(op, _COUNTED) for op in walk(loop)) if loop is not None else 0
    if not unrolled or left > MOST_LEFT or [*_short(made, root)]:
        raise UnfitError("it has no short loops, or too long ones of them")
    return made, ", ".join(unrolled)


def _short(s: Schedule, root: str) -> Iterator[tuple[str, float]]:
    """The short loops inside of another one, and how many operations straight code of each has."""
    names = {row.iv: row.names[0] for row in s.loops()}
    around = next((op for op in holders(s.function) if isinstance(op, affine.For) and names[op.iv] == root), None)
    if around is None:
        return
    counts = counts_inside(s, around)
    for op in walk(around):
        if isinstance(op, affine.For) and op is not around and 1 < (counts[op.iv].high or 0) <= MOST_ITERATIONS:
            yield names[op.iv], _operations(op, counts)


def _operations(loop: affine.For, counts: Counts) -> float:
    """How many operations straight code of a loop has at most."""
    count = counts[loop.iv].high
    if count is None:
        return float("inf")
    inner = [op for op in loop.body if isinstance(op, affine.For)]
    own = sum(isinstance(each, _COUNTED) for op in loop.body if op not in inner for each in walk(op))
    return count * (own + sum(_operations(op, counts) for op in inner))
