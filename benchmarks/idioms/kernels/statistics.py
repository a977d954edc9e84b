"""Means and distances, normalized rows, windows, and small steps of simulations."""

import numpy as np

import affdsl as af
from benchmarks.idioms.idiom import Group, K, M, N

IDIOMS = Group("statistics")


@af.kernel
def mean_and_variance(x: af.f64[N], out: af.f64[2]):
    """Both by two sums in one loop."""
    total, square = af.var(af.f64(0)), af.var(af.f64(0))
    with af.for_(N) as i:
        total += x[i]
        square += x[i] * x[i]
    out[0] = total / af.f64(N)
    out[1] = square / af.f64(N) - out[0] * out[0]


@IDIOMS.beside(mean_and_variance, tolerance=1e-9, N=200_000)
def _(x, out):
    out[0] = x.mean()
    out[1] = (x * x).mean() - out[0] * out[0]


@af.kernel
def rows_normalized(x: af.f32[M, N]):
    """Each row over its length, in place."""
    with af.for_(M) as i:
        total = af.var(af.f32(0))
        with af.for_(N) as j:
            total += x[i, j] * x[i, j]
        scale = 1 / af.sqrt(total)
        with af.for_(N) as j:
            x[i, j] *= scale


@IDIOMS.beside(rows_normalized, tolerance=1e-5, M=1000, N=128)
def _(x):
    x /= np.sqrt((x * x).sum(axis=1, keepdims=True))


@af.kernel
def columns_centred(x: af.f64[M, N]):
    """Each column less its mean, in place."""
    with af.for_(N) as j:
        total = af.var(af.f64(0))
        with af.for_(M) as i:
            total += x[i, j]
        mean = total / af.f64(M)
        with af.for_(M) as i:
            x[i, j] -= mean


@IDIOMS.beside(columns_centred, tolerance=1e-11, M=1000, N=200)
def _(x):
    x -= x.mean(axis=0)


@af.kernel
def softmax_of_rows(x: af.f32[M, N], y: af.f32[M, N]):
    """Shares of exponentials, row by row."""
    with af.for_(M) as i:
        most = af.var(x[i, 0])
        with af.for_(N) as j:
            most.set(af.max(most, x[i, j]))
        total = af.var(af.f32(0))
        with af.for_(N) as j:
            y[i, j] = af.exp(x[i, j] - most)
            total += y[i, j]
        with af.for_(N) as j:
            y[i, j] = y[i, j] / total


@IDIOMS.beside(
    softmax_of_rows,
    c="""for (int64_t i = 0; i < M; ++i) {
    const float *r = x + i * N; float *s = y + i * N, m = r[0], t = 0;
    for (int64_t j = 0; j < N; ++j) m = r[j] > m ? r[j] : m;
    for (int64_t j = 0; j < N; ++j) { s[j] = expf(r[j] - m); t += s[j]; }
    for (int64_t j = 0; j < N; ++j) s[j] = s[j] / t;
}""",
    tolerance=1e-5,
    M=200,
    N=100,
)
def _(x, y):
    np.exp(x - x.max(axis=1, keepdims=True), out=y)
    y /= y.sum(axis=1, keepdims=True)


@af.kernel
def distances_of_points(a: af.f64[M, 3], b: af.f64[N, 3], y: af.f64[M, N]):
    """How far each point is from each other one."""
    with af.for_(M) as i, af.for_(N) as j:
        total = af.var(af.f64(0))
        with af.for_(3) as k:
            total += (a[i, k] - b[j, k]) * (a[i, k] - b[j, k])
        y[i, j] = af.sqrt(total)


@IDIOMS.beside(distances_of_points, M=300, N=400)
def _(a, b, y):
    y[:] = np.sqrt(((a[:, None] - b) ** 2).sum(axis=2))


@af.kernel
def distance_of_two_arrays(a: af.f32[N], b: af.f32[N], out: af.f32[1]):
    """The square of the distance."""
    total = af.var(af.f32(0))
    with af.for_(N) as i:
        total += (a[i] - b[i]) ** 2
    out[0] = total


@IDIOMS.beside(distance_of_two_arrays, tolerance=1e-3, N=100_000)
def _(a, b, out):
    out[0] = ((a - b) ** 2).sum()


@af.kernel
def window_means(x: af.f64[N + 8], y: af.f64[N]):
    """The mean of nine numbers, at each place."""
    with af.for_(N) as i:
        total = af.var(af.f64(0))
        with af.for_(9) as k:
            total += x[i + k]
        y[i] = total / 9


@IDIOMS.beside(window_means, tolerance=1e-11, N=50_000)
def _(x, y):
    np.lib.stride_tricks.sliding_window_view(x, 9).mean(axis=1, out=y)


