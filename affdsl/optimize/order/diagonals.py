"""Sums that are scattered along diagonals, as those of a convolution of full length: one element after the other."""

from __future__ import annotations

from copy import copy
from dataclasses import replace

from affdsl.ir.dialects import affine
from affdsl.lang.indices import Condition
from affdsl.optimize.attempts import bring_innermost, where_legal
from affdsl.optimize.innermost import first_that_fits
from affdsl.optimize.nests import (
    Nest,
    counts_inside,
    lanes_of,
    nest_called,
    nests_in,
    on_vectors,
    unfit_where_refused,
    updates,
)
from affdsl.optimize.notes import Notes, of, only_for
from affdsl.optimize.options import Options
from affdsl.optimize.order import index_sets
from affdsl.optimize.unfit import UnfitError
from affdsl.optimize.vector import inner_loops, sums
from affdsl.optimize.versions import at_least, in_other, longer_than, sizes_of, times_as_long
from affdsl.schedule.schedule import Schedule

MOST_APART = 4
"""So many elements the diagonal moves on with each iteration at most."""
LONGER = 8
"""So many times as long as the inner loop the outer one is: at both ends of the diagonal not all terms are there."""
LEAST = 2
"""So many vectors the outer loop has at least."""


def take(s: Schedule, root: str, options: Options) -> tuple[Schedule, Notes]:
    """The schedule with each element of a diagonal summed up in a register, on vectors along it, and what was done.

        for i: for k < K: y[2 * i + k] += x[i] * w[k]   ->   for m: for t < K / 2: y[2 * m] += x[m - t] * w[2 * t]
                                                                   for t < K / 2: y[2 * m + 1] += ...

    An element gets its terms in the order of the text. Where the diagonal moves on by several elements, as many of them
    are summed up in each iteration. The ends, where terms are missing, stay by themselves, and so do sizes for which
    these are much of all. Raises UnfitError.
    """
    found = nests_in(s, root)
    if len(found) != 1 or found[0].has_vectors or found[0].name(found[0].band[0]) != root:
        raise UnfitError
    (nest,) = found
    far, near, apart = _diagonal(nest)
    outer, inner = nest.name(far), nest.name(near)
    made, lanes = copy(s), lanes_of(nest, options)
    said = of(s, [outer, inner], f"each sum along {outer} + {inner} is made at once, on vectors of {lanes}")
    with unfit_where_refused():
        condition = _is_long(s, nest, far, near, apart, lanes)
        if condition is not None:
            in_other(made, root, condition)
        bring_innermost(made, nest, far, near)
        made.skew(outer, inner, apart).interchange(outer, inner)
        if apart > 1:
            made.unroll(inner, apart).normalize(inner)
        made = _on_vectors(made, root if far is not nest.band[0] else inner, apart, lanes, options)
    return made, only_for(condition, [said])


def _diagonal(nest: Nest) -> tuple[affine.For, affine.For, int]:
    """The loops that move along a diagonal of what a nest adds to, and by how many elements the outer one does.

    Raises UnfitError.
    """
    update = updates(nest)
    if update is None or not isinstance(update[0].op, affine.Store) or not update[0].op.index:
        raise UnfitError
    *rows, last = update[0].op.index
    factors = dict(last.terms)
    moving = [loop for loop in nest.band if loop.iv in factors]
    if len(moving) != 2 or not all(loop.step == 1 and _is_rectangle(loop, nest) for loop in moving):
        raise UnfitError
    far, near = moving
    apart = factors[far.iv]
    if factors[near.iv] != 1 or not 1 <= apart <= MOST_APART or any({far.iv, near.iv} & {*e.values()} for e in rows):
        raise UnfitError
    return far, near, apart


def _is_rectangle_in(around: affine.For, loop: affine.For) -> bool:
    """Whether a loop runs as often in each iteration of the one around it."""
    trips = [high - low for high in loop.upper for low in loop.lower]
    return len(trips) == 1 and around.iv not in trips[0].values()


def _is_rectangle(loop: affine.For, nest: Nest) -> bool:
    """Whether a loop begins and ends at the same numbers, whatever the other ones of a nest are."""
    others, ends = {each.iv for each in nest.loops}, (*loop.lower, *loop.upper)
    return len(ends) == 2 and not any(v in others for each in ends for v in each.values())


def _is_long(s: Schedule, nest: Nest, far: affine.For, near: affine.For, apart: int, lanes: int) -> Condition | None:
    """For which sizes one loop of a diagonal is much longer than the other; None for all. Raises UnfitError."""
    counts = counts_inside(s, nest.loops[0])
    outer, inner = counts[far.iv].high, counts[near.iv].high
    least = max(LONGER * (inner or 0), LEAST * lanes)
    if outer is not None and inner is not None:
        if outer < least:
            raise UnfitError
        return None
    sizes = sizes_of(s, (nest.name(far),))
    if len(sizes) != 1:
        raise UnfitError
    enough = at_least(sizes[0], least)
    if inner is not None:
        return enough
    times = times_as_long(s, nest.name(far), sizes_of(s, (nest.name(near),)), LONGER)
    some = longer_than(s, nest.name(near), apart - 1)
    if times is None or some is None:
        raise UnfitError
    return Condition((*times.constraints, *enough.constraints, *some.constraints))


def _on_vectors(s: Schedule, root: str, apart: int, lanes: int, options: Options) -> Schedule:
    """The schedule with the part of a diagonal that has all terms on vectors. Raises as steps do, and UnfitError."""
    made, _, parts = index_sets.take(s, root, replace(options, threads=1))  # threads may share each part
    whole, ends = "", list[str]()
    for nest in nests_in(made, *parts):
        name = nest.name(nest.innermost)
        if len(nest.loops) > 1 and _is_rectangle_in(*nest.loops[-2:]):
            where_legal(made.normalize, [name])
            where_legal(made.scalar_replace, [name])
            whole = nest.name(nest.loops[-2])
        else:
            ends.append(name)
    if not whole:
        raise UnfitError("no part of the diagonal has all terms")
    on_vectors(made, whole, lanes, options.tail)
    if (at_once := options.choices.outer_vectors // apart) > 1:
        where_legal(lambda name: made.unroll_jam(name, at_once), [whole])
    alone = replace(options, choices=replace(options.choices, sums=1, sum_vectors=1))
    for name in ends:
        end = nest_called(made, name)
        in_lanes = end is not None and (options.reassociate or sums.needs_no_order(made, end))
        made, _, _ = first_that_fits(made, name, (inner_loops.take,), alone if in_lanes else options)
    return made
