"""Convolutions of channels, and products of bytes."""

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

import affdsl as af
from benchmarks.idioms.idiom import Group, K, M, N

LOOPS = Group("convolutions")


@af.kernel
def conv_nchw(x: af.f32[K, N + 2, N + 2], w: af.f32[M, K, 3, 3], y: af.f32[M, N, N]):
    with af.for_(M) as o, af.for_(N) as i, af.for_(N) as j:
        s = af.var(af.f32(0))
        with af.for_(K) as c, af.for_(3) as a, af.for_(3) as b:
            s += x[c, i + a, j + b] * w[o, c, a, b]
        y[o, i, j] = s


@LOOPS.beside(conv_nchw, tolerance=1e-4, M=32, N=28, K=16)
def _(x, w, y):
    y[:] = np.tensordot(w, sliding_window_view(x, (3, 3), axis=(1, 2)), ((1, 2, 3), (0, 3, 4)))


@af.kernel
def conv_nhwc(x: af.f32[M + 2, N + 2, 16], w: af.f32[3, 3, 16, 32], y: af.f32[M, N, 32]):
    with af.for_(M) as i, af.for_(N) as j, af.for_(3) as a, af.for_(3) as b, af.for_(16) as c, af.for_(32) as o:
        y[i, j, o] += x[i + a, j + b, c] * w[a, b, c, o]


@LOOPS.beside(conv_nhwc, tolerance=1e-4, M=32, N=32)
def _(x, w, y):
    y += np.tensordot(sliding_window_view(x, (3, 3), axis=(0, 1)), w, ((3, 4, 2), (0, 1, 2)))


@af.kernel
def depthwise_nhwc(x: af.f32[N + 2, N + 2, K], w: af.f32[3, 3, K], y: af.f32[N, N, K]):
    with af.for_(N) as i, af.for_(N) as j, af.for_(K) as c:
        s = af.var(af.f32(0))
        with af.for_(3) as a, af.for_(3) as b:
            s += x[i + a, j + b, c] * w[a, b, c]
        y[i, j, c] = s


@LOOPS.beside(depthwise_nhwc, tolerance=1e-4, N=56, K=64)
def _(x, w, y):
    m, n = len(y), y.shape[1]
    y[:] = sum(x[a : a + m, b : b + n] * w[a, b] for a in range(3) for b in range(3))


@af.kernel
def bytes_product(a: af.i8[M, K], b: af.i8[K, N], c: af.i32[M, N]):
    with af.for_(M) as i, af.for_(N) as j:
        s = af.var(af.i32(0))
        with af.for_(K) as k:
            s += af.i32(a[i, k]) * af.i32(b[k, j])
        c[i, j] = s


@LOOPS.beside(bytes_product, M=128, N=128, K=256)
def _(a, b, c):
    np.matmul(a, b, out=c, dtype=np.int32)


@af.kernel
def bytes_product_transposed(a: af.u8[M, K], b: af.i8[N, K], c: af.i32[M, N]):
    with af.for_(M) as i, af.for_(N) as j:
        s = af.var(af.i32(0))
        with af.for_(K) as k:
            s += af.i32(a[i, k]) * af.i32(b[j, k])
        c[i, j] = s


@LOOPS.beside(bytes_product_transposed, M=128, N=128, K=256)
def _(a, b, c):
    np.matmul(a, b.T, out=c, dtype=np.int32)
