"""What is combined, counted, chosen, summed up so far, or kept: as a kernel, by NumPy, for numba, and as C.

The `prange` of loops for numba is its own on two threads, where numba knows the reduction, as `s += x[i]`.
Pragmas of OpenMP in the C count on two threads only.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import affdsl as af
from benchmarks.idioms.idiom import Group, M, N

ROWS = Group("reductions")
LOOPS: dict[str, tuple[Callable[..., object], bool]] = {}
"""The loop for numba by the name of a kernel, and whether its iterations may run on threads."""
LONG = 1 << 20
prange = range


def looped(kernel: af.Kernel, *, shared: bool = False) -> Callable[[Callable[..., object]], Callable[..., object]]:
    """Say that the function below is the loop of a kernel for numba."""

    def added(function: Callable[..., object]) -> Callable[..., object]:
        LOOPS[kernel.name] = function, shared
        return function

    return added


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


@af.kernel
def prefix_sums_of_integers(x: af.i64[N], y: af.i64[N]):
    s = af.var(af.i64(0))
    with af.for_(N) as i:
        s += x[i]
        y[i] = s


@ROWS.beside(
    prefix_sums_of_integers,
    c="int64_t s = 0; for (int64_t i = 0; i < N; ++i) { s += x[i]; y[i] = s; }",
    N=LONG,
)
def _(x, y):
    np.cumsum(x, out=y)


@looped(prefix_sums_of_integers)
def _(x, y):
    s = 0
    for i in prange(x.size):
        s += x[i]
        y[i] = s


@af.kernel
def prefix_sums_of_short_integers(x: af.i32[N], y: af.i32[N]):
    s = af.var(af.i32(0))
    with af.for_(N) as i:
        s += x[i]
        y[i] = s


@ROWS.beside(
    prefix_sums_of_short_integers,
    c="int32_t s = 0; for (int64_t i = 0; i < N; ++i) { s += x[i]; y[i] = s; }",
    N=LONG,
)
def _(x, y):
    np.cumsum(x, out=y)


@looped(prefix_sums_of_short_integers)
def _(x, y):
    s = np.int32(0)
    for i in prange(x.size):
        s += x[i]
        y[i] = s


@af.kernel
def prefix_sums_of_doubles(x: af.f64[N], y: af.f64[N]):
    s = af.var(af.f64(0))
    with af.for_(N) as i:
        s += x[i]
        y[i] = s


@ROWS.beside(
    prefix_sums_of_doubles,
    c="double s = 0; for (int64_t i = 0; i < N; ++i) { s += x[i]; y[i] = s; }",
    N=LONG, tolerance=1e-9,
)  # fmt: skip
def _(x, y):
    np.cumsum(x, out=y)


@looped(prefix_sums_of_doubles)
def _(x, y):
    s = 0.0
    for i in prange(x.size):
        s += x[i]
        y[i] = s


@af.kernel
def greatest_so_far(x: af.f64[N], y: af.f64[N]):
    s = af.var(x[0])
    with af.for_(N) as i:
        s.set(af.max(s, x[i]))
        y[i] = s


@ROWS.beside(
    greatest_so_far,
    c="double s = x[0]; for (int64_t i = 0; i < N; ++i) { s = x[i] > s ? x[i] : s; y[i] = s; }",
    N=LONG,
)
def _(x, y):
    np.maximum.accumulate(x, out=y)


@looped(greatest_so_far)
def _(x, y):
    s = x[0]
    for i in prange(x.size):
        s = max(s, x[i])
        y[i] = s


@af.kernel
def histogram_of_bytes(x: af.u8[N], counts: af.i64[256]):
    with af.for_(N) as i:
        counts[x[i]] += 1


@ROWS.beside(
    histogram_of_bytes,
    c="""
#pragma omp parallel for reduction(+:counts[:256])
for (int64_t i = 0; i < N; ++i) counts[x[i]] += 1;""",
    given={"x": lambda random, sizes: random.integers(0, 256, sizes["N"]).astype(np.uint8)},
    N=LONG,
)
def _(x, counts):
    counts += np.bincount(x, minlength=256)


@looped(histogram_of_bytes)
def _(x, counts):
    for i in prange(x.size):
        counts[x[i]] += 1


@af.kernel
def histogram_of_integers(x: af.i32[N], counts: af.i32[M]):
    with af.for_(N) as i:
        counts[x[i]] += 1


@ROWS.beside(
    histogram_of_integers,
    c="""
#pragma omp parallel for reduction(+:counts[:M])
for (int64_t i = 0; i < N; ++i) counts[x[i]] += 1;""",
    given={"x": lambda random, sizes: random.integers(0, sizes["M"], sizes["N"]).astype(np.int32)},
    N=LONG, M=1000,
)  # fmt: skip
def _(x, counts):
    counts += np.bincount(x, minlength=counts.size).astype(np.int32)


@looped(histogram_of_integers)
def _(x, counts):
    for i in prange(x.size):
        counts[x[i]] += 1


@af.kernel
def histogram_with_weights(x: af.i32[N], w: af.f64[N], sums: af.f64[M]):
    with af.for_(N) as i:
        sums[x[i]] += w[i]


@ROWS.beside(
    histogram_with_weights,
    c="""
#pragma omp parallel for reduction(+:sums[:M])
for (int64_t i = 0; i < N; ++i) sums[x[i]] += w[i];""",
    given={"x": lambda random, sizes: random.integers(0, sizes["M"], sizes["N"]).astype(np.int32)},
    N=LONG, M=1000, tolerance=1e-9,
)  # fmt: skip
def _(x, w, sums):
    sums += np.bincount(x, weights=w, minlength=sums.size)


@looped(histogram_with_weights)
def _(x, w, sums):
    for i in prange(x.size):
        sums[x[i]] += w[i]


@af.kernel
def what_is_positive(x: af.f64[N], y: af.f64[N], count: af.i64[1]):
    n = af.var(af.index(0))
    with af.for_(N) as i, af.if_(x[i] > 0.0):
        y[n] = x[i]
        n += 1
    count[0] = af.i64(n)


@ROWS.beside(
    what_is_positive,
    c="int64_t n = 0; for (int64_t i = 0; i < N; ++i) if (x[i] > 0) y[n++] = x[i]; count[0] = n;",
    N=LONG,
)
def _(x, y, count):
    found = x[x > 0.0]
    y[: found.size] = found
    count[0] = found.size


@looped(what_is_positive)
def _(x, y, count):
    n = 0
    for i in prange(x.size):
        if x[i] > 0.0:
            y[n] = x[i]
            n += 1
    count[0] = n


@af.kernel
def where_it_is_positive(x: af.f32[N], y: af.i32[N], count: af.i64[1]):
    n = af.var(af.index(0))
    with af.for_(N) as i, af.if_(x[i] > 0.0):
        y[n] = af.i32(i)
        n += 1
    count[0] = af.i64(n)


@ROWS.beside(
    where_it_is_positive,
    c="int64_t n = 0; for (int64_t i = 0; i < N; ++i) if (x[i] > 0) y[n++] = i; count[0] = n;",
    N=LONG,
)
def _(x, y, count):
    found = np.flatnonzero(x > 0.0)
    y[: found.size] = found
    count[0] = found.size


@looped(where_it_is_positive)
def _(x, y, count):
    n = 0
    for i in prange(x.size):
        if x[i] > 0.0:
            y[n] = i
            n += 1
    count[0] = n
