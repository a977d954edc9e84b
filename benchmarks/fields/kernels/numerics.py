"""Integration, series of polynomials, factorizations and solvers."""

import numpy as np

import affdsl as af
from benchmarks.fields.given import within
from benchmarks.idioms.idiom import Group, K, M, N

LOOPS = Group("numerics")


@LOOPS.written(N=4000)
def runge_kutta(x: af.f64[N], v: af.f64[N], mu: af.f64):
    def f(a, b):
        return mu * (1 - a * a) * b - a

    with af.for_(N) as i:
        a, b = af.var(x[i]), af.var(v[i])
        with af.for_(10):
            k1, l1 = +b, f(a, b)
            k2, l2 = b + 0.005 * l1, f(a + 0.005 * k1, b + 0.005 * l1)
            k3, l3 = b + 0.005 * l2, f(a + 0.005 * k2, b + 0.005 * l2)
            k4, l4 = b + 0.01 * l3, f(a + 0.01 * k3, b + 0.01 * l3)
            a += 0.01 / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
            b += 0.01 / 6 * (l1 + 2 * l2 + 2 * l3 + l4)
        x[i] = a
        v[i] = b


@af.kernel
def clenshaw(c: af.f64[K], x: af.f64[N], y: af.f64[N]):
    with af.for_(N) as i:
        b1, b2 = af.var(af.f64(0)), af.var(af.f64(0))
        with af.for_(K - 1) as k:
            t = 2 * x[i] * b1 - b2 + c[K - 1 - k]
            b2.set(b1)
            b1.set(t)
        y[i] = x[i] * b1 - b2 + c[0]


@LOOPS.beside(clenshaw, given={"x": within(-1, 1, "N")}, tolerance=1e-10, N=5000, K=20)
def _(c, x, y):
    y[:] = np.polynomial.chebyshev.chebval(x, c)


@LOOPS.written(given={"x": within(-1, 1, "N")}, K=24, N=4000)
def legendre(x: af.f64[N], p: af.f64[K + 2, N]):
    with af.for_(N) as i:
        p[0, i] = 1.0
        p[1, i] = x[i]
    with af.for_(1, K + 1) as k, af.for_(N) as i:
        p[k + 1, i] = ((2 * af.f64(k) + 1) * x[i] * p[k, i] - af.f64(k) * p[k - 1, i]) / (af.f64(k) + 1)


@af.kernel
def splines_evaluated(x: af.f64[N], c: af.f64[K, 4], y: af.f64[N]):
    with af.for_(N) as i:
        t = x[i] * af.f64(K)
        k = af.i32(t)
        f = t - af.f64(k)
        y[i] = ((c[k, 3] * f + c[k, 2]) * f + c[k, 1]) * f + c[k, 0]


@LOOPS.beside(splines_evaluated, given={"x": within(0, 0.999, "N")}, tolerance=1e-11, N=30000, K=100)
def _(x, c, y):
    k = (x * len(c)).astype(np.int32)
    a, b, d, e = c[k].T
    y[:] = np.polynomial.polynomial.polyval(x * len(c) - k, np.array([a, b, d, e]), tensor=False)


@LOOPS.written(N=150)
def ldlt(a: af.f64[N, N], d: af.f64[N]):
    with af.for_(N) as i:
        a[i, i] += 200.0
    with af.for_(N) as j:
        s = af.var(a[j, j])
        with af.for_(j) as k:
            s -= a[j, k] * a[j, k] * d[k]
        d[j] = s
        with af.for_(j + 1, N) as i:
            t = af.var(a[i, j])
            with af.for_(j) as k:
                t -= a[i, k] * a[j, k] * d[k]
            a[i, j] = t / d[j]


@LOOPS.written(M=120, N=80)
def householder(a: af.f64[M, N], v: af.f64[M], tau: af.f64[N]):
    af.assume(M >= N)
    with af.for_(N) as k:
        s = af.var(af.f64(0))
        with af.for_(k, M) as i:
            s += a[i, k] * a[i, k]
        alpha = af.select(a[k, k] > 0, -af.sqrt(s), af.sqrt(s))
        v[k] = a[k, k] - alpha
        with af.for_(k + 1, M) as i:
            v[i] = a[i, k]
        t = 1 / (s - alpha * a[k, k])
        tau[k] = t
        with af.for_(k, N) as j:
            w = af.var(af.f64(0))
            with af.for_(k, M) as i:
                w += v[i] * a[i, j]
            with af.for_(k, M) as i:
                a[i, j] -= t * w * v[i]


@LOOPS.written(N=200)
def givens(h: af.f64[N + 1, N]):
    with af.for_(N) as k:
        a, b = h[k, k], h[k + 1, k]
        r = af.sqrt(a * a + b * b) + 1e-30
        c, s = a / r, b / r
        with af.for_(k, N) as j:
            p, q = h[k, j], h[k + 1, j]
            h[k, j] = c * p + s * q
            h[k + 1, j] = c * q - s * p


@LOOPS.written(M=4000, K=11)
def banded(a: af.f64[M, K], x: af.f64[M], y: af.f64[M]):
    with af.for_(M) as i:
        s = af.var(af.f64(0))
        with af.for_(K) as k:
            with af.if_((i + k >= 5) & (i + k < M + 5)):
                s += a[i, k] * x[i + k - 5]
        y[i] = s


@LOOPS.written(N=300)
def conjugate_gradients(a: af.f64[N, N], x: af.f64[N], r: af.f64[N], p: af.f64[N], q: af.f64[N]):
    rr, pq, new = af.var(af.f64(0)), af.var(af.f64(1e-3)), af.var(af.f64(0))
    with af.for_(N) as i:
        q[i] = 0.0
        with af.for_(N) as j:
            q[i] += a[i, j] * p[j]
        rr += r[i] * r[i]
        pq += p[i] * q[i]
    alpha = rr / pq
    with af.for_(N) as i:
        x[i] += alpha * p[i]
        r[i] -= alpha * q[i]
    with af.for_(N) as i:
        new += r[i] * r[i]
    with af.for_(N) as i:
        p[i] = r[i] + new / rr * p[i]
