"""Loops of few iterations: rows gone over as a whole, straight code, and what a user has unrolled by hand rolled up."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from copy import copy

from affdsl.ir.core import Lanewise
from affdsl.ir.dialects import affine, memref
from affdsl.ir.traverse import holders, walk
from affdsl.optimize.nests import (
    Counts,
    Nest,
    counts_inside,
    loop_called,
    names_in,
    nests_in,
    require_loop,
    span,
    unfit_where_refused,
)
from affdsl.optimize.unfit import UnfitError
from affdsl.schedule.loops import ScheduleError
from affdsl.schedule.schedule import IllegalTransform, Schedule

LONGEST = 32
"""So many elements a row has at most: longer ones are loops of their own."""
MOST_ITERATIONS = 8
MOST_OPERATIONS = 320
"""How much straight code may be made of one loop: operations on numbers, loads and stores."""
MOST_LEFT = 192
"""How many of these may be left of all loops, after what is done alike is done once: each is compared with each."""
_COUNTED = (Lanewise, affine.Access, memref.Load, memref.Store)


def as_one_loop(s: Schedule, root: str) -> tuple[Schedule, str, str]:
    """The schedule with a nest as one loop, what that is called, and what was done.

        for i: for k < 3: x[i, k] = S(x[i, k])   ->   for k < 3 * N: x[k] = S(x[k])

    Raises UnfitError where a row is long, or its subscripts say more than which element is next.
    """
    found = nests_in(s, root)
    band = _short(found[0]) if len(found) == 1 else ()
    if len(band) < 2 or band[0] is not found[0].loops[0]:
        raise UnfitError("it does not go over short rows alone")
    made, names = copy(s), tuple(map(found[0].name, band))
    with unfit_where_refused():
        made.coalesce(names)
    whole = made.made[0].names[0]
    if any(isinstance(op, affine.Apply) for op in require_loop(made, whole).body):
        raise UnfitError("it does not go over whole rows: its counters are computed")
    return made, whole, f"{' and '.join(names)} as one loop, over whole rows"


def _short(nest: Nest) -> tuple[affine.For, ...]:
    """The loops of a band that are short, innermost, with the one around them."""
    size, at = 1, len(nest.band)
    for loop in reversed(nest.band[1:]):
        trip = span(loop)
        if trip is None or not (trip.is_constant and loop.lower[0].is_constant):
            break
        size *= max(0, trip.constant)
        if size > LONGEST:
            break
        at -= 1
    return nest.band[at - 1 :] if at < len(nest.band) else ()


def as_straight_code(s: Schedule, root: str) -> tuple[Schedule, str]:
    """The schedule with all short loops inside of a loop unrolled, from outside to inside, and what these are called.

        for i: for k < 3: S(i, k)   ->   for i: { S(i, 0); S(i, 1); S(i, 2) }

    Loops of a short one whose bounds move with it are as short for each of its iterations. Raises UnfitError if there
    are none, or where straight code of all of them is too long.
    """
    made, unrolled = copy(s), list[str]()
    known = names_in(s, root)
    while name := next((name for name, count in _few_times(made, root) if count <= MOST_OPERATIONS), ""):
        with unfit_where_refused():
            made.unroll(name)
        unrolled += [name] if name in known else []
    loop = loop_called(made, root)
    left = sum(isinstance(op, _COUNTED) for op in walk(loop)) if loop is not None else 0
    if not unrolled or left > MOST_LEFT or [*_few_times(made, root)]:
        raise UnfitError("it has no short loops, or too long ones of them")
    return made, ", ".join(unrolled)


def _few_times(s: Schedule, root: str) -> Iterator[tuple[str, float]]:
    """The short loops inside of another one, and how many operations straight code of each has."""
    names, around = {row.iv: row.names[0] for row in s.loops()}, loop_called(s, root)
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


def rerolled(s: Schedule) -> Schedule:
    """The schedule with each innermost loop rerolled whose body does the same several times.

    for i < N step 4: { t += x[i]; t += x[i + 1]; ... }   ->   for i < N: t += x[i]
    """
    for name in [*_unrolled(s)]:
        for has_variables in (False, True):
            made = copy(s)
            with suppress(IllegalTransform, ScheduleError):
                if has_variables:
                    made.scalar_replace(name)
                s = made.reroll(name)
                break
    return s


def _unrolled(s: Schedule) -> Iterator[str]:
    """The innermost loops that move on by several elements of an array, and access each of these."""
    names = {row.iv: row.names[0] for row in s.loops()}
    for loop in [op for op in holders(s.function) if isinstance(op, affine.For) and op.iv in names]:
        if any(any(True for _ in op.blocks()) for op in loop.body):
            continue
        accesses = [op for op in loop.body if isinstance(op, affine.Access) and op.index]
        moves = [(op.index[-1].substitute({loop.iv: loop.iv + 1}) - op.index[-1]) * loop.step for op in accesses]
        wide = {op.memref for op, by in zip(accesses, moves, strict=True) if by.is_constant and abs(by.constant) > 1}
        if any(sum(op.memref is v for op in accesses) > 1 for v in wide):
            yield names[loop.iv]
