"""correlation: the Pearson correlation of each two columns of a table."""

import numpy as np

import affdsl as af
from benchmarks.polybench.benchmark import Arguments, Array, Benchmark, Sizes, indices, table, unset

M, N = af.symbols("M N")


@af.kernel
def correlation(float_n: af.f64, data: af.f64[N, M], corr: af.f64[M, M], mean: af.f64[M], stddev: af.f64[M]):
    """data becomes its columns less their means, over their deviations; float_n is N as a number."""
    af.assume(M >= 1)  # corr[M - 1, M - 1] is set on its own
    with af.for_(M) as j:
        mean[j] = 0.0
        with af.for_(N) as i:
            mean[j] += data[i, j]
        mean[j] /= float_n
    with af.for_(M) as j:
        stddev[j] = 0.0
        with af.for_(N) as i:
            stddev[j] += (data[i, j] - mean[j]) * (data[i, j] - mean[j])
        stddev[j] /= float_n
        stddev[j] = af.sqrt(stddev[j])
        # A column of equal numbers has no deviation to divide by.
        stddev[j] = af.select(stddev[j] <= 0.1, 1.0, stddev[j])
    with af.for_(N) as i, af.for_(M) as j:
        data[i, j] -= mean[j]
        data[i, j] /= af.sqrt(float_n) * stddev[j]
    with af.for_(M - 1) as i:
        corr[i, i] = 1.0
        with af.for_(i + 1, M) as j:
            corr[i, j] = 0.0
            with af.for_(N) as k:
                corr[i, j] += data[k, i] * data[k, j]
            corr[j, i] = corr[i, j]
    corr[M - 1, M - 1] = 1.0


def arrays(sizes: Sizes) -> Arguments:
    """Columns that are proportional to each other: all correlations are 1."""
    m, n = sizes["M"], sizes["N"]
    i, j = indices(n, m)
    return {
        "float_n": float(n),
        "data": i * j / m + i,
        "corr": unset(m, m),
        "mean": unset(m),
        "stddev": unset(m),
    }


def reference(given: Arguments) -> dict[str, Array]:
    """The same in NumPy."""
    data = given["data"]
    deviation = data.std(axis=0)
    normal = (data - data.mean(axis=0)) / np.where(deviation <= 0.1, 1.0, deviation)
    corr = normal.T @ normal / len(data)
    np.fill_diagonal(corr, 1.0)
    return {"corr": corr}


def random(sizes: Sizes, rng: np.random.Generator) -> Arguments:
    """Every third column is nearly constant, so that its deviation is not divided by."""
    given = arrays(sizes)
    spread = np.where(np.arange(sizes["M"]) % 3 == 1, 0.01, 1.0)
    return given | {"data": rng.uniform(-1, 1, (sizes["N"], sizes["M"])) * spread}


KERNEL = Benchmark(
    name="correlation",
    kernel=correlation,
    sizes=table("M N", (28, 32), (80, 100), (240, 260), (1200, 1400), (2600, 3000)),
    arrays=arrays,
    live_out=("corr",),
    reference=reference,
    random=random,
)
