"""Table look-ups, histograms, gathers and scatters, and what is packed to the front."""

import numpy as np

import affdsl as af
from benchmarks.idioms.idiom import Group, K, M, N

IDIOMS = Group("tables")


@af.kernel
def colours_by_a_palette(x: af.u8[N], table: af.f32[256], y: af.f32[N]):
    """A number for each byte."""
    with af.for_(N) as i:
        y[i] = table[x[i]]


@IDIOMS.beside(colours_by_a_palette, N=300_000)
def _(x, table, y):
    y[:] = table[x]


@af.kernel
def bytes_by_a_table(x: af.u8[N], table: af.u8[256], y: af.u8[N]):
    """A byte for each byte."""
    with af.for_(N) as i:
        y[i] = table[x[i]]


@IDIOMS.beside(bytes_by_a_table, N=500_000)
def _(x, table, y):
    np.take(table, x, out=y)


@af.kernel
def histogram_of_bytes(x: af.u8[N], counts: af.i64[256]):
    """How often each byte occurs."""
    with af.for_(256) as k:
        counts[k] = 0
    with af.for_(N) as i:
        counts[x[i]] += 1


@IDIOMS.beside(histogram_of_bytes, N=300_000)
def _(x, counts):
    counts[:] = np.bincount(x, minlength=256)


@af.kernel
def histogram_of_floats(x: af.f64[N], counts: af.i64[50]):
    """How many numbers fall into each of fifty equal parts."""
    with af.for_(50) as k:
        counts[k] = 0
    with af.for_(N) as i:
        counts[af.index(af.i64(x[i] * 50))] += 1


@IDIOMS.beside(
    histogram_of_floats,
    c="""for (int64_t k = 0; k < 50; ++k) counts[k] = 0;
for (int64_t i = 0; i < N; ++i) counts[(int64_t)(x[i] * 50)] += 1;""",
    given={"x": lambda r, s: r.random(s["N"])},
    N=200_000,
)
def _(x, counts):
    counts[:] = np.bincount((x * 50).astype(np.int64), minlength=50)


@af.kernel
def weights_added_up(label: af.i32[N], weight: af.f64[N], total: af.f64[K]):
    """The sum of the weights of each label."""
    with af.for_(K) as k:
        total[k] = 0.0
    with af.for_(N) as i:
        total[label[i]] += weight[i]


@IDIOMS.beside(
    weights_added_up,
    given={"label": lambda r, s: r.integers(0, s["K"], s["N"], "i4")},
    tolerance=1e-10,
    N=200_000,
    K=100,
)
def _(label, weight, total):
    total[:] = np.bincount(label, weight, len(total))


@af.kernel
def gathered(x: af.f64[M], at: af.i64[N], y: af.f64[N]):
    """Elements as indices say."""
    with af.for_(N) as i:
        y[i] = x[at[i]]


@IDIOMS.beside(gathered, given={"at": lambda r, s: r.integers(0, s["M"], s["N"])}, N=200_000, M=10_000)
def _(x, at, y):
    np.take(x, at, out=y)


@af.kernel
def scattered(x: af.f32[N], at: af.i64[N], y: af.f32[N]):
    """Elements to where indices say."""
    with af.for_(N) as i:
        y[at[i]] = x[i]


@IDIOMS.beside(scattered, given={"at": lambda r, s: r.permutation(s["N"])}, N=100_000)
def _(x, at, y):
    y[at] = x


@af.kernel
def rows_of_a_table(table: af.f32[M, 32], at: af.i32[N], y: af.f32[N, 32]):
    """A vector for each word."""
    with af.for_(N) as i, af.for_(32) as k:
        y[i, k] = table[at[i], k]


@IDIOMS.beside(rows_of_a_table, given={"at": lambda r, s: r.integers(0, s["M"], s["N"], "i4")}, N=5_000, M=1_000)
def _(table, at, y):
    np.take(table, at, axis=0, out=y)


@af.kernel
def positive_ones_packed(x: af.f64[N], y: af.f64[N], count: af.i64[1]):
    """All that is positive, to the front."""
    k = af.var(af.i64(0))
    with af.for_(N) as i, af.if_(x[i] > 0):
        y[af.index(k)] = x[i]
        k += 1
    count[0] = k


@IDIOMS.beside(
    positive_ones_packed,
    c="int64_t k = 0; for (int64_t i = 0; i < N; ++i) if (x[i] > 0) y[k++] = x[i]; count[0] = k;",
    N=100_000,
)
def _(x, y, count):
    kept = x[x > 0]
    y[: len(kept)] = kept
    count[0] = len(kept)


@af.kernel
def indices_that_are_true(x: af.i32[N], y: af.i64[N], count: af.i64[1]):
    """Where numbers are not zero."""
    k = af.var(af.i64(0))
    with af.for_(N) as i, af.if_(x[i] != 0):
        y[af.index(k)] = af.i64(i)
        k += 1
    count[0] = k


@IDIOMS.beside(
    indices_that_are_true,
    c="int64_t k = 0; for (int64_t i = 0; i < N; ++i) if (x[i] != 0) y[k++] = i; count[0] = k;",
    given={"x": lambda r, s: r.integers(0, 2, s["N"], "i4")},
    N=100_000,
)
def _(x, y, count):
    (found,) = np.nonzero(x)
    y[: len(found)] = found
    count[0] = len(found)


@af.kernel
def interpolated(x: af.f64[N], table: af.f64[K], y: af.f64[N]):
    """Straight lines between numbers of a table at equal distances."""
    with af.for_(N) as i:
        at = x[i] * af.f64(K - 1)
        k = af.i32(at)
        part = at - af.f64(k)
        y[i] = table[k] + part * (table[k + 1] - table[k])


@IDIOMS.beside(
    interpolated,
    c="""for (int64_t i = 0; i < N; ++i) {
    double at = x[i] * (K - 1); int32_t k = (int32_t)at;
    y[i] = table[k] + (at - k) * (table[k + 1] - table[k]);
}""",
    given={"x": lambda r, s: r.random(s["N"])},
    N=100_000,
    K=257,
)
def _(x, table, y):
    at = x * (len(table) - 1)
    k = at.astype(np.int32)
    y[:] = table[k] + (at - k) * (table[k + 1] - table[k])


@af.kernel
def bins_by_bisection(x: af.f64[N], edge: af.f64[K], y: af.i64[N]):
    """Between which edges each number lies, by counting those below."""
    with af.for_(N) as i:
        count = af.var(af.i64(0))
        with af.for_(K) as k:
            count += af.i64(edge[k] <= x[i])
        y[i] = count


@IDIOMS.beside(
    bins_by_bisection,
    c="""for (int64_t i = 0; i < N; ++i) {
    int64_t n = 0;
    for (int64_t k = 0; k < K; ++k) n += edge[k] <= x[i];
    y[i] = n;
}""",
    given={"edge": lambda r, s: np.linspace(-2, 2, s["K"])},
    N=20_000,
    K=16,
)
def _(x, edge, y):
    y[:] = np.searchsorted(edge, x, side="right")
