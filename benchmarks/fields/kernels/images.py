"""Pictures: neighbourhoods, pyramids, masks, searches."""

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

import affdsl as af
from benchmarks.idioms.idiom import Group, M, N

LOOPS = Group("images")


@LOOPS.written(M=480, N=640)
def sobel_bytes(x: af.u8[M, N], y: af.u8[M, N]):
    with af.for_(1, M - 1) as i, af.for_(1, N - 1) as j:

        def p(a, b):
            return af.i32(x[i + a, j + b])

        gx = p(-1, 1) + 2 * p(0, 1) + p(1, 1) - p(-1, -1) - 2 * p(0, -1) - p(1, -1)
        gy = p(1, -1) + 2 * p(1, 0) + p(1, 1) - p(-1, -1) - 2 * p(-1, 0) - p(-1, 1)
        y[i, j] = af.u8(af.min(af.abs(gx) + af.abs(gy), 255))


@af.kernel
def dilated(x: af.u8[M + 4, N + 4], y: af.u8[M, N]):
    with af.for_(M) as i, af.for_(N) as j:
        m = af.var(x[i, j])
        with af.for_(5) as a, af.for_(5) as b:
            m.set(af.max(m, x[i + a, j + b]))
        y[i, j] = m


@LOOPS.beside(dilated, M=480, N=640)
def _(x, y):
    y[:] = sliding_window_view(x, (5, 5)).max(axis=(2, 3))


@af.kernel
def blur_of_bytes(x: af.u8[M + 2, N + 2], t: af.u16[M + 2, N], y: af.u8[M, N]):
    with af.for_(M + 2) as i, af.for_(N) as j:
        t[i, j] = af.u16(x[i, j]) + 2 * af.u16(x[i, j + 1]) + af.u16(x[i, j + 2])
    with af.for_(M) as i, af.for_(N) as j:
        y[i, j] = af.u8((t[i, j] + 2 * t[i + 1, j] + t[i + 2, j] + 8) >> 4)


@LOOPS.beside(blur_of_bytes, M=480, N=640)
def _(x, t, y):
    w = x.astype(np.uint16)
    t[:] = w[:, :-2] + 2 * w[:, 1:-1] + w[:, 2:]
    y[:] = (t[:-2] + 2 * t[1:-1] + t[2:] + 8) >> 4


@LOOPS.written(given={"angle": 0.3}, M=300, N=300)
def rotated_picture(x: af.f32[M, N], y: af.f32[M, N], angle: af.f32):
    co, si = af.cos(angle), af.sin(angle)
    with af.for_(M) as i, af.for_(N) as j:
        dy, dx = af.f32(i) - 150.0, af.f32(j) - 150.0
        a = af.i32(co * dy - si * dx + 150.0)
        b = af.i32(si * dy + co * dx + 150.0)
        with af.if_((a >= 0) & (a < af.i32(M)) & (b >= 0) & (b < af.i32(N))):
            y[i, j] = x[a, b]


@af.kernel
def sharpened(x: af.u8[M, N], y: af.u8[M, N]):
    with af.for_(1, M - 1) as i, af.for_(1, N - 1) as j:
        v = 5 * af.i32(x[i, j]) - af.i32(x[i - 1, j]) - af.i32(x[i + 1, j]) - af.i32(x[i, j - 1]) - af.i32(x[i, j + 1])
        y[i, j] = af.u8(af.min(af.max(v, 0), 255))


@LOOPS.beside(sharpened, M=300, N=300)
def _(x, y):
    w = x.astype(np.int32)
    v = 5 * w[1:-1, 1:-1] - w[:-2, 1:-1] - w[2:, 1:-1] - w[1:-1, :-2] - w[1:-1, 2:]
    y[1:-1, 1:-1] = np.clip(v, 0, 255)


@af.kernel
def dct_blocks(x: af.f32[M, 8, 8], c: af.f32[8, 8], y: af.f32[M, 8, 8]):
    t = af.alloca(af.f32[8, 8])
    with af.for_(M) as m:
        with af.for_(8) as i, af.for_(8) as j:
            s = af.var(af.f32(0))
            with af.for_(8) as k:
                s += c[i, k] * x[m, k, j]
            t[i, j] = s
        with af.for_(8) as i, af.for_(8) as j:
            s = af.var(af.f32(0))
            with af.for_(8) as k:
                s += t[i, k] * c[j, k]
            y[m, i, j] = s


@LOOPS.beside(dct_blocks, tolerance=1e-4, M=512)
def _(x, c, y):
    np.matmul(c @ x, c.T, out=y)


@af.kernel
def local_maxima(x: af.f32[M, N], y: af.u8[M, N]):
    with af.for_(1, M - 1) as i, af.for_(1, N - 1) as j:
        c = x[i, j]
        y[i, j] = af.select(
            (c > x[i - 1, j]) & (c > x[i + 1, j]) & (c > x[i, j - 1]) & (c > x[i, j + 1]), af.u8(1), af.u8(0)
        )


