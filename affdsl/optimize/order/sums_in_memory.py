"""Sums of the columns of an array, in a variable each: kept where they are stored, so that loops run along rows."""

from __future__ import annotations

from copy import copy

from affdsl.optimize.nests import counts_inside, made_inside, nests_in, unfit_where_refused
from affdsl.optimize.options import Options
from affdsl.optimize.unfit import UnfitError
from affdsl.optimize.vector import inner_loops, sums
from affdsl.schedule.schedule import Schedule

LONG = 32
"""A column with more elements is in other pages than the next one: rows come to the caches by themselves."""


def take(s: Schedule, root: str, options: Options) -> Schedule:
    """The schedule with a sum that a loop makes in a variable made in the element that it is stored in.

        for i: { t = 0; for k: t += A[k, i]; y[i] = t }   ->   for i: { y[i] = 0; for k: y[i] += A[k, i] }

    Then each row of A can be added to y as a whole: it lies in memory in one piece. Raises UnfitError.
    """
    found = nests_in(s, root)
    if len(found) != 1 or len(found[0].loops) != 2 or not sums.is_sum(found[0], found[0].innermost):
        raise UnfitError("")
    (nest,) = found
    outer, inner = nest.loops
    most = counts_inside(s, outer)[inner.iv].high
    columns = [a for a in nest.accesses if a.buffer.rank and nest.stride(a, inner).motion not in inner_loops.COSTS]
    if not columns or any(nest.stride(a, outer).motion != "contiguous" for a in columns) or (most or LONG) < LONG:
        raise UnfitError("")
    made = copy(s)
    with unfit_where_refused():
        for variable, _ in made_inside(s.function, {outer.iv}):
            made.merge(variable)
    if len(made.steps) == len(s.steps) or not inner_loops.runs_along_rows(made, nests_in(made, root)[0], options):
        raise UnfitError("")
    return made


def fits(s: Schedule, root: str, options: Options) -> bool:
    """Whether there is such a sum."""
    try:
        take(s, root, options)
    except UnfitError:
        return False
    return True
