"""Letters of genomes: words, alignments, models of states."""

import numpy as np

import affdsl as af
from benchmarks.fields.given import below
from benchmarks.idioms.idiom import Group, M, N

LOOPS = Group("genomes")


@LOOPS.written(given={"s": below(4, "N", dtype="u1")}, N=100000)
def kmer_counts(s: af.u8[N], count: af.i32[4096]):
    code = af.var(af.u32(0))
    with af.for_(N) as i:
        code.set(((code << 2) | af.u32(s[i])) & 4095)
        with af.if_(i >= 5):
            count[code] += 1


@af.kernel
def reverse_complement(s: af.u8[N], out: af.u8[N]):
    with af.for_(N) as i:
        c = s[N - 1 - i]
        out[i] = af.select(
            c == 65,
            af.u8(84),
            af.select(c == 84, af.u8(65), af.select(c == 67, af.u8(71), af.select(c == 71, af.u8(67), af.u8(78)))),
        )


@LOOPS.beside(reverse_complement, given={"s": below(85, "N", dtype="u1")}, N=100000)
def _(s, out):
    table = np.full(256, ord("N"), np.uint8)
    table[[65, 84, 67, 71]] = 84, 65, 71, 67
    out[:] = table[s[::-1]]


@LOOPS.written(given={"a": below(4, "M", dtype="u1"), "b": below(4, "N", dtype="u1")}, M=300, N=300)
def gotoh(a: af.u8[M], b: af.u8[N], h: af.i32[M + 1, N + 1], e: af.i32[M + 1, N + 1], f: af.i32[M + 1, N + 1]):
    with af.for_(1, M + 1) as i, af.for_(1, N + 1) as j:
        e[i, j] = af.max(e[i, j - 1] - 1, h[i, j - 1] - 3)
        f[i, j] = af.max(f[i - 1, j] - 1, h[i - 1, j] - 3)
        d = h[i - 1, j - 1] + af.select(a[i - 1] == b[j - 1], af.i32(2), -1)
        h[i, j] = af.max(af.max(d, 0), af.max(e[i, j], f[i, j]))


@af.kernel
def transition_counts(alpha: af.f64[M, N], beta: af.f64[M, N], a: af.f64[N, N], e: af.f64[M, N], xi: af.f64[N, N]):
    with af.for_(M - 1) as t, af.for_(N) as i, af.for_(N) as j:
        xi[i, j] += alpha[t, i] * a[i, j] * e[t + 1, j] * beta[t + 1, j]


@LOOPS.beside(transition_counts, tolerance=1e-10, M=300, N=40)
def _(alpha, beta, a, e, xi):
    xi += a * (alpha[:-1].T @ (e[1:] * beta[1:]))
