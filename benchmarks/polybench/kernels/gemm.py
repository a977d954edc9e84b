"""gemm: the matrix product of BLAS, C becomes alpha * A @ B + beta * C."""

import affdsl as af
from benchmarks.polybench.benchmark import Arguments, Array, Benchmark, Sizes, indices, table

NI, NJ, NK = af.symbols("NI NJ NK")


@af.kernel
def gemm(alpha: af.f64, beta: af.f64, C: af.f64[NI, NJ], A: af.f64[NI, NK], B: af.f64[NK, NJ]):
    """The innermost loop runs along the rows of B and C, where elements are neighbours."""
    with af.for_(NI) as i:
        with af.for_(NJ) as j:
            C[i, j] *= beta
        with af.for_(NK) as k, af.for_(NJ) as j:
            C[i, j] += alpha * A[i, k] * B[k, j]


def arrays(sizes: Sizes) -> Arguments:
    """Fractions below 1; the first row of A and of B is 0."""
    ni, nj, nk = (sizes[name] for name in ("NI", "NJ", "NK"))
    i, j = indices(ni, nj)
    c = (i * j + 1) % ni / ni
    i, j = indices(ni, nk)
    a = i * (j + 1) % nk / nk
    i, j = indices(nk, nj)
    b = i * (j + 2) % nj / nj
    return {"alpha": 1.5, "beta": 1.2, "C": c, "A": a, "B": b}


def reference(given: Arguments) -> dict[str, Array]:
    """The same in NumPy."""
    return {"C": given["alpha"] * (given["A"] @ given["B"]) + given["beta"] * given["C"]}


KERNEL = Benchmark(
    name="gemm",
    kernel=gemm,
    sizes=table("NI NJ NK", (20, 25, 30), (60, 70, 80), (200, 220, 240), (1000, 1100, 1200), (2000, 2300, 2600)),
    arrays=arrays,
    live_out=("C",),
    reference=reference,
)
