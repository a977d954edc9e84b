"""What goes from one iteration to the next: the last element, counters, sums so far, runs."""

import numpy as np

import affdsl as af
from benchmarks.idioms.idiom import Group, M, N

IDIOMS = Group("carried")


@af.kernel
def last_element_kept(x: af.f64[N], y: af.f64[N]):
    """Differences, where the last element is kept in a variable."""
    last = af.var(af.f64(0))
    with af.for_(N) as i:
        y[i] = x[i] - last
        last.set(x[i])


@IDIOMS.beside(
    last_element_kept, c="double l = 0; for (int64_t i = 0; i < N; ++i) { y[i] = x[i] - l; l = x[i]; }", N=200_000
)
def _(x, y):
    y[0] = x[0]
    np.subtract(x[1:], x[:-1], y[1:])


@af.kernel
def last_two_kept(x: af.f32[N], y: af.f32[N]):
    """The mean of three, where the last two elements are kept in variables."""
    one, two = af.var(af.f32(0)), af.var(af.f32(0))
    with af.for_(N) as i:
        y[i] = (x[i] + one + two) * 0.25
        two.set(one)
        one.set(x[i])


@IDIOMS.beside(
    last_two_kept,
    c="float p = 0, q = 0; for (int64_t i = 0; i < N; ++i) { y[i] = (x[i] + p + q) * 0.25f; q = p; p = x[i]; }",
    tolerance=1e-6,
    N=100_000,
)
def _(x, y):
    y[:] = x
    y[1:] += x[:-1]
    y[2:] += x[:-2]
    y *= np.float32(0.25)


@af.kernel
def trapezoids(x: af.f64[N], y: af.f64[N], out: af.f64[1]):
    """An integral by trapezoids, where the last point is kept."""
    before, total = af.var(x[0]), af.var(af.f64(0))
    height = af.var(y[0])
    with af.for_(1, N) as i:
        total += 0.5 * (x[i] - before) * (y[i] + height)
        before.set(x[i])
        height.set(y[i])
    out[0] = total


@IDIOMS.beside(
    trapezoids,
    c="""double p = x[0], q = y[0], t = 0;
for (int64_t i = 1; i < N; ++i) { t += 0.5 * (x[i] - p) * (y[i] + q); p = x[i]; q = y[i]; }
out[0] = t;""",
    given={"x": lambda r, s: np.linspace(0, 1, s["N"]), "y": lambda r, s: r.random(s["N"])},
    tolerance=1e-10,
    N=100_000,
)
def _(x, y, out):
    out[0] = np.trapezoid(y, x)


@af.kernel
def counter_beside_the_index(x: af.f64[N], y: af.f64[2 * N]):
    """Every second element, by a counter that goes along."""
    k = af.var(af.i64(0))
    with af.for_(N) as i:
        x[i] = 0.5 * y[af.index(k)]
        k += 2


@IDIOMS.beside(
    counter_beside_the_index,
    c="int64_t k = 0; for (int64_t i = 0; i < N; ++i) { x[i] = 0.5 * y[k]; k += 2; }",
    N=100_000,
)
def _(x, y):
    np.multiply(y[::2], 0.5, x)


@af.kernel
def counter_that_runs_down(x: af.f32[N], y: af.f32[N], z: af.f32[N]):
    """One array from the front, one from the back, by a counter."""
    k = af.var(af.i64(N))
    with af.for_(N) as i:
        k -= 1
        z[i] = x[i] * y[af.index(k)]


@IDIOMS.beside(
    counter_that_runs_down,
    c="int64_t k = N; for (int64_t i = 0; i < N; ++i) { --k; z[i] = x[i] * y[k]; }",
    N=100_000,
)
def _(x, y, z):
    np.multiply(x, y[::-1], z)


@af.kernel
def sums_so_far(x: af.f32[N], y: af.f32[N]):
    """Prefix sums, in place of the one before."""
    y[0] = x[0]
    with af.for_(1, N) as i:
        y[i] = y[i - 1] + x[i]


@IDIOMS.beside(sums_so_far, tolerance=1e-4, N=200_000)
def _(x, y):
    np.cumsum(x, out=y)


@af.kernel
def sums_so_far_of_integers(x: af.i64[N], y: af.i64[N]):
    """Offsets of lengths."""
    total = af.var(af.i64(0))
    with af.for_(N) as i:
        total += x[i]
        y[i] = total


