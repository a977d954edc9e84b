"""Series of time: filters that know how sure they are, trends, alignments."""

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

import affdsl as af
from benchmarks.idioms.idiom import Group, M, N

LOOPS = Group("series")


@LOOPS.written(M=256, N=400)
def kalman(z: af.f64[M, N], x: af.f64[M, N], q: af.f64, r: af.f64):
    with af.for_(M) as s:
        mean, var = af.var(af.f64(0)), af.var(af.f64(1))
        with af.for_(N) as t:
            var += q
            gain = var / (var + r)
            mean += gain * (z[s, t] - mean)
            var.set((1 - gain) * var)
            x[s, t] = mean


@LOOPS.written(M=64, N=500)
def holt(x: af.f64[M, N], y: af.f64[M, N]):
    with af.for_(M) as s:
        level, trend = af.var(af.f64(0)), af.var(af.f64(0))
        with af.for_(N) as t:
            old = +level
            level.set(0.3 * x[s, t] + 0.7 * (level + trend))
            trend.set(0.1 * (level - old) + 0.9 * trend)
            y[s, t] = level + trend


@LOOPS.written(M=300, N=300)
def time_warping(a: af.f64[M], b: af.f64[N], d: af.f64[M + 1, N + 1]):
    with af.for_(M) as i, af.for_(af.max(0, i - 30), af.min(N, i + 31)) as j:
        d[i + 1, j + 1] = af.abs(a[i] - b[j]) + af.min(d[i, j], d[i, j + 1], d[i + 1, j])


@af.kernel
def medians_of_five(x: af.f32[N + 4], y: af.f32[N]):
    with af.for_(N) as i:
        a, b, c, d, e = (x[i + k] for k in range(5))
        lo, hi = af.min(a, b), af.max(a, b)
        lo2, hi2 = af.min(c, d), af.max(c, d)
        p, q = af.max(lo, lo2), af.min(hi, hi2)
        y[i] = af.max(af.min(p, q), af.min(af.max(p, q), e))


@LOOPS.beside(medians_of_five, N=50000)
def _(x, y):
    y[:] = np.median(sliding_window_view(x, 5), axis=1)
