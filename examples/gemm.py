"""General matrix multiplication: C becomes alpha * A @ B + beta * C."""

from collections.abc import Iterator

import numpy as np

import affdsl as af
from examples.case import Case, report

M, N, K = af.symbols("M N K")


@af.kernel
def gemm(alpha: af.f32, beta: af.f32, A: af.f32[M, K], B: af.f32[K, N], C: af.f32[M, N]):
    """The rows of C in parallel; the innermost loop runs along the rows of B and C, where elements are neighbours."""
    with af.parallel(M) as i:
        with af.for_(N) as j:
            C[i, j] *= beta
        with af.for_(K) as k, af.for_(N) as j:
            C[i, j] += alpha * A[i, k] * B[k, j]


def reference(alpha, beta, a, b, c):
    """The same in NumPy, in double precision."""
    a, b, c = (np.asarray(x, np.float64) for x in (a, b, c))
    return (alpha * a @ b + beta * c).astype(np.float32)


def cases() -> Iterator[Case]:
    """Numbers between -1 and 1. Each of K + 2 roundings is off by at most 2**-24 of a sum below 1.5 * K + 1."""
    rng = np.random.default_rng(1)
    for m, n, k in [(0, 0, 0), (0, 3, 2), (2, 3, 0), (1, 1, 1), (1, 5, 2), (4, 4, 4), (7, 5, 9), (16, 33, 8)]:
        a, b, c = (rng.uniform(-1, 1, shape).astype(np.float32) for shape in [(m, k), (k, n), (m, n)])
        for alpha, beta in [(1.5, -0.25), (0.0, 1.0)]:
            expected = reference(alpha, beta, a, b, c)
            yield Case(gemm, (alpha, beta, a, b, c), {"C": expected}, atol=(k + 2) * (1.5 * k + 1) * 2**-24)


def main() -> None:
    """Check the compiled kernel on all cases."""
    report(cases())


if __name__ == "__main__":
    main()
