"""Fast transforms: wavelets, sums and differences, remainders."""

import numpy as np

import affdsl as af
from benchmarks.fields.given import below
from benchmarks.idioms.idiom import Group, M, N

LOOPS = Group("transforms")


@af.kernel
def haar(x: af.f32[M, 2 * N], lo: af.f32[M, N], hi: af.f32[M, N]):
    with af.for_(M) as i, af.for_(N) as j:
        lo[i, j] = 0.70710678 * (x[i, 2 * j] + x[i, 2 * j + 1])
        hi[i, j] = 0.70710678 * (x[i, 2 * j] - x[i, 2 * j + 1])


@LOOPS.beside(haar, tolerance=1e-5, M=256, N=256)
def _(x, lo, hi):
    lo[:] = 0.70710678 * (x[:, ::2] + x[:, 1::2])
    hi[:] = 0.70710678 * (x[:, ::2] - x[:, 1::2])


@LOOPS.written(M=128)
def walsh_hadamard(x: af.f32[M, 256]):
    with af.for_(M) as m:
        for h in (1, 2, 4, 8, 16, 32, 64, 128):
            with af.for_(0, 256, 2 * h) as b, af.for_(h) as k:
                u, v = x[m, b + k], x[m, b + k + h]
                x[m, b + k] = u + v
                x[m, b + k + h] = u - v


@af.kernel
def number_theoretic(x: af.u32[M, 2 * N], w: af.u32[N]):
    p = 998244353
    with af.for_(M) as m, af.for_(N) as j:
        t = af.u32(af.u64(x[m, j + N]) * af.u64(w[j]) % p)
        u = x[m, j]
        x[m, j] = af.select(u + t >= p, u + t - p, u + t)
        x[m, j + N] = af.select(u >= t, u - t, u + p - t)


@LOOPS.beside(
    number_theoretic,
    given={
        "x": lambda r, s: r.integers(0, 998244353, (s["M"], 2 * s["N"])).astype("u4"),
        "w": below(998244353, "N", dtype="u4"),
    },
    M=64,
    N=256,
)
def _(x, w):
    u, v = np.split(x.astype(np.uint64), 2, axis=1)
    t = v * w % 998244353
    x[:] = np.hstack([(u + t) % 998244353, (u + 998244353 - t) % 998244353])


@LOOPS.written(M=128, N=200)
def lifted(x: af.i16[M, 2 * N + 2], lo: af.i16[M, N], hi: af.i16[M, N]):
    with af.for_(M) as i:
        with af.for_(N) as j:
            hi[i, j] = x[i, 2 * j + 1] - ((x[i, 2 * j] + x[i, 2 * j + 2]) >> 1)
        with af.for_(1, N) as j:
            lo[i, j] = x[i, 2 * j] + ((hi[i, j - 1] + hi[i, j] + 2) >> 2)
