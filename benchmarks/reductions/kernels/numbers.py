"""One number, or a place, of all elements: sums, counts, extremes."""

from __future__ import annotations

import numpy as np

import affdsl as af
from benchmarks.idioms.idiom import N
from benchmarks.reductions.kernels.group import LONG, ROWS, looped

prange = range


@af.kernel
def sum_of_doubles(x: af.f64[N], out: af.f64[1]):
    with af.for_(N) as i:
        out[0] += x[i]


@ROWS.beside(
    sum_of_doubles,
    c="""double s = 0;
#pragma omp parallel for reduction(+:s)
for (int64_t i = 0; i < N; ++i) s += x[i];
out[0] += s;""",
    N=LONG,
)
def _(x, out):
    out[0] += x.sum()


@looped(sum_of_doubles, shared=True)
def _(x, out):
    s = 0.0
    for i in prange(x.size):
        s += x[i]
    out[0] += s


@af.kernel
def sum_of_floats(x: af.f32[N], out: af.f32[1]):
    with af.for_(N) as i:
        out[0] += x[i]


@ROWS.beside(
    sum_of_floats,
    c="""float s = 0;
#pragma omp parallel for reduction(+:s)
for (int64_t i = 0; i < N; ++i) s += x[i];
out[0] += s;""",
    N=LONG, tolerance=1e-2,
)  # fmt: skip
def _(x, out):
    out[0] += x.sum()


@looped(sum_of_floats, shared=True)
def _(x, out):
    s = np.float32(0)
    for i in prange(x.size):
        s += x[i]
    out[0] += s


@af.kernel
def integers_subtracted(x: af.i64[N], out: af.i64[1]):
    with af.for_(N) as i:
        out[0] -= x[i]


@ROWS.beside(
    integers_subtracted,
    c="""int64_t s = 0;
#pragma omp parallel for reduction(+:s)
for (int64_t i = 0; i < N; ++i) s += x[i];
out[0] -= s;""",
    N=LONG,
)
def _(x, out):
    out[0] -= x.sum()


@looped(integers_subtracted, shared=True)
def _(x, out):
    s = 0
    for i in prange(x.size):
        s += x[i]
    out[0] -= s


@af.kernel
def short_integers_summed_long(x: af.i32[N], out: af.i64[1]):
    with af.for_(N) as i:
        out[0] += af.i64(x[i])


@ROWS.beside(
    short_integers_summed_long,
    c="""int64_t s = 0;
#pragma omp parallel for reduction(+:s)
for (int64_t i = 0; i < N; ++i) s += x[i];
out[0] += s;""",
    N=LONG,
)
def _(x, out):
    out[0] += x.sum(dtype=np.int64)


@looped(short_integers_summed_long, shared=True)
def _(x, out):
    s = 0
    for i in prange(x.size):
        s += x[i]
    out[0] += s


@af.kernel
def two_conditional_updates(x: af.i64[N], out: af.i64[1]):
    with af.for_(N) as i:
        with af.if_(x[i] > 50):
            out[0] += x[i]
        with af.if_(x[i] < -50):
            out[0] -= 2 * x[i]


@ROWS.beside(
    two_conditional_updates,
    c="""int64_t s = 0;
#pragma omp parallel for reduction(+:s)
for (int64_t i = 0; i < N; ++i) { if (x[i] > 50) s += x[i]; if (x[i] < -50) s -= 2 * x[i]; }
out[0] += s;""",
    N=LONG,
)
def _(x, out):
    out[0] += x[x > 50].sum() - 2 * x[x < -50].sum()


@looped(two_conditional_updates, shared=True)
def _(x, out):
    s = 0
    for i in prange(x.size):
        if x[i] > 50:
            s += x[i]
        if x[i] < -50:
            s += -2 * x[i]
    out[0] += s


@af.kernel
def count_above(x: af.f64[N], out: af.i64[1]):
    with af.for_(N) as i, af.if_(x[i] > 0.5):
        out[0] += 1


@ROWS.beside(
    count_above,
    c="""int64_t s = 0;
#pragma omp parallel for reduction(+:s)
for (int64_t i = 0; i < N; ++i) s += x[i] > 0.5;
out[0] += s;""",
    N=LONG,
)
def _(x, out):
    out[0] += np.count_nonzero(x > 0.5)


@looped(count_above, shared=True)
def _(x, out):
    s = 0
    for i in prange(x.size):
        if x[i] > 0.5:
            s += 1
    out[0] += s


@af.kernel
def greatest_double(x: af.f64[N], out: af.f64[1]):
    with af.for_(N) as i:
        out[0] = af.max(out[0], x[i])


@ROWS.beside(
    greatest_double,
    c="""double m = out[0];
#pragma omp parallel for reduction(max:m)
for (int64_t i = 0; i < N; ++i) m = x[i] > m ? x[i] : m;
out[0] = m;""",
    N=LONG,
)
def _(x, out):
    out[0] = max(out[0], x.max())


@looped(greatest_double, shared=True)
def _(x, out):
    m = out[0]
    for i in prange(x.size):
        m = max(m, x[i])
    out[0] = m


@af.kernel
def least_integer(x: af.i32[N], out: af.i32[1]):
    with af.for_(N) as i:
        out[0] = af.min(out[0], x[i])


