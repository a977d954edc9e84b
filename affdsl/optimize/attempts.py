"""Steps that a strategy takes where they are legal, and does without elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress

from affdsl.optimize.unfit import UnfitError
from affdsl.schedule.loops import ScheduleError
from affdsl.schedule.schedule import IllegalTransform, Schedule


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
