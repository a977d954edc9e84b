"""symm: a symmetric matrix, given by its lower triangle, times a matrix, C becomes alpha * S @ B + beta * C."""

import numpy as np

import affdsl as af
from benchmarks.polybench.benchmark import Arguments, Array, Benchmark, Sizes, indices, table

M, N = af.symbols("M N")


@af.kernel
def symm(alpha: af.f64, beta: af.f64, C: af.f64[M, N], A: af.f64[M, M], B: af.f64[M, N]):
    """Each element of A below the diagonal serves both of its places: for a row above, and in the sum for row i."""
    with af.for_(M) as i, af.for_(N) as j:
        with af.for_(i, iter_args=af.f64(0)) as (k, temp2):
            C[k, j] += alpha * B[i, j] * A[i, k]
            af.yield_(temp2 + B[k, j] * A[i, k])
        C[i, j] = beta * C[i, j] + alpha * B[i, j] * A[i, i] + alpha * temp2


def arrays(sizes: Sizes) -> Arguments:
    """Hundredths times 100 / M; above the diagonal of A stands what must not be read."""
    m, n = sizes["M"], sizes["N"]
    i, j = indices(m, n)
    c, b = (i + j) % 100 / m, (n + i - j) % 100 / m
    i, j = indices(m, m)
    return {"alpha": 1.5, "beta": 1.2, "C": c, "A": np.where(j <= i, (i + j) % 100 / m, -999.0), "B": b}


def reference(given: Arguments) -> dict[str, Array]:
    """The same in NumPy."""
    lower = np.tril(given["A"])
    symmetric = lower + np.tril(given["A"], -1).T
    return {"C": given["alpha"] * (symmetric @ given["B"]) + given["beta"] * given["C"]}


KERNEL = Benchmark(
    name="symm",
    kernel=symm,
    sizes=table("M N", (20, 30), (60, 80), (200, 240), (1000, 1200), (2000, 2600)),
    arrays=arrays,
    live_out=("C",),
    reference=reference,
)
