"""trisolv: a lower triangular system of linear equations, by forward substitution."""

import numpy as np

import affdsl as af
from benchmarks.polybench.benchmark import Arguments, Array, Benchmark, Sizes, indices, table

N = af.symbols("N")


@af.kernel
def trisolv(L: af.f64[N, N], x: af.f64[N], b: af.f64[N]):
    """L @ x = b; what stands above the diagonal of L is not read."""
    with af.for_(N) as i:
        x[i] = b[i]
        with af.for_(i) as j:
            x[i] -= L[i, j] * x[j]
        x[i] /= L[i, i]


def arrays(sizes: Sizes) -> Arguments:
    """The elements of L fall toward its diagonal; above it nothing is set."""
    n = sizes["N"]
    i, j = indices(n, n)
    lower = np.where(j <= i, (i + n - j + 1) * 2.0 / n, np.nan)
    return {"L": lower, "x": np.full(n, -999.0), "b": np.arange(n, dtype=np.float64)}


def reference(given: Arguments) -> dict[str, Array]:
    """The same by LAPACK, which is not told that there are zeros."""
    return {"x": np.linalg.solve(np.tril(given["L"]), given["b"])}


def random(sizes: Sizes, rng: np.random.Generator) -> Arguments:
    """The diagonal dominates each row, so that rounding does not grow."""
    n = sizes["N"]
    i, j = indices(n, n)
    lower = np.where(j <= i, rng.uniform(-1, 1, (n, n)), np.nan) + n * np.eye(n)
    return {"L": lower, "x": rng.uniform(-1, 1, n), "b": rng.uniform(-1, 1, n)}


KERNEL = Benchmark(
    name="trisolv",
    kernel=trisolv,
    sizes=table("N", (40,), (120,), (400,), (2000,), (4000,)),
    arrays=arrays,
    live_out=("x",),
    reference=reference,
    random=random,
)
