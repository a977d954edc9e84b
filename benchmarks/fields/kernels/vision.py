"""Seeing: descriptors, edges, distances, motion."""

import affdsl as af
from benchmarks.idioms.idiom import Group, M, N

LOOPS = Group("vision")


@LOOPS.written(M=240, N=320)
def census(x: af.u8[M + 4, N + 4], y: af.u32[M, N]):
    with af.for_(M) as i, af.for_(N) as j:
        bits = af.var(af.u32(0))
        for a in range(5):
            for b in range(5):
                if (a, b) != (2, 2):
                    bits.set((bits << 1) | af.u32(x[i + a, j + b] < x[i + 2, j + 2]))
        y[i, j] = bits


@LOOPS.written(M=200, N=200)
def edges_thinned(m: af.f32[M, N], gx: af.f32[M, N], gy: af.f32[M, N], out: af.f32[M, N]):
    with af.for_(1, M - 1) as i, af.for_(1, N - 1) as j:
        flat = af.abs(gx[i, j]) > 2.414 * af.abs(gy[i, j])
        steep = af.abs(gy[i, j]) > 2.414 * af.abs(gx[i, j])
        rising = gx[i, j] * gy[i, j] > 0
        a = af.select(
            flat, m[i, j - 1], af.select(steep, m[i - 1, j], af.select(rising, m[i - 1, j - 1], m[i - 1, j + 1]))
        )
        b = af.select(
            flat, m[i, j + 1], af.select(steep, m[i + 1, j], af.select(rising, m[i + 1, j + 1], m[i + 1, j - 1]))
        )
        out[i, j] = af.select((m[i, j] >= a) & (m[i, j] >= b), m[i, j], af.f32(0))


@LOOPS.written(M=240, N=320)
def chamfer(d: af.i32[M, N]):
    with af.for_(1, M) as i, af.for_(1, N - 1) as j:
        d[i, j] = af.min(d[i, j], d[i, j - 1] + 3, d[i - 1, j] + 3, d[i - 1, j - 1] + 4, d[i - 1, j + 1] + 4)


@LOOPS.written(M=150, N=150)
def horn_schunck(ix: af.f32[M, N], iy: af.f32[M, N], it: af.f32[M, N], u: af.f32[2, M, N], v: af.f32[2, M, N]):
    with af.for_(4) as t, af.for_(1, M - 1) as i, af.for_(1, N - 1) as j:

        def mean(w):
            return 0.25 * (w[t % 2, i - 1, j] + w[t % 2, i + 1, j] + w[t % 2, i, j - 1] + w[t % 2, i, j + 1])

        a, b = mean(u), mean(v)
        q = (ix[i, j] * a + iy[i, j] * b + it[i, j]) / (1 + ix[i, j] * ix[i, j] + iy[i, j] * iy[i, j])
        u[(t + 1) % 2, i, j] = a - ix[i, j] * q
        v[(t + 1) % 2, i, j] = b - iy[i, j] * q
