"""Loops taken apart: each statement in loops of its own, as far as that is legal."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from functools import partial

from affdsl.optimize.attempts import names_made, where_legal
from affdsl.optimize.nests import made_inside, used_again
from affdsl.schedule.loops import ScheduleError
from affdsl.schedule.schedule import IllegalTransform, Schedule


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
