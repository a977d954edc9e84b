"""Recurrences that no loop of a nest can leave: several time steps at once, with what they share in registers."""

from __future__ import annotations

from contextlib import suppress
from copy import copy
from itertools import product

from affdsl.optimize.nests import Nest, names_in, nests
from affdsl.optimize.options import Options
from affdsl.optimize.size import require_room
from affdsl.optimize.unfit import UnfitError
from affdsl.schedule.loops import ScheduleError
from affdsl.schedule.schedule import IllegalTransform, Schedule

SKEWS = (0, 1, 2)


def take(s: Schedule, nest: Nest, options: Options) -> tuple[Schedule, str]:
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
            made = in_tiles(made, (time, space), tile, steps) if in_turn else _jammed(made, nest, steps)
            tiled = "tiled in time; tiles that do not wait for each other run on threads, and in them " * in_turn
            behind = f", each {skew} row{'s' * (skew > 1)} behind the one before it" if skew else ""
            return made, f"{tiled}{steps} iterations of {time} run at once{behind}"
    raise UnfitError("no skew makes it legal to run several of its time steps at once")


def _jammed(s: Schedule, nest: Nest, steps: int) -> Schedule:
    """The schedule with some iterations of the outermost loop of a nest at once.

    The one given is changed. Raises as steps do.
    """
    s.unroll_jam(nest.name(nest.band[0]), steps)
    with suppress(IllegalTransform, ScheduleError):
        s.scalar_replace(nest.name(nest.innermost))
    return s


def in_tiles(s: Schedule, loops: tuple[str, str], sizes: tuple[int, int], steps: int) -> Schedule:
    """The schedule with tiles of two loops on threads, and in them some iterations of the first one at once.

    Tiles of one diagonal do not wait for each other. Raises UnfitError, and as steps do.
    """
    made = copy(s).tile(loops, sizes, grid=True, separate=True)
    outer, inner = _tiles(made)
    made.skew(outer, inner, 1).interchange(outer, inner).parallel(outer)
    inside = names_in(made, inner)
    rows = [row.names[0] for row in made.loops() if row.depth == 2 and row.names[0] in inside]
    if not rows:  # each of them ran once
        raise UnfitError
    made.unroll_jam(rows[0], steps)
    for name in rows[1:]:  # of tiles that are not whole, which may start at the largest of several numbers
        with suppress(IllegalTransform, ScheduleError):
            made.unroll_jam(name, steps)
    inside = names_in(made, inner)
    for name in [each.name(each.innermost) for each in nests(made)]:
        if name in inside:
            with suppress(IllegalTransform, ScheduleError):
                made.scalar_replace(name)
    return made


def _tiles(s: Schedule) -> tuple[str, str]:
    """The two loops over tiles of the last step."""
    names = dict(s.steps[-1].call.options)["names"]
    assert isinstance(names, tuple)
    outer, inner = map(str, names)
    return outer, inner
