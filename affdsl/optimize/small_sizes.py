"""Small sizes run the loops as they were written: vectors cost more there than they give."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy

from affdsl.ir.core import Lanewise
from affdsl.ir.dialects import affine
from affdsl.ir.expr import Constraint
from affdsl.ir.traverse import walk
from affdsl.lang.indices import Condition, Index
from affdsl.optimize.nests import Nest, lanes_of, loop_called, names_in, nests_in
from affdsl.optimize.notes import Notes, only_for
from affdsl.optimize.options import Options
from affdsl.optimize.unfit import UnfitError
from affdsl.optimize.vector import sums
from affdsl.optimize.versions import at_least, chosen_by, in_names, in_other, on_average, sizes_of
from affdsl.schedule.schedule import Schedule

OfLoop = Callable[[Schedule, str, Options], tuple[Schedule, Notes]]
"""A recipe for an outermost loop of a name: the schedule after it, and what it did; no notes if it does not fit."""
MEANWHILE = 320
"""How many operations a processor has begun before one that waits: rows that are no longer overlap by themselves."""
COUNTING = 2
"""How many of them count an iteration."""
LEAST_VECTORS = 2
"""How many vectors there should be of a loop, in the mean of all sizes of a nest: fewer cost more than they give."""


def unless_small(recipe: OfLoop, *, in_lanes: bool = False) -> OfLoop:
    """The recipe where sizes are large enough for it; smaller ones run the loops as they were.

    Parameters
    ----------
    in_lanes
        Whether each lane runs all that the loop on vectors holds: then the length of the rows alone says what is small.
    """

    def take(s: Schedule, root: str, options: Options) -> tuple[Schedule, Notes]:
        both = copy(s)
        try:
            in_other(both, root, _large(s, root, options, in_lanes=in_lanes))
        except UnfitError:
            return recipe(s, root, options)
        made, notes = recipe(both, root, options)
        if len(made.steps) == len(both.steps):
            return s, notes
        return made, only_for(chosen_by(made, root, len(s.steps)), notes)

    return take


def _large(s: Schedule, root: str, options: Options, *, in_lanes: bool) -> Condition | None:
    """From which sizes on vectors pay, and lanes of sums.

    Raises UnfitError for a loop alone, and where nothing in it touches memory. None where no size says how large it is.
    """
    found = _large_on_average(s, root, options, in_lanes=in_lanes)
    lengths = lengths_of_sums(s, root, options) if options.shortest_sum else []
    asked: dict[str, Constraint] = {}
    for each in (found, *(at_least(length, options.shortest_sum) for length in lengths)):
        for c in () if each is None else each.constraints:
            size = str(Index(c.expr - c.expr.constant))
            asked[size] = min(c, asked.get(size, c), key=lambda c: c.expr.constant)
    return Condition((*asked.values(),)) if asked else None


def _large_on_average(s: Schedule, root: str, options: Options, *, in_lanes: bool) -> Condition | None:
    """The same of vectors alone."""
    loops, lanes = names_in(s, root), [lanes_of(nest, options) for nest in nests_in(s, root)]
    if len(loops) == 1 or not lanes:
        raise UnfitError
    along = _along_rows(s, root) if in_lanes else []
    if sizes_of(s, along):
        return on_average(s, along, max(lanes) // 2 if options.target.has_masks else max(lanes))
    found, summed = on_average(s, loops, LEAST_VECTORS * max(lanes)), _summed(s, root, options)
    inner, least = (
        [nest.name(nest.innermost) for nest in summed],
        max([_least(n, max(lanes)) for n in summed], default=0),
    )
    if found is None or {*map(str, sizes_of(s, inner))} in ({*map(str, sizes_of(s, loops))}, set()):
        return found
    rows = on_average(s, inner, least)
    return found if rows is None else Condition((*found.constraints, *rows.constraints))


def lengths_of_sums(s: Schedule, root: str, options: Options) -> list[Index]:
    """How long the sums are at most that may be made in lanes, as sizes say it; none where all loops have one size.

    for i < M: for k = max(0, i - M + 1) to min(i + 1, K): y[i] += x[i - k] * h[k]   ->   M, K
    """
    known = {v: v.hint for v in s.function.args}
    summed = [nest.innermost for nest in _summed(s, root, options) if len(nest.loops) > 1]
    trips = dict.fromkeys(upper - lower for loop in summed for lower in loop.lower for upper in loop.upper)
    found = [in_names(trip, known) for trip in trips if len({*trip.values()}) == 1 == len(trip.terms)]
    sizes = {str(size) for size in sizes_of(s, names_in(s, root))}
    return [each for each in found if each is not None] if len(sizes) > 1 else []


def _summed(s: Schedule, root: str, options: Options) -> list[Nest]:
    """The nests whose sums may be made in lanes, which are put together behind each of their rows."""
    found = [nest for nest in nests_in(s, root) if sums.is_sum(nest, nest.innermost) or sums.is_mixed(nest)]
    return [nest for nest in found if options.reassociate or sums.needs_no_order(s, nest)]


def long_enough(nest: Nest) -> int:
    """How many iterations a row has at least for which it pays that none waits for the one before it."""
    ops = (
        op for op in walk(nest.innermost) if isinstance(op, Lanewise) or (isinstance(op, affine.Access) and op.index)
    )
    return MEANWHILE // (COUNTING + sum(1 for _ in ops))


def _least(nest: Nest, lanes: int) -> int:
    """How long rows are at least for which sums pay that are made in so many lanes.

    Where the next row takes what this one has made, as `x[i] = s` of sums of `x[i - k]`, it waits until lanes are
    put together, and for a vector of which an element has just been stored.
    """
    around = nest.loops[-2].body if len(nest.loops) > 1 else ()
    made = {op.memref for op in around if isinstance(op, affine.Store)}
    moving = [a for a in nest.accesses if a.kind == "read" and not nest.is_still(a, nest.innermost)]
    if any(a.op.memref in made for a in moving if isinstance(a.op, affine.Load)):
        return long_enough(nest)
    return lanes * (LEAST_VECTORS if _sums(nest) > 1 else 1)


def _sums(nest: Nest) -> int:
    """How many sums a nest makes: the place of the largest number is one beside that."""
    return len({access.buffer for access in nest.accesses if access.kind == "write"}) or len(nest.innermost.results)


def _along_rows(s: Schedule, root: str) -> list[str]:
    """The loops that run along rows of what is stored inside of a loop."""
    names, loop = {row.iv: row.names[0] for row in s.loops()}, loop_called(s, root)
    stores = [op for op in walk(loop) if isinstance(op, affine.Store) and op.index] if loop is not None else []
    return [
        names[v] for v in dict.fromkeys(v for op in stores for v, by in op.index[-1].terms if by == 1) if v in names
    ]
