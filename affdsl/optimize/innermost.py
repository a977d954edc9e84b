"""The first recipe that fits an innermost loop; where none does, what runs without vectors."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from copy import copy

from affdsl.optimize.nests import Nest, nest_called
from affdsl.optimize.options import Options
from affdsl.optimize.registers import unrolling
from affdsl.optimize.size import MOST_MORE, is_long
from affdsl.optimize.unfit import UnfitError
from affdsl.schedule.loops import ScheduleError
from affdsl.schedule.schedule import IllegalTransform, Schedule

Notes = list[str]
OfNest = Callable[[Schedule, Nest, Options], tuple[Schedule, str]]
"""A recipe for a nest: the schedule after it, and what it did. Raises UnfitError where it does not fit."""


def first_that_fits(
    s: Schedule, name: str, recipes: Iterable[OfNest], options: Options
) -> tuple[Schedule, Notes, bool]:
    """The schedule after the first recipe that fits an innermost loop, what it did or why none did, and if one did."""
    nest = nest_called(s, name)
    if nest is None or nest.has_vectors:
        return s, [], False
    why: list[str] = []
    for recipe in recipes:
        try:
            made, said = recipe(s, nest, options)
        except UnfitError as error:
            why += [str(error)] * (str(error) not in [*why, ""])
        else:
            if not is_long(made, s):
                return made, [f"{nest.place}: {said}"], True
            why.append(f"its code would be longer by more than {MOST_MORE} operations")
    with suppress(UnfitError):
        s, several = unrolling.take_rows(s, nest, options)
        return s, [f"{nest.place}: one iteration after the other, {several}; {'; '.join(why)}"], True
    said, fits = "as it was", False
    if any(a.buffer.kind == "local" and not a.buffer.rank for a in nest.accesses):
        kept = copy(s)
        with suppress(IllegalTransform, ScheduleError):
            kept.scalar_replace(name)
            s, said, fits = kept, "one iteration after the other, variables in registers", True
    with suppress(UnfitError):
        s, several = unrolling.take(s, nest)
        said, fits = f"one iteration after the other, {several}", True
    return s, [f"{nest.place}: {said}; {'; '.join(why)}"], fits
