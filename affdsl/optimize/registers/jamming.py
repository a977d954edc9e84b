"""Recurrences, several at once: rows, each of which waits for itself alone, and time steps, each behind another one."""

from __future__ import annotations

from contextlib import suppress
from copy import copy
from itertools import product

from affdsl.optimize.attempts import names_made, where_legal
from affdsl.optimize.nests import (
    Nest,
    is_recurrence,
    lanes_of,
    names_in,
    nests,
    nests_in,
    on_vectors,
    require_quick_numbers,
)
from affdsl.optimize.options import Options
from affdsl.optimize.size import require_room
from affdsl.optimize.unfit import UnfitError
from affdsl.optimize.vector import inner_loops
from affdsl.passes.transforms.vectorize.crossings import crossings
from affdsl.schedule.loops import ScheduleError
from affdsl.schedule.schedule import IllegalTransform, Schedule

SKEWS = (0, 1, 2)


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
    """Whether a nest is a recurrence that runs along no other loop, nor on vectors before and behind one element."""
    if not is_recurrence(nest, nest.innermost) or inner_loops.runs_along_rows(s, nest, options):
        return False
    return not (crossings(nest.innermost) and _runs_in_parts(s, nest, options))


def _runs_in_parts(s: Schedule, nest: Nest, options: Options) -> bool:
    """Whether vectors of a loop take all iterations but the one that stores what others read: A[i, j] /= A[i, i]."""
    with suppress(IllegalTransform, ScheduleError, UnfitError):
        on_vectors(copy(s), nest.name(nest.innermost), lanes_of(nest, options), options.tail)
        return True
    return False


def take_time_steps(s: Schedule, nest: Nest, options: Options) -> tuple[Schedule, str]:
    """The schedule with iterations of the outermost loop of a nest jammed, after the smallest skew that allows it.

        for t, i, j: A[i, j] = S(A[i - 1, j], A[i, j - 1], A[i, j + 1], A[i + 1, j])

    Each of the jammed iterations waits for another one of before, and not for its neighbour: several run at once.
    Raises UnfitError.

    References
    ----------
    Carr and Kennedy, "Improving the ratio of memory operations to floating-point operations in loops", TOPLAS 1994.
    """
    if len(nest.band) < 3 or options.target.registers < 8:
        raise UnfitError
    time, space = map(nest.name, nest.band[:2])
    steps, tile = options.choices.jammed_steps, (options.choices.sweep_steps, options.choices.sweep_rows)
    on_threads = options.threads > 1 and not nest.around
    for in_turn, skew in product((True, False) if on_threads else (False,), SKEWS):
        made = copy(s)
        if not in_turn:
            require_room(nest.innermost, steps)
        with suppress(UnfitError, IllegalTransform, ScheduleError):
            if skew:
                made.skew(time, space, skew)
            if in_turn:
                made = in_tiles(made, (time, space), tile, steps)
            else:
                made.unroll_jam(time, steps)
                where_legal(made.scalar_replace, [nest.name(nest.innermost)])
            tiled = "tiled in time; tiles that do not wait for each other run on threads, and in them " * in_turn
            behind = f", each {skew} row{'s' * (skew > 1)} behind the one before it" if skew else ""
            return made, f"{tiled}{steps} iterations of {time} run at once{behind}"
    raise UnfitError("no skew makes it legal to run several of its time steps at once")


def in_tiles(s: Schedule, loops: tuple[str, str], sizes: tuple[int, int], steps: int) -> Schedule:
    """The schedule with tiles of two loops on threads, and in them some iterations of the first one at once.

    Tiles of one diagonal do not wait for each other. Raises UnfitError, and as steps do.
    """
    made = copy(s).tile(loops, sizes, grid=True, separate=True)
    outer, inner = names_made(made)
    wavefront(made, outer, inner)
    inside = names_in(made, inner)
    rows = [row.names[0] for row in made.loops() if row.depth == 2 and row.names[0] in inside]
    if not rows:  # each of them ran once
        raise UnfitError
    made.unroll_jam(rows[0], steps)  # the others are of tiles that are not whole, which may start at a maximum
    where_legal(lambda name: made.unroll_jam(name, steps), rows[1:])
    where_legal(made.scalar_replace, [nest.name(nest.innermost) for nest in nests_in(made, inner)])
    return made


def wavefront(s: Schedule, time: str, space: str) -> Schedule:
    """The schedule given after the tiles of a diagonal, of two loops over tiles, run at once. Raises as steps do."""
    return s.skew(time, space, 1).interchange(time, space).parallel(time)
