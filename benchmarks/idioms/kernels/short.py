"""Short loops of a known length, small matrices, and products with one side that is thin."""

import numpy as np

import affdsl as af
from benchmarks.idioms.idiom import Group, K, M, N

IDIOMS = Group("short")


@af.kernel
def many_points_turned(R: af.f64[3, 3], x: af.f64[N, 3], y: af.f64[N, 3]):
    """A rotation of many points."""
    with af.for_(N) as n, af.for_(3) as i:
        y[n, i] = 0.0
        with af.for_(3) as j:
            y[n, i] += R[i, j] * x[n, j]


@IDIOMS.beside(many_points_turned, N=50_000)
def _(R, x, y):
    np.matmul(x, R.T, out=y)


@af.kernel
def many_small_products(A: af.f64[N, 4, 4], B: af.f64[N, 4, 4], C: af.f64[N, 4, 4]):
    """A product of small matrices, for each of many."""
    with af.for_(N) as n, af.for_(4) as i, af.for_(4) as j:
        total = af.var(af.f64(0))
        with af.for_(4) as k:
            total += A[n, i, k] * B[n, k, j]
        C[n, i, j] = total


@IDIOMS.beside(many_small_products, N=5_000)
def _(A, B, C):
    np.matmul(A, B, out=C)


@af.kernel
def lengths_of_vectors(x: af.f32[N, 3], y: af.f32[N]):
    """How long each vector of three is."""
    with af.for_(N) as i:
        total = af.var(af.f32(0))
        with af.for_(3) as k:
            total += x[i, k] * x[i, k]
        y[i] = af.sqrt(total)


@IDIOMS.beside(lengths_of_vectors, tolerance=1e-6, N=100_000)
def _(x, y):
    y[:] = np.sqrt((x * x).sum(axis=1))


@af.kernel
def cross_products(a: af.f64[N, 3], b: af.f64[N, 3], c: af.f64[N, 3]):
    """A vector across two others, for each of many."""
    with af.for_(N) as i:
        c[i, 0] = a[i, 1] * b[i, 2] - a[i, 2] * b[i, 1]
        c[i, 1] = a[i, 2] * b[i, 0] - a[i, 0] * b[i, 2]
        c[i, 2] = a[i, 0] * b[i, 1] - a[i, 1] * b[i, 0]


@IDIOMS.beside(cross_products, N=50_000)
def _(a, b, c):
    c[:] = np.cross(a, b)


@af.kernel
def product_with_few_columns(A: af.f64[M, K], B: af.f64[K, 3], C: af.f64[M, 3]):
    """A matrix times three columns."""
    with af.for_(M) as i, af.for_(3) as j:
        C[i, j] = 0.0
        with af.for_(K) as k:
            C[i, j] += A[i, k] * B[k, j]


@IDIOMS.beside(product_with_few_columns, tolerance=1e-11, M=500, K=400)
def _(A, B, C):
    np.dot(A, B, out=C)


@af.kernel
def product_with_few_terms(A: af.f64[M, 2], B: af.f64[2, N], C: af.f64[M, N]):
    """A matrix of rank two."""
    with af.for_(M) as i, af.for_(N) as j:
        C[i, j] = 0.0
        with af.for_(2) as k:
            C[i, j] += A[i, k] * B[k, j]


@IDIOMS.beside(product_with_few_terms, M=400, N=500)
def _(A, B, C):
    np.dot(A, B, out=C)


@af.kernel
def row_times_matrix(x: af.f32[M], A: af.f32[M, N], y: af.f32[N]):
    """One row times a matrix."""
    with af.for_(N) as j:
        y[j] = 0.0
        with af.for_(M) as i:
            y[j] += x[i] * A[i, j]


@IDIOMS.beside(row_times_matrix, tolerance=1e-4, M=600, N=700)
def _(x, A, y):
    np.dot(x, A, out=y)


@af.kernel
def matrix_times_column(A: af.f64[M, N], x: af.f64[N], y: af.f64[M]):
    """A matrix times one column."""
    with af.for_(M) as i:
        total = af.var(af.f64(0))
        with af.for_(N) as j:
            total += A[i, j] * x[j]
        y[i] = total


@IDIOMS.beside(matrix_times_column, tolerance=1e-11, M=600, N=700)
def _(A, x, y):
    np.dot(A, x, out=y)


@af.kernel
def outer_product_added(A: af.f64[M, N], x: af.f64[M], y: af.f64[N]):
    """A matrix changed by one row and one column."""
    with af.for_(M) as i, af.for_(N) as j:
        A[i, j] += x[i] * y[j]


@IDIOMS.beside(outer_product_added, M=500, N=500)
def _(A, x, y):
    A += np.outer(x, y)


@af.kernel
def product_of_seven_by_seven(A: af.f64[N, 7], B: af.f64[7, 7], C: af.f64[N, 7]):
    """Rows of seven times a matrix of seven."""
    with af.for_(N) as i, af.for_(7) as j:
        C[i, j] = 0.0
        with af.for_(7) as k:
            C[i, j] += A[i, k] * B[k, j]


@IDIOMS.beside(product_of_seven_by_seven, N=5_000)
def _(A, B, C):
    np.dot(A, B, out=C)


@af.kernel
def product_of_hundred(A: af.f64[N, N], B: af.f64[N, N], C: af.f64[N, N]):
    """A product of middling matrices."""
    with af.for_(N) as i, af.for_(N) as j:
        C[i, j] = 0.0
        with af.for_(N) as k:
            C[i, j] += A[i, k] * B[k, j]


@IDIOMS.beside(product_of_hundred, tolerance=1e-11, N=100)
def _(A, B, C):
    np.dot(A, B, out=C)


@af.kernel
def small_filter_on_few_numbers(x: af.f32[N], y: af.f32[N]):
    """A smoothing of some hundred numbers."""
    with af.for_(2, N - 2) as i:
        y[i] = (x[i - 2] + 4 * x[i - 1] + 6 * x[i] + 4 * x[i + 1] + x[i + 2]) / 16


@IDIOMS.beside(small_filter_on_few_numbers, tolerance=1e-6, N=1000)
def _(x, y):
    f = np.float32
    y[2:-2] = (x[:-4] + f(4) * x[1:-3] + f(6) * x[2:-2] + f(4) * x[3:-1] + x[4:]) / f(16)


@af.kernel
def scaled_sum_of_few(x: af.f64[N], y: af.f64[N], a: af.f64):
    """A scaled sum of some hundred numbers."""
    with af.for_(N) as i:
        y[i] += a * x[i]


@IDIOMS.beside(scaled_sum_of_few, N=500)
def _(x, y, a):
    y += a * x
