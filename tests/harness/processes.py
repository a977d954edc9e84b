"""Asks questions in processes that may die: the answers come in order, and of a death how and during what."""

from __future__ import annotations

import faulthandler
import os
import resource
import traceback
import warnings
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from typing import Any, TypeVar

Q = TypeVar("Q")
A = TypeVar("A")

_FORK = get_context("fork")
_to_parent: Connection | None = None


@dataclass(frozen=True)
class Death:
    """In place of an answer: how the process ended, or what it raised, and what it was about to do."""

    how: str
    doing: str = ""
    status: int | None = None

    def __str__(self) -> str:
        return f"{self.how}: {self.doing}" if self.doing else self.how


@dataclass
class _Worker:
    """A process, the number of the question that it is asked, this one and those behind it."""

    process: Any
    number: int
    questions: Sequence[Any]
    doing: str = ""


def doing(what: str) -> None:
    """Say what comes next, in case that this process dies of it."""
    if _to_parent is not None:
        _to_parent.send((None, what))


def answers(ask: Callable[[Q], A], questions: Sequence[Q], processes: int = 1, chunk: int = 1) -> Iterator[A | Death]:
    """The answer to each question, so many of them from one process; where it dies, another one goes on behind."""
    waiting = deque((k, questions[k : k + chunk]) for k in range(0, len(questions), chunk))
    running: dict[Connection, _Worker] = {}
    found: dict[int, A | Death] = {}
    given = 0
    try:
        while waiting or running:
            while waiting and len(running) < processes:
                ours, worker = _started(ask, *waiting.popleft())
                running[ours] = worker
            for ours in wait([*running]):
                assert isinstance(ours, Connection)
                if not _heard(ours, running[ours], found):
                    worker = running.pop(ours)
                    if worker.questions:
                        waiting.appendleft((worker.number, worker.questions))
            while given in found:
                yield found.pop(given)
                given += 1
    finally:
        for worker in running.values():
            worker.process.kill()


def _started(ask: Callable[[Q], A], number: int, questions: Sequence[Q]) -> tuple[Connection, _Worker]:
    ours, theirs = _FORK.Pipe(duplex=False)
    process = _FORK.Process(target=_serve, args=(ask, questions, theirs))
    with warnings.catch_warnings():
        # Python 3.12 warns of a fork beside threads; this child runs no Python that could wait for one of them.
        warnings.simplefilter("ignore", DeprecationWarning)
        process.start()
    theirs.close()
    return ours, _Worker(process, number, questions)


def _heard(ours: Connection, worker: _Worker, found: dict[int, A | Death]) -> bool:
    """Take in what a process says; whether it goes on."""
    try:
        answer, worker.doing = ours.recv()
    except (EOFError, OSError):
        ours.close()
        worker.process.join()
        if not worker.questions:
            return False
        status = worker.process.exitcode
        answer = (Death(f"the process ended with status {status}", worker.doing, status),)
    if answer is not None:
        (found[worker.number],) = answer
        worker.number, worker.questions = worker.number + 1, worker.questions[1:]
    return not ours.closed


def _serve(ask: Callable[[Q], A], questions: Sequence[Q], to: Connection) -> None:
    """Answer, and end the process without anything of what its parent would do at the end."""
    global _to_parent
    _to_parent = to
    faulthandler.disable()  # the parent reports the signal
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    try:
        for question in questions:
            try:
                answer: A | Death = ask(question)
            except Exception:  # noqa: BLE001  whatever is raised is an answer
                answer = Death(traceback.format_exc())
            to.send(((answer,), ""))
    finally:
        os._exit(0)
