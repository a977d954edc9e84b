"""Codes, hashes and text, bit by bit and byte by byte."""

import numpy as np

import affdsl as af
from benchmarks.idioms.idiom import Group, M, N

LOOPS = Group("codes")


@af.kernel
def adler(x: af.u8[N], out: af.u32[2]):
    a, b = af.var(af.u32(1)), af.var(af.u32(0))
    with af.for_(N) as i:
        a.set((a + af.u32(x[i])) % 65521)
        b.set((b + a) % 65521)
    out[0] = a
    out[1] = b


@LOOPS.beside(adler, N=100000)
def _(x, out):
    out[0] = (1 + x.sum()) % 65521
    out[1] = (len(x) + np.cumsum(x).sum()) % 65521


@af.kernel
def line_ends(x: af.u8[N], out: af.i64[1]):
    s = af.var(af.i64(0))
    with af.for_(N) as i, af.if_(x[i] == 10):
        s += 1
    out[0] = s


@LOOPS.beside(line_ends, N=100000)
def _(x, out):
    out[0] = np.count_nonzero(x == 10)


@LOOPS.written(N=10000)
def xtea(v: af.u32[N, 2], k: af.u32[4]):
    with af.for_(N) as i:
        a, b, s = af.var(v[i, 0]), af.var(v[i, 1]), af.var(af.u32(0))
        with af.for_(32):
            a += ((b << 4) ^ (b >> 5)) + b ^ (s + k[0])
            s += 0x9E3779B9
            b += ((a << 4) ^ (a >> 5)) + a ^ (s + k[1])
        v[i, 0] = a
        v[i, 1] = b


@af.kernel
def zigzag(x: af.i32[N], y: af.u32[N]):
    with af.for_(N) as i:
        y[i] = af.u32((x[i] << 1) ^ (x[i] >> 31))


@LOOPS.beside(zigzag, N=50000)
def _(x, y):
    y[:] = ((x << 1) ^ (x >> 31)).view(np.uint32)


@af.kernel
def words_swapped(x: af.u32[N], y: af.u32[N]):
    with af.for_(N) as i:
        t = x[i]
        y[i] = (t << 24) | ((t << 8) & 0xFF0000) | ((t >> 8) & 0xFF00) | (t >> 24)


@LOOPS.beside(words_swapped, N=40000)
def _(x, y):
    y[:] = x.byteswap()


@af.kernel
def upper_case(x: af.u8[N], y: af.u8[N]):
    with af.for_(N) as i:
        y[i] = af.select((x[i] >= 97) & (x[i] <= 122), x[i] - 32, x[i])


@LOOPS.beside(upper_case, N=100000)
def _(x, y):
    y[:] = np.where((x >= 97) & (x <= 122), x - 32, x)


@af.kernel
def nibbles_unpacked(x: af.u8[N], scale: af.f32[1], y: af.f32[2 * N]):
    with af.for_(N) as i:
        y[2 * i] = (af.f32(af.i32(x[i] & 15)) - 8.0) * scale[0]
        y[2 * i + 1] = (af.f32(af.i32(x[i] >> 4)) - 8.0) * scale[0]


@LOOPS.beside(nibbles_unpacked, tolerance=1e-5, N=25000)
def _(x, scale, y):
    y[::2] = ((x & 15) - np.float32(8)) * scale[0]
    y[1::2] = ((x >> 4) - np.float32(8)) * scale[0]


@af.kernel
def packed_halves(x: af.f32[N], y: af.u16[N]):
    with af.for_(N) as i:
        b = af.bitcast(x[i], af.u32)
        y[i] = af.u16((b + 0x7FFF + ((b >> 16) & 1)) >> 16)


@LOOPS.beside(packed_halves, N=100000)
def _(x, y):
    b = x.view(np.uint32)
    y[:] = (b + 0x7FFF + ((b >> 16) & 1)) >> 16


@LOOPS.written(M=300, N=300)
def needleman(a: af.u8[M], b: af.u8[N], s: af.i32[M + 1, N + 1]):
    with af.for_(1, M + 1) as i, af.for_(1, N + 1) as j:
        m = af.select(a[i - 1] == b[j - 1], af.i32(2), af.i32(-1))
        s[i, j] = af.max(af.max(s[i - 1, j - 1] + m, s[i - 1, j] - 2), s[i, j - 1] - 2)
