"""atax: a matrix and its transpose times a vector, y becomes A.T @ (A @ x)."""

import affdsl as af
from benchmarks.polybench.benchmark import Arguments, Array, Benchmark, Sizes, indices, table, unset

M, N = af.symbols("M N")


@af.kernel
def atax(A: af.f64[M, N], x: af.f64[N], y: af.f64[N], tmp: af.f64[M]):
    """Each row of A is read twice in a row."""
    with af.for_(N) as i:
        y[i] = 0.0
    with af.for_(M) as i:
        tmp[i] = 0.0
        with af.for_(N) as j:
            tmp[i] += A[i, j] * x[j]
        with af.for_(N) as j:
            y[j] += A[i, j] * tmp[i]


def arrays(sizes: Sizes) -> Arguments:
    """Fractions below 1 / 5 in A, numbers from 1 to 2 in x."""
    m, n = sizes["M"], sizes["N"]
    i, j = indices(m, n)
    (k,) = indices(n)
    return {"A": (i + j) % n / (5 * m), "x": 1 + k / n, "y": unset(n), "tmp": unset(m)}


def reference(given: Arguments) -> dict[str, Array]:
    """The same in NumPy."""
    return {"y": given["A"].T @ (given["A"] @ given["x"])}


KERNEL = Benchmark(
    name="atax",
    kernel=atax,
    sizes=table("M N", (38, 42), (116, 124), (390, 410), (1900, 2100), (1800, 2200)),
    arrays=arrays,
    live_out=("y",),
    reference=reference,
)
