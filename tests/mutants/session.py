"""A run of pytest that judges faults: which tests call the function of each, and does one of them fail?"""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from types import FrameType

import pytest

from tests.harness.processes import Death, answers
from tests.mutants.mutate import ROOT, Mutant
from tests.mutants.planting import plant

SLOWER, LONGER = 20, 60
"""A test with a fault does not end if it takes so many times as long as without one, and so many seconds more."""

Place = tuple[str, str]
"""A file and the qualified name of a function in it."""


@dataclass(frozen=True)
class Known:
    """What the run without a fault says of a test."""

    seconds: float
    places: frozenset[Place]


@dataclass
class Judge:
    """A plugin that runs no test for itself, but each fault's tests until one fails."""

    mutants: Sequence[Mutant]
    processes: int
    unnoticed: list[Mutant] = field(default_factory=list)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """In place of the usual loop."""
        if session.testsfailed:
            raise pytest.UsageError("not all tests can be collected")
        say = session.config.get_terminal_writer().line
        session.config.pluginmanager.unregister(name="terminalreporter")
        since = time.monotonic()
        known = _without_a_fault(session, self.mutants, self.processes)
        say(f"{len(known)} tests in {time.monotonic() - since:.0f} s")
        noticed_by = answers(lambda mutant: _timed(session, mutant, known), self.mutants, self.processes)
        for number, (mutant, answer) in enumerate(zip(self.mutants, noticed_by, strict=True)):
            noticed, seconds = (f"({answer})", 0.0) if isinstance(answer, Death) else answer
            say(f"{number:3} {seconds:5.0f} s  {mutant}\n          {noticed or 'NOT NOTICED'}")
            if not noticed:
                self.unnoticed.append(mutant)
        say(f"{len(self.mutants) - len(self.unnoticed)} of {len(self.mutants)} noticed")
        for mutant in self.unnoticed:
            say(f"not noticed: {mutant}")
        return True


def _without_a_fault(session: pytest.Session, mutants: Sequence[Mutant], processes: int) -> dict[str, Known]:
    """How long each test takes, and which functions of the files with faults it calls."""
    watched = {str(ROOT / m.file): m.file for m in mutants}
    shares = [session.items[k :: processes * 8] for k in range(processes * 8)]
    known: dict[str, Known] = {}
    for answer in answers(lambda share: [_watched(item, watched) for item in share], shares, processes):
        if isinstance(answer, Death):
            raise pytest.UsageError(f"without a fault {answer}")
        for name, seconds, failed, places in answer:
            if failed:
                raise pytest.UsageError(f"{name} fails without a fault:\n{failed}")
            known[name] = Known(seconds, frozenset(places))
    return known


def _watched(item: pytest.Item, watched: dict[str, str]) -> tuple[str, float, str, list[Place]]:
    places: set[Place] = set()

    def called(frame: FrameType, event: str, argument: object) -> None:
        code = frame.f_code
        if code.co_filename in watched:
            places.add((watched[code.co_filename], code.co_qualname.split(".<locals>")[0]))

    since = time.monotonic()
    sys.settrace(called)
    try:
        failed = _failure(item)
    finally:
        sys.settrace(None)
    return item.nodeid, time.monotonic() - since, failed, sorted(places)


def _timed(session: pytest.Session, mutant: Mutant, known: dict[str, Known]) -> tuple[str, float]:
    since = time.monotonic()
    return _noticed(session, mutant, known), time.monotonic() - since


def _noticed(session: pytest.Session, mutant: Mutant, known: dict[str, Known]) -> str:
    """The first test that fails with a fault; "" if none does."""
    place = (mutant.file, mutant.function)
    items = [item for item in session.items if place in known[item.nodeid].places]
    if not plant(mutant):
        return ""
    for item in sorted(items, key=lambda item: known[item.nodeid].seconds):
        seconds = known[item.nodeid].seconds * SLOWER + LONGER
        signal.signal(signal.SIGALRM, lambda *_, item=item: _too_long(item))
        signal.alarm(int(seconds))
        failed = _failure(item)
        signal.alarm(0)
        if failed:
            return item.nodeid
    return ""


def _too_long(item: pytest.Item) -> None:
    raise TimeoutError(f"{item.nodeid} does not end")


def _failure(item: pytest.Item) -> str:
    """What a test that fails says; "" if it passes. It runs as pytest runs it, with the warnings that it may give."""
    reports = Reports()
    item.config.pluginmanager.register(reports)
    try:
        item.ihook.pytest_runtest_protocol(item=item, nextitem=None)
    finally:
        item.config.pluginmanager.unregister(reports)
    return "\n".join(report.longreprtext or "failed" for report in reports.failed)


class Reports:
    """A plugin that keeps what pytest has to say of tests that fail."""

    def __init__(self) -> None:
        self.failed: list[pytest.TestReport] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Called for the set-up, the call and the end of each test."""
        if report.failed:
            self.failed.append(report)
