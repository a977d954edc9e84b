"""gesummv: two matrix-vector products added, y becomes alpha * A @ x + beta * B @ x."""

import affdsl as af
from benchmarks.polybench.benchmark import Arguments, Array, Benchmark, Sizes, indices, table, unset

N = af.symbols("N")


@af.kernel
def gesummv(
    alpha: af.f64,
    beta: af.f64,
    A: af.f64[N, N],
    B: af.f64[N, N],
    tmp: af.f64[N],
    x: af.f64[N],
    y: af.f64[N],
):
    """Both products in one loop; that with A is kept in tmp."""
    with af.for_(N) as i:
        tmp[i] = 0.0
        y[i] = 0.0
        with af.for_(N) as j:
            tmp[i] = A[i, j] * x[j] + tmp[i]
            y[i] = B[i, j] * x[j] + y[i]
        y[i] = alpha * tmp[i] + beta * y[i]


def arrays(sizes: Sizes) -> Arguments:
    """Fractions below 1; the first row and the first column of A and of B are constant."""
    n = sizes["N"]
    i, j = indices(n, n)
    (k,) = indices(n)
    return {
        "alpha": 1.5,
        "beta": 1.2,
        "A": (i * j + 1) % n / n,
        "B": (i * j + 2) % n / n,
        "tmp": unset(n),
        "x": k % n / n,
        "y": unset(n),
    }


def reference(given: Arguments) -> dict[str, Array]:
    """The same in NumPy."""
    return {"y": (given["alpha"] * given["A"] + given["beta"] * given["B"]) @ given["x"]}


KERNEL = Benchmark(
    name="gesummv",
    kernel=gesummv,
    sizes=table("N", (30,), (90,), (250,), (1300,), (2800,)),
    arrays=arrays,
    live_out=("y",),
    reference=reference,
)
