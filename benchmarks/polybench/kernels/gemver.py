"""gemver: a matrix changed by two outer products, then two matrix-vector products with it."""

import numpy as np

import affdsl as af
from benchmarks.polybench.benchmark import Arguments, Array, Benchmark, Sizes, indices, table

N = af.symbols("N")


@af.kernel
def gemver(
    alpha: af.f64,
    beta: af.f64,
    A: af.f64[N, N],
    u1: af.f64[N],
    v1: af.f64[N],
    u2: af.f64[N],
    v2: af.f64[N],
    w: af.f64[N],
    x: af.f64[N],
    y: af.f64[N],
    z: af.f64[N],
):
    """A gains u1 v1' + u2 v2', then x gains beta * A.T @ y + z, then w gains alpha * A @ x."""
    with af.for_(N) as i, af.for_(N) as j:
        A[i, j] = A[i, j] + u1[i] * v1[j] + u2[i] * v2[j]
    with af.for_(N) as i, af.for_(N) as j:
        x[i] += beta * A[j, i] * y[j]
    with af.for_(N) as i:
        x[i] += z[i]
    with af.for_(N) as i, af.for_(N) as j:
        w[i] += alpha * A[i, j] * x[j]


def arrays(sizes: Sizes) -> Arguments:
    """Ramps in the vectors, 0 in the two results."""
    n = sizes["N"]
    i, j = indices(n, n)
    (k,) = indices(n)
    ramp = (k + 1) / n
    return {
        "alpha": 1.5,
        "beta": 1.2,
        "A": i * j % n / n,
        "u1": k.astype(np.float64),
        "v1": ramp / 4,
        "u2": ramp / 2,
        "v2": ramp / 6,
        "w": np.zeros(n),
        "x": np.zeros(n),
        "y": ramp / 8,
        "z": ramp / 9,
    }


def reference(given: Arguments) -> dict[str, Array]:
    """The same in NumPy."""
    a = given["A"] + np.outer(given["u1"], given["v1"]) + np.outer(given["u2"], given["v2"])
    x = given["x"] + given["beta"] * (given["y"] @ a) + given["z"]
    return {"w": given["w"] + given["alpha"] * (a @ x)}


KERNEL = Benchmark(
    name="gemver",
    kernel=gemver,
    sizes=table("N", (40,), (120,), (400,), (2000,), (4000,)),
    arrays=arrays,
    live_out=("w",),
    reference=reference,
)
