"""What a warm call of a small kernel costs, next to the same call of numba.

    python -m benchmarks.call_overhead

The kernel adds two arrays of one element, so that the call is all there is. Both are called in short bursts that
alternate, and the medians over the bursts are compared: the machine may be busy, the ratio holds.
"""

from __future__ import annotations

import timeit
from collections.abc import Callable
from statistics import median

import numba
import numpy as np

import affdsl as af

N = af.symbols("N")
BURSTS, CALLS = 301, 2_000


@af.kernel
def add(a: af.f64[N], b: af.f64[N], c: af.f64[N]):
    """c = a + b"""
    with af.for_(N) as i:
        c[i] = a[i] + b[i]


@numba.njit
def add_numba(a, b, c):
    """The same for numba."""
    for i in range(a.shape[0]):
        c[i] = a[i] + b[i]


def main() -> None:
    """Measure and print."""
    arrays = tuple(np.ones(1) for _ in range(3))
    calls: dict[str, Callable[[], object]] = {
        "affdsl": lambda: add(*arrays),
        "numba": lambda: add_numba(*arrays),
    }
    for call in calls.values():
        call()
    seconds: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(BURSTS):
        for name, call in calls.items():
            seconds[name].append(timeit.timeit(call, number=CALLS) / CALLS)
    for name, times in seconds.items():
        print(f"{name:8} {median(times) * 1e9:7.0f} ns a call (median of {BURSTS} bursts of {CALLS})")
    ratio = median(a / b for a, b in zip(seconds["affdsl"], seconds["numba"], strict=True))
    print(f"ratio    {ratio:7.2f} affdsl / numba, median of the pairs")


if __name__ == "__main__":
    main()
