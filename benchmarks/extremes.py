"""What af.max, af.min, af.fmax and af.fmin of floats cost, next to a select that forgets NaN and the sign of zero.

    python -m benchmarks.extremes

Element by element of arrays that fit into the first cache, and as the largest element of one. The kernels take turns,
and medians over the rounds are compared: the machine may be busy, the ratio to the select holds.
"""

from __future__ import annotations

import timeit
from collections.abc import Callable
from functools import partial
from statistics import median

import numpy as np

import affdsl as af

N, R = af.symbols("N R")
ROUNDS, SIZE, REPEATS = 101, 1024, 200

Choose = Callable[[af.Scalar, af.Scalar], af.Scalar]
CHOICES: dict[str, Choose] = {
    "select": lambda a, b: af.select(a > b, a, b),
    "max": af.max,
    "min": af.min,
    "fmax": af.fmax,
    "fmin": af.fmin,
}


def elementwise(name: str, choose: Choose, kind: af.DType) -> af.Kernel:
    """z = choose(x, y), again and again."""

    def each(x: kind[N], y: kind[N], z: kind[N], R: af.index):
        with af.for_(R), af.for_(N) as i:
            z[i] = choose(x[i], y[i])

    each.__name__ = f"each_{name}"
    return af.kernel(each)


def reduced(name: str, choose: Choose, kind: af.DType) -> af.Kernel:
    """z = choose of all elements, again and again."""

    def of_all(x: kind[N], y: kind[N], z: kind[N], R: af.index):
        with af.for_(R):
            with af.for_(N, iter_args=x[0]) as (i, top):
                af.yield_(choose(top, y[i]))
            z[0] = top

    of_all.__name__ = f"all_{name}"
    return af.kernel(of_all)


def main() -> None:
    """Measure and print."""
    for kind, dtype in ((af.f64, np.float64), (af.f32, np.float32)):
        random = np.random.default_rng(1)
        x, y, z = (random.standard_normal(SIZE).astype(dtype) for _ in range(3))
        for make in (elementwise, reduced):
            kernels = {name: make(name, choose, kind) for name, choose in CHOICES.items()}
            seconds: dict[str, list[float]] = {name: [] for name in kernels}
            for kernel in kernels.values():
                kernel(x, y, z, REPEATS)
            for _ in range(ROUNDS):
                for name, kernel in kernels.items():
                    seconds[name].append(timeit.timeit(partial(kernel, x, y, z, REPEATS), number=1))
            print(f"{kind} {make.__name__}")
            for name, times in seconds.items():
                ratio = median(a / b for a, b in zip(times, seconds["select"], strict=True))
                print(f"  {name:7} {median(times) / REPEATS / SIZE * 1e9:6.2f} ns an element, {ratio:5.2f} of select")


if __name__ == "__main__":
    main()
