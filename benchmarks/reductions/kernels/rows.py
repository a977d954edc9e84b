"""As many numbers as elements, or as there are kinds of them: scans, histograms, what is kept."""

from __future__ import annotations

import numpy as np

import affdsl as af
from benchmarks.idioms.idiom import M, N
from benchmarks.reductions.kernels.group import LONG, ROWS, looped

prange = range


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
