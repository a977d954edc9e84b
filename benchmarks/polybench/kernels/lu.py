"""lu: a matrix as the product of a lower and an upper triangular one, in place and without pivoting."""

import numpy as np

import affdsl as af
from benchmarks.polybench.benchmark import Arguments, Array, Benchmark, Sizes, table
from benchmarks.polybench.kernels.cholesky import positive_definite

N = af.symbols("N")


@af.kernel
def lu(A: af.f64[N, N]):
    """L has ones on its diagonal, which are not kept: the diagonal is that of U."""
    with af.for_(N) as i:
        with af.for_(i) as j:
            with af.for_(j) as k:
                A[i, j] -= A[i, k] * A[k, j]
            A[i, j] /= A[j, j]
        with af.for_(i, N) as j, af.for_(i) as k:
            A[i, j] -= A[i, k] * A[k, j]


def arrays(sizes: Sizes) -> Arguments:
    """A symmetric matrix whose factors are known."""
    return {"A": positive_definite(sizes["N"])}


def reference(given: Arguments) -> dict[str, Array]:
    """The same by LAPACK: each row of U and column of L from what remains of A without the rows and columns before."""
    a, factors = given["A"], np.empty_like(given["A"])
    for i in range(len(a)):
        rest = a[i:, i:] - a[i:, :i] @ np.linalg.solve(a[:i, :i], a[:i, i:])
        factors[i, i:] = rest[0]
        factors[i + 1 :, i] = rest[1:, 0] / rest[0, 0]
    return {"A": factors}


def random(sizes: Sizes, rng: np.random.Generator) -> Arguments:
    """A matrix that is not symmetric and that its diagonal dominates, so that no pivot is needed."""
    n = sizes["N"]
    return {"A": rng.uniform(-1, 1, (n, n)) + n * np.eye(n)}


KERNEL = Benchmark(
    name="lu",
    kernel=lu,
    sizes=table("N", (40,), (120,), (400,), (2000,), (4000,)),
    arrays=arrays,
    live_out=("A",),
    reference=reference,
    random=random,
)
