"""Calls in threads of their own, which no process that forks leaves behind.

What such a thread has locked, in this package or in Python's own modules, would stay locked in the process that was
forked, where the thread isn't: so a fork waits until these calls have ended.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


def submit(name: str, function: Callable[P, R], *arguments: P.args, **keywords: P.kwargs) -> Future[R]:
    """Call a function in a new thread, which is named so; its result, or its error, is in what is returned.

    >>> submit("sum", sum, (1, 2)).result()
    3
    """
    pool = ThreadPoolExecutor(1, name)
    found = pool.submit(function, *arguments, **keywords)
    pool.shutdown(wait=False)
    os.register_at_fork(before=pool.shutdown)
    return found
