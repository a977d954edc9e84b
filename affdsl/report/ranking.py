"""What was tried, ranked by what it gains."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from affdsl.report.shown import ShownTry
from affdsl.report.trials import Outcome, Tried
from affdsl.report.tries import Try
from affdsl.report.verdicts import Verdict
from affdsl.seeing.table import seconds_text

GAINS = 0.95
"""What takes such a part of the time of the kernel, or less, gains something."""


def ranked(came: Outcome, said: Sequence[Verdict]) -> tuple[list[ShownTry], list[ShownTry]]:
    """What gains something, and the rest: `optimize()` first, and then what gains most beside it."""
    good: list[ShownTry] = []
    rest: list[ShownTry] = []
    best = min(came.seconds, came.optimized or came.seconds)
    first = [each for each in came.tried if each.of.kind == "optimize"]
    others = [each for each in came.tried if each.of.kind != "optimize"]
    for each in (*first, *sorted(others, key=lambda t: t.seconds if t.seconds is not None else float("inf"))):
        needed = came.seconds if each in first else best
        gains = each.seconds is not None and 0 < each.seconds < GAINS * needed
        (good if gains else rest).append(_try(each, came, said))
    return good, rest


def _try(of: Tried, came: Outcome, said: Sequence[Verdict]) -> ShownTry:
    loops = dict.fromkeys((v.loop.key, v.loop.name) for v in said for c in of.of.causes if c in v.causes)
    if not of.seconds:
        return _shown(of.of, "", of.why_not, 0, loops)
    gain = f"{came.seconds / of.seconds:.2f} times as fast"
    time = f"{seconds_text(of.seconds)} instead of {seconds_text(came.seconds)}"
    if came.optimized and of.of.kind != "optimize":
        gain += f", {came.optimized / of.seconds:.2f} times as fast as optimize() alone"
        time += f"; optimize() alone takes {seconds_text(came.optimized)}"
    return _shown(of.of, gain, time, round(100 * min(1.0, of.seconds / came.seconds)), loops)


def _shown(of: Try, gain: str, time: str, percent: int, loops: Mapping[tuple[str, str], None]) -> ShownTry:
    return ShownTry(of.kind, of.title, gain, time, percent, of.why, of.code, (*loops,))
