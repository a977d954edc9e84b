"""Recurrences, several at once: rows, each of which waits for itself alone."""

from __future__ import annotations

from contextlib import suppress
from copy import copy

from affdsl.optimize.attempts import where_legal
from affdsl.optimize.nests import (
    Nest,
    is_recurrence,
    lanes_of,
    names_in,
    nests,
    on_vectors,
    require_quick_numbers,
)
from affdsl.optimize.options import Options
from affdsl.optimize.unfit import UnfitError
from affdsl.optimize.vector import inner_loops
from affdsl.schedule.loops import ScheduleError
from affdsl.schedule.schedule import IllegalTransform, Schedule


def take_rows(s: Schedule, nest: Nest, options: Options) -> tuple[Schedule, str]:
    """The schedule with iterations of a loop around a recurrence jammed, what each hands on in registers; and the loop.

        for i: for j: A[i, j] = S(A[i, j - 1])

    All loops inside of it are such recurrences, none of which has better to run along. Raises UnfitError.
    """
    rows = options.choices.recurrences
    if options.target.registers < rows:
        raise UnfitError("there are too few registers for several rows")
    require_quick_numbers(nest)
    for loop in reversed(nest.loops[:-1]):
        made, name = copy(s), nest.names[loop.iv]
        inside = [each for each in nests(s) if loop in (*each.around, *each.band)]
        if is_recurrence(nest, loop) or not all(may_be_jammed(s, each, options) for each in inside):
            break
        with suppress(IllegalTransform, ScheduleError):
            made.unroll_jam(name, rows)
            where_legal(made.scalar_replace, names_in(made, name)[1:])
            return made, name
    raise UnfitError("no rows of it are independent recurrences")


def may_be_jammed(s: Schedule, nest: Nest, options: Options) -> bool:
    """Whether a nest is a recurrence that runs along no other loop, nor on vectors: in parts, or in another order."""
    if not is_recurrence(nest, nest.innermost) or inner_loops.runs_along_rows(s, nest, options):
        return False
    with suppress(IllegalTransform, ScheduleError, UnfitError):
        on_vectors(copy(s), nest.name(nest.innermost), lanes_of(nest, options), options.tail)
        return False
    return True
