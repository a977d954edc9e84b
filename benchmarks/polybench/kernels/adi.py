"""adi: the heat equation in two dimensions, implicit along one axis and then along the other."""

import numpy as np

import affdsl as af
from benchmarks.polybench.benchmark import Arguments, Array, Benchmark, Sizes, indices, table, unset

N = af.symbols("N")


@af.kernel
def adi(TSTEPS: af.index, u: af.f64[N, N], v: af.f64[N, N], p: af.f64[N, N], q: af.f64[N, N]):
    """Each half step solves a tridiagonal system for each line, by elimination in p and q and substitution in v or u.

    The border has the value 1; rows 0 and N - 1 of u are not touched.
    """
    DX = 1 / af.f64(N)
    DY = 1 / af.f64(N)
    DT = 1 / af.f64(TSTEPS)
    mul1 = 2 * DT / (DX * DX)
    mul2 = 1 * DT / (DY * DY)
    a = -mul1 / 2
    b = 1 + mul1
    c = a
    d = -mul2 / 2
    e = 1 + mul2
    f = d
    with af.for_(1, TSTEPS + 1) as t:  # noqa: F841 - what the loop is called
        with af.for_(1, N - 1) as i:
            v[0, i] = 1.0
            p[i, 0] = 0.0
            q[i, 0] = v[0, i]
            with af.for_(1, N - 1) as j:
                p[i, j] = -c / (a * p[i, j - 1] + b)
                right = -d * u[j, i - 1] + (1 + 2 * d) * u[j, i] - f * u[j, i + 1]
                q[i, j] = (right - a * q[i, j - 1]) / (a * p[i, j - 1] + b)
            v[N - 1, i] = 1.0
            with af.for_(1, N - 1) as back:
                j = N - 1 - back
                v[j, i] = p[i, j] * v[j + 1, i] + q[i, j]
        with af.for_(1, N - 1) as i:
            u[i, 0] = 1.0
            p[i, 0] = 0.0
            q[i, 0] = u[i, 0]
            with af.for_(1, N - 1) as j:
                p[i, j] = -f / (d * p[i, j - 1] + e)
                right = -a * v[i - 1, j] + (1 + 2 * a) * v[i, j] - c * v[i + 1, j]
                q[i, j] = (right - d * q[i, j - 1]) / (d * p[i, j - 1] + e)
            u[i, N - 1] = 1.0
            with af.for_(1, N - 1) as back:
                j = N - 1 - back
                u[i, j] = p[i, j] * u[i, j + 1] + q[i, j]


def arrays(sizes: Sizes) -> Arguments:
    """A ramp from corner to corner."""
    n = sizes["N"]
    i, j = indices(n, n)
    return {"TSTEPS": sizes["TSTEPS"], "u": (i + n - j) / n} | {name: unset(n, n) for name in ("v", "p", "q")}


def reference(given: Arguments) -> dict[str, Array]:
    """The same by LAPACK: the tridiagonal matrix of a half step is solved for all lines at once."""
    steps, u = given["TSTEPS"], given["u"].copy()
    n = len(u)
    if n < 3:  # there is nothing inside of the border
        return {"u": u}
    m1, m2 = 2 * n * n / steps, n * n / steps
    for _ in range(steps):
        inside = u[1:-1, 1:-1] + m2 / 2 * np.diff(u[1:-1], 2, axis=1)
        v = np.pad(half_step(m1, inside), 1, constant_values=1.0)
        inside = v[1:-1, 1:-1] + m1 / 2 * np.diff(v[:, 1:-1], 2, axis=0)
        u[1:-1] = np.pad(half_step(m2, inside.T).T, ((0, 0), (1, 1)), constant_values=1.0)
    return {"u": u}


def half_step(m: float, right: Array) -> Array:
    """The x for which each column of x - m / 2 * (its second differences, with 1 at both ends) is that of `right`."""
    n = len(right)
    right = right.copy()
    right[0] += m / 2
    right[-1] += m / 2
    return np.linalg.solve((1 + m) * np.eye(n) - m / 2 * (np.eye(n, k=-1) + np.eye(n, k=1)), right)


KERNEL = Benchmark(
    name="adi",
    kernel=adi,
    sizes=table("TSTEPS N", (20, 20), (40, 60), (100, 200), (500, 1000), (1000, 2000)),
    arrays=arrays,
    live_out=("u",),
    reference=reference,
)
