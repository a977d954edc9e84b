"""How long calls take, of several kernels in turn."""

from __future__ import annotations

import gc
from collections.abc import Callable, Mapping
from statistics import median
from time import perf_counter
from typing import TypeVar

from affdsl.kernel import Kernel
from affdsl.optimize.trial import Trial

Key = TypeVar("Key")

ROUNDS = 9
"""How often each kernel is timed in turn with the others."""
LONG_ENOUGH = 0.002
"""So many seconds calls take together that are timed at once."""
MOST_CALLS = 32
"""So many calls are made at most of the same arrays, which change: what is halved too often is slow to compute with."""


def seconds(kernel: Kernel, trial: Trial, calls: int = 1) -> float:
    """How long a call takes, on the mean of some calls one after the other."""
    arguments = trial.arguments()
    was_collecting = gc.isenabled()
    gc.disable()
    try:
        start = perf_counter()
        for _ in range(calls):
            kernel(*arguments)
        return (perf_counter() - start) / calls
    finally:
        if was_collecting:
            gc.enable()


def calls_for(expected: float) -> int:
    """How many calls are long enough to be timed, if one takes so many seconds.

    >>> calls_for(0.5), calls_for(0.0004), calls_for(1e-7)
    (1, 5, 32)
    """
    return max(1, min(MOST_CALLS, round(LONG_ENOUGH / max(expected, 1e-9))))


def medians(
    kernels: Mapping[Key, Kernel], trial: Trial, expected: float, is_over: Callable[[], bool], rounds: int = ROUNDS
) -> dict[Key, float]:
    """The median of how long calls of each kernel take, where they take turns.

    Parameters
    ----------
    expected
        How many seconds a call of the fastest takes, roughly.
    is_over
        Asked after each round whether that has to be enough.
    """
    found: dict[Key, list[float]] = {key: [] for key in kernels}
    for _ in range(rounds):
        for key, kernel in kernels.items():
            found[key].append(seconds(kernel, trial, calls_for(expected)))
        if is_over():
            break
    return {key: median(times) for key, times in found.items()}


def spelled(time: float) -> str:
    """A time with its unit, in three digits.

    >>> spelled(0.00123), spelled(2.5), spelled(4.56789e-7)
    ('1.23 ms', '2.5 s', '0.457 us')
    """
    for unit, scale in (("s", 1.0), ("ms", 1e3)):
        if time * scale >= 1:
            return f"{time * scale:.3g} {unit}"
    return f"{time * 1e6:.3g} us"
