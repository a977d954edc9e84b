"""Calls in threads of their own, what they run, and an end to all of it: by Ctrl-C, at the exit, before a fork.

What such a thread has locked, in this package or in Python's own modules, would stay locked in the process that was
forked, where the thread isn't: so a fork waits until these calls have ended, and stops them where that takes long.
"""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import ParamSpec, TypeVar
from weakref import WeakKeyDictionary, WeakSet

P = ParamSpec("P")
R = TypeVar("R")

PATIENCE = 20.0
"""So many seconds a fork waits for what runs in threads here."""
CLEANUP = 5.0
"""So many seconds threads have to remove their files, after what they ran was stopped."""


def submit(name: str, function: Callable[P, R], *arguments: P.args, **keywords: P.kwargs) -> Future[R]:
    """Call a function in a new thread, which is named so; its result, or its error, is in what is returned.

    The error is a KeyboardInterrupt where it was stopped. The exit of Python doesn't wait for it.

    >>> submit("sum", sum, (1, 2)).result()
    3
    """
    found: Future[R] = Future()
    round_of_caller = _round()

    def run() -> None:
        _own.round = round_of_caller
        try:
            found.set_result(function(*arguments, **keywords))
        except BaseException as error:  # noqa: BLE001 - for whoever wants the result
            found.set_exception(error)

    def give_up() -> None:
        if not found.done():
            found.set_exception(KeyboardInterrupt("its thread is in the process that forked"))

    thread = threading.Thread(target=run, name=name, daemon=True)
    _threads[thread] = give_up
    thread.start()
    return found


def is_stopped(call: Future[R]) -> bool:
    """Whether a call was stopped before it had a result, so that it must be made again."""
    return call.done() and isinstance(call.exception(), KeyboardInterrupt)


@contextmanager
def running(kill: Callable[[], None]) -> Iterator[None]:
    """A block that waits for something, which `kill` ends.

    Raises KeyboardInterrupt where that was done, in whichever thread, or where this thread was begun before it was.
    """
    if _round() != _rounds.stopped:
        raise KeyboardInterrupt("it was stopped before it began")
    run = _Run(kill, _own.round is not None)
    _runs.add(run)
    try:
        yield
    finally:
        _runs.discard(run)
    if run.is_stopped:
        raise KeyboardInterrupt("it was stopped, as the program was")


@contextmanager
def interruptible() -> Iterator[None]:
    """A block that waits for calls in other threads, or for locks that they hold: if Ctrl-C ends it, all end.

    So it is without threads: the programs of a process are interrupted as it is, by the terminal.
    """
    try:
        yield
    except KeyboardInterrupt:
        if threading.current_thread() is threading.main_thread():
            stop()
        raise


@contextmanager
def private_folder() -> Iterator[Path]:
    """A new folder for what one block makes, removed after it.

    Python's own temporary folders are removed at the exit too, before what fills them here is stopped, and by the exit
    of a forked child.
    """
    folder = Path(tempfile.mkdtemp(prefix="affdsl-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def stop(*, only_own: bool = False) -> None:
    """End all that is running, or what threads that were begun here run."""
    _rounds.stopped += 1
    _rounds.interrupted += not only_own
    for run in tuple(_runs):
        if run.is_own or not only_own:
            run.is_stopped = True
            run.kill()


class Lock:
    """A lock that is open in a forked child, where a thread that held it isn't.

    A thread that waits for it while all is stopped is stopped, too: it gets a KeyboardInterrupt. Else it would begin
    anew what the one that held it was stopped in.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        _locks.add(self)

    def __enter__(self) -> None:
        before = _rounds.interrupted
        self._lock.acquire()
        if _rounds.interrupted != before:
            self._lock.release()
            raise KeyboardInterrupt("it was stopped while it waited")

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self._lock.release()


class _Run:
    """Something that can be ended."""

    def __init__(self, kill: Callable[[], None], is_own: bool) -> None:
        self.kill = kill
        self.is_own = is_own
        """Whether a thread waits for it that was begun here."""
        self.is_stopped = False


class _Rounds:
    """How often what runs was stopped: at all, and for others than the threads that were begun here."""

    stopped = 0
    interrupted = 0


class _Own(threading.local):
    """Of a thread that was begun here: how often all had been stopped before."""

    round: int | None = None


def _round() -> int:
    return _rounds.stopped if _own.round is None else _own.round


def _before_fork() -> None:
    try:
        _join(PATIENCE)
    finally:  # after Ctrl-C, too
        _end(only_own=True)


def _end(*, only_own: bool = False) -> None:
    """Stop what still runs in threads. One that waits for a thread of somebody else stays."""
    if _runs or _alive():
        stop(only_own=only_own)
        _join(CLEANUP)


def _join(seconds: float) -> None:
    """Wait so long at most until all threads have ended, those too that others of them begin meanwhile."""
    end = time.monotonic() + seconds
    while alive := _alive():
        for thread in alive:
            thread.join(max(0.0, end - time.monotonic()))
        if time.monotonic() >= end:
            return


def _alive() -> list[threading.Thread]:
    return [thread for thread in tuple(_threads) if thread.is_alive()]


def _in_child() -> None:
    _runs.clear()
    for give_up in tuple(_threads.values()):
        give_up()
    _threads.clear()
    for lock in tuple(_locks):
        lock._lock = threading.Lock()


_rounds = _Rounds()
_own = _Own()
_threads: WeakKeyDictionary[threading.Thread, Callable[[], object]] = WeakKeyDictionary()
"""Those that were begun here, and what tells a forked child that nobody goes on there."""
_runs: set[_Run] = set()
_locks: WeakSet[Lock] = WeakSet()

os.register_at_fork(before=_before_fork, after_in_child=_in_child)
atexit.register(_end)
