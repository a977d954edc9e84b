"""Times the most promising choices on arrays made for that, and keeps the fastest: `Kernel.optimize(tune=True)`.

What was found is kept in the cache of compiled kernels: numbers as JSON.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass, field, replace
from math import inf
from statistics import median
from time import monotonic
from typing import Any

from affdsl.codegen.cache import default_cache
from affdsl.codegen.jit import is_checked
from affdsl.codegen.native import runs_here
from affdsl.codegen.toolchain import machine
from affdsl.errors import AffdslError, ProgramError, ProgramTypeError
from affdsl.explained import Note
from affdsl.frozen import FrozenValue
from affdsl.kernel import Kernel
from affdsl.lang.source import problem
from affdsl.optimize import decision
from affdsl.optimize import trial as timing
from affdsl.optimize.decision import Decided
from affdsl.optimize.forecast import cycles_of, expected
from affdsl.optimize.machine import usual
from affdsl.optimize.optimizer import decided
from affdsl.optimize.options import (
    AS_IT_WAS,
    USUAL,
    Choices,
    Options,
    Watched,
    to_be_timed,
    together,
    with_other_numbers,
)
from affdsl.optimize.trial import Trial, growing, require_runs, require_tunable, spelled, trial
from affdsl.passes.analysis.iterations import UncountedError
from affdsl.progress import progress

MOST = 8
"""How many candidates are timed at most."""
KIND = "tuned"
"""The end of the names of files."""
BUDGET = 60.0
"""So many seconds tuning takes, about: it begins with no candidate after two thirds of them, and no round after all."""
CLEARLY = 1.02
"""So many times faster than what recipes choose by themselves is a choice that is taken instead."""
CLOSE = 1.5
"""Those that take so many times longer than the fastest, when they are timed first, are not timed again."""
ROUNDS = 9
"""How often each kernel is timed in turn with the others."""
LOOKS = 3
"""So many calls are timed at first; the fastest counts, since others may be in the way."""
LONG = 0.02
"""Sizes that nobody gave grow no more if a call takes so many seconds."""
TOO_LONG = 0.1
"""The kernel as it was is not timed if the optimized one takes so many seconds for a call: it may take a hundred times
as many, and nothing can end a call."""


def tuned(kernel: Kernel, options: Options, wish: object, *, others: bool = True) -> Kernel:
    """The kernel with the fastest choices, which says what came of timing them.

    Parameters
    ----------
    wish
        The sizes to tune for, by name; True where they are for the tuner to choose.
    others
        Whether other choices than those of recipes are timed, or the loops as written alone.

    Raises ProgramError where the kernel cannot be timed on arrays that are made for it.
    """
    sizes = _sizes(kernel, wish, "tune" if others else "sizes")
    if not runs_here(options.target):
        why = f"cannot time {kernel.name} for {options.target.name}: this machine has not its instructions"
        raise problem(ProgramError, why, "tune it, or optimize it for sizes, on a machine that has them")
    require_tunable(kernel)
    given = None if sizes is None else trial(kernel, sizes)
    key = key_of(kernel, options, None if given is None else given.sizes)
    known = recall(kernel, key)
    if not others:
        key = (*key, "beside the loops as written")
        known = recall(kernel, key) if known is None or not known.times else known
    if known is not None and known.times:
        outcome, end = known, "timed before, and remembered: nothing was timed now"
        best = decision.decide(kernel, _with(options, _best(known)))
    else:
        search = Search(kernel, options, given, others)
        search.run()
        outcome, end = search.outcome(), "timed now, and remembered for other processes"
        best = search.made[_best(outcome)]
        if search.is_interrupted:
            end = "interrupted, so that the rest was not timed, and nothing is remembered"
            return best.kernel(kernel, _said(outcome, end, others=others))
        remember(outcome, key)
        decision.remember(kernel, _with(options, _best(outcome)), best)
    return best.kernel(kernel, _said(outcome, end, others=others), *_expected(best.kernel(kernel), outcome))


def _sizes(kernel: Kernel, wish: object, keyword: str) -> Mapping[str, object] | None:
    """The sizes that were given; None if there are none."""
    if wish is True and keyword == "tune":
        return None
    if isinstance(wish, Mapping):
        return wish
    they = f'sizes, as in {keyword}={{"N": 1000}}'
    raise problem(
        ProgramTypeError,
        f"cannot time {kernel.name}: {keyword} is {wish!r}",
        f"it is True, or {they}" if keyword == "tune" else f"it is {they}",
    )


def _with(options: Options, choices: Choices) -> Options:
    """The options with some choices."""
    most = choices.most_threads or options.threads
    return replace(options, choices=choices, threads=min(options.threads, most))


def _best(outcome: Outcome) -> Choices:
    """The fastest choices; those of recipes if no other ones are clearly faster."""
    if not outcome.times:
        return USUAL
    best = min(outcome.times, key=lambda each: outcome.times[each])
    usual = outcome.times.get(USUAL)
    return best if usual is None or usual > CLEARLY * outcome.times[best] else USUAL


def _said(outcome: Outcome, end: str, *, others: bool) -> Note:
    """What came of it, the fastest first."""
    best = _best(outcome)
    sizes = ", ".join(f"{name} = {n}" for name, n in outcome.sizes.items())
    where = f" for {sizes}" if sizes else ""
    took = f", {spelled(outcome.times[best])} a call" if best in outcome.times else ""
    slower = sorted(outcome.times.items(), key=lambda each: each[1])
    times = [f"{spelled(seconds)}: {choices}" for choices, seconds in slower if choices != best]
    refused = [f"not timed: {choices}; {why}" for choices, why in outcome.refused.items()]
    return Note((), f"{'tuned' if others else 'timed'}{where}: {best}{took}", more=(*times, *refused, end))


def _expected(kernel: Kernel, outcome: Outcome) -> list[Note]:
    """What the model expected of the fastest, and how far that and its time are from the roofline.

    Nothing if a KeyboardInterrupt comes while the machine is measured: the choice is made.
    """
    if not outcome.times:
        return []
    try:
        first, *more = expected(kernel, outcome.sizes, outcome.times[_best(outcome)])
        return [Note((), first, more=tuple(line.removeprefix("    ") for line in more))]
    except KeyboardInterrupt:
        return []


@dataclass(eq=False)
class Search:
    """The candidates that were built so far, and how long they take."""

    kernel: Kernel
    options: Options
    trial: Trial | None
    """What they are timed on; None until it is known how large it is to be."""
    others: bool = True
    """Whether there are other candidates than what recipes choose, and the loops as written."""
    made: dict[Choices, Decided] = field(default_factory=dict)
    times: dict[Choices, float] = field(default_factory=dict)
    refused: dict[Choices, str] = field(default_factory=dict)
    is_interrupted: bool = False

    def outcome(self) -> Outcome:
        """What is known now."""
        return Outcome({} if self.trial is None else self.trial.sizes, self.times, self.refused)

    def run(self) -> None:
        """Build candidates and time them; a KeyboardInterrupt ends it once the usual one is built."""
        end = monotonic() + BUDGET
        if self.trial is not None:
            require_runs(self.kernel, self.trial)
        with progress(f"tuning {self.kernel.name}", MOST + 2) as bar:
            watched = Watched()
            self.made[USUAL] = decided(self.kernel, _with(self.options, watched))
            asked = frozenset(watched.asked)
            try:
                kernels: dict[Choices, Kernel] = {}
                for choices in self._candidates(asked):
                    if monotonic() > end - BUDGET / 3:
                        break
                    bar.at(str(choices))
                    made = self._timed(choices)
                    if made is not None:
                        kernels[choices] = made
                        bar.advance()
                bar.at("the best in turn")
                self._in_turn(kernels, end)
                bar.advance()
            except KeyboardInterrupt:
                self.is_interrupted = True

    def _candidates(self, asked: Set[str]) -> Iterator[Choices]:
        """The usual choices, as many others as are to be timed, and the two best numbers together."""
        yield USUAL
        if not self.others:
            yield AS_IT_WAS
            return
        yield from to_be_timed(asked, self.options.threads)
        for choices in self._promising(with_other_numbers(asked), monotonic() + BUDGET / 4):
            if len(self.times) == MOST:
                break
            yield choices
        both = together(self.times)
        if both is not None:
            yield both

    def _promising(self, found: Sequence[Choices], end: float) -> list[Choices]:
        """Those choices that make another kernel, the ones first that the model expects to be fast, until some time."""
        cycles: dict[Choices, float] = {}
        for choices in found:
            if monotonic() > end:
                break
            if self._is_new(choices) and self.trial is not None:
                with suppress(UncountedError):
                    kernel = self.made[choices].kernel(self.kernel)
                    cycles[choices] = cycles_of(kernel, self.trial.sizes, usual(self.options.target))
        return sorted((each for each in found if each in self.made), key=lambda each: cycles.get(each, inf))

    def _is_new(self, choices: Choices) -> bool:
        """Whether what comes of some choices comes of no others; it is kept then."""
        made = decided(self.kernel, _with(self.options, choices))
        if any(str(made.schedule()) == str(other.schedule()) for other in self.made.values()):
            return False
        self.made[choices] = made
        return True

    def _timed(self, choices: Choices) -> Kernel | None:
        """A candidate, after a first look at how long it takes; None if it is none."""
        if choices == AS_IT_WAS and self.times.get(USUAL, 0.0) > TOO_LONG:
            self.refused[choices] = f"a call that is optimized takes {spelled(self.times[USUAL])} already"
            return None
        if choices not in self.made and not self._is_new(choices):
            return None
        kernel = self.made[choices].kernel(self.kernel)
        try:
            on = self._large_enough(kernel) if self.trial is None else self.trial
            timing.seconds(kernel, on)  # it is compiled now
            self.times[choices] = min(timing.seconds(kernel, on) for _ in range(LOOKS))
        except AffdslError as error:
            if choices == USUAL:
                raise
            self.refused[choices] = str(error).splitlines()[0]
            return None
        return kernel

    def _in_turn(self, kernels: Mapping[Choices, Kernel], end: float) -> None:
        """Time the kernels again that are among the fastest."""
        assert self.trial is not None
        least = min(self.times.values())
        close = {
            each: (kernel, self.trial)
            for each, kernel in kernels.items()
            if each == USUAL or self.times[each] <= CLOSE * least
        }
        found = timing.in_turn(close, timing.calls_for(least), lambda turns: turns == ROUNDS or monotonic() > end)
        self.times |= {each: median(times) for each, times in found.items()}

    def _large_enough(self, kernel: Kernel) -> Trial:
        """Arguments whose arrays do not fit into the second cache, unless a call takes long before."""
        caches = self.options.target.caches
        beyond = 2 * (caches[1] if len(caches) > 1 else 1 << 20)
        try:
            for made in growing(self.kernel):
                require_runs(self.kernel, made)
                self.trial = made
                timing.seconds(kernel, made)
                if made.bytes > beyond or all(timing.seconds(kernel, made) > LONG for _ in range(LOOKS)):
                    break
        except (TypeError, ValueError) as error:  # of a call
            if not isinstance(error, AffdslError):
                raise
            shown = ", ".join(f'"{name}": ...' for name in made.sizes)
            why = f"cannot time {self.kernel.name} for sizes that are all alike: {str(error).splitlines()[0]}"
            raise problem(ProgramError, why, f"say for which: tune={{{shown}}}") from None
        assert self.trial is not None
        return self.trial


class Outcome(FrozenValue):
    """What came of timing some choices.

    Attributes
    ----------
    sizes
        The sizes for which they were timed, by name.
    times
        The seconds of a call.
    refused
        Why others have no times.
    """

    sizes: Mapping[str, int]
    times: Mapping[Choices, float]
    refused: Mapping[Choices, str]


def key_of(kernel: Kernel, options: Options, sizes: Mapping[str, int] | None) -> tuple[str, ...]:
    """What an outcome holds for: a kernel by its content, how it is optimized and compiled, and a class of sizes.

    Sizes with as many binary digits are of one class; None is a class of its own, in which sizes are not given.
    """
    how = replace(options, choices=USUAL), is_checked(kernel.program)
    classes = None if sizes is None else sorted((name, n.bit_length()) for name, n in sizes.items())
    return str(kernel.module), repr(how), repr(classes), default_cache().compiler().identity, machine()


def recall(kernel: Kernel, key: Sequence[str]) -> Outcome | None:
    """What was kept; None if that is nothing. A file that holds something else is reported, and taken for nothing."""
    cache = default_cache()
    content = cache.known(KIND, *key)
    if content is None:
        return None
    found = _outcome(content)
    if found is None:
        what = f"what the cache {cache.folder} has of tuning {kernel.name} is no record of it, so it is tuned again"
        warnings.warn(what, stacklevel=2)
    return found


def remember(outcome: Outcome, key: Sequence[str]) -> None:
    """Keep an outcome for this process and others."""
    times = [[_plain(choices), seconds] for choices, seconds in outcome.times.items()]
    refused = [[_plain(choices), why] for choices, why in outcome.refused.items()]
    content = json.dumps({"sizes": dict(outcome.sizes), "times": times, "refused": refused})
    default_cache().keep(content.encode(), KIND, *key)


def _plain(choices: Choices) -> dict[str, object]:
    """The numbers that are not the usual ones, and what is left out."""
    return {**choices.numbers(), **({"left_out": list(choices.left_out)} if choices.left_out else {})}


def _outcome(content: bytes) -> Outcome | None:
    """The outcome that a file holds; None if it holds none, or choices that there are no more."""
    with suppress(ValueError, TypeError, LookupError):
        kept = json.loads(content)
        times, refused = ({_choices(plain): of for plain, of in kept[key]} for key in ("times", "refused"))
        return Outcome(kept["sizes"], times, refused)
    return None


def _choices(plain: dict[str, Any]) -> Choices:
    """The choices of plain data. Raises TypeError for a number that recipes do not choose."""
    return Choices(**{**plain, "left_out": tuple(plain.get("left_out", ()))})
