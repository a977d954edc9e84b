"""Where the largest is, ranks, distances and nearest ones."""

import numpy as np

import affdsl as af
from benchmarks.idioms.idiom import Group, K, M, N

LOOPS = Group("ranking")


@af.kernel
def argmax_of_rows(x: af.f32[M, N], out: af.i32[M]):
    with af.for_(M) as i:
        b, k = af.var(x[i, 0]), af.var(af.i32(0))
        with af.for_(1, N) as j, af.if_(x[i, j] > b):
            b.set(x[i, j])
            k.set(af.i32(j))
        out[i] = k


@LOOPS.beside(argmax_of_rows, M=5000, N=20)
def _(x, out):
    out[:] = x.argmax(axis=1)


@af.kernel
def argmax_of_columns(x: af.f64[M, N], out: af.i64[N]):
    with af.for_(N) as j:
        b, k = af.var(x[0, j]), af.var(af.i64(0))
        with af.for_(1, M) as i, af.if_(x[i, j] > b):
            b.set(x[i, j])
            k.set(af.i64(i))
        out[j] = k


@LOOPS.beside(argmax_of_columns, M=300, N=400)
def _(x, out):
    out[:] = x.argmax(axis=0)


@af.kernel
def ranks(x: af.f32[N], r: af.i32[N]):
    with af.for_(N) as i:
        c = af.var(af.i32(0))
        with af.for_(N) as j, af.if_((x[j] < x[i]) | ((x[j] == x[i]) & (j < i))):
            c += 1
        r[i] = c


@LOOPS.beside(ranks, N=1500)
def _(x, r):
    r[np.argsort(x, kind="stable")] = np.arange(len(x))


@af.kernel
def hamming(x: af.u8[M, N], y: af.u8[N], d: af.i32[M]):
    with af.for_(M) as i:
        c = af.var(af.i32(0))
        with af.for_(N) as j, af.if_(x[i, j] != y[j]):
            c += 1
        d[i] = c


@LOOPS.beside(hamming, M=100, N=2000)
def _(x, y, d):
    d[:] = (x != y).sum(axis=1)


@af.kernel
def nearest_centre(x: af.f32[M, N], c: af.f32[K, N], out: af.i32[M]):
    with af.for_(M) as i:
        best, at = af.var(af.f32(1e30)), af.var(af.i32(0))
        with af.for_(K) as k:
            d = af.var(af.f32(0))
            with af.for_(N) as j:
                d += (x[i, j] - c[k, j]) * (x[i, j] - c[k, j])
            with af.if_(d < best):
                best.set(d)
                at.set(af.i32(k))
        out[i] = at


@LOOPS.beside(nearest_centre, M=200, N=32, K=100)
def _(x, c, out):
    out[:] = ((x[:, None] - c) ** 2).sum(axis=2).argmin(axis=1)


@af.kernel
def pairwise_manhattan(x: af.f64[M, K], y: af.f64[N, K], d: af.f64[M, N]):
    with af.for_(M) as i, af.for_(N) as j:
        s = af.var(af.f64(0))
        with af.for_(K) as k:
            s += af.abs(x[i, k] - y[j, k])
        d[i, j] = s


@LOOPS.beside(pairwise_manhattan, M=100, N=50, K=40)
def _(x, y, d):
    d[:] = np.abs(x[:, None] - y).sum(axis=2)


@af.kernel
def pairwise_cosine(x: af.f32[M, K], y: af.f32[N, K], d: af.f32[M, N]):
    with af.for_(M) as i, af.for_(N) as j:
        s, a, b = af.var(af.f32(0)), af.var(af.f32(0)), af.var(af.f32(0))
        with af.for_(K) as k:
            s += x[i, k] * y[j, k]
            a += x[i, k] * x[i, k]
            b += y[j, k] * y[j, k]
        d[i, j] = s / af.sqrt(a * b)


@LOOPS.beside(pairwise_cosine, tolerance=1e-4, M=100, N=50, K=40)
def _(x, y, d):
    d[:] = x @ y.T / np.sqrt((x * x).sum(axis=1)[:, None] * (y * y).sum(axis=1))


@af.kernel
def pairs_closer_than(x: af.f32[N], y: af.f32[N], out: af.i64[1]):
    c = af.var(af.i64(0))
    with af.for_(N) as i, af.for_(i + 1, N) as j:
        dx = x[i] - x[j]
        dy = y[i] - y[j]
        with af.if_(dx * dx + dy * dy < 0.01):
            c += 1
    out[0] = c


@LOOPS.beside(pairs_closer_than, N=1500)
def _(x, y, out):
    near = (x[:, None] - x) ** 2 + (y[:, None] - y) ** 2 < 0.01
    out[0] = (np.count_nonzero(near) - len(x)) // 2