@af.kernel
def window_maxima(x: af.f32[N + 4], y: af.f32[N]):
    """The largest of five numbers, at each place."""
    with af.for_(N) as i:
        most = af.var(x[i])
        with af.for_(1, 5) as k:
            most.set(af.max(most, x[i + k]))
        y[i] = most


@IDIOMS.beside(
    window_maxima,
    c="""for (int64_t i = 0; i < N; ++i) {
    float m = x[i];
    for (int64_t k = 1; k < 5; ++k) m = x[i + k] > m ? x[i + k] : m;
    y[i] = m;
}""",
    N=100_000,
)
def _(x, y):
    y[:] = x[:-4]
    for k in range(1, 5):
        np.maximum(y, x[k : len(x) - 4 + k], y)


@af.kernel
def blocks_of_an_image(x: af.f32[2 * M, 2 * N], y: af.f32[M, N]):
    """The mean of each block of two by two."""
    with af.for_(M) as i, af.for_(N) as j:
        y[i, j] = 0.25 * (x[2 * i, 2 * j] + x[2 * i, 2 * j + 1] + x[2 * i + 1, 2 * j] + x[2 * i + 1, 2 * j + 1])


@IDIOMS.beside(blocks_of_an_image, tolerance=1e-6, M=300, N=400)
def _(x, y):
    y[:] = np.float32(0.25) * (x[::2, ::2] + x[::2, 1::2] + x[1::2, ::2] + x[1::2, 1::2])


@af.kernel
def sums_of_rows(x: af.f64[M, N], y: af.f64[M]):
    """The sum of each row."""
    with af.for_(M) as i:
        y[i] = 0.0
        with af.for_(N) as j:
            y[i] += x[i, j]


@IDIOMS.beside(sums_of_rows, tolerance=1e-11, M=600, N=500)
def _(x, y):
    x.sum(axis=1, out=y)


@af.kernel
def sums_of_columns(x: af.f32[M, N], y: af.f32[N]):
    """The sum of each column, row by row."""
    with af.for_(N) as j:
        y[j] = 0.0
    with af.for_(M) as i, af.for_(N) as j:
        y[j] += x[i, j]


@IDIOMS.beside(sums_of_columns, tolerance=1e-4, M=600, N=500)
def _(x, y):
    x.sum(axis=0, out=y)


@af.kernel
def trace_of_a_product(A: af.f64[N, N], B: af.f64[N, N], out: af.f64[1]):
    """The sum of all products of elements that face each other."""
    total = af.var(af.f64(0))
    with af.for_(N) as i, af.for_(N) as j:
        total += A[i, j] * B[j, i]
    out[0] = total


@IDIOMS.beside(trace_of_a_product, tolerance=1e-8, N=400)
def _(A, B, out):
    out[0] = (A * B.T).sum()


@af.kernel
def polynomial_of_a_table(c: af.f64[K], x: af.f64[N], y: af.f64[N]):
    """A polynomial whose coefficients are an array."""
    with af.for_(N) as i:
        value = af.var(af.f64(0))
        with af.for_(K) as k:
            value.set(value * x[i] + c[k])
        y[i] = value


@IDIOMS.beside(polynomial_of_a_table, given={"x": lambda r, s: r.random(s["N"])}, tolerance=1e-11, N=20_000, K=8)
def _(c, x, y):
    y[:] = np.polyval(c, x)


@af.kernel
def steps_of_particles(x: af.f64[N, 2], v: af.f64[N, 2], dt: af.f64):
    """Points move on, and turn back at walls."""
    with af.for_(N) as i, af.for_(2) as k:
        x[i, k] += dt * v[i, k]
        with af.if_((x[i, k] < 0) | (x[i, k] > 1)):
            v[i, k] = -v[i, k]


@IDIOMS.beside(steps_of_particles, given={"dt": 0.1, "x": lambda r, s: r.random((s["N"], 2))}, N=50_000)
def _(x, v, dt):
    x += dt * v
    np.negative(v, out=v, where=(x < 0) | (x > 1))


@af.kernel
def fractions_of_totals(x: af.i64[M, N], y: af.f64[M, N]):
    """Counts as shares of the sum of their row; nothing of nothing is zero."""
    with af.for_(M) as i:
        total = af.var(af.i64(0))
        with af.for_(N) as j:
            total += x[i, j]
        with af.for_(N) as j:
            y[i, j] = af.select(total == 0, af.f64(0), af.f64(x[i, j]) / af.f64(total))


@IDIOMS.beside(fractions_of_totals, given={"x": lambda r, s: r.integers(0, 50, (s["M"], s["N"]))}, M=500, N=100)
def _(x, y):
    total = x.sum(axis=1, keepdims=True)
    y[:] = np.where(total == 0, 0.0, x / np.where(total == 0, 1, total))
