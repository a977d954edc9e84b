"""What `optimize()` considers for each outermost loop: the recipes that fit, with what the model expects of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from copy import copy
from time import monotonic

from affdsl.errors import AffdslError
from affdsl.frozen import FrozenValue
from affdsl.kernel import Kernel
from affdsl.optimize import recipes
from affdsl.optimize.forecast import cycles_of
from affdsl.optimize.machine import Machine
from affdsl.optimize.optimizer import started, trying
from affdsl.optimize.options import RECIPES, Options
from affdsl.optimize.search import AS_WRITTEN, Candidate
from affdsl.optimize.trial import spelled
from affdsl.optimize.unfit import UnfitError, in_one_line
from affdsl.passes.analysis.iterations import UncountedError
from affdsl.progress import progress
from affdsl.schedule.loops import LoopRow, ScheduleError
from affdsl.schedule.schedule import IllegalTransform, Schedule


class Row(FrozenValue):
    """One candidate; `taken` if it is the first that the model does not expect to be slower than without it."""

    name: str
    time: str
    said: str
    taken: bool = False


class ConsideredNest(FrozenValue):
    """An outermost loop with its candidates."""

    name: str
    place: str
    rows: tuple[Row, ...]


def considered(
    kernel: Kernel, sizes: Mapping[str, int], options: Options, machine: Machine, seconds: float
) -> tuple[ConsideredNest, ...]:
    """The candidates for each outermost loop of a kernel as it was written, with the time of a call by the model.

    After so many seconds no other candidate is made.
    """
    end = monotonic() + seconds
    with trying(), progress(f"looking at what fits {kernel.name}"):
        s = started(kernel.written)
        outermost = [row for row in s.loops() if row.depth == 0]
        return tuple(
            ConsideredNest(row.names[0], str(row.location or ""), tuple(_rows(s, row, sizes, options, machine, end)))
            for row in outermost
        )


def _rows(
    s: Schedule, row: LoopRow, sizes: Mapping[str, int], options: Options, machine: Machine, end: float
) -> Iterator[Row]:
    yield Row(AS_WRITTEN, _time(s.kernel(), sizes, machine), "")
    taken = False
    for name, recipe in recipes.FOR_LOOPS.items():
        called = f"{name}: {RECIPES[name]}"
        if monotonic() > end:
            yield Row(called, "", "not looked at: out of time")
            continue
        try:
            made, notes = recipe(copy(s), row.names[0], options)
        except UnfitError as why:
            yield Row(called, "", str(why) or "it does not fit")
        except (IllegalTransform, ScheduleError) as error:
            yield Row(called, "", f"a step of it is refused: {in_one_line(error)}")
        else:
            if not notes:
                yield Row(called, "", "it does not fit")
                continue
            if made.module is s.module or not made.steps:
                yield Row(called, "", "; ".join(map(str, notes)))
                continue
            candidate = Candidate(name, made, s, tuple(notes), machine)
            is_first = not taken and not candidate.is_slower
            taken = taken or is_first
            ratio = f" ({candidate.ratio:.2g} times as long with the usual sizes)" if candidate.ratio else ""
            yield Row(called, _time(made.kernel(), sizes, machine) + ratio, "; ".join(map(str, notes)), is_first)


def _time(kernel: Kernel, sizes: Mapping[str, int], machine: Machine) -> str:
    with suppress(UncountedError, AffdslError):
        return spelled(cycles_of(kernel, sizes, machine) / machine.clock)
    return "data decides"
