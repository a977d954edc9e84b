"""Filters of signals, correlations, and running sums."""

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

import affdsl as af
from benchmarks.idioms.idiom import Group, K, M, N

LOOPS = Group("filters")


@LOOPS.written(N=64, M=512)
def butterflies(re: af.f64[M, 2 * N], im: af.f64[M, 2 * N], wr: af.f64[N], wi: af.f64[N]):
    with af.for_(M) as b, af.for_(N) as j:
        tr = wr[j] * re[b, j + N] - wi[j] * im[b, j + N]
        ti = wr[j] * im[b, j + N] + wi[j] * re[b, j + N]
        re[b, j + N] = re[b, j] - tr
        im[b, j + N] = im[b, j] - ti
        re[b, j] += tr
        im[b, j] += ti


@af.kernel
def autocorrelation(x: af.f64[N], r: af.f64[K]):
    with af.for_(K) as k:
        s = af.var(af.f64(0))
        with af.for_(N - k) as i:
            s += x[i] * x[i + k]
        r[k] = s


@LOOPS.beside(autocorrelation, N=3000, K=200)
def _(x, r):
    r[:] = [np.dot(x[: len(x) - k], x[k:]) for k in range(len(r))]


@af.kernel
def rolling_deviation(x: af.f64[N], y: af.f64[N]):
    with af.for_(19, N) as i:
        s, q = af.var(af.f64(0)), af.var(af.f64(0))
        with af.for_(20) as k:
            s += x[i - k]
            q += x[i - k] * x[i - k]
        y[i] = af.sqrt(af.max(q / 20.0 - s / 20.0 * (s / 20.0), 0.0))


@LOOPS.beside(rolling_deviation, tolerance=1e-6, N=50000)
def _(x, y):
    y[19:] = sliding_window_view(x, 20).std(axis=1)


@af.kernel
def causal_filter(x: af.f32[N], h: af.f32[K], y: af.f32[N]):
    with af.for_(N) as i:
        s = af.var(af.f32(0))
        with af.for_(af.min(K, i + 1)) as k:
            s += h[k] * x[i - k]
        y[i] = s


@LOOPS.beside(causal_filter, tolerance=1e-4, N=2000, K=64)
def _(x, h, y):
    y[:] = np.convolve(x, h)[: len(x)]


@af.kernel
def filter_bank(x: af.f32[N + 5], h: af.f32[M, 5], y: af.f32[M, N]):
    with af.for_(M) as f, af.for_(N) as i:
        s = af.var(af.f32(0))
        with af.for_(5) as k:
            s += h[f, k] * x[i + k]
        y[f, i] = s


@LOOPS.beside(filter_bank, tolerance=1e-4, M=16, N=500)
def _(x, h, y):
    y[:] = [np.convolve(x, each[::-1], "valid")[:-1] for each in h]


@af.kernel
def polyphase(x: af.f32[4 * N + K], h: af.f32[K], y: af.f32[N]):
    with af.for_(N) as i:
        s = af.var(af.f32(0))
        with af.for_(K) as k:
            s += x[4 * i + k] * h[k]
        y[i] = s


@LOOPS.beside(polyphase, tolerance=1e-4, N=1000, K=16)
def _(x, h, y):
    y[:] = sliding_window_view(x, len(h))[: 4 * len(y) : 4] @ h


@LOOPS.written(N=43_200)
def comb_filter(x: af.f32[N], y: af.f32[N + 4800]):
    with af.for_(N) as i:
        y[i + 4800] = x[i] + 0.6 * y[i]


@LOOPS.written(M=128, N=200)
def ema_rows(x: af.f32[M, N], y: af.f32[M, N]):
    with af.for_(M) as i:
        s = af.var(x[i, 0])
        with af.for_(N) as j:
            s.set(s + 0.1 * (x[i, j] - s))
            y[i, j] = s


@af.kernel
def exclusive_sums(x: af.f32[N], y: af.f32[N]):
    s = af.var(af.f32(0))
    with af.for_(N) as i:
        y[i] = s
        s += x[i]


@LOOPS.beside(exclusive_sums, tolerance=1e-4, N=100000)
def _(x, y):
    y[0] = 0
    np.cumsum(x[:-1], out=y[1:])


@af.kernel
def transposed_convolution(x: af.f32[N], w: af.f32[K], y: af.f32[2 * N + K]):
    with af.for_(N) as i, af.for_(K) as k:
        y[2 * i + k] += x[i] * w[k]


@LOOPS.beside(transposed_convolution, tolerance=1e-4, N=2000, K=9)
def _(x, w, y):
    for k in range(len(w)):
        y[k : k + 2 * len(x) : 2] += w[k] * x
