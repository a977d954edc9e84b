"""The sums of the first 1, 2, 3, ... elements, and the sum of all."""

from collections.abc import Iterator

import numpy as np

import affdsl as af
from examples.case import Case, report

N = af.symbols("N")


@af.kernel
def prefix_sum(x: af.f64[N], sums: af.f64[N]):
    """The sum so far is carried from one iteration to the next; after the loop it is that of all elements."""
    with af.for_(N, iter_args=[af.f64(0)]) as (i, total):
        sums[i] = total + x[i]
        af.yield_(sums[i])
    return total


def reference(x):
    """The same in NumPy, which adds in the same order."""
    sums = np.cumsum(x)
    return sums, sums[-1] if x.size else np.float64(0)


def cases() -> Iterator[Case]:
    """Equal to the last bit."""
    rng = np.random.default_rng(8)
    for n in [0, 1, 2, 5, 100]:
        x = rng.normal(size=n)
        sums, total = reference(x)
        yield Case(prefix_sum, (x, np.full(n, np.nan)), {"sums": sums}, returns=(total,))


def main() -> None:
    """Check the compiled kernel on all cases."""
    report(cases())


if __name__ == "__main__":
    main()
