"""gramschmidt: the QR decomposition of a matrix by the modified Gram-Schmidt process."""

import numpy as np

import affdsl as af
from benchmarks.polybench.benchmark import Arguments, Array, Benchmark, Sizes, indices, table, unset

M, N = af.symbols("M N")


@af.kernel
def gramschmidt(A: af.f64[M, N], R: af.f64[N, N], Q: af.f64[M, N]):
    """A = Q @ R; of R only the upper triangle is written. A is left with what of each column was orthogonal."""
    with af.for_(N) as k:
        with af.for_(M, iter_args=af.f64(0)) as (i, norm):
            af.yield_(norm + A[i, k] * A[i, k])
        R[k, k] = af.sqrt(norm)
        with af.for_(M) as i:
            Q[i, k] = A[i, k] / R[k, k]
        with af.for_(k + 1, N) as j:
            R[k, j] = 0.0
            with af.for_(M) as i:
                R[k, j] += Q[i, k] * A[i, j]
            with af.for_(M) as i:
                A[i, j] -= Q[i, k] * R[k, j]


def arrays(sizes: Sizes) -> Arguments:
    """More columns than rows, and many depend on others: their part of Q is normalised rounding noise."""
    m, n = sizes["M"], sizes["N"]
    i, j = indices(m, n)
    return {"A": i * j % m / m * 100 + 10, "R": np.zeros((n, n)), "Q": np.zeros((m, n))}


def reference(given: Arguments) -> dict[str, Array]:
    """The same by LAPACK, with the signs for which R has a positive diagonal; columns beyond M are not determined."""
    m, n = given["A"].shape
    q, r = np.linalg.qr(given["A"])
    signs = np.where(np.diag(r) < 0, -1.0, 1.0)
    upper, full = unset(n, n), unset(m, n)
    upper[: len(r)] = signs[:, None] * r
    full[:, : len(r)] = q * signs
    i, j = indices(n, n)
    return {"R": np.where(j < i, given["R"], upper), "Q": full}


def random(sizes: Sizes, rng: np.random.Generator) -> Arguments:
    """M + N rows, so that the columns are independent and the decomposition is unique."""
    rows, n = sizes["M"] + sizes["N"], sizes["N"]
    i, j = indices(n, n)
    r = np.where(j < i, rng.uniform(-1, 1, (n, n)), np.nan)
    return {"A": rng.uniform(-1, 1, (rows, n)), "R": r, "Q": unset(rows, n)}


KERNEL = Benchmark(
    name="gramschmidt",
    kernel=gramschmidt,
    sizes=table("M N", (20, 30), (60, 80), (200, 240), (1000, 1200), (2000, 2600)),
    arrays=arrays,
    live_out=("R", "Q"),
    reference=reference,
    random=random,
)
