"""trmm: a triangular matrix times a matrix, in place: B becomes alpha * A.T @ B, where A is unit lower triangular."""

import numpy as np

import affdsl as af
from benchmarks.polybench.benchmark import Arguments, Array, Benchmark, Sizes, indices, table

M, N = af.symbols("M N")


@af.kernel
def trmm(alpha: af.f64, A: af.f64[M, M], B: af.f64[M, N]):
    """Row i needs the old rows below it, and those are still there; A is read below its diagonal only."""
    with af.for_(M) as i, af.for_(N) as j:
        with af.for_(i + 1, M) as k:
            B[i, j] += A[k, i] * B[k, j]
        B[i, j] *= alpha


def arrays(sizes: Sizes) -> Arguments:
    """Fractions below 1; what stands above the diagonal of A is not set."""
    m, n = sizes["M"], sizes["N"]
    i, j = indices(m, m)
    a = np.where(j < i, (i + j) % m / m, np.where(i == j, 1.0, np.nan))
    i, j = indices(m, n)
    return {"alpha": 1.5, "A": a, "B": (n + i - j) % n / n}


def reference(given: Arguments) -> dict[str, Array]:
    """The same in NumPy."""
    unit = np.tril(given["A"], -1) + np.eye(len(given["A"]))
    return {"B": given["alpha"] * (unit.T @ given["B"])}


KERNEL = Benchmark(
    name="trmm",
    kernel=trmm,
    sizes=table("M N", (20, 30), (60, 80), (200, 240), (1000, 1200), (2000, 2600)),
    arrays=arrays,
    live_out=("B",),
    reference=reference,
)
