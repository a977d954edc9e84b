"""seidel-2d: a nine-point stencil in the plane, in place, where each point sees the new values before it."""

import numpy as np

import affdsl as af
from benchmarks.polybench.benchmark import Arguments, Array, Benchmark, Sizes, indices, table

N = af.symbols("N")


@af.kernel
def seidel_2d(TSTEPS: af.index, A: af.f64[N, N]):
    """Each inner point becomes the mean of itself and its eight neighbours; the border is not written."""
    with af.for_(TSTEPS) as t, af.for_(1, N - 1) as i, af.for_(1, N - 1) as j:  # noqa: F841 - what the loop is called
        above = A[i - 1, j - 1] + A[i - 1, j] + A[i - 1, j + 1]
        across = above + A[i, j - 1] + A[i, j] + A[i, j + 1]
        A[i, j] = (across + A[i + 1, j - 1] + A[i + 1, j] + A[i + 1, j + 1]) / 9.0


def arrays(sizes: Sizes) -> Arguments:
    """A hyperbolic paraboloid, which is its own mean: it comes out as it went in, but for rounding."""
    n = sizes["N"]
    i, j = indices(n, n)
    return {"TSTEPS": sizes["TSTEPS"], "A": (i * (j + 2) + 2) / n}


def reference(given: Arguments) -> dict[str, Array]:
    """The same by LAPACK: within a row the new values x solve 9 * x[j] - x[j - 1] = what is known."""
    a = given["A"].copy()
    n = len(a)
    inner = max(n - 2, 0)
    new = 9 * np.eye(inner) - np.eye(inner, k=-1)
    for _ in range(given["TSTEPS"]):
        for i in range(1, n - 1):
            known = np.convolve(a[i - 1] + a[i + 1], np.ones(3), "valid") + a[i, 1:-1] + a[i, 2:]
            known[0] += a[i, 0]
            a[i, 1:-1] = np.linalg.solve(new, known)
    return {"A": a}


KERNEL = Benchmark(
    name="seidel-2d",
    kernel=seidel_2d,
    sizes=table("TSTEPS N", (20, 40), (40, 120), (100, 400), (500, 2000), (1000, 4000)),
    arrays=arrays,
    live_out=("A",),
    reference=reference,
)
