"""How many threads run the parallel loops of kernels that are called from Python: `affdsl.set_threads`.

A number is for the process, or for what runs inside of `with affdsl.threads(n)`, which other threads and tasks do not
see. It is told to OpenMP when a call begins, for the thread that calls, and what was there before is told again when
the call ends: so nobody else who uses the same OpenMP library has another number than before.
"""

from __future__ import annotations

import ctypes
import operator
import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from typing import Final, SupportsIndex

from affdsl.codegen.errors import ArgumentError, RangeError
from affdsl.codegen.forks import MOST_THREADS
from affdsl.frames import plain_traceback

of_process: Final = ctypes.c_int32(0)
"""The number for the process; 0 leaves it to OpenMP. What calls kernels reads it at its address."""
of_context: Final[ContextVar[int | None]] = ContextVar("affdsl.threads", default=None)
"""The number inside of `with`; None where there is none."""


@plain_traceback
def set_threads(number: SupportsIndex | None) -> None:
    """Let parallel loops run on so many threads from now on, in all threads of this process.

    It takes effect at the next call of each kernel, and nothing is compiled anew. Results are the same to the bit for
    every number, but for sums and products of floats that a parallel loop reduces (`affdsl.parallel` with a variable,
    and what `reassociate` allows): those are rounded in no fixed order. A loop that does less than it takes to wake
    threads runs on one. `OMP_THREAD_LIMIT` holds, and `Kernel.optimize` makes loops for so many threads as are set
    here, and not more than there are cores, where it is not told how many.

    Parameters
    ----------
    number
        At least 1. There may be more than cores, as in OpenMP: they take turns, which is slow. None leaves it to
        OpenMP again: to `OMP_NUM_THREADS`, or else to the number of cores.

    Raises
    ------
    ArgumentError
        For what is no whole number.
    RangeError
        For a number below 1, or above 4096.

    >>> import affdsl as af
    >>> af.set_threads(2)
    >>> af.get_threads()
    2
    >>> af.set_threads(None)
    """
    of_process.value = _checked("set_threads", number)


@plain_traceback
def threads(number: SupportsIndex | None) -> AbstractContextManager[None]:
    """Let parallel loops run on so many threads inside of a `with`: `with af.threads(4): kernel(...)`.

    What was before holds again behind it, also after an exception, and they may stand in each other. Other threads,
    and other tasks of asyncio, keep what they have.

    Parameters
    ----------
    number
        As for `set_threads`; None leaves it to OpenMP.

    Raises
    ------
    ArgumentError, RangeError
        As `set_threads` does, before anything is changed.

    >>> import affdsl as af
    >>> with af.threads(3):
    ...     with af.threads(1):
    ...         print(af.get_threads())
    ...     print(af.get_threads())
    1
    3
    """
    return _within(_checked("threads", number))


def get_threads() -> int:
    """How many threads run parallel loops here: of `with threads(n)`, else of `set_threads`, else of OpenMP.

    What OpenMP has is taken from `OMP_NUM_THREADS`, or is the number of cores. Loops run on one thread where the
    compiler has no OpenMP.

    >>> import affdsl as af
    >>> with af.threads(2):
    ...     print(af.get_threads())
    2
    """
    return wanted() or of_environment() or cores()


def wanted() -> int:
    """The number that was set for a call that begins here; 0 where it is left to OpenMP."""
    own = of_context.get()
    return of_process.value if own is None else own


def of_environment() -> int:
    """The number in `OMP_NUM_THREADS`; 0 where there is none."""
    said = os.environ.get("OMP_NUM_THREADS", "").partition(",")[0].strip()
    return int(said) if said.isdecimal() else 0


def cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def _within(number: int) -> Iterator[None]:
    token = of_context.set(number)
    try:
        yield
    finally:
        of_context.reset(token)


def _checked(function: str, number: SupportsIndex | None) -> int:
    """A number of threads as it is kept."""
    if number is None:
        return 0
    advice = "pass a whole number from 1 on, or None to leave it to OpenMP"
    if isinstance(number, bool):
        raise ArgumentError(f"{function} takes a number of threads, got {number!r}: {advice}")
    try:
        found = operator.index(number)
    except TypeError:
        raise ArgumentError(f"{function} takes a number of threads, got {number!r}: {advice}") from None
    if found < 1:
        raise RangeError(f"{function} takes a number of threads, got {found}: {advice}")
    if found > MOST_THREADS:
        raise RangeError(
            f"{function} takes at most {MOST_THREADS} threads, got {found}: more than cores only take turns"
        )
    return found
