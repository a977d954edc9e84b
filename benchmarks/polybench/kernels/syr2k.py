"""syr2k: a symmetric update of rank 2 M, in the lower triangle: C becomes alpha * (A @ B.T + B @ A.T) + beta * C."""

import numpy as np

import affdsl as af
from benchmarks.polybench.benchmark import Arguments, Array, Benchmark, Sizes, indices, table

M, N = af.symbols("M N")


@af.kernel
def syr2k(alpha: af.f64, beta: af.f64, C: af.f64[N, N], A: af.f64[N, M], B: af.f64[N, M]):
    """What stands above the diagonal of C is not touched."""
    with af.for_(N) as i:
        with af.for_(i + 1) as j:
            C[i, j] *= beta
        with af.for_(M) as k, af.for_(i + 1) as j:
            C[i, j] += A[j, k] * alpha * B[i, k] + B[j, k] * alpha * A[i, k]


def arrays(sizes: Sizes) -> Arguments:
    """Fractions; the first row and the first column of each matrix are constant."""
    m, n = sizes["M"], sizes["N"]
    i, j = indices(n, n)
    c = (i * j + 3) % n / m
    i, j = indices(n, m)
    return {"alpha": 1.5, "beta": 1.2, "C": c, "A": (i * j + 1) % n / n, "B": (i * j + 2) % m / m}


def reference(given: Arguments) -> dict[str, Array]:
    """The same in NumPy."""
    product = given["A"] @ given["B"].T
    full = given["alpha"] * (product + product.T) + given["beta"] * given["C"]
    return {"C": np.tril(full) + np.triu(given["C"], 1)}


KERNEL = Benchmark(
    name="syr2k",
    kernel=syr2k,
    sizes=table("M N", (20, 30), (60, 80), (200, 240), (1000, 1200), (2000, 2600)),
    arrays=arrays,
    live_out=("C",),
    reference=reference,
)
