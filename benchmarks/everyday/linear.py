"""Linear algebra as loops."""

import numpy as np
from scipy.sparse import random_array

import affdsl as af
from benchmarks.everyday.loop import Group

LOOPS = Group()
B, M, N, NNZ = af.symbols("B M N NNZ")


@af.kernel
def lu_with_pivots(A: af.f64[N, N], pivot: af.i64[N]):
    """Elimination in place; rows change places so that the largest number of a column divides."""
    with af.for_(N) as k:
        best = af.var(af.abs(A[k, k]))
        p = af.var(af.i64(k))
        with af.for_(k + 1, N) as i, af.if_(af.abs(A[i, k]) > best):
            best.set(af.abs(A[i, k]))
            p.set(af.i64(i))
        pivot[k] = p
        with af.for_(N) as j:
            t = A[k, j]
            A[k, j] = A[p, j]
            A[p, j] = t
        with af.for_(k + 1, N) as i:
            A[i, k] = A[i, k] / A[k, k]
            with af.for_(k + 1, N) as j:
                A[i, j] -= A[i, k] * A[k, j]


@LOOPS.beside(lu_with_pivots, lambda r, n: (r.normal(size=(n, n)), np.zeros(n, "i8")), 250, tolerance=1e-8)
def _(A, pivot):
    n = A.shape[0]
    for k in range(n):
        best = abs(A[k, k])
        p = k
        for i in range(k + 1, n):
            if abs(A[i, k]) > best:
                best = abs(A[i, k])
                p = i
        pivot[k] = p
        for j in range(n):
            t = A[k, j]
            A[k, j] = A[p, j]
            A[p, j] = t
        for i in range(k + 1, n):
            A[i, k] = A[i, k] / A[k, k]
            for j in range(k + 1, n):
                A[i, j] -= A[i, k] * A[k, j]


@af.kernel
def solve_many_of_four(A: af.f64[B, 4, 4], b: af.f64[B, 4]):
    """Many systems of four equations, by elimination in place."""
    with af.for_(B) as s:
        with af.for_(4) as k:
            with af.for_(k + 1, 4) as i:
                factor = A[s, i, k] / A[s, k, k]
                with af.for_(k + 1, 4) as j:
                    A[s, i, j] -= factor * A[s, k, j]
                b[s, i] -= factor * b[s, k]
        with af.for_(4) as r:
            with af.for_(4 - r, 4) as j:
                b[s, 3 - r] -= A[s, 3 - r, j] * b[s, j]
            b[s, 3 - r] /= A[s, 3 - r, 3 - r]


@LOOPS.beside(
    solve_many_of_four,
    lambda r, n: (r.normal(size=(n, 4, 4)) + 8 * np.eye(4), r.normal(size=(n, 4))),
    20000,
    tolerance=1e-9,
)
def _(A, b):
    for s in range(A.shape[0]):
        for k in range(4):
            for i in range(k + 1, 4):
                factor = A[s, i, k] / A[s, k, k]
                for j in range(k + 1, 4):
                    A[s, i, j] -= factor * A[s, k, j]
                b[s, i] -= factor * b[s, k]
        for r in range(4):
            for j in range(4 - r, 4):
                b[s, 3 - r] -= A[s, 3 - r, j] * b[s, j]
            b[s, 3 - r] /= A[s, 3 - r, 3 - r]


@af.kernel
def tridiagonal_systems(low: af.f64[M, N], diag: af.f64[M, N], up: af.f64[M, N], x: af.f64[M, N], c: af.f64[M, N]):
    """Many tridiagonal systems, one a row, by Thomas's two sweeps."""
    with af.for_(M) as s:
        c[s, 0] = up[s, 0] / diag[s, 0]
        x[s, 0] = x[s, 0] / diag[s, 0]
        with af.for_(1, N) as i:
            m = 1 / (diag[s, i] - low[s, i] * c[s, i - 1])
            c[s, i] = up[s, i] * m
            x[s, i] = (x[s, i] - low[s, i] * x[s, i - 1]) * m
        with af.for_(1, N) as r:
            x[s, N - 1 - r] -= c[s, N - 1 - r] * x[s, N - r]


def _systems(r: np.random.Generator, m: int, n: int) -> tuple[np.ndarray, ...]:
    return (
        r.normal(size=(m, n)), r.normal(size=(m, n)) + 9, r.normal(size=(m, n)), r.normal(size=(m, n)), np.zeros((m, n))
    )  # fmt: skip


@LOOPS.beside(tridiagonal_systems, lambda r, n: _systems(r, n, n + 3), 500, tolerance=1e-9)
def _(low, diag, up, x, c):
    m, n = x.shape
    for s in range(m):
        c[s, 0] = up[s, 0] / diag[s, 0]
        x[s, 0] = x[s, 0] / diag[s, 0]
        for i in range(1, n):
            f = 1 / (diag[s, i] - low[s, i] * c[s, i - 1])
            c[s, i] = up[s, i] * f
            x[s, i] = (x[s, i] - low[s, i] * x[s, i - 1]) * f
        for r in range(1, n):
            x[s, n - 1 - r] -= c[s, n - 1 - r] * x[s, n - r]


