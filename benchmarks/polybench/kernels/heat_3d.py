"""heat-3d: the heat equation in three dimensions, explicit, back and forth between two arrays."""

import numpy as np

import affdsl as af
from benchmarks.polybench.benchmark import Arguments, Array, Benchmark, Sizes, indices, table

N = af.symbols("N")


def step(D: af.Array, S: af.Array) -> None:
    """D becomes S and an eighth of its second differences along each axis."""
    with af.for_(1, N - 1) as i, af.for_(1, N - 1) as j, af.for_(1, N - 1) as k:
        D[i, j, k] = (
            0.125 * (S[i + 1, j, k] - 2.0 * S[i, j, k] + S[i - 1, j, k])
            + 0.125 * (S[i, j + 1, k] - 2.0 * S[i, j, k] + S[i, j - 1, k])
            + 0.125 * (S[i, j, k + 1] - 2.0 * S[i, j, k] + S[i, j, k - 1])
            + S[i, j, k]
        )


@af.kernel
def heat_3d(TSTEPS: af.index, A: af.f64[N, N, N], B: af.f64[N, N, N]):
    """Each time step is two steps of the stencil; the borders of A and B are not written."""
    with af.for_(1, TSTEPS + 1) as t:  # noqa: F841 - what the loop is called
        step(B, A)
        step(A, B)


def arrays(sizes: Sizes) -> Arguments:
    """A ramp, which has no second differences: it comes out as it went in."""
    n = sizes["N"]
    i, j, k = indices(n, n, n)
    ramp = (i + j + (n - k)) * 10.0 / n
    return {"TSTEPS": sizes["TSTEPS"], "A": ramp, "B": ramp.copy()}


def reference(given: Arguments) -> dict[str, Array]:
    """The same in NumPy."""
    a, b = given["A"].copy(), given["B"].copy()
    for _ in range(given["TSTEPS"]):
        for target, source in [(b, a), (a, b)]:
            bends = (np.diff(inside(source, axis), 2, axis) for axis in range(3))
            target[1:-1, 1:-1, 1:-1] = source[1:-1, 1:-1, 1:-1] + sum(bends) / 8
    return {"A": a}


def inside(x: Array, but: int) -> Array:
    """An array without its first and last planes along each axis but one."""
    return x[tuple(slice(None) if axis == but else slice(1, -1) for axis in range(x.ndim))]


KERNEL = Benchmark(
    name="heat-3d",
    kernel=heat_3d,
    sizes=table("TSTEPS N", (20, 10), (40, 20), (100, 40), (500, 120), (1000, 200)),
    arrays=arrays,
    live_out=("A",),
    reference=reference,
)
