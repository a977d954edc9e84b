"""What each thing to try would gain: built and timed in turn with the kernel, or expected by the model."""

from __future__ import annotations

from collections.abc import Sequence
from time import monotonic

import numpy as np

from affdsl.errors import AffdslError
from affdsl.frozen import Frozen
from affdsl.kernel import Kernel
from affdsl.optimize import trial as timing
from affdsl.optimize.forecast import forecast
from affdsl.optimize.trial import Trial
from affdsl.passes.analysis.iterations import UncountedError
from affdsl.progress import progress
from affdsl.report.subject import Subject
from affdsl.report.tries import Try

BUDGET = 60.0
"""So many seconds are spent on it, about: after two thirds of them nothing else is built."""
ROUNDS, MOST_ROUNDS, LONG_ENOUGH = 10, 60, 3.0
"""How often each is timed in turn with the others, at least and at most, and for how many seconds all together. The
fastest counts, since others may be in the way."""
LOOKS = 2
"""So many calls are timed before, of which one compiles."""
HOPELESS = 3.0
"""What takes so many times as long as the kernel is not timed again."""


class Tried(Frozen):
    """What came of something to try: the seconds of a call, or why there are none."""

    of: Try
    seconds: float | None
    why_not: str = ""


class Outcome(Frozen):
    """The seconds of a call of the kernel itself, and of everything that was tried."""

    seconds: float
    tried: tuple[Tried, ...]

    @property
    def optimized(self) -> float | None:
        """How long the kernel takes that `optimize()` makes, if that was tried."""
        return next((each.seconds for each in self.tried if each.of.kind == "optimize"), None)


def outcome(of: Subject, all: Sequence[Try], budget: float = BUDGET) -> Outcome:
    """What comes of everything that is to be tried."""
    return _measured(of, all, budget) if of.is_measured else _expected(of, all, budget)


def _expected(of: Subject, all: Sequence[Try], budget: float) -> Outcome:
    """By the model; nothing runs."""
    end = monotonic() + budget
    found: list[Tried] = []
    try:
        own = forecast(of.kernel, of.sizes).seconds
    except UncountedError as why:
        return Outcome(0.0, tuple(Tried(each, None, str(why)) for each in all))
    with progress(f"what {of.kernel.name} would gain", len(all)) as bar:
        for each in all:
            bar.at(each.title)
            if monotonic() > end:
                found.append(Tried(each, None, "not tried: out of time"))
                continue
            try:
                made = each.make()
                found.append(
                    Tried(each, None, "it does not fit here")
                    if made is None
                    else Tried(each, forecast(made.kernel, of.sizes).seconds)
                )
            except (AffdslError, UncountedError) as error:
                found.append(Tried(each, None, _first_line(error)))
            bar.advance()
    return Outcome(own, tuple(found))


def _measured(of: Subject, all: Sequence[Try], budget: float) -> Outcome:
    """Each is compiled and called on copies of the arguments, in turn with the kernel itself."""
    begun = monotonic()
    own = of.kernel, _trial(of, tuple(of.call.values))
    first = _look(*own)
    running: dict[Try, tuple[Kernel, Trial]] = {}
    times: dict[Try, float] = {}
    why: dict[Try, str] = {}
    with progress(f"trying what {of.kernel.name} would gain", len(all) + 1) as bar:
        for each in all:
            bar.at(each.title)
            if monotonic() - begun > budget * 2 / 3:
                why[each] = "not tried: out of time"
                continue
            try:
                made = each.make()
                if made is None:
                    why[each] = "it does not fit here"
                    continue
                values = tuple(of.call.values) if made.convert is None else made.convert(tuple(of.call.values))
                trial = own[1] if made.convert is None else _trial(of, values)
                times[each] = _look(made.kernel, trial)
                running[each] = made.kernel, trial
            except (AffdslError, TypeError, ValueError) as error:
                if not isinstance(error, AffdslError):
                    raise
                why[each] = _first_line(error)
            bar.advance()
        bar.at("all in turn")
        close = {each: made for each, made in running.items() if times[each] < HOPELESS * first}
        turning = monotonic()

        def is_over(turns: int) -> bool:
            is_long = turns >= ROUNDS and monotonic() - turning > LONG_ENOUGH
            return turns == MOST_ROUNDS or is_long or monotonic() > begun + budget

        found = timing.in_turn({None: own, **close}, timing.calls_for(first), is_over)
        times |= {each: min(seconds) for each, seconds in found.items() if each is not None}
        bar.advance()
    return Outcome(min(found[None]), tuple(Tried(each, times.get(each), why.get(each, "")) for each in all))


def _look(kernel: Kernel, trial: Trial) -> float:
    timing.seconds(kernel, trial)
    return min(timing.seconds(kernel, trial) for _ in range(LOOKS))


def _trial(of: Subject, values: Sequence[object]) -> Trial:
    """Copies of arguments, each with what was in the array in the beginning."""
    given = tuple(np.array(x, order="K") if isinstance(x, np.ndarray) else x for x in values)
    return Trial(of.sizes, tuple(x for x in values if isinstance(x, np.ndarray) and x.ndim), given)


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
