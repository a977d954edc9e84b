"""The group of these kernels, and the loops of each for numba.

The `prange` of loops for numba is its own on two threads, where numba knows the reduction, as `s += x[i]`.
Pragmas of OpenMP in the C count on two threads only.
"""

from __future__ import annotations

from collections.abc import Callable

import affdsl as af
from benchmarks.idioms.idiom import Group

ROWS = Group("reductions")
LOOPS: dict[str, tuple[Callable[..., object], bool]] = {}
"""The loop for numba by the name of a kernel, and whether its iterations may run on threads."""
LONG = 1 << 20


def looped(kernel: af.Kernel, *, shared: bool = False) -> Callable[[Callable[..., object]], Callable[..., object]]:
    """Say that the function below is the loop of a kernel for numba."""

    def added(function: Callable[..., object]) -> Callable[..., object]:
        LOOPS[kernel.name] = function, shared
        return function

    return added
