"""The softmax of each row, stable for large numbers."""

import math
from collections.abc import Iterator

import numpy as np
from scipy.special import softmax as scipy_softmax

import affdsl as af
from examples.case import Case, report

M, N = af.symbols("M N")


@af.kernel
def softmax(X: af.f32[M, N]):
    """exp(X[i, j]) divided by its sum over j; each row's largest number is subtracted first, for safety."""
    Y = af.alloc(af.f32[M, N])
    with af.parallel(M) as i:
        with af.for_(N, iter_args=[af.f32(-math.inf)]) as (j, largest):
            af.yield_(af.max(largest, X[i, j]))
        with af.for_(N, iter_args=[af.f32(0)]) as (j, total):
            Y[i, j] = af.exp(X[i, j] - largest)
            af.yield_(total + Y[i, j])
        with af.for_(N) as j:
            Y[i, j] /= total
    return Y


def reference(x):
    """The same by SciPy, in double precision; SciPy takes no empty rows."""
    return scipy_softmax(x.astype(np.float64), axis=1).astype(np.float32) if x.size else x.copy()


def cases() -> Iterator[Case]:
    """Rows of small and of huge numbers.

    With d = X - largest <= 0, rounding d puts exp(d) off by |d| * exp(d) * 2**-24, which is below 0.4 * 2**-24; exp and
    the division add a few more, and the sum of N such terms, which is 1 at least, at most 2 * N.
    """
    rng = np.random.default_rng(7)
    for m, n in [(0, 0), (0, 3), (4, 0), (1, 1), (1, 6), (5, 1), (3, 17), (6, 9)]:
        for scale in [1.0, 1e4]:
            x = (scale * rng.normal(size=(m, n))).astype(np.float32)
            yield Case(softmax, (x,), returns=(reference(x),), atol=(2 * n + 8) * 2**-24)


def main() -> None:
    """Check the compiled kernel on all cases."""
    report(cases())


if __name__ == "__main__":
    main()
