"""Minima and maxima, where they are, and searches."""

import numpy as np

import affdsl as af
from benchmarks.idioms.idiom import Group, M, N

IDIOMS = Group("extremes")


@af.kernel
def smallest_number(x: af.f64[N], out: af.f64[1]):
    """The minimum of an array."""
    least = af.var(x[0])
    with af.for_(1, N) as i:
        least.set(af.min(least, x[i]))
    out[0] = least


@IDIOMS.beside(
    smallest_number,
    c="double m = x[0]; for (int64_t i = 1; i < N; ++i) m = x[i] < m ? x[i] : m; out[0] = m;",
    N=300_000,
)
def _(x, out):
    out[0] = x.min()


@af.kernel
def largest_under_a_condition(x: af.f32[N], out: af.f32[1]):
    """The maximum, by a comparison and a copy."""
    most = af.var(x[0])
    with af.for_(1, N) as i, af.if_(x[i] > most):
        most.set(x[i])
    out[0] = most


@IDIOMS.beside(
    largest_under_a_condition,
    c="float m = x[0]; for (int64_t i = 1; i < N; ++i) if (x[i] > m) m = x[i]; out[0] = m;",
    N=300_000,
)
def _(x, out):
    out[0] = x.max()


@af.kernel
def largest_magnitude(x: af.f64[N], out: af.f64[1]):
    """The largest absolute value."""
    most = af.var(af.f64(0))
    with af.for_(N) as i:
        most.set(af.max(most, af.abs(x[i])))
    out[0] = most


@IDIOMS.beside(
    largest_magnitude,
    c="""double m = 0;
for (int64_t i = 0; i < N; ++i) { double a = fabs(x[i]); m = a > m ? a : m; }
out[0] = m;""",
    N=200_000,
)
def _(x, out):
    out[0] = np.abs(x).max()


@af.kernel
def range_of_numbers(x: af.f32[N], out: af.f32[2]):
    """The smallest and the largest number."""
    least, most = af.var(x[0]), af.var(x[0])
    with af.for_(N) as i:
        least.set(af.min(least, x[i]))
        most.set(af.max(most, x[i]))
    out[0] = least
    out[1] = most


@IDIOMS.beside(
    range_of_numbers,
    c="""float l = x[0], m = x[0];
for (int64_t i = 0; i < N; ++i) { l = x[i] < l ? x[i] : l; m = x[i] > m ? x[i] : m; }
out[0] = l; out[1] = m;""",
    N=500_000,
)
def _(x, out):
    out[0], out[1] = x.min(), x.max()


@af.kernel
def where_the_largest_is(x: af.f64[N], out: af.i64[1]):
    """The index of the maximum."""
    most, where = af.var(x[0]), af.var(af.i64(0))
    with af.for_(1, N) as i, af.if_(x[i] > most):
        most.set(x[i])
        where.set(af.i64(i))
    out[0] = where


@IDIOMS.beside(
    where_the_largest_is,
    c="""double m = x[0]; int64_t w = 0;
for (int64_t i = 1; i < N; ++i) if (x[i] > m) { m = x[i]; w = i; }
out[0] = w;""",
    N=200_000,
)
def _(x, out):
    out[0] = x.argmax()


@af.kernel
def where_each_row_is_smallest(x: af.f32[M, N], out: af.i32[M]):
    """The column of the minimum of each row."""
    with af.for_(M) as i:
        least, where = af.var(x[i, 0]), af.var(af.i32(0))
        with af.for_(1, N) as j, af.if_(x[i, j] < least):
            least.set(x[i, j])
            where.set(af.i32(j))
        out[i] = where


@IDIOMS.beside(
    where_each_row_is_smallest,
    c="""for (int64_t i = 0; i < M; ++i) {
    float l = x[i * N]; int32_t w = 0;
    for (int32_t j = 1; j < N; ++j) if (x[i * N + j] < l) { l = x[i * N + j]; w = j; }
    out[i] = w;
}""",
    M=500,
    N=300,
)
def _(x, out):
    out[:] = x.argmin(axis=1)


@af.kernel
def largest_of_each_column(x: af.f64[M, N], out: af.f64[N]):
    """The maximum of each column, row by row."""
    with af.for_(N) as j:
        out[j] = x[0, j]
    with af.for_(1, M) as i, af.for_(N) as j:
        out[j] = af.max(out[j], x[i, j])


@IDIOMS.beside(
    largest_of_each_column,
    c="""for (int64_t j = 0; j < N; ++j) out[j] = x[j];
for (int64_t i = 1; i < M; ++i)
    for (int64_t j = 0; j < N; ++j) out[j] = x[i * N + j] > out[j] ? x[i * N + j] : out[j];""",
    M=500,
    N=400,
)
def _(x, out):
    x.max(axis=0, out=out)


@af.kernel
def largest_of_integers(x: af.i16[N], out: af.i16[1]):
    """The maximum of samples of 16 bits."""
    most = af.var(x[0])
    with af.for_(N) as i:
        most.set(af.max(most, x[i]))
    out[0] = most


@IDIOMS.beside(largest_of_integers, N=500_000)
def _(x, out):
    out[0] = x.max()


@af.kernel
def first_one_above(x: af.f64[N], out: af.i64[1]):
    """The first index at which a limit is crossed; the search ends there."""
    found = af.var(af.i64(N))
    with af.for_(N) as i, af.if_(x[i] > 4.0):
        found.set(af.i64(i))
        af.break_()
    out[0] = found


@IDIOMS.beside(
    first_one_above,
    c="int64_t k = 0; while (k < N && x[k] <= 4.0) ++k; out[0] = k;",
    given={"x": lambda r, s: np.append(r.random(s["N"] - 1), 5.0)},
    N=100_000,
)
def _(x, out):
    out[0] = (x > 4.0).argmax()


@af.kernel
def last_one_that_is_zero(x: af.i32[N], out: af.i64[1]):
    """The last index of a zero, or -1: all are looked at."""
    found = af.var(af.i64(-1))
    with af.for_(N) as i, af.if_(x[i] == 0):
        found.set(af.i64(i))
    out[0] = found


@IDIOMS.beside(
    last_one_that_is_zero,
    c="int64_t w = -1; for (int64_t i = 0; i < N; ++i) if (x[i] == 0) w = i; out[0] = w;",
    N=100_000,
)
def _(x, out):
    found = np.flatnonzero(x == 0)
    out[0] = found[-1] if len(found) else -1


@af.kernel
def clipped(x: af.f64[N], y: af.f64[N], low: af.f64, high: af.f64):
    """Numbers kept between two limits."""
    with af.for_(N) as i:
        y[i] = af.min(af.max(x[i], low), high)


@IDIOMS.beside(
    clipped,
    c="""for (int64_t i = 0; i < N; ++i) { double v = x[i] < low ? low : x[i]; y[i] = v > high ? high : v; }""",
    given={"low": -0.5, "high": 0.5},
    N=200_000,
)
def _(x, y, low, high):
    np.clip(x, low, high, out=y)


@af.kernel
def rectified(x: af.f32[N], y: af.f32[N]):
    """What is negative becomes zero."""
    with af.for_(N) as i:
        y[i] = af.max(x[i], 0.0)


@IDIOMS.beside(rectified, c="for (int64_t i = 0; i < N; ++i) y[i] = x[i] > 0 ? x[i] : 0;", N=200_000)
def _(x, y):
    np.maximum(x, 0, y)
