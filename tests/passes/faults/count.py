"""Plants faults until enough of them change what a program does, and counts which of these validation finds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random

from affdsl.ir.dialects.func import Module
from affdsl.passes.validation import Report, validate
from tests.passes.faults.planting import FAULTS, planted
from tests.passes.faults.programs import Case, cases
from tests.passes.faults.real import changes

ITERATIONS = 40_000
"""For so many iterations each program before runs where nothing is proved: fewer than usual, so that it takes less."""


@dataclass
class Tally:
    """What was found: of real faults, and of what transformations made without one.

    Attributes
    ----------
    found
        The class of each fault that was found, and how.
    missed
        The class of each other one, and where it is.
    wrongly_proved
        Of the missed ones those that were proved to be none.
    no_fault
        How many changes had no effect, as far as runs on all small sizes show.
    plain
        How many of the real ones stand in programs as they are.
    right, proved, ran
        How many programs were transformed without a fault, and of how many it was proved, or runs agree.
    """

    found: list[tuple[str, str]] = field(default_factory=list)
    missed: list[tuple[str, str]] = field(default_factory=list)
    wrongly_proved: list[str] = field(default_factory=list)
    no_fault: int = 0
    plain: int = 0
    right: int = 0
    proved: int = 0
    ran: int = 0
    false_alarms: list[str] = field(default_factory=list)

    @property
    def planted(self) -> int:
        """How many real faults were planted."""
        return len(self.found) + len(self.missed)


def tally(random: Random, count: int, say: Callable[[str], object] | None = None) -> Tally:
    """Plant so many real faults, of each class about as many."""
    result = Tally()
    for case in cases(random):
        if result.planted >= count:
            break
        if case.steps:
            _unfaulted(case, result)
        so_far = Counter(fault for fault, _ in (*result.found, *result.missed))
        for fault in sorted(FAULTS, key=lambda name: so_far[name])[:2]:
            made = planted(case.after, fault, random)
            if made is not None and str(made) != str(case.after) and result.planted < count:
                said = _faulted(case, fault, made, result)
                if say is not None:
                    say(f"{case.title}: {fault}: {said}")
    return result


def _unfaulted(case: Case, result: Tally) -> None:
    report = validate(case.before, case.after, most_iterations=ITERATIONS)
    result.right += 1
    if report.failure is not None:
        result.false_alarms.append(f"{case.title}: {report.failure}")
    elif report.functions and all(each.answer.verdict == "proved" for each in report.functions):
        result.proved += 1
    elif any(each.runs for each in report.functions):
        result.ran += 1


def _faulted(case: Case, fault: str, made: Module, result: Tally) -> str:
    """Whether a fault is real, and whether it is found."""
    report = validate(case.before, made, most_iterations=ITERATIONS)
    if report.failure is None and not changes(case.before, made):
        result.no_fault += 1
        return f"changes nothing; {report}"
    result.plain += not case.steps
    if report.failure is not None:
        how = _how(report)
        result.found.append((fault, how))
        return f"{how}: {report}"
    result.missed.append((fault, f"{case.title}: {report}"))
    if any(each.answer.verdict == "proved" for each in report.functions):
        result.wrongly_proved.append(f"{fault}: {case.title}")
    return f"missed: {report}"


def _how(report: Report) -> str:
    assert report.failed is not None
    verdict = report.failed.answer.verdict
    return {"races": "proof of a race", "differs": "proof, shown by a run"}.get(verdict, "runs alone")
