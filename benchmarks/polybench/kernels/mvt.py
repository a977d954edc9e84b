"""mvt: a matrix and its transpose times one vector each, x1 gains A @ y_1 and x2 gains A.T @ y_2."""

import affdsl as af
from benchmarks.polybench.benchmark import Arguments, Array, Benchmark, Sizes, indices, table

N = af.symbols("N")


@af.kernel
def mvt(x1: af.f64[N], x2: af.f64[N], y_1: af.f64[N], y_2: af.f64[N], A: af.f64[N, N]):
    """One pass along the rows of A, one along its columns."""
    with af.for_(N) as i, af.for_(N) as j:
        x1[i] += A[i, j] * y_1[j]
    with af.for_(N) as i, af.for_(N) as j:
        x2[i] += A[j, i] * y_2[j]


def arrays(sizes: Sizes) -> Arguments:
    """Fractions below 1; A is symmetric, and its first row is 0."""
    n = sizes["N"]
    i, j = indices(n, n)
    (k,) = indices(n)
    return {
        "x1": k % n / n,
        "x2": (k + 1) % n / n,
        "y_1": (k + 3) % n / n,
        "y_2": (k + 4) % n / n,
        "A": i * j % n / n,
    }


def reference(given: Arguments) -> dict[str, Array]:
    """The same in NumPy."""
    return {"x1": given["x1"] + given["A"] @ given["y_1"], "x2": given["x2"] + given["y_2"] @ given["A"]}


KERNEL = Benchmark(
    name="mvt",
    kernel=mvt,
    sizes=table("N", (40,), (120,), (400,), (2000,), (4000,)),
    arrays=arrays,
    live_out=("x1", "x2"),
    reference=reference,
)