@ROWS.beside(
    least_integer,
    c="""int32_t m = out[0];
#pragma omp parallel for reduction(min:m)
for (int64_t i = 0; i < N; ++i) m = x[i] < m ? x[i] : m;
out[0] = m;""",
    N=LONG,
)
def _(x, out):
    out[0] = min(out[0], x.min())


@looped(least_integer, shared=True)
def _(x, out):
    m = out[0]
    for i in prange(x.size):
        m = min(m, x[i])
    out[0] = m


@af.kernel
def place_of_the_greatest(x: af.f64[N], out: af.i64[1]):
    best, place = af.var(x[0]), af.var(af.i64(0))
    with af.for_(1, N) as i, af.if_(x[i] > best):
        best.set(x[i])
        place.set(af.i64(i))
    out[0] = place


@ROWS.beside(
    place_of_the_greatest,
    c="""double m = x[0]; int64_t p = 0;
for (int64_t i = 1; i < N; ++i) if (x[i] > m) { m = x[i]; p = i; }
out[0] = p;""",
    N=LONG,
)
def _(x, out):
    out[0] = x.argmax()


@looped(place_of_the_greatest)
def _(x, out):
    m, p = x[0], 0
    for i in prange(1, x.size):
        if x[i] > m:
            m, p = x[i], i
    out[0] = p


@af.kernel
def place_of_the_least_integer(x: af.i32[N], out: af.i64[1]):
    with af.for_(1, N, iter_args=[x[0], af.i64(0)]) as (i, best, place):
        found = x[i] < best
        af.yield_(af.select(found, x[i], best), af.select(found, af.i64(i), place))
    out[0] = place


@ROWS.beside(
    place_of_the_least_integer,
    c="""int32_t m = x[0]; int64_t p = 0;
for (int64_t i = 1; i < N; ++i) if (x[i] < m) { m = x[i]; p = i; }
out[0] = p;""",
    given={"x": lambda random, sizes: random.permutation(sizes["N"]).astype(np.int32)},
    N=LONG,
)
def _(x, out):
    out[0] = x.argmin()


@looped(place_of_the_least_integer)
def _(x, out):
    m, p = x[0], 0
    for i in prange(1, x.size):
        if x[i] < m:
            m, p = x[i], i
    out[0] = p


@af.kernel
def dot_product(x: af.f64[N], y: af.f64[N], out: af.f64[1]):
    with af.for_(N) as i:
        out[0] += x[i] * y[i]


@ROWS.beside(
    dot_product,
    c="""double s = 0;
#pragma omp parallel for reduction(+:s)
for (int64_t i = 0; i < N; ++i) s += x[i] * y[i];
out[0] += s;""",
    N=LONG, tolerance=1e-9,
)  # fmt: skip
def _(x, y, out):
    out[0] += x @ y


@looped(dot_product, shared=True)
def _(x, y, out):
    s = 0.0
    for i in prange(x.size):
        s += x[i] * y[i]
    out[0] += s


@af.kernel
def squares_off_a_mean(x: af.f32[N], mean: af.f32, out: af.f32[1]):
    with af.for_(N) as i:
        out[0] += (x[i] - mean) * (x[i] - mean)


@ROWS.beside(
    squares_off_a_mean,
    c="""float s = 0;
#pragma omp parallel for reduction(+:s)
for (int64_t i = 0; i < N; ++i) s += (x[i] - mean) * (x[i] - mean);
out[0] += s;""",
    N=LONG, tolerance=1e-3,
)  # fmt: skip
def _(x, mean, out):
    out[0] += ((x - mean) ** 2).sum()


@looped(squares_off_a_mean, shared=True)
def _(x, mean, out):
    s = np.float32(0)
    for i in prange(x.size):
        s += (x[i] - mean) * (x[i] - mean)
    out[0] += s


@af.kernel
def least_and_greatest(x: af.f64[N], out: af.f64[2]):
    with af.for_(N) as i:
        out[0] = af.min(out[0], x[i])
        out[1] = af.max(out[1], x[i])


@ROWS.beside(
    least_and_greatest,
    c="""double a = out[0], b = out[1];
#pragma omp parallel for reduction(min:a) reduction(max:b)
for (int64_t i = 0; i < N; ++i) { a = x[i] < a ? x[i] : a; b = x[i] > b ? x[i] : b; }
out[0] = a; out[1] = b;""",
    N=LONG,
)
def _(x, out):
    out[0] = min(out[0], x.min())
    out[1] = max(out[1], x.max())


@looped(least_and_greatest, shared=True)
def _(x, out):
    a, b = out[0], out[1]
    for i in prange(x.size):
        a = min(a, x[i])
        b = max(b, x[i])
    out[0] = a
    out[1] = b


@af.kernel
def exclusive_or(x: af.i64[N], out: af.i64[1]):
    with af.for_(N) as i:
        out[0] = out[0] ^ x[i]


@ROWS.beside(
    exclusive_or,
    c="""int64_t s = 0;
#pragma omp parallel for reduction(^:s)
for (int64_t i = 0; i < N; ++i) s ^= x[i];
out[0] ^= s;""",
    N=LONG,
)
def _(x, out):
    out[0] ^= np.bitwise_xor.reduce(x)


@looped(exclusive_or)
def _(x, out):
    s = 0
    for i in prange(x.size):
        s ^= x[i]
    out[0] ^= s
