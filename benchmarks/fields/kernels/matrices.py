"""Products with matrices of all shapes, and factorizations."""

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

import affdsl as af
from benchmarks.idioms.idiom import Group, K, L, M, N

LOOPS = Group("matrices")


@af.kernel
def seven_bands(a: af.f64[7, N], x: af.f64[N + 6], y: af.f64[N]):
    with af.for_(N) as i:
        s = af.var(af.f64(0))
        with af.for_(7) as k:
            s += a[k, i] * x[i + k]
        y[i] = s


@LOOPS.beside(seven_bands, N=20000)
def _(a, x, y):
    y[:] = (a * sliding_window_view(x, 7).T).sum(axis=0)


@af.kernel
def toeplitz(t: af.f64[M + N], x: af.f64[N], y: af.f64[M]):
    with af.for_(M) as i, af.for_(N) as j:
        y[i] += t[i - j + N] * x[j]


@LOOPS.beside(toeplitz, tolerance=1e-11, M=600, N=600)
def _(t, x, y):
    y += np.convolve(t, x)[len(x) : len(x) + len(y)]


@af.kernel
def reflection(v: af.f64[M], a: af.f64[M, N], w: af.f64[N]):
    with af.for_(N) as j:
        w[j] = 0.0
    with af.for_(M) as i, af.for_(N) as j:
        w[j] += v[i] * a[i, j]
    with af.for_(M) as i, af.for_(N) as j:
        a[i, j] -= 0.01 * v[i] * w[j]


@LOOPS.beside(reflection, tolerance=1e-11, M=300, N=300)
def _(v, a, w):
    w[:] = v @ a
    a -= 0.01 * np.outer(v, w)


@af.kernel
def triangular_many(low: af.f64[N, N], b: af.f64[N, M]):
    with af.for_(N) as i, af.for_(M) as c:
        with af.for_(i) as j:
            b[i, c] -= 0.01 * low[i, j] * b[j, c]


@LOOPS.beside(triangular_many, tolerance=1e-10, N=200, M=40)
def _(low, b):
    for i in range(len(b)):
        b[i] -= 0.01 * low[i, :i] @ b[:i]


@af.kernel
def triangular_product(low: af.f64[N, N], x: af.f64[N], y: af.f64[N]):
    with af.for_(N) as i:
        s = af.var(af.f64(0))
        with af.for_(i + 1) as j:
            s += low[i, j] * x[j]
        y[i] = s


@LOOPS.beside(triangular_product, tolerance=1e-11, N=1000)
def _(low, x, y):
    np.dot(np.tril(low), x, out=y)


@af.kernel
def triangular_by_columns(low: af.f64[N, N], x: af.f64[N], y: af.f64[N]):
    with af.for_(N) as j, af.for_(j, N) as i:
        y[i] += low[i, j] * x[j]


@LOOPS.beside(triangular_by_columns, tolerance=1e-11, N=600)
def _(low, x, y):
    y += np.tril(low) @ x


@af.kernel
def four_by_four(a: af.f32[M, 4, 4], b: af.f32[M, 4, 4], c: af.f32[M, 4, 4]):
    with af.for_(M) as m, af.for_(4) as i, af.for_(4) as j:
        s = af.var(af.f32(0))
        with af.for_(4) as k:
            s += a[m, i, k] * b[m, k, j]
        c[m, i, j] = s


@LOOPS.beside(four_by_four, tolerance=1e-5, M=5000)
def _(a, b, c):
    np.matmul(a, b, out=c)


@af.kernel
def contraction(a: af.f64[M, N, K], b: af.f64[K, L], c: af.f64[M, N, L]):
    with af.for_(M) as i, af.for_(N) as j, af.for_(K) as k, af.for_(L) as q:
        c[i, j, q] += a[i, j, k] * b[k, q]


@LOOPS.beside(contraction, M=10, N=20, K=64, L=64)
def _(a, b, c):
    c += a @ b


@af.kernel
def complex_matrices(a: af.c128[M, K], b: af.c128[K, N], c: af.c128[M, N]):
    with af.for_(M) as i, af.for_(N) as j:
        with af.for_(K) as k:
            c[i, j] += a[i, k] * b[k, j]