@af.kernel
def tridiagonal_columns(low: af.f64[N, M], diag: af.f64[N, M], up: af.f64[N, M], x: af.f64[N, M], c: af.f64[N, M]):
    """The same with one system a column, each after the other."""
    with af.for_(M) as s:
        c[0, s] = up[0, s] / diag[0, s]
        x[0, s] = x[0, s] / diag[0, s]
        with af.for_(1, N) as i:
            m = 1 / (diag[i, s] - low[i, s] * c[i - 1, s])
            c[i, s] = up[i, s] * m
            x[i, s] = (x[i, s] - low[i, s] * x[i - 1, s]) * m
        with af.for_(1, N) as r:
            x[N - 1 - r, s] -= c[N - 1 - r, s] * x[N - r, s]


@LOOPS.beside(tridiagonal_columns, lambda r, n: _systems(r, n, n + 3), 400, tolerance=1e-9)
def _(low, diag, up, x, c):
    n, m = x.shape
    for s in range(m):
        c[0, s] = up[0, s] / diag[0, s]
        x[0, s] = x[0, s] / diag[0, s]
        for i in range(1, n):
            f = 1 / (diag[i, s] - low[i, s] * c[i - 1, s])
            c[i, s] = up[i, s] * f
            x[i, s] = (x[i, s] - low[i, s] * x[i - 1, s]) * f
        for r in range(1, n):
            x[n - 1 - r, s] -= c[n - 1 - r, s] * x[n - r, s]


@af.kernel
def sparse_times_vector(rowptr: af.i32[M + 1], colidx: af.i32[NNZ], values: af.f64[NNZ], x: af.f64[N], y: af.f64[M]):
    """A matrix in compressed rows, times a vector."""
    with af.for_(M) as i:
        total = af.var(af.f64(0))
        with af.for_(rowptr[i], rowptr[i + 1]) as p:
            total += values[p] * x[colidx[p]]
        y[i] = total


def _sparse(r: np.random.Generator, m: int, n: int, density: float) -> tuple[np.ndarray, ...]:
    matrix = random_array((m, n), density=density, format="csr", rng=r)
    rowptr, colidx = matrix.indptr.astype("i4"), matrix.indices.astype("i4")
    return rowptr, colidx, matrix.data, r.normal(size=n), np.zeros(m)


@LOOPS.beside(sparse_times_vector, lambda r, n: _sparse(r, n, n, 0.002), 20000, tolerance=1e-12)
def _(rowptr, colidx, values, x, y):
    for i in range(len(y)):
        total = 0.0
        for p in range(rowptr[i], rowptr[i + 1]):
            total += values[p] * x[colidx[p]]
        y[i] = total


@af.kernel
def symmetric_times_vector(A: af.f64[N, N], x: af.f64[N], y: af.f64[N]):
    """A symmetric matrix of which the lower triangle is stored, times a vector."""
    with af.for_(N) as i:
        total = af.var(A[i, i] * x[i])
        with af.for_(i) as j:
            total += A[i, j] * x[j]
            y[j] += A[i, j] * x[i]
        y[i] += total


@LOOPS.beside(
    symmetric_times_vector, lambda r, n: (r.normal(size=(n, n)), r.normal(size=n), np.zeros(n)), 2000, tolerance=1e-11
)
def _(A, x, y):
    for i in range(len(x)):
        total = A[i, i] * x[i]
        for j in range(i):
            total += A[i, j] * x[j]
            y[j] += A[i, j] * x[i]
        y[i] += total


@af.kernel
def gram_matrix(A: af.f64[M, N], G: af.f64[N, N]):
    """The products of all columns with each other."""
    with af.for_(N) as i, af.for_(N) as j:
        total = af.var(af.f64(0))
        with af.for_(M) as k:
            total += A[k, i] * A[k, j]
        G[i, j] = total


@LOOPS.beside(gram_matrix, lambda r, n: (r.normal(size=(2 * n, n)), np.zeros((n, n))), 200, tolerance=1e-11)
def _(A, G):
    m, n = A.shape
    for i in range(n):
        for j in range(n):
            total = 0.0
            for k in range(m):
                total += A[k, i] * A[k, j]
            G[i, j] = total


@af.kernel
def dot_of_complex(a: af.f64[N, 2], b: af.f64[N, 2], out: af.f64[2]):
    """The sum of products of complex numbers, one of them conjugated."""
    re = af.var(af.f64(0))
    im = af.var(af.f64(0))
    with af.for_(N) as i:
        re += a[i, 0] * b[i, 0] + a[i, 1] * b[i, 1]
        im += a[i, 0] * b[i, 1] - a[i, 1] * b[i, 0]
    out[0] = re
    out[1] = im


@LOOPS.beside(
    dot_of_complex, lambda r, n: (r.normal(size=(n, 2)), r.normal(size=(n, 2)), np.zeros(2)), 1000000, tolerance=1e-9
)
def _(a, b, out):
    re = im = 0.0
    for i in range(a.shape[0]):
        re += a[i, 0] * b[i, 0] + a[i, 1] * b[i, 1]
        im += a[i, 0] * b[i, 1] - a[i, 1] * b[i, 0]
    out[0] = re
    out[1] = im
