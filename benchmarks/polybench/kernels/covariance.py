"""covariance: the covariance of each two columns of a table."""

import numpy as np

import affdsl as af
from benchmarks.polybench.benchmark import Arguments, Array, Benchmark, Sizes, indices, table, unset

M, N = af.symbols("M N")


@af.kernel
def covariance(float_n: af.f64, data: af.f64[N, M], cov: af.f64[M, M], mean: af.f64[M]):
    """data becomes its columns less their means; float_n is N as a number."""
    with af.for_(M) as j:
        mean[j] = 0.0
        with af.for_(N) as i:
            mean[j] += data[i, j]
        mean[j] /= float_n
    with af.for_(N) as i, af.for_(M) as j:
        data[i, j] -= mean[j]
    with af.for_(M) as i, af.for_(i, M) as j:
        cov[i, j] = 0.0
        with af.for_(N) as k:
            cov[i, j] += data[k, i] * data[k, j]
        cov[i, j] /= float_n - 1.0
        cov[j, i] = cov[i, j]


def arrays(sizes: Sizes) -> Arguments:
    """The outer product of two ramps: the covariance has rank 1."""
    m, n = sizes["M"], sizes["N"]
    i, j = indices(n, m)
    return {"float_n": float(n), "data": i * j / m, "cov": unset(m, m), "mean": unset(m)}


def reference(given: Arguments) -> dict[str, Array]:
    """The same in NumPy."""
    return {"cov": np.cov(given["data"], rowvar=False).reshape(given["cov"].shape)}


KERNEL = Benchmark(
    name="covariance",
    kernel=covariance,
    sizes=table("M N", (28, 32), (80, 100), (240, 260), (1200, 1400), (2600, 3000)),
    arrays=arrays,
    live_out=("cov",),
    reference=reference,
    least={"N": 2},  # a sum is divided by N - 1
)
