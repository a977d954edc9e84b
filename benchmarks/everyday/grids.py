"""Fields on grids, and how they change in time."""

import numpy as np

import affdsl as af
from benchmarks.everyday.loop import Group

LOOPS = Group()
B, M, N = af.symbols("B M N")


@af.kernel
def advection_upwind(u: af.f64[M, N], new: af.f64[M, N], cx: af.f64, cy: af.f64, steps: af.index):
    """A field that wind carries along, by differences against the wind."""
    with af.for_(steps):
        with af.for_(1, M) as i, af.for_(1, N) as j:
            new[i, j] = u[i, j] - cx * (u[i, j] - u[i - 1, j]) - cy * (u[i, j] - u[i, j - 1])
        with af.for_(1, M) as i, af.for_(1, N) as j:
            u[i, j] = new[i, j]


@LOOPS.beside(
    advection_upwind, lambda r, n: (r.normal(size=(n, n)), np.zeros((n, n)), 0.3, 0.2, 20), 500, tolerance=1e-12
)
def _(u, new, cx, cy, steps):
    m, n = u.shape
    for _ in range(steps):
        for i in range(1, m):
            for j in range(1, n):
                new[i, j] = u[i, j] - cx * (u[i, j] - u[i - 1, j]) - cy * (u[i, j] - u[i, j - 1])
        for i in range(1, m):
            for j in range(1, n):
                u[i, j] = new[i, j]


@af.kernel
def wave_equation(u: af.f32[M, N], v: af.f32[M, N], c: af.f32, steps: af.index):
    """A membrane: how fast each point moves, then where it is."""
    with af.for_(steps):
        with af.for_(1, M - 1) as i, af.for_(1, N - 1) as j:
            v[i, j] += c * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] - 4 * u[i, j])
        with af.for_(1, M - 1) as i, af.for_(1, N - 1) as j:
            u[i, j] += v[i, j]


@LOOPS.beside(
    wave_equation,
    lambda r, n: (r.normal(size=(n, n)).astype("f4"), np.zeros((n, n), "f4"), np.float32(0.1), 20),
    600,
    tolerance=1e-4,
)
def _(u, v, c, steps):
    m, n = u.shape
    for _ in range(steps):
        for i in range(1, m - 1):
            for j in range(1, n - 1):
                v[i, j] += c * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] - np.float32(4) * u[i, j])
        for i in range(1, m - 1):
            for j in range(1, n - 1):
                u[i, j] += v[i, j]


@af.kernel
def game_of_life(old: af.u8[M, N], new: af.u8[M, N]):
    """A generation: a cell lives with three neighbours, or with two if it has lived."""
    with af.for_(1, M - 1) as i, af.for_(1, N - 1) as j:
        near = (
            old[i - 1, j - 1] + old[i - 1, j] + old[i - 1, j + 1] + old[i, j - 1]
            + old[i, j + 1] + old[i + 1, j - 1] + old[i + 1, j] + old[i + 1, j + 1]
        )  # fmt: skip
        new[i, j] = af.cast((near == 3) | ((near == 2) & (old[i, j] == 1)), af.u8)


@LOOPS.beside(game_of_life, lambda r, n: (r.integers(0, 2, (n, n), "u1"), np.zeros((n, n), "u1")), 4000)
def _(old, new):
    m, n = old.shape
    for i in range(1, m - 1):
        for j in range(1, n - 1):
            near = (
                old[i - 1, j - 1] + old[i - 1, j] + old[i - 1, j + 1] + old[i, j - 1]
                + old[i, j + 1] + old[i + 1, j - 1] + old[i + 1, j] + old[i + 1, j + 1]
            )  # fmt: skip
            new[i, j] = near == 3 or (near == 2 and old[i, j] == 1)


@af.kernel
def batched_stencil(a: af.f32[B, M, N], out: af.f32[B, M, N]):
    """Each of many planes smoothed."""
    with af.for_(B) as b, af.for_(1, M - 1) as i, af.for_(1, N - 1) as j:
        out[b, i, j] = 0.2 * (a[b, i, j] + a[b, i - 1, j] + a[b, i + 1, j] + a[b, i, j - 1] + a[b, i, j + 1])


@LOOPS.beside(
    batched_stencil,
    lambda r, n: (r.random((64, n, n), "f4"), np.zeros((64, n, n), "f4")),
    192,
    tolerance=1e-5,
)
def _(a, out):
    batch, m, n = a.shape
    for b in range(batch):
        for i in range(1, m - 1):
            for j in range(1, n - 1):
                near = a[b, i, j] + a[b, i - 1, j] + a[b, i + 1, j] + a[b, i, j - 1] + a[b, i, j + 1]
                out[b, i, j] = np.float32(0.2) * near


def larger(x, y):
    """What Python's `max` chooses, also beside what is no number; `af.max` would hand that on."""
    return af.select(y > x, y, x)


@af.kernel
def max_pool(a: af.f32[B, 2 * M, 2 * N], out: af.f32[B, M, N]):
    """The largest of each four neighbours."""
    with af.for_(B) as b, af.for_(M) as i, af.for_(N) as j:
        above = larger(a[b, 2 * i, 2 * j], a[b, 2 * i, 2 * j + 1])
        below = larger(a[b, 2 * i + 1, 2 * j], a[b, 2 * i + 1, 2 * j + 1])
        out[b, i, j] = larger(above, below)


@LOOPS.beside(max_pool, lambda r, n: (r.random((64, 2 * n, 2 * n), "f4"), np.zeros((64, n, n), "f4")), 112)
def _(a, out):
    batch, m, n = out.shape
    for b in range(batch):
        for i in range(m):
            for j in range(n):
                above = max(a[b, 2 * i, 2 * j], a[b, 2 * i, 2 * j + 1])
                below = max(a[b, 2 * i + 1, 2 * j], a[b, 2 * i + 1, 2 * j + 1])
                out[b, i, j] = max(above, below)


@af.kernel
def over_relaxation(u: af.f64[M, N], f: af.f64[M, N], omega: af.f64, sweeps: af.index):
    """Poisson's equation by Gauss and Seidel, a little further each time."""
    with af.for_(sweeps), af.for_(1, M - 1) as i, af.for_(1, N - 1) as j:
        near = u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1]
        u[i, j] = (1 - omega) * u[i, j] + omega * 0.25 * (near - f[i, j])


@LOOPS.beside(
    over_relaxation, lambda r, n: (r.normal(size=(n, n)), r.normal(size=(n, n)), 1.5, 20), 250, tolerance=1e-9
)
def _(u, f, omega, sweeps):
    m, n = u.shape
    for _ in range(sweeps):
        for i in range(1, m - 1):
            for j in range(1, n - 1):
                near = u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1]
                u[i, j] = (1 - omega) * u[i, j] + omega * 0.25 * (near - f[i, j])