@LOOPS.beside(local_maxima, M=200, N=200)
def _(x, y):
    c = x[1:-1, 1:-1]
    y[1:-1, 1:-1] = (c > x[:-2, 1:-1]) & (c > x[2:, 1:-1]) & (c > x[1:-1, :-2]) & (c > x[1:-1, 2:])


@af.kernel
def gradient_magnitude(x: af.f32[M, N], y: af.f32[M, N]):
    with af.for_(1, M - 1) as i, af.for_(1, N - 1) as j:
        a = x[i, j + 1] - x[i, j - 1]
        b = x[i + 1, j] - x[i - 1, j]
        y[i, j] = af.sqrt(a * a + b * b)


@LOOPS.beside(gradient_magnitude, tolerance=1e-5, M=300, N=300)
def _(x, y):
    y[1:-1, 1:-1] = np.hypot(x[1:-1, 2:] - x[1:-1, :-2], x[2:, 1:-1] - x[:-2, 1:-1])


@af.kernel
def eroded_by_cross(x: af.u8[M, N], y: af.u8[M, N]):
    with af.for_(1, M - 1) as i, af.for_(1, N - 1) as j:
        y[i, j] = x[i, j] & x[i - 1, j] & x[i + 1, j] & x[i, j - 1] & x[i, j + 1]


@LOOPS.beside(eroded_by_cross, M=256, N=256)
def _(x, y):
    y[1:-1, 1:-1] = x[1:-1, 1:-1] & x[:-2, 1:-1] & x[2:, 1:-1] & x[1:-1, :-2] & x[1:-1, 2:]


@af.kernel
def binned_two_by_two(x: af.u16[2 * M, 2 * N], y: af.u32[M, N]):
    with af.for_(M) as i, af.for_(N) as j:
        y[i, j] = (
            af.u32(x[2 * i, 2 * j])
            + af.u32(x[2 * i, 2 * j + 1])
            + af.u32(x[2 * i + 1, 2 * j])
            + af.u32(x[2 * i + 1, 2 * j + 1])
        )


@LOOPS.beside(binned_two_by_two, M=480, N=640)
def _(x, y):
    y[:] = x[::2, ::2].astype(np.uint32) + x[::2, 1::2] + x[1::2, ::2] + x[1::2, 1::2]


@LOOPS.written(M=100, N=100)
def bilinear_down(x: af.f32[2 * M + 1, 2 * N + 1], y: af.f32[M, N]):
    with af.for_(M) as i, af.for_(N) as j:
        y[i, j] = (
            0.25 * x[2 * i + 1, 2 * j + 1]
            + 0.125 * (x[2 * i, 2 * j + 1] + x[2 * i + 2, 2 * j + 1] + x[2 * i + 1, 2 * j] + x[2 * i + 1, 2 * j + 2])
            + 0.0625 * (x[2 * i, 2 * j] + x[2 * i, 2 * j + 2] + x[2 * i + 2, 2 * j] + x[2 * i + 2, 2 * j + 2])
        )


@LOOPS.written(M=400, N=400)
def summed_area(x: af.i32[M, N], s: af.i32[M + 1, N + 1]):
    with af.for_(M) as i, af.for_(N) as j:
        s[i + 1, j + 1] = x[i, j] + s[i, j + 1] + s[i + 1, j] - s[i, j]


@LOOPS.written(N=128, M=128)
def sad_search(a: af.u8[16, 16], b: af.u8[M + 16, N + 16], out: af.i32[M, N]):
    with af.for_(M) as i, af.for_(N) as j:
        s = af.var(af.i32(0))
        with af.for_(16) as p, af.for_(16) as q:
            s += af.abs(af.i32(a[p, q]) - af.i32(b[i + p, j + q]))
        out[i, j] = s


@LOOPS.written(M=480, N=640)
def histogram_of_four(x: af.u8[M, N], h: af.i32[4, 64]):
    with af.for_(M) as i, af.for_(N) as j:
        h[j % 4, x[i, j] >> 2] += 1


@af.kernel
def background_mask(x: af.u8[M, N], b: af.f32[M, N], m: af.u8[M, N]):
    with af.for_(M) as i, af.for_(N) as j:
        d = af.f32(x[i, j]) - b[i, j]
        m[i, j] = af.select(af.abs(d) > 30.0, af.u8(255), af.u8(0))
        b[i, j] += 0.05 * d


@LOOPS.beside(background_mask, tolerance=1e-5, M=240, N=320)
def _(x, b, m):
    d = x - b
    m[:] = np.where(np.abs(d) > 30, 255, 0)
    b += np.float32(0.05) * d
