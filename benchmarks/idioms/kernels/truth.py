"""Truth values: masks, any, all, counts, and conditions on them."""

import numpy as np

import affdsl as af
from benchmarks.idioms.idiom import Group, M, N

IDIOMS = Group("truth")


@af.kernel
def both_masks(a: af.bool_[N], b: af.bool_[N], y: af.bool_[N]):
    """Where both masks are true."""
    with af.for_(N) as i:
        y[i] = a[i] & b[i]


@IDIOMS.beside(both_masks, c="for (int64_t i = 0; i < N; ++i) y[i] = a[i] & b[i];", N=500_000)
def _(a, b, y):
    np.logical_and(a, b, y)


@af.kernel
def mask_turned_round(a: af.bool_[N], b: af.bool_[N], y: af.bool_[N]):
    """Where one mask is true and the other is not."""
    with af.for_(N) as i:
        y[i] = a[i] & ~b[i]


@IDIOMS.beside(mask_turned_round, c="for (int64_t i = 0; i < N; ++i) y[i] = a[i] & !b[i];", N=500_000)
def _(a, b, y):
    y[:] = a & ~b


@af.kernel
def mask_of_a_range(x: af.f64[N], y: af.bool_[N]):
    """Which numbers lie between two limits."""
    with af.for_(N) as i:
        y[i] = (x[i] > -0.5) & (x[i] < 0.5)


@IDIOMS.beside(mask_of_a_range, c="for (int64_t i = 0; i < N; ++i) y[i] = (x[i] > -0.5) & (x[i] < 0.5);", N=200_000)
def _(x, y):
    y[:] = (x > -0.5) & (x < 0.5)


@af.kernel
def one_of_two_by_a_mask(m: af.bool_[N], a: af.f32[N], b: af.f32[N], y: af.f32[N]):
    """A number of one array or the other, as a mask says."""
    with af.for_(N) as i:
        y[i] = af.select(m[i], a[i], b[i])


@IDIOMS.beside(one_of_two_by_a_mask, c="for (int64_t i = 0; i < N; ++i) y[i] = m[i] ? a[i] : b[i];", N=200_000)
def _(m, a, b, y):
    y[:] = np.where(m, a, b)


@af.kernel
def set_where_true(m: af.bool_[N], x: af.f64[N]):
    """Numbers under a mask become zero."""
    with af.for_(N) as i, af.if_(m[i]):
        x[i] = 0.0


@IDIOMS.beside(set_where_true, c="for (int64_t i = 0; i < N; ++i) if (m[i]) x[i] = 0;", N=200_000)
def _(m, x):
    x[m] = 0


@af.kernel
def sum_under_a_mask(m: af.bool_[N], x: af.f64[N], out: af.f64[1]):
    """The sum of the numbers that a mask keeps."""
    total = af.var(af.f64(0))
    with af.for_(N) as i, af.if_(m[i]):
        total += x[i]
    out[0] = total


@IDIOMS.beside(
    sum_under_a_mask,
    c="double t = 0; for (int64_t i = 0; i < N; ++i) if (m[i]) t += x[i]; out[0] = t;",
    tolerance=1e-9,
    N=200_000,
)
def _(m, x, out):
    out[0] = x.sum(where=m)


@af.kernel
def how_many_are_true(m: af.bool_[N], out: af.i64[1]):
    """The number of true values."""
    count = af.var(af.i64(0))
    with af.for_(N) as i, af.if_(m[i]):
        count += 1
    out[0] = count


@IDIOMS.beside(
    how_many_are_true, c="int64_t n = 0; for (int64_t i = 0; i < N; ++i) n += m[i]; out[0] = n;", N=1_000_000
)
def _(m, out):
    out[0] = np.count_nonzero(m)


@af.kernel
def how_many_are_negative(x: af.f32[N], out: af.i64[1]):
    """The number of numbers below zero."""
    count = af.var(af.i64(0))
    with af.for_(N) as i:
        count += af.i64(x[i] < 0)
    out[0] = count


@IDIOMS.beside(
    how_many_are_negative, c="int64_t n = 0; for (int64_t i = 0; i < N; ++i) n += x[i] < 0; out[0] = n;", N=500_000
)
def _(x, out):
    out[0] = np.count_nonzero(x < 0)


@af.kernel
def any_is_missing(x: af.f64[N], out: af.bool_[1]):
    """Whether one number is none."""
    found = af.var(af.isnan(x[0]))
    with af.for_(N) as i:
        found.set(found | af.isnan(x[i]))
    out[0] = found


@IDIOMS.beside(
    any_is_missing,
    given={"x": lambda r, s: np.append(r.normal(size=s["N"] - 1), np.nan)},  # one is: -ffast-math takes it for none
    c="_Bool f = 0; for (int64_t i = 0; i < N; ++i) f |= x[i] != x[i]; out[0] = f;",
    N=200_000,
)
def _(x, out):
    out[0] = np.isnan(x).any()


