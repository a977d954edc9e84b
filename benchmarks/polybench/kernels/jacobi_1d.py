"""jacobi-1d: a three-point stencil on a line, back and forth between two arrays."""

import numpy as np

import affdsl as af
from benchmarks.polybench.benchmark import Arguments, Array, Benchmark, Sizes, indices, table

N = af.symbols("N")


@af.kernel
def jacobi_1d(TSTEPS: af.index, A: af.f64[N], B: af.f64[N]):
    """Each time step is two steps of the stencil; the ends of A and B are not written, and may differ."""
    with af.for_(TSTEPS) as t:  # noqa: F841 - what the loop is called
        with af.for_(1, N - 1) as i:
            B[i] = 0.33333 * (A[i - 1] + A[i] + A[i + 1])
        with af.for_(1, N - 1) as i:
            A[i] = 0.33333 * (B[i - 1] + B[i] + B[i + 1])


def arrays(sizes: Sizes) -> Arguments:
    """A ramp, and in B the same a little higher."""
    n = sizes["N"]
    (i,) = indices(n)
    return {"TSTEPS": sizes["TSTEPS"], "A": (i + 2) / n, "B": (i + 3) / n}


def reference(given: Arguments) -> dict[str, Array]:
    """The same in NumPy."""
    a, b = given["A"].copy(), given["B"].copy()
    if len(a) < 3:  # there is nothing between the ends
        return {"A": a}
    for _ in range(given["TSTEPS"]):
        for target, source in [(b, a), (a, b)]:
            target[1:-1] = np.convolve(source, [0.33333] * 3, "valid")
    return {"A": a}


KERNEL = Benchmark(
    name="jacobi-1d",
    kernel=jacobi_1d,
    sizes=table("TSTEPS N", (20, 30), (40, 120), (100, 400), (500, 2000), (1000, 4000)),
    arrays=arrays,
    live_out=("A",),
    reference=reference,
)
