"""Bodies in space: forces, rotations, projections, chains of joints."""

import numpy as np

import affdsl as af
from benchmarks.idioms.idiom import Group, M, N

LOOPS = Group("bodies")


@LOOPS.written(N=512)
def bodies_by_pairs(x: af.f64[N], y: af.f64[N], fx: af.f64[N], fy: af.f64[N]):
    with af.for_(N) as i, af.for_(i + 1, N) as j:
        dx = x[j] - x[i]
        dy = y[j] - y[i]
        r2 = dx * dx + dy * dy + 0.01
        w = 1.0 / (r2 * af.sqrt(r2))
        fx[i] += w * dx
        fy[i] += w * dy
        fx[j] -= w * dx
        fy[j] -= w * dy


@af.kernel
def rigid_spheres(p: af.f32[N, 3], v: af.f32[N, 3]):
    with af.for_(N) as i, af.for_(3) as d:
        q = p[i, d] + 0.01 * v[i, d]
        with af.if_((q < -1.0) | (q > 1.0)):
            v[i, d] = -v[i, d]
        p[i, d] = af.min(af.max(q, -1.0), 1.0)


@LOOPS.beside(rigid_spheres, tolerance=1e-5, N=20000)
def _(p, v):
    q = p + 0.01 * v
    v[:] = np.where(np.abs(q) > 1, -v, v)
    p[:] = np.clip(q, -1, 1)


@af.kernel
def distances_periodic(x: af.f64[N, 3], d: af.f64[N, N]):
    with af.for_(N) as i, af.for_(N) as j:
        s = af.var(af.f64(0))
        for c in range(3):
            t = x[i, c] - x[j, c]
            t = t - af.round(t)
            s += t * t
        d[i, j] = af.sqrt(s)


@LOOPS.beside(distances_periodic, N=300)
def _(x, d):
    t = x[:, None] - x
    t -= np.round(t)
    d[:] = np.sqrt((t * t).sum(axis=2))


@af.kernel
def forward_kinematics(q: af.f64[M, 6], p: af.f64[M, 2]):
    with af.for_(M) as m:
        a, x, y = af.var(af.f64(0)), af.var(af.f64(0)), af.var(af.f64(0))
        with af.for_(6) as k:
            a += q[m, k]
            x += af.cos(a)
            y += af.sin(a)
        p[m, 0] = x
        p[m, 1] = y


@LOOPS.beside(forward_kinematics, M=1000)
def _(q, p):
    a = q.cumsum(axis=1)
    p[:, 0] = np.cos(a).sum(axis=1)
    p[:, 1] = np.sin(a).sum(axis=1)


@LOOPS.written(N=4000)
def quaternions(a: af.f32[N, 4], b: af.f32[N, 4], c: af.f32[N, 4]):
    with af.for_(N) as i:
        c[i, 0] = a[i, 0] * b[i, 0] - a[i, 1] * b[i, 1] - a[i, 2] * b[i, 2] - a[i, 3] * b[i, 3]
        c[i, 1] = a[i, 0] * b[i, 1] + a[i, 1] * b[i, 0] + a[i, 2] * b[i, 3] - a[i, 3] * b[i, 2]
        c[i, 2] = a[i, 0] * b[i, 2] - a[i, 1] * b[i, 3] + a[i, 2] * b[i, 0] + a[i, 3] * b[i, 1]
        c[i, 3] = a[i, 0] * b[i, 3] + a[i, 1] * b[i, 2] - a[i, 2] * b[i, 1] + a[i, 3] * b[i, 0]


@af.kernel
def points_projected(p: af.f32[M, 3], t: af.f32[4, 4], o: af.f32[M, 2]):
    with af.for_(M) as m:
        r = [t[i, 0] * p[m, 0] + t[i, 1] * p[m, 1] + t[i, 2] * p[m, 2] + t[i, 3] for i in (0, 1, 3)]
        o[m, 0] = r[0] / r[2]
        o[m, 1] = r[1] / r[2]


@LOOPS.beside(
    points_projected,
    given={"p": lambda r, s: r.random((s["M"], 3), "f4"), "t": lambda r, s: r.random((4, 4), "f4")},
    tolerance=1e-5,
    M=2000,
)
def _(p, t, o):
    r = p @ t[:, :3].T + t[:, 3]
    o[:] = r[:, :2] / r[:, 3:]


@LOOPS.written(N=4000)
def lorenz(x: af.f64[N], y: af.f64[N], z: af.f64[N]):
    with af.for_(N) as i:
        a, b, c = af.var(x[i]), af.var(y[i]), af.var(z[i])
        with af.for_(20):
            da = 10.0 * (b - a)
            db = a * (28.0 - c) - b
            dc = a * b - 2.6666 * c
            a += 0.01 * da
            b += 0.01 * db
            c += 0.01 * dc
        x[i] = a
        y[i] = b
        z[i] = c
