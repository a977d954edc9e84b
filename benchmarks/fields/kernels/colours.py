"""Colours of pixels, side by side or apart."""

import numpy as np

import affdsl as af
from benchmarks.idioms.idiom import Group, M, N

LOOPS = Group("colours")


@LOOPS.written(M=240, N=320)
def yuv_to_rgb(yy: af.u8[2 * M, 2 * N], u: af.u8[M, N], v: af.u8[M, N], rgb: af.u8[2 * M, 2 * N, 3]):
    with af.for_(2 * M) as i, af.for_(2 * N) as j:
        c = af.i32(yy[i, j]) - 16
        d = af.i32(u[i // 2, j // 2]) - 128
        e = af.i32(v[i // 2, j // 2]) - 128

        def clip(t):
            return af.u8(af.min(af.max(t >> 8, 0), 255))

        rgb[i, j, 0] = clip(298 * c + 409 * e + 128)
        rgb[i, j, 1] = clip(298 * c - 100 * d - 208 * e + 128)
        rgb[i, j, 2] = clip(298 * c + 516 * d + 128)


@LOOPS.written(M=240, N=320)
def alpha_over(a: af.u8[M, N, 4], b: af.u8[M, N, 4]):
    with af.for_(M) as i, af.for_(N) as j:
        al = af.i32(a[i, j, 3])
        for c in range(3):
            b[i, j, c] = af.u8((af.i32(a[i, j, c]) * al + af.i32(b[i, j, c]) * (255 - al) + 127) // 255)
        b[i, j, 3] = af.u8(255 - (255 - al) * (255 - af.i32(b[i, j, 3])) // 255)


@af.kernel
def bayer(x: af.u16[2 * M, 2 * N], y: af.u16[M, N, 3]):
    with af.for_(M) as i, af.for_(N) as j:
        y[i, j, 0] = x[2 * i, 2 * j]
        y[i, j, 1] = (x[2 * i, 2 * j + 1] + x[2 * i + 1, 2 * j]) // 2
        y[i, j, 2] = x[2 * i + 1, 2 * j + 1]


@LOOPS.beside(bayer, M=256, N=256)
def _(x, y):
    y[..., 0] = x[::2, ::2]
    y[..., 1] = (x[::2, 1::2] + x[1::2, ::2]) // 2
    y[..., 2] = x[1::2, 1::2]


@af.kernel
def planar_to_packed(x: af.u8[3, N], y: af.u8[N, 3]):
    with af.for_(N) as i, af.for_(3) as c:
        y[i, c] = x[c, i]


@LOOPS.beside(planar_to_packed, N=20000)
def _(x, y):
    y[:] = x.T


@af.kernel
def hsv_value(x: af.u8[N, 3], y: af.u8[N]):
    with af.for_(N) as i:
        y[i] = af.max(af.max(x[i, 0], x[i, 1]), x[i, 2])


@LOOPS.beside(hsv_value, N=20000)
def _(x, y):
    y[:] = x.max(axis=1)


@af.kernel
def rows_of_three_mixed(x: af.f32[M, N, 3], w: af.f32[3, 3], y: af.f32[M, N, 3]):
    with af.for_(M) as i, af.for_(N) as j, af.for_(3) as c:
        s = af.var(af.f32(0))
        with af.for_(3) as d:
            s += w[c, d] * x[i, j, d]
        y[i, j, c] = s


@LOOPS.beside(rows_of_three_mixed, tolerance=1e-5, M=100, N=100)
def _(x, w, y):
    np.matmul(x, w.T, out=y)
