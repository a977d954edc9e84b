"""ludcmp: a system of linear equations by triangular factors, without pivoting."""

import numpy as np

import affdsl as af
from benchmarks.polybench.benchmark import Arguments, Array, Benchmark, Sizes, indices, table
from benchmarks.polybench.kernels.cholesky import positive_definite

N = af.symbols("N")


@af.kernel
def ludcmp(A: af.f64[N, N], b: af.f64[N], x: af.f64[N], y: af.f64[N]):
    """A becomes its factors L and U, y solves L @ y = b from the top, and x solves U @ x = y from the bottom."""
    with af.for_(N) as i:
        with af.for_(i) as j:
            with af.for_(j, iter_args=A[i, j]) as (k, w):
                af.yield_(w - A[i, k] * A[k, j])
            A[i, j] = w / A[j, j]
        with af.for_(i, N) as j:
            with af.for_(i, iter_args=A[i, j]) as (k, w):
                af.yield_(w - A[i, k] * A[k, j])
            A[i, j] = w
    with af.for_(N) as i:
        with af.for_(i, iter_args=b[i]) as (j, w):
            af.yield_(w - A[i, j] * y[j])
        y[i] = w
    with af.for_(N) as done:
        i = N - 1 - done
        with af.for_(i + 1, N, iter_args=y[i]) as (j, w):
            af.yield_(w - A[i, j] * x[j])
        x[i] = w / A[i, i]


def arrays(sizes: Sizes) -> Arguments:
    """A symmetric matrix whose factors are known, and a ramp from 4 to 4.5 on the right."""
    n = sizes["N"]
    (i,) = indices(n)
    return {"A": positive_definite(n), "b": (i + 1) / n / 2 + 4, "x": np.zeros(n), "y": np.zeros(n)}


def reference(given: Arguments) -> dict[str, Array]:
    """The same by LAPACK, which pivots."""
    return {"x": np.linalg.solve(given["A"], given["b"])}


def random(sizes: Sizes, rng: np.random.Generator) -> Arguments:
    """A matrix that is not symmetric and that its diagonal dominates, so that no pivot is needed."""
    n = sizes["N"]
    drawn = {name: rng.uniform(-1, 1, n) for name in ("b", "x", "y")}
    return {"A": rng.uniform(-1, 1, (n, n)) + n * np.eye(n)} | drawn


KERNEL = Benchmark(
    name="ludcmp",
    kernel=ludcmp,
    sizes=table("N", (40,), (120,), (400,), (2000,), (4000,)),
    arrays=arrays,
    live_out=("x",),
    reference=reference,
    random=random,
)
