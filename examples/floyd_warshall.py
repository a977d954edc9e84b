"""All shortest paths in a directed graph, by Floyd and Warshall."""

from collections.abc import Iterator

import numpy as np
from scipy.sparse.csgraph import floyd_warshall as scipy_floyd_warshall

import affdsl as af
from examples.case import Case, report

N = af.symbols("N")


@af.kernel
def floyd_warshall(D: af.f64[N, N]):
    """D[i, j] is the length of the edge from i to j, infinite without one; it becomes that of the shortest path."""
    with af.for_(N) as k, af.for_(N) as i, af.for_(N) as j:
        D[i, j] = af.min(D[i, j], D[i, k] + D[k, j])


def reference(d):
    """The same by SciPy, which takes no empty graph."""
    return scipy_floyd_warshall(d) if d.size else d.copy()


def cases() -> Iterator[Case]:
    """Whole lengths, so that all sums are exact; about half of the edges are missing."""
    rng = np.random.default_rng(5)
    for n in [0, 1, 2, 3, 7, 12]:
        d = np.where(rng.random((n, n)) < 0.5, rng.integers(1, 100, (n, n)).astype(np.float64), np.inf)
        np.fill_diagonal(d, 0.0)
        yield Case(floyd_warshall, (d,), {"D": reference(d)})


def main() -> None:
    """Check the compiled kernel on all cases."""
    report(cases())


if __name__ == "__main__":
    main()
