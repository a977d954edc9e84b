"""jacobi-2d: a five-point stencil in the plane, back and forth between two arrays."""

import affdsl as af
from benchmarks.polybench.benchmark import Arguments, Array, Benchmark, Sizes, indices, table

N = af.symbols("N")


@af.kernel
def jacobi_2d(TSTEPS: af.index, A: af.f64[N, N], B: af.f64[N, N]):
    """Each time step is two steps of the stencil; the borders of A and B are not written, and may differ."""
    with af.for_(TSTEPS) as t:  # noqa: F841 - what the loop is called
        with af.for_(1, N - 1) as i, af.for_(1, N - 1) as j:
            B[i, j] = 0.2 * (A[i, j] + A[i, j - 1] + A[i, j + 1] + A[i + 1, j] + A[i - 1, j])
        with af.for_(1, N - 1) as i, af.for_(1, N - 1) as j:
            A[i, j] = 0.2 * (B[i, j] + B[i, j - 1] + B[i, j + 1] + B[i + 1, j] + B[i - 1, j])


def arrays(sizes: Sizes) -> Arguments:
    """A hyperbolic paraboloid, and in B another; only the border of B changes the inside of A."""
    n = sizes["N"]
    i, j = indices(n, n)
    return {"TSTEPS": sizes["TSTEPS"], "A": (i * (j + 2) + 2) / n, "B": (i * (j + 3) + 3) / n}


def reference(given: Arguments) -> dict[str, Array]:
    """The same in NumPy."""
    a, b = given["A"].copy(), given["B"].copy()
    for _ in range(given["TSTEPS"]):
        for target, source in [(b, a), (a, b)]:
            rows, columns = source[:, 1:-1], source[1:-1]
            target[1:-1, 1:-1] = (rows[:-2] + rows[1:-1] + rows[2:] + columns[:, :-2] + columns[:, 2:]) / 5
    return {"A": a}


KERNEL = Benchmark(
    name="jacobi-2d",
    kernel=jacobi_2d,
    sizes=table("TSTEPS N", (20, 30), (40, 90), (100, 250), (500, 1300), (1000, 2800)),
    arrays=arrays,
    live_out=("A",),
    reference=reference,
)
