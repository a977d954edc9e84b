"""cholesky: the Cholesky factor of a symmetric, positive definite matrix, in place."""

import numpy as np

import affdsl as af
from benchmarks.polybench.benchmark import Arguments, Array, Benchmark, Sizes, indices, table

N = af.symbols("N")


@af.kernel
def cholesky(A: af.f64[N, N]):
    """The lower triangle of A becomes L, where A = L @ L.T; what stands above the diagonal is not read."""
    with af.for_(N) as i:
        with af.for_(i) as j:
            with af.for_(j) as k:
                A[i, j] -= A[i, k] * A[j, k]
            A[i, j] /= A[j, j]
        with af.for_(i) as k:
            A[i, i] -= A[i, k] * A[i, k]
        A[i, i] = af.sqrt(A[i, i])


def positive_definite(n: int) -> Array:
    """L @ L.T, where L has ones on its diagonal, and 1 - j / n in column j below it; shared by the factorisations.

    Element (r, s) with s < r is the sum over t < s of (1 - t / n)**2, added in ascending order, plus the last term
    1 - s / n, which on the diagonal is 1: so one running sum serves the whole matrix, to the bit.
    """
    column = -np.arange(n) / n + 1
    sums = np.concatenate([[0.0], np.cumsum(column * column)])
    r, s = indices(n, n)
    least = np.minimum(r, s)
    return sums[least] + np.where(r == s, 1.0, column[least])


def arrays(sizes: Sizes) -> Arguments:
    """A matrix whose factor is known."""
    return {"A": positive_definite(sizes["N"])}


def reference(given: Arguments) -> dict[str, Array]:
    """The same by LAPACK."""
    lower = np.tril(given["A"])
    return {"A": np.linalg.cholesky(lower + np.tril(given["A"], -1).T)}


def random(sizes: Sizes, rng: np.random.Generator) -> Arguments:
    """A symmetric matrix that its diagonal dominates; above the diagonal stands what must not be read."""
    n = sizes["N"]
    i, j = indices(n, n)
    return {"A": np.where(j <= i, rng.uniform(-1, 1, (n, n)), np.nan) + n * np.eye(n)}


KERNEL = Benchmark(
    name="cholesky",
    kernel=cholesky,
    sizes=table("N", (40,), (120,), (400,), (2000,), (4000,)),
    arrays=arrays,
    live_out=("A",),
    reference=reference,
    random=random,
    triangle="lower",
)
