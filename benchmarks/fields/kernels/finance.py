"""Prices, models of chance, and moments of samples."""

import numpy as np

import affdsl as af
from benchmarks.idioms.idiom import Group, M, N

LOOPS = Group("finance")


@af.kernel
def option_paths(z: af.f64[M, N], out: af.f64[M]):
    with af.for_(M) as m:
        s = af.var(af.f64(100))
        with af.for_(N) as t:
            s *= 1.0001 + 0.01 * z[m, t]
        out[m] = af.max(s - 100.0, 0.0)


@LOOPS.beside(option_paths, tolerance=1e-10, M=2000, N=250)
def _(z, out):
    out[:] = np.maximum(100 * (1.0001 + 0.01 * z).prod(axis=1) - 100, 0)


@af.kernel
def binomial_tree(v: af.f64[N + 1]):
    with af.for_(N) as t, af.for_(N - t) as i:
        v[i] = 0.999 * (0.51 * v[i + 1] + 0.49 * v[i])


@LOOPS.beside(binomial_tree, N=1000)
def _(v):
    for n in range(len(v) - 1, 0, -1):
        v[:n] = 0.999 * (0.51 * v[1 : n + 1] + 0.49 * v[:n])


@af.kernel
def hidden_forward(a: af.f64[N, N], e: af.f64[M, N], f: af.f64[M, N]):
    with af.for_(1, M) as t, af.for_(N) as j:
        s = af.var(af.f64(0))
        with af.for_(N) as k:
            s += f[t - 1, k] * a[k, j]
        f[t, j] = s * e[t, j] * 0.1


@LOOPS.beside(hidden_forward, tolerance=1e-9, M=200, N=50)
def _(a, e, f):
    for t in range(1, len(f)):
        f[t] = f[t - 1] @ a * e[t] * 0.1


@af.kernel
def correlations_with_one(x: af.f64[M, N], y: af.f64[N], r: af.f64[M]):
    with af.for_(M) as i:
        a, b, c = af.var(af.f64(0)), af.var(af.f64(0)), af.var(af.f64(0))
        with af.for_(N) as j:
            a += x[i, j] * y[j]
            b += x[i, j] * x[i, j]
            c += x[i, j]
        r[i] = (a - c * 0.1) / af.sqrt(b + 1.0)


@LOOPS.beside(correlations_with_one, tolerance=1e-11, M=300, N=500)
def _(x, y, r):
    r[:] = (x @ y - 0.1 * x.sum(axis=1)) / np.sqrt((x * x).sum(axis=1) + 1)


@af.kernel
def covariances_of_few(x: af.f64[M, 6], c: af.f64[6, 6]):
    with af.for_(M) as k, af.for_(6) as i, af.for_(6) as j:
        c[i, j] += x[k, i] * x[k, j]


@LOOPS.beside(covariances_of_few, tolerance=1e-11, M=400)
def _(x, c):
    c += x.T @ x


@af.kernel
def trace_and_norm(x: af.f64[M, M], out: af.f64[2]):
    t, s = af.var(af.f64(0)), af.var(af.f64(0))
    with af.for_(M) as i:
        t += x[i, i]
    with af.for_(M) as i, af.for_(M) as j:
        s += x[i, j] * x[i, j]
    out[0] = t
    out[1] = s


@LOOPS.beside(trace_and_norm, tolerance=1e-10, M=400)
def _(x, out):
    out[0] = np.trace(x)
    out[1] = (x * x).sum()


@af.kernel
def fused_scale_and_count(x: af.f32[N], y: af.f32[N], out: af.i64[1]):
    c = af.var(af.i64(0))
    with af.for_(N) as i:
        y[i] = x[i] * 3.0
        with af.if_(x[i] > 1.0):
            c += 1
    out[0] = c


@LOOPS.beside(fused_scale_and_count, tolerance=1e-5, N=100000)
def _(x, y, out):
    y[:] = 3 * x
    out[0] = np.count_nonzero(x > 1)
