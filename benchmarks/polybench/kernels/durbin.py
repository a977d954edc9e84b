"""durbin: the Yule-Walker equations, a symmetric Toeplitz system, by Durbin's recursion."""

import numpy as np

import affdsl as af
from benchmarks.polybench.benchmark import Arguments, Array, Benchmark, Sizes, indices, table, unset

N = af.symbols("N")


@af.kernel
def durbin(r: af.f64[N], y: af.f64[N]):
    """T @ y = -r, where T has ones on its diagonal and r[d - 1] at distance d from it. y gains an element a step."""
    af.assume(N >= 1)  # the system of one equation is solved on its own
    z = af.alloc(af.f64[N])
    y[0] = -r[0]
    with af.for_(1, N, iter_args=[af.f64(1), -r[0]]) as (k, last_beta, last_alpha):
        beta = (1 - last_alpha * last_alpha) * last_beta
        with af.for_(k, iter_args=af.f64(0)) as (i, total):
            af.yield_(total + r[k - i - 1] * y[i])
        alpha = -(r[k] + total) / beta
        with af.for_(k) as i:
            z[i] = y[i] + alpha * y[k - i - 1]
        with af.for_(k) as i:
            y[i] = z[i]
        y[k] = alpha
        af.yield_(beta, alpha)


def arrays(sizes: Sizes) -> Arguments:
    """A falling ramp; the matrix is far from positive definite, so that rounding grows."""
    n = sizes["N"]
    (i,) = indices(n)
    return {"r": (n + 1 - i).astype(np.float64), "y": unset(n)}


def reference(given: Arguments) -> dict[str, Array]:
    """The same by LAPACK, on the whole matrix."""
    r = given["r"]
    i, j = indices(len(r), len(r))
    return {"y": np.linalg.solve(np.concatenate([[1.0], r])[abs(i - j)], -r)}


def random(sizes: Sizes, rng: np.random.Generator) -> Arguments:
    """The diagonal dominates the matrix: the sum of the rest of a row is below 1."""
    n = sizes["N"]
    return {"r": rng.uniform(-0.5, 0.5, n) / n, "y": unset(n)}


KERNEL = Benchmark(
    name="durbin",
    kernel=durbin,
    sizes=table("N", (40,), (120,), (400,), (2000,), (4000,)),
    arrays=arrays,
    live_out=("y",),
    reference=reference,
    random=random,
)
