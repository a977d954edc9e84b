"""Locks for the threads of one process. One that was forked has none of these threads: it begins with free locks."""

from __future__ import annotations

import os
import threading
from weakref import WeakSet


class Lock:
    """A lock as `threading.Lock` is one, in a with statement; in a process that was forked it is free.

    >>> lock = Lock()
    >>> with lock:
    ...     lock.is_held
    True
    >>> lock.is_held
    False
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        _all.add(self)

    @property
    def is_held(self) -> bool:
        """Whether a thread of this process holds it."""
        return self._lock.locked()

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()

    def free(self) -> None:
        """Begin anew, as nobody of this process can hold it."""
        self._lock = threading.Lock()


_all: WeakSet[Lock] = WeakSet()


def _free_all() -> None:
    for lock in _all:
        lock.free()


os.register_at_fork(after_in_child=_free_all)
