"""Fields on grids: diffusion, waves, flow."""

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

import affdsl as af
from benchmarks.idioms.idiom import Group, K, M, N

LOOPS = Group("grids")


@LOOPS.written(M=300, N=300)
def heat_with_coefficients(u: af.f64[M, N], k: af.f64[M, N], v: af.f64[M, N]):
    with af.for_(1, M - 1) as i, af.for_(1, N - 1) as j:
        e = 0.5 * (k[i, j] + k[i, j + 1]) * (u[i, j + 1] - u[i, j])
        w = 0.5 * (k[i, j] + k[i, j - 1]) * (u[i, j] - u[i, j - 1])
        s = 0.5 * (k[i, j] + k[i + 1, j]) * (u[i + 1, j] - u[i, j])
        n = 0.5 * (k[i, j] + k[i - 1, j]) * (u[i, j] - u[i - 1, j])
        v[i, j] = u[i, j] + 0.1 * (e - w + s - n)


@LOOPS.written(M=64, N=64, K=64)
def heat_in_space(u: af.f32[M, N, K], v: af.f32[M, N, K]):
    with af.for_(1, M - 1) as i, af.for_(1, N - 1) as j, af.for_(1, K - 1) as k:
        v[i, j, k] = u[i, j, k] + 0.1 * (
            u[i - 1, j, k]
            + u[i + 1, j, k]
            + u[i, j - 1, k]
            + u[i, j + 1, k]
            + u[i, j, k - 1]
            + u[i, j, k + 1]
            - 6.0 * u[i, j, k]
        )


@LOOPS.written(M=200, N=200)
def shallow_water(
    h: af.f32[M, N], u: af.f32[M, N], v: af.f32[M, N], h2: af.f32[M, N], u2: af.f32[M, N], v2: af.f32[M, N]
):
    with af.for_(1, M - 1) as i, af.for_(1, N - 1) as j:
        u2[i, j] = u[i, j] - 0.05 * (h[i, j + 1] - h[i, j - 1])
        v2[i, j] = v[i, j] - 0.05 * (h[i + 1, j] - h[i - 1, j])
        h2[i, j] = h[i, j] - 0.05 * h[i, j] * (u[i, j + 1] - u[i, j - 1] + v[i + 1, j] - v[i - 1, j])


@LOOPS.written(N=48)
def maxwell(
    ex: af.f64[N, N, N],
    ey: af.f64[N, N, N],
    ez: af.f64[N, N, N],
    hx: af.f64[N, N, N],
    hy: af.f64[N, N, N],
    hz: af.f64[N, N, N],
):
    with af.for_(N - 1) as i, af.for_(N - 1) as j, af.for_(N - 1) as k:
        hx[i, j, k] += 0.4 * (ey[i, j, k + 1] - ey[i, j, k] - ez[i, j + 1, k] + ez[i, j, k])
        hy[i, j, k] += 0.4 * (ez[i + 1, j, k] - ez[i, j, k] - ex[i, j, k + 1] + ex[i, j, k])
        hz[i, j, k] += 0.4 * (ex[i, j + 1, k] - ex[i, j, k] - ey[i + 1, j, k] + ey[i, j, k])


@LOOPS.written(M=64, N=64)
def lattice_collide(f: af.f64[9, M, N]):
    with af.for_(M) as i, af.for_(N) as j:
        g = [f[q, i, j] for q in range(9)]
        rho = sum(g[1:], g[0])
        cx = [0, 1, 0, -1, 0, 1, -1, -1, 1]
        cy = [0, 0, 1, 0, -1, 1, 1, -1, -1]
        u = (g[1] - g[3] + g[5] - g[6] - g[7] + g[8]) / rho
        v = (g[2] - g[4] + g[5] + g[6] - g[7] - g[8]) / rho
        uu = 1.5 * (u * u + v * v)
        for q in range(9):
            w = 4 / 9 if q == 0 else 1 / 9 if q < 5 else 1 / 36
            cu = 3.0 * (float(cx[q]) * u + float(cy[q]) * v)
            f[q, i, j] = g[q] + 0.6 * (w * rho * (1.0 + cu + 0.5 * cu * cu - uu) - g[q])


@af.kernel
def twenty_seven_points(x: af.f32[N, N, N], y: af.f32[N, N, N]):
    with af.for_(1, N - 1) as i, af.for_(1, N - 1) as j, af.for_(1, N - 1) as k:
        s = af.var(af.f32(0))
        with af.for_(-1, 2) as a, af.for_(-1, 2) as b, af.for_(-1, 2) as c:
            s += x[i + a, j + b, k + c]
        y[i, j, k] = s * (1 / 27)


@LOOPS.beside(twenty_seven_points, tolerance=1e-5, N=64)
def _(x, y):
    y[1:-1, 1:-1, 1:-1] = sliding_window_view(x, (3, 3, 3)).sum(axis=(3, 4, 5)) / 27


@LOOPS.written(N=400)
def red_and_black(u: af.f64[N, N], f: af.f64[N, N]):
    with af.for_(2) as colour, af.for_(1, N - 1) as i, af.for_(1, N - 1) as j:
        with af.if_((i + j) % 2 == colour):
            u[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] - f[i, j])


@af.kernel
def upwind(u: af.f64[N], v: af.f64[N], w: af.f64[N]):
    with af.for_(1, N - 1) as i:
        w[i] = u[i] - 0.1 * af.select(v[i] > 0, v[i] * (u[i] - u[i - 1]), v[i] * (u[i + 1] - u[i]))


@LOOPS.beside(upwind, N=30000)
def _(u, v, w):
    d, a = np.diff(u), v[1:-1]
    w[1:-1] = u[1:-1] - 0.1 * np.where(a > 0, a * d[:-1], a * d[1:])


@af.kernel
def minmod(u: af.f64[N], s: af.f64[N]):
    with af.for_(1, N - 1) as i:
        a = u[i] - u[i - 1]
        b = u[i + 1] - u[i]
        s[i] = af.select(a * b > 0, af.select(af.abs(a) < af.abs(b), a, b), af.f64(0))


@LOOPS.beside(minmod, N=30000)
def _(u, s):
    a, b = np.diff(u)[:-1], np.diff(u)[1:]
    s[1:-1] = np.where(a * b > 0, np.where(np.abs(a) < np.abs(b), a, b), 0)


@LOOPS.written(M=300, N=300)
def max_of_neighbours_in_place(x: af.i32[M, N]):
    with af.for_(1, M) as i, af.for_(1, N) as j:
        x[i, j] += af.max(x[i - 1, j], x[i, j - 1])
