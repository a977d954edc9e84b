"""How long calls take, of several kernels in turn."""

from __future__ import annotations

import gc
from collections.abc import Callable, Mapping
from itertools import count
from time import perf_counter
from typing import TypeVar

from affdsl.kernel import Kernel
from affdsl.optimize.trial import Trial

Key = TypeVar("Key")

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


def in_turn(
    running: Mapping[Key, tuple[Kernel, Trial]], calls: int, is_over: Callable[[int], bool]
) -> dict[Key, list[float]]:
    """How long a call of each kernel takes, of so many, where they take turns.

    After each turn it is asked whether so many are enough.
    """
    found: dict[Key, list[float]] = {key: [] for key in running}
    for turn in count(1):
        for key, (kernel, trial) in running.items():
            found[key].append(seconds(kernel, trial, calls))
        if is_over(turn):
            break
    return found


def spelled(time: float) -> str:
    """A time with its unit, in three digits.

    >>> spelled(0.00123), spelled(2.5), spelled(4.56789e-7)
    ('1.23 ms', '2.5 s', '0.457 us')
    """
    for unit, scale in (("s", 1.0), ("ms", 1e3)):
        if time * scale >= 1:
            return f"{time * scale:.3g} {unit}"
    return f"{time * 1e6:.3g} us"
