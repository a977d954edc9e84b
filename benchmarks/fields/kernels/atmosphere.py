"""Weather and ocean: advection, radiation, pressure."""

import affdsl as af
from benchmarks.fields.given import within
from benchmarks.idioms.idiom import Group, K, M, N

LOOPS = Group("atmosphere")


@LOOPS.written(N=20000)
def weno(u: af.f64[N + 4], f: af.f64[N]):
    with af.for_(N) as i:
        a, b, c, d, e = (u[i + k] for k in range(5))
        b0 = 13 / 12 * (a - 2 * b + c) ** 2 + 0.25 * (a - 4 * b + 3 * c) ** 2
        b1 = 13 / 12 * (b - 2 * c + d) ** 2 + 0.25 * (b - d) ** 2
        b2 = 13 / 12 * (c - 2 * d + e) ** 2 + 0.25 * (3 * c - 4 * d + e) ** 2
        w0 = 0.1 / (1e-6 + b0) ** 2
        w1 = 0.6 / (1e-6 + b1) ** 2
        w2 = 0.3 / (1e-6 + b2) ** 2
        f[i] = (w0 * (2 * a - 7 * b + 11 * c) + w1 * (-b + 5 * c + 2 * d) + w2 * (2 * c + 5 * d - e)) / (
            6 * (w0 + w1 + w2)
        )


@LOOPS.written(N=4000, K=20)
def lax_wendroff(u: af.f64[N + 1], steps: af.f64[K]):
    h = af.alloc(af.f64[N])
    with af.for_(K) as t:
        with af.for_(N) as i:
            h[i] = 0.5 * (u[i] + u[i + 1]) - 0.1 * (0.5 * u[i + 1] * u[i + 1] - 0.5 * u[i] * u[i]) * steps[t]
        with af.for_(1, N) as i:
            u[i] -= 0.05 * (0.5 * h[i] * h[i] - 0.5 * h[i - 1] * h[i - 1])


@LOOPS.written(given={"v": within(-3, 3, "N")}, N=50000)
def semi_lagrangian(q: af.f64[N], v: af.f64[N], out: af.f64[N]):
    with af.for_(N) as i:
        x = af.min(af.max(af.f64(i) - v[i], 0.0), af.f64(N) - 2.0)
        left = af.i64(x)
        w = x - af.f64(left)
        out[i] = (1.0 - w) * q[left] + w * q[left + 1]


@LOOPS.written(M=400, K=60)
def radiation_down(tau: af.f32[M, K], source: af.f32[M, K], flux: af.f32[M, K + 1]):
    with af.for_(M) as c:
        f = af.var(af.f32(100))
        flux[c, 0] = f
        with af.for_(K) as k:
            t = af.exp(-0.1 * tau[c, k] * tau[c, k])
            f.set(f * t + source[c, k] * (1 - t))
            flux[c, k + 1] = f


@LOOPS.written(M=300, N=300)
def arakawa(p: af.f64[M, N], z: af.f64[M, N], j: af.f64[M, N]):
    with af.for_(1, M - 1) as y, af.for_(1, N - 1) as x:
        jpp = (p[y, x + 1] - p[y, x - 1]) * (z[y + 1, x] - z[y - 1, x]) - (p[y + 1, x] - p[y - 1, x]) * (
            z[y, x + 1] - z[y, x - 1]
        )
        jpx = (
            p[y, x + 1] * (z[y + 1, x + 1] - z[y - 1, x + 1])
            - p[y, x - 1] * (z[y + 1, x - 1] - z[y - 1, x - 1])
            - p[y + 1, x] * (z[y + 1, x + 1] - z[y + 1, x - 1])
            + p[y - 1, x] * (z[y - 1, x + 1] - z[y - 1, x - 1])
        )
        jxp = (
            z[y + 1, x] * (p[y + 1, x + 1] - p[y + 1, x - 1])
            - z[y - 1, x] * (p[y - 1, x + 1] - p[y - 1, x - 1])
            - z[y, x + 1] * (p[y + 1, x + 1] - p[y - 1, x + 1])
            + z[y, x - 1] * (p[y + 1, x - 1] - p[y - 1, x - 1])
        )
        j[y, x] = (jpp + jpx + jxp) / 12


@af.kernel
def hydrostatic(rho: af.f64[K, M, N], dz: af.f64[K], p: af.f64[K + 1, M, N]):
    with af.for_(K) as up, af.for_(M) as y, af.for_(N) as x:
        k = K - 1 - up
        p[k, y, x] = p[k + 1, y, x] + 9.81 * rho[k, y, x] * dz[k]


@LOOPS.beside(hydrostatic, K=40, M=60, N=64)
def _(rho, dz, p):
    for k in range(len(dz) - 1, -1, -1):
        p[k] = p[k + 1] + 9.81 * rho[k] * dz[k]
