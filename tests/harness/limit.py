"""A limit on the time of Python code, so that a pass or a program without an end is a failure like others."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Raise TimeoutError inside when the time is over. For the main thread of a process; limits do not nest."""

    def stop(number: int, frame: object) -> None:
        raise TimeoutError(f"more than {seconds:g} seconds")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
