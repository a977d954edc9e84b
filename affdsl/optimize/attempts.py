"""Steps that a strategy takes where they are legal, and does without elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from copy import copy
from functools import partial

from affdsl.ir.dialects import affine
from affdsl.optimize.nests import Nest, made_inside, used_again
from affdsl.optimize.unfit import UnfitError
from affdsl.schedule.loops import ScheduleError
from affdsl.schedule.schedule import IllegalTransform, Schedule

SKEWS = (0, 1, 2)
"""How many iterations of the next loop each iteration is behind the one before it: the first of these that is legal."""


def where_legal(step: Callable[[str], object], names: Iterable[str]) -> None:
    """Take a step for each of some loops or arrays, by name, for which it is legal."""
    for name in names:
        with suppress(IllegalTransform, ScheduleError):
            step(name)


class AllOrNone:
    """A block whose steps are all taken back where one of them is refused, or does not fit; what follows it goes on."""

    def __init__(self, s: Schedule) -> None:
        self._s, self._before = s, len(s.steps)

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> bool:
        is_refused = kind is not None and issubclass(kind, (UnfitError, IllegalTransform, ScheduleError))
        while is_refused and len(self._s.steps) > self._before:
            self._s.undo()
        return is_refused


def names_made(s: Schedule) -> tuple[str, ...]:
    """What the last step calls the loops over tiles that it was to make, or an array, also those that are gone."""
    options = dict(s.steps[-1].call.options)
    names = options.get("names", options.get("name"))
    return tuple(map(str, names)) if isinstance(names, tuple) else (str(names),)


def fuse_late(s: Schedule, first: str, second: str, most: int, *, guarded: bool = False) -> int:
    """Run a loop as a part of one before it, as few iterations late as is legal, and say how many.

    The schedule given is changed. Raises UnfitError where that would be more than `most`.
    """
    for shift in range(most + 1):
        with suppress(IllegalTransform, ScheduleError):  # a loop inside may run never, and be gone
            s.fuse(first, second, shift=shift, guarded=guarded)
            return shift
    raise UnfitError(f"{second} would have to be late by more than {most} iterations")


def bring_innermost(s: Schedule, nest: Nest, *loops: affine.For) -> list[str]:
    """Make some loops of a band its innermost ones, in the order given, and say what these are called.

    The schedule given is changed. Raises as steps do.
    """
    band, names = [*map(nest.name, nest.band)], [*map(nest.name, loops)]
    order = [*(name for name in band if name not in names), *names]
    if order != band:
        s.permute(tuple(order))
    return names


def wavefront(s: Schedule, time: str, space: str) -> Schedule:
    """The schedule given after the tiles of a diagonal, of two loops over tiles, run at once. Raises as steps do."""
    return s.skew(time, space, 1).interchange(time, space).parallel(time)


def in_memory(s: Schedule, loops: Sequence[str]) -> None:
    """Sums that loops carry kept in memory, and what each iteration has for itself kept for all of them."""
    where_legal(s.demote, reversed(loops))
    counters = {row.iv: row.names[0] for row in s.loops() if row.names[0] in loops}
    for buffer, around in made_inside(s.function, counters):
        with suppress(IllegalTransform, ScheduleError):
            s.merge(buffer)
            continue
        where_legal(partial(s.expand, buffer), [counters[iv] for iv in reversed(around)])
    for array, iv in used_again(s, counters):
        with suppress(IllegalTransform, ScheduleError):
            s.copy(array, counters[iv])
            s.expand(names_made(s)[0], counters[iv])


def distribute(s: Schedule, loops: Sequence[str]) -> None:
    """Take loops apart, the innermost first; the schedule given is changed."""
    where_legal(s.distribute, reversed(loops))


def after_skew(
    s: Schedule, outer: str, inner: Sequence[str], skews: Iterable[int], step: Callable[[Schedule], object], what: str
) -> tuple[Schedule, int]:
    """The schedule after a step that may need a skew of some loops by one around them: the first of these that does.

    It says by how many iterations that is. Raises UnfitError, in which `what` is the step in words.
    """
    for skew in skews:
        made = copy(s)
        with suppress(UnfitError, IllegalTransform, ScheduleError):
            for name in inner if skew else ():
                made.skew(outer, name, skew)
            step(made)
            return made, skew
    raise UnfitError(f"no skew makes it legal to {what}")


def side_by_side(s: Schedule, loops: Sequence[str], count: int) -> tuple[Schedule, int]:
    """The schedule with so many iterations of the first of some loops at once, each as little behind as is legal.

    It says how many iterations of the second one that is. Raises UnfitError.
    """
    outer, inner, *_ = loops

    def jam(made: Schedule) -> None:
        made.unroll_jam(outer, count)
        where_legal(made.scalar_replace, [loops[-1]])

    return after_skew(s, outer, [inner], SKEWS, jam, f"run several iterations of {outer} at once")
