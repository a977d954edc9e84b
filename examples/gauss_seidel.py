"""The Gauss-Seidel method for Laplace's equation: Jacobi in place, where each point sees the new values before it."""

from collections.abc import Iterator

import numpy as np
from scipy.signal import lfilter

import affdsl as af
from examples.case import Case, report

M, N = af.symbols("M N")


@af.kernel
def gauss_seidel(steps: af.index, A: af.f64[M, N]):
    """A's border is fixed; its inner points become the mean of their four neighbours, `steps` times."""
    with af.for_(steps) as t, af.for_(1, M - 1) as i, af.for_(1, N - 1) as j:  # noqa: F841 - what schedules call it
        A[i, j] = 0.25 * (A[i - 1, j] + A[i, j - 1] + A[i, j + 1] + A[i + 1, j])


def reference(steps, a):
    """The same row by row: within a row it is the recurrence y[j] = y[j - 1] / 4 + x[j], a filter."""
    a = a.copy()
    if min(a.shape) < 3:
        return a
    for _ in range(steps):
        for i in range(1, len(a) - 1):
            x = 0.25 * (a[i - 1, 1:-1] + a[i, 2:] + a[i + 1, 1:-1])
            a[i, 1:-1] = lfilter([1.0], [1.0, -0.25], x, zi=[0.25 * a[i, 0]])[0]
    return a


def cases() -> Iterator[Case]:
    """The filter adds in another order: a step is off by some 2**-52, and means do not enlarge what was there."""
    rng = np.random.default_rng(3)
    for steps, shape in [(2, (0, 0)), (2, (5, 0)), (2, (1, 1)), (1, (2, 6)), (0, (4, 5)), (1, (3, 3)), (7, (9, 6))]:
        a = rng.uniform(-1, 1, shape)
        yield Case(gauss_seidel, (steps, a), {"A": reference(steps, a)}, atol=4 * steps * 2**-52)


def main() -> None:
    """Check the compiled kernel on all cases."""
    report(cases())


if __name__ == "__main__":
    main()