@IDIOMS.beside(sums_so_far_of_integers, N=200_000)
def _(x, y):
    np.cumsum(x, out=y)


@af.kernel
def products_so_far(x: af.f64[N], y: af.f64[N]):
    """What one unit of money has become, day by day."""
    worth = af.var(af.f64(1))
    with af.for_(N) as i:
        worth *= 1 + x[i]
        y[i] = worth


@IDIOMS.beside(products_so_far, given={"x": lambda r, s: 1e-3 * r.normal(size=s["N"])}, tolerance=1e-10, N=100_000)
def _(x, y):
    np.cumprod(1 + x, out=y)


@af.kernel
def sums_down_the_columns(x: af.f64[M, N]):
    """Sums so far, of each column, in place."""
    with af.for_(1, M) as i, af.for_(N) as j:
        x[i, j] += x[i - 1, j]


@IDIOMS.beside(sums_down_the_columns, tolerance=1e-10, M=500, N=600)
def _(x):
    np.cumsum(x, axis=0, out=x)


@af.kernel
def sums_along_the_rows(x: af.f64[M, N], y: af.f64[M, N]):
    """Sums so far, of each row."""
    with af.for_(M) as i:
        total = af.var(af.f64(0))
        with af.for_(N) as j:
            total += x[i, j]
            y[i, j] = total


@IDIOMS.beside(sums_along_the_rows, tolerance=1e-10, M=500, N=600)
def _(x, y):
    np.cumsum(x, axis=1, out=y)


@af.kernel
def largest_drop(x: af.f64[N], out: af.f64[1]):
    """How far a price has fallen below its highest, at most."""
    peak, drop = af.var(x[0]), af.var(af.f64(0))
    with af.for_(N) as i:
        peak.set(af.max(peak, x[i]))
        drop.set(af.max(drop, peak - x[i]))
    out[0] = drop


@IDIOMS.beside(
    largest_drop,
    c="""double p = x[0], d = 0;
for (int64_t i = 0; i < N; ++i) { p = x[i] > p ? x[i] : p; double f = p - x[i]; d = f > d ? f : d; }
out[0] = d;""",
    N=100_000,
)
def _(x, out):
    out[0] = (np.maximum.accumulate(x) - x).max()


@af.kernel
def smoothed_exponentially(x: af.f64[N], y: af.f64[N], alpha: af.f64):
    """A mean that forgets."""
    mean = af.var(af.f64(0))
    with af.for_(N) as i:
        mean.set(mean + alpha * (x[i] - mean))
        y[i] = mean


def _python_loop(x, y, alpha):
    mean = 0.0
    for i in range(len(x)):
        mean = mean + alpha * (x[i] - mean)
        y[i] = mean


IDIOMS.beside(smoothed_exponentially, given={"alpha": 0.1}, tolerance=1e-10, N=10_000)(_python_loop)


@af.kernel
def lengths_of_runs(x: af.i32[N], y: af.i32[N]):
    """How long the run of equal numbers is that ends at each."""
    length = af.var(af.i32(1))
    y[0] = 1
    with af.for_(1, N) as i:
        length.set(af.select(x[i] == x[i - 1], length + 1, af.i32(1)))
        y[i] = length


@IDIOMS.beside(
    lengths_of_runs,
    c="""int32_t n = 1; y[0] = 1;
for (int64_t i = 1; i < N; ++i) { n = x[i] == x[i - 1] ? n + 1 : 1; y[i] = n; }""",
    given={"x": lambda r, s: r.integers(0, 2, s["N"], "i4")},
    N=100_000,
)
def _(x, y):
    starts = np.flatnonzero(np.concatenate(([True], x[1:] != x[:-1])))
    lengths = np.diff(np.append(starts, len(x)))
    y[:] = np.arange(1, len(x) + 1) - np.repeat(starts, lengths)


@af.kernel
def changes_of_sign(x: af.f64[N], out: af.i64[1]):
    """How often a signal crosses zero."""
    count = af.var(af.i64(0))
    with af.for_(1, N) as i, af.if_((x[i] < 0) != (x[i - 1] < 0)):
        count += 1
    out[0] = count


@IDIOMS.beside(
    changes_of_sign,
    c="int64_t n = 0; for (int64_t i = 1; i < N; ++i) n += (x[i] < 0) != (x[i - 1] < 0); out[0] = n;",
    N=200_000,
)
def _(x, out):
    negative = x < 0
    out[0] = np.count_nonzero(negative[1:] != negative[:-1])
