"""Gauss-Seidel on several cores: the loops of `gauss_seidel`, skewed, tiled, and their tiles run in wavefronts."""

import sys
import time
from collections.abc import Iterator

import numpy as np

import affdsl as af
from examples.case import Case, report
from examples.gauss_seidel import gauss_seidel, reference

TILE = 32
"""How many steps and how many rows make a tile."""


def schedule(tile: int = TILE) -> af.Schedule:
    """The steps, each of which is proved legal: docs/gauss-seidel.md explains them."""
    s = af.Schedule(gauss_seidel)
    s.skew("t", "i", 1)
    s.tile(("t", "i"), (tile, tile), names=("tt", "w"))
    s.skew("tt", "w", 1)
    s.interchange("tt", "w")
    s.parallel("tt")
    return s


wavefront = schedule().kernel()


def cases() -> Iterator[Case]:
    """Some of one tile, some of many. Nothing but the order changes, so the error is that of `gauss_seidel`."""
    rng = np.random.default_rng(4)
    for steps, shape in [(2, (0, 0)), (0, (4, 5)), (2, (1, 1)), (1, (3, 3)), (7, (9, 6)), (40, (50, 4))]:
        a = rng.uniform(-1, 1, shape)
        yield Case(wavefront, (steps, a), {"A": reference(steps, a)}, atol=4 * steps * 2**-52)


def main() -> None:
    """Check the compiled kernel on all cases; with a size and a number of steps, time it beside the original."""
    if len(sys.argv) != 3:
        return report(cases())
    size, steps = map(int, sys.argv[1:])
    a = np.random.default_rng(0).uniform(-1, 1, (size, size))
    seconds: dict[str, float] = {}
    results = []
    for _ in range(3):
        for name, kernel in (("as it was", gauss_seidel), ("in wavefronts", wavefront)):
            result = a.copy()
            kernel(0, result)  # compiled before the clock starts
            start = time.perf_counter()
            kernel(steps, result)
            seconds[name] = min(seconds.get(name, np.inf), time.perf_counter() - start)
            results.append(result)
    if not all((result == results[0]).all() for result in results):
        raise AssertionError("the results differ")
    first, second = seconds.values()
    print("  ".join(f"{name}: {time:.2f} s" for name, time in seconds.items()))
    print(f"{first / second:.2f} times as fast, equal to the bit")


if __name__ == "__main__":
    main()