@af.kernel
def all_are_near(a: af.f64[N], b: af.f64[N], out: af.bool_[1]):
    """Whether two arrays are the same up to rounding."""
    near = af.var(af.abs(a[0] - b[0]) <= 1e-8)
    with af.for_(N) as i:
        near.set(near & (af.abs(a[i] - b[i]) <= 1e-8))
    out[0] = near


@IDIOMS.beside(
    all_are_near,
    c="_Bool f = 1; for (int64_t i = 0; i < N; ++i) f &= fabs(a[i] - b[i]) <= 1e-8; out[0] = f;",
    given={"a": lambda r, s: np.arange(s["N"], dtype="f8"), "b": lambda r, s: np.arange(s["N"], dtype="f8")},
    N=200_000,
)
def _(a, b, out):
    out[0] = (np.abs(a - b) <= 1e-8).all()


@af.kernel
def rows_that_are_whole(x: af.f32[M, N], out: af.bool_[M]):
    """Which rows have positive numbers only."""
    with af.for_(M) as i:
        whole = af.var(x[i, 0] > 0)
        with af.for_(1, N) as j:
            whole.set(whole & (x[i, j] > 0))
        out[i] = whole


@IDIOMS.beside(
    rows_that_are_whole,
    c="""for (int64_t i = 0; i < M; ++i) {
    _Bool f = 1;
    for (int64_t j = 0; j < N; ++j) f &= x[i * N + j] > 0;
    out[i] = f;
}""",
    given={"x": lambda r, s: r.random((s["M"], s["N"]), "f4") - np.float32(1e-3)},
    M=1000,
    N=200,
)
def _(x, out):
    out[:] = (x > 0).all(axis=1)


@af.kernel
def mask_grown(a: af.bool_[M, N], y: af.bool_[M, N]):
    """A mask and all next to it."""
    with af.for_(1, M - 1) as i, af.for_(1, N - 1) as j:
        y[i, j] = a[i, j] | a[i - 1, j] | a[i + 1, j] | a[i, j - 1] | a[i, j + 1]


@IDIOMS.beside(
    mask_grown,
    c="""for (int64_t i = 1; i < M - 1; ++i) for (int64_t j = 1; j < N - 1; ++j)
    y[i * N + j] = a[i * N + j] | a[(i - 1) * N + j] | a[(i + 1) * N + j] | a[i * N + j - 1] | a[i * N + j + 1];""",
    M=600,
    N=700,
)
def _(a, y):
    y[1:-1, 1:-1] = a[1:-1, 1:-1] | a[:-2, 1:-1] | a[2:, 1:-1] | a[1:-1, :-2] | a[1:-1, 2:]


@af.kernel
def thresholded(x: af.u8[M, N], y: af.u8[M, N]):
    """A picture in black and white."""
    with af.for_(M) as i, af.for_(N) as j:
        y[i, j] = af.select(x[i, j] > 127, af.u8(255), af.u8(0))


@IDIOMS.beside(thresholded, M=800, N=800)
def _(x, y):
    y[:] = np.where(x > 127, 255, 0)


@af.kernel
def cells_that_live(x: af.u8[M, N], y: af.u8[M, N]):
    """One step of the game of life, inside of the edges."""
    with af.for_(1, M - 1) as i, af.for_(1, N - 1) as j:
        n = sum(x[i + p, j + q] for p in (-1, 0, 1) for q in (-1, 0, 1) if p or q)
        y[i, j] = af.select((n == 3) | ((n == 2) & (x[i, j] == 1)), af.u8(1), af.u8(0))


@IDIOMS.beside(
    cells_that_live,
    c="""for (int64_t i = 1; i < M - 1; ++i) for (int64_t j = 1; j < N - 1; ++j) {
    const uint8_t *u = x + (i - 1) * N + j, *a = u + N, *d = a + N;
    uint8_t n = u[-1] + u[0] + u[1] + a[-1] + a[1] + d[-1] + d[0] + d[1];
    y[i * N + j] = (n == 3) | ((n == 2) & (a[0] == 1));
}""",
    given={"x": lambda r, s: r.integers(0, 2, (s["M"], s["N"]), "u1")},
    M=500,
    N=500,
)
def _(x, y):
    n = sum(x[1 + p : x.shape[0] - 1 + p, 1 + q : x.shape[1] - 1 + q] for p in (-1, 0, 1) for q in (-1, 0, 1) if p or q)
    y[1:-1, 1:-1] = (n == 3) | ((n == 2) & (x[1:-1, 1:-1] == 1))
