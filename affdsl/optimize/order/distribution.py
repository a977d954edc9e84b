"""Loops taken apart: each statement in loops of its own, as far as that is legal."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from affdsl.optimize.nests import made_inside, used_again
from affdsl.schedule.loops import ScheduleError
from affdsl.schedule.schedule import IllegalTransform, Schedule


def in_memory(s: Schedule, loops: Sequence[str]) -> None:
    """Sums that loops carry kept in memory, and what each iteration has for itself kept for all of them."""
    for name in reversed(loops):
        with suppress(IllegalTransform, ScheduleError):
            s.demote(name)
    counters = {row.iv: row.names[0] for row in s.loops() if row.names[0] in loops}
    for buffer, around in made_inside(s.function, counters):
        with suppress(IllegalTransform, ScheduleError):
            s.merge(buffer)
            continue
        for iv in reversed(around):
            with suppress(IllegalTransform, ScheduleError):
                s.expand(buffer, counters[iv])
    for array, iv in used_again(s, counters):
        with suppress(IllegalTransform, ScheduleError):
            s.copy(array, counters[iv])
            s.expand(str(dict(s.steps[-1].call.options)["name"]), counters[iv])


def distribute(s: Schedule, loops: Sequence[str]) -> None:
    """Take loops apart, the innermost first; the schedule given is changed."""
    for name in reversed(loops):
        with suppress(IllegalTransform, ScheduleError):
            s.distribute(name)