@LOOPS.beside(complex_matrices, tolerance=1e-11, M=150, N=150, K=150)
def _(a, b, c):
    c += a @ b


@af.kernel
def integer_product(a: af.i64[M, K], b: af.i64[K, N], c: af.i64[M, N]):
    with af.for_(M) as i, af.for_(N) as j, af.for_(K) as k:
        c[i, j] += a[i, k] * b[k, j]


@LOOPS.beside(integer_product, M=150, N=150, K=150)
def _(a, b, c):
    c += a @ b


@af.kernel
def min_plus(a: af.f32[M, K], b: af.f32[K, N], c: af.f32[M, N]):
    with af.for_(M) as i, af.for_(N) as j, af.for_(K) as k:
        c[i, j] = af.min(c[i, j], a[i, k] + b[k, j])


@LOOPS.beside(min_plus, M=200, N=200, K=200)
def _(a, b, c):
    for k in range(len(b)):
        np.minimum(c, a[:, k, None] + b[k], out=c)


@af.kernel
def reachable(r: af.u8[N, N]):
    with af.for_(N) as k, af.for_(N) as i, af.for_(N) as j:
        r[i, j] = r[i, j] | (r[i, k] & r[k, j])


@LOOPS.beside(reachable, N=200)
def _(r):
    for k in range(len(r)):
        r |= r[:, k, None] & r[k]


@LOOPS.written(M=500)
def rotation_of_columns(a: af.f64[M, 2], b: af.f64[M, 2]):
    al, be, ga = af.var(af.f64(0)), af.var(af.f64(0)), af.var(af.f64(0))
    with af.for_(M) as k:
        al += a[k, 0] * a[k, 0]
        be += a[k, 1] * a[k, 1]
        ga += a[k, 0] * a[k, 1]
    z = (be - al) / (2.0 * ga)
    t = 1.0 / (z + af.sqrt(1.0 + z * z))
    c = 1.0 / af.sqrt(1.0 + t * t)
    s = c * t
    with af.for_(M) as k:
        b[k, 0] = c * a[k, 0] - s * a[k, 1]
        b[k, 1] = s * a[k, 0] + c * a[k, 1]


@LOOPS.written(N=2000, K=8)
def band_cholesky_solve(low: af.f64[N, K + 1], b: af.f64[N]):
    with af.for_(K, N) as i:
        s = af.var(b[i])
        with af.for_(K) as k:
            s -= 0.01 * low[i, k] * b[i - K + k]
        b[i] = s / (low[i, K] * low[i, K] + 1.0)


@af.kernel
def kronecker(a: af.f64[M, N], b: af.f64[K, L], c: af.f64[M, K, N, L]):
    with af.for_(M) as i, af.for_(K) as k, af.for_(N) as j, af.for_(L) as q:
        c[i, k, j, q] = a[i, j] * b[k, q]


@LOOPS.beside(kronecker, M=20, N=20, K=20, L=20)
def _(a, b, c):
    np.multiply(a[:, None, :, None], b[:, None, :], c)


@af.kernel
def vandermonde(x: af.f64[N], v: af.f64[N, K]):
    with af.for_(N) as i:
        p = af.var(af.f64(1))
        with af.for_(K) as k:
            v[i, k] = p
            p *= x[i]


@LOOPS.beside(vandermonde, N=5000, K=10)
def _(x, v):
    v[:] = np.vander(x, v.shape[1], increasing=True)


@LOOPS.written(N=100)
def lu_in_place(a: af.f64[N, N]):
    with af.for_(N) as i:
        a[i, i] += 100.0
    with af.for_(N) as k, af.for_(k + 1, N) as i:
        a[i, k] = a[i, k] / a[k, k]
        with af.for_(k + 1, N) as j:
            a[i, j] -= a[i, k] * a[k, j]


@LOOPS.written(N=300)
def cholesky_by_columns(a: af.f64[N, N]):
    with af.for_(N) as i:
        a[i, i] += 400.0
    with af.for_(N) as j:
        with af.for_(j) as k, af.for_(j, N) as i:
            a[i, j] -= a[i, k] * a[j, k]
        d = af.sqrt(a[j, j])
        with af.for_(j, N) as i:
            a[i, j] = a[i, j] / d
