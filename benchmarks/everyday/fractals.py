"""Loops that end when they are done, for each pixel."""

import numpy as np

import affdsl as af
from benchmarks.everyday.loop import Group

LOOPS = Group()
M, N = af.symbols("M N")


@af.kernel
def mandelbrot_set(re: af.f64[N], im: af.f64[M], count: af.i64[M, N], limit: af.i64):
    """After how many steps each point of the plane has left the circle."""
    with af.for_(M) as i, af.for_(N) as j:
        x = af.var(af.f64(0))
        y = af.var(af.f64(0))
        k = af.var(af.i64(0))
        with af.while_(lambda: (x * x + y * y <= 4) & (k < limit)):
            t = x * x - y * y + re[j]
            y.set(2 * x * y + im[i])
            x.set(t)
            k += 1
        count[i, j] = k


@LOOPS.beside(
    mandelbrot_set,
    lambda r, n: (np.linspace(-2, 0.5, n), np.linspace(-1.25, 1.25, n), np.zeros((n, n), "i8"), 100),
    250,
    tolerance=1.0,  # a point at the edge may stay longer where products and sums are rounded once
)
def _(re, im, count, limit):
    for i in range(len(im)):
        for j in range(len(re)):
            x = y = 0.0
            k = 0
            while x * x + y * y <= 4 and k < limit:
                x, y = x * x - y * y + re[j], 2 * x * y + im[i]
                k += 1
            count[i, j] = k


@af.kernel
def julia_set(re: af.f32[N], im: af.f32[M], cx: af.f32, cy: af.f32, count: af.i32[M, N]):
    """In how many of 64 steps each point of the plane is in the circle; each point does all of them."""
    with af.for_(M) as i, af.for_(N) as j:
        x = af.var(re[j])
        y = af.var(im[i])
        inside = af.var(af.i32(0))
        with af.for_(64):
            t = af.min(x * x - y * y + cx, 1e9)
            y.set(af.max(af.min(2 * x * y + cy, 1e9), -1e9))
            x.set(af.max(t, -1e9))
            inside += af.select(x * x + y * y <= 4, af.i32(1), af.i32(0))
        count[i, j] = inside


@LOOPS.beside(
    julia_set,
    lambda r, n: (
        np.linspace(-1.5, 1.5, n, dtype="f4"), np.linspace(-1.2, 1.2, n, dtype="f4"), np.float32(-0.8),
        np.float32(0.156), np.zeros((n, n), "i4")
    ),
    300,
    tolerance=1.0,  # as above
)  # fmt: skip
def _(re, im, cx, cy, count):
    two, four, far = np.float32(2), np.float32(4), np.float32(1e9)
    for i in range(len(im)):
        for j in range(len(re)):
            x, y = re[j], im[i]
            inside = np.int32(0)
            for _ in range(64):
                t = min(x * x - y * y + cx, far)
                y = max(min(two * x * y + cy, far), -far)
                x = max(t, -far)
                inside += np.int32(1) if x * x + y * y <= four else np.int32(0)
            count[i, j] = inside
