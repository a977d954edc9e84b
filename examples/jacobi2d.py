"""Jacobi's method in two dimensions: each inner point becomes the mean of itself and its neighbours, repeatedly."""

from collections.abc import Iterator

import numpy as np

import affdsl as af
from examples.case import Case, report

M, N = af.symbols("M N")


def sweep(old, new):
    """One step, from one array to the other. A Python function that a kernel calls becomes part of the kernel."""
    rows, columns = old.shape
    with af.parallel((1, rows - 1), (1, columns - 1)) as (i, j):
        new[i, j] = 0.2 * (old[i, j] + old[i, j - 1] + old[i, j + 1] + old[i - 1, j] + old[i + 1, j])


@af.kernel
def jacobi2d(steps: af.index, A: af.f64[M, N], B: af.f64[M, N]):
    """2 * steps steps, to and fro: the newest values end up in A. The borders of both arrays stay as they are."""
    with af.for_(steps):
        sweep(A, B)
        sweep(B, A)


def reference(steps, a, b):
    """The same with NumPy's slices: the same sums in the same order, so the result is the same to the last bit."""
    a, b = a.copy(), b.copy()
    for _ in range(steps):
        for x, y in [(a, b), (b, a)]:
            if min(x.shape) >= 3:
                y[1:-1, 1:-1] = 0.2 * (x[1:-1, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:] + x[:-2, 1:-1] + x[2:, 1:-1])
    return a, b


def cases() -> Iterator[Case]:
    """Grids with and without inner points, and no steps at all."""
    rng = np.random.default_rng(2)
    for steps, shape in [(3, (0, 0)), (2, (0, 4)), (2, (1, 1)), (2, (2, 7)), (0, (4, 4)), (1, (3, 3)), (5, (6, 11))]:
        a, b = rng.uniform(-1, 1, (2, *shape))
        new_a, new_b = reference(steps, a, b)
        yield Case(jacobi2d, (steps, a, b), {"A": new_a, "B": new_b})


def main() -> None:
    """Check the compiled kernel on all cases."""
    report(cases())


if __name__ == "__main__":
    main()
