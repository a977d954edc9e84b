"""Sparse matrices, graphs, and sums by key."""

import numpy as np

import affdsl as af
from benchmarks.fields.given import below, row_starts
from benchmarks.idioms.idiom import Group, K, L, M, N

LOOPS = Group("sparse")


@LOOPS.written(given={"ptr": row_starts("M", "K"), "col": below("N", "K")}, M=2000, N=2000, K=20000, L=16)
def csr_times_columns(ptr: af.i32[M + 1], col: af.i32[K], v: af.f32[K], x: af.f32[N, L], y: af.f32[M, L]):
    with af.for_(M) as i:
        with af.for_(L) as c:
            y[i, c] = 0.0
        with af.for_(ptr[i], ptr[i + 1]) as k, af.for_(L) as c:
            y[i, c] += v[k] * x[col[k], c]


@af.kernel
def ell_matvec(col: af.i32[M, K], v: af.f64[M, K], x: af.f64[N], y: af.f64[M]):
    with af.for_(M) as i:
        s = af.var(af.f64(0))
        with af.for_(K) as k:
            s += v[i, k] * x[col[i, k]]
        y[i] = s


@LOOPS.beside(ell_matvec, given={"col": below("N", "M", "K")}, M=8000, N=8000, K=12)
def _(col, v, x, y):
    y[:] = (v * x[col]).sum(axis=1)


@af.kernel
def graph_mean(n: af.i32[M, N], x: af.f32[M, 32], y: af.f32[M, 32]):
    with af.for_(M) as i, af.for_(32) as c:
        s = af.var(af.f32(0))
        with af.for_(N) as k:
            s += x[n[i, k], c]
        y[i, c] = s / af.f32(N)


@LOOPS.beside(graph_mean, given={"n": below("M", "M", "N")}, tolerance=1e-5, M=1000, N=16)
def _(n, x, y):
    y[:] = x[n].mean(axis=1)


@LOOPS.written(given={"ptr": row_starts("M", "K")}, M=1000, K=50000)
def sums_of_segments(ptr: af.i32[M + 1], x: af.f32[K], y: af.f32[M]):
    with af.for_(M) as i:
        y[i] = 0.0
        with af.for_(ptr[i], ptr[i + 1]) as k:
            y[i] += x[k]


@af.kernel
def grouped(key: af.i32[N], v: af.f64[N], s: af.f64[K], c: af.i64[K]):
    with af.for_(N) as i:
        s[key[i]] += v[i]
        c[key[i]] += 1


@LOOPS.beside(grouped, given={"key": below("K", "N")}, tolerance=1e-10, N=100000, K=100)
def _(key, v, s, c):
    s += np.bincount(key, v, len(s))
    c += np.bincount(key, minlength=len(c))


@af.kernel
def rows_selected(a: af.i32[N], b: af.f64[N], out: af.f64[1], n: af.i64[1]):
    s, c = af.var(af.f64(0)), af.var(af.i64(0))
    with af.for_(N) as i, af.if_((a[i] >= -50) & (a[i] < 20)):
        s += b[i] * 0.9
        c += 1
    out[0] = s
    n[0] = c


@LOOPS.beside(rows_selected, tolerance=1e-9, N=100000)
def _(a, b, out, n):
    kept = (a >= -50) & (a < 20)
    out[0] = (b[kept] * 0.9).sum()
    n[0] = np.count_nonzero(kept)
