"""Rows of tables: what statistics and networks do with them."""

import math

import numpy as np

import affdsl as af
from benchmarks.everyday.loop import Group

LOOPS = Group()
M, N = af.symbols("M N")


@af.kernel
def softmax_of_rows(x: af.f32[M, N], y: af.f32[M, N]):
    """exp of each number over their sum, of each row, less its largest number for safety."""
    with af.for_(M) as i:
        largest = af.var(x[i, 0])
        with af.for_(N) as j:
            largest.set(af.max(largest, x[i, j]))
        total = af.var(af.f32(0))
        with af.for_(N) as j:
            y[i, j] = af.exp(x[i, j] - largest)
            total += y[i, j]
        with af.for_(N) as j:
            y[i, j] = y[i, j] / total


@LOOPS.beside(
    softmax_of_rows, lambda r, n: (r.normal(size=(n, n)).astype("f4"), np.zeros((n, n), "f4")), 700, tolerance=1e-5
)
def _(x, y):
    for i in range(x.shape[0]):
        largest = x[i, 0]
        for j in range(x.shape[1]):
            largest = max(largest, x[i, j])
        total = np.float32(0)
        for j in range(x.shape[1]):
            y[i, j] = math.exp(x[i, j] - largest)
            total += y[i, j]
        for j in range(x.shape[1]):
            y[i, j] = y[i, j] / total


@af.kernel
def argmin_of_rows(x: af.f64[M, N], place: af.i64[M]):
    """Where the smallest number of each row stands."""
    with af.for_(M) as i:
        least = af.var(x[i, 0])
        where = af.var(af.i64(0))
        with af.for_(N) as j, af.if_(x[i, j] < least):
            least.set(x[i, j])
            where.set(af.i64(j))
        place[i] = where


@LOOPS.beside(argmin_of_rows, lambda r, n: (r.normal(size=(n, n)), np.zeros(n, "i8")), 1500)
def _(x, place):
    for i in range(x.shape[0]):
        least = x[i, 0]
        where = 0
        for j in range(x.shape[1]):
            if x[i, j] < least:
                least = x[i, j]
                where = j
        place[i] = where


@af.kernel
def standardized_columns(x: af.f64[M, N]):
    """Each column less its mean, over its deviation."""
    with af.for_(N) as j:
        mean = af.var(af.f64(0))
        with af.for_(M) as i:
            mean += x[i, j]
        mean.set(mean / af.f64(M))
        square = af.var(af.f64(0))
        with af.for_(M) as i:
            square += (x[i, j] - mean) * (x[i, j] - mean)
        with af.for_(M) as i:
            x[i, j] = (x[i, j] - mean) / af.sqrt(square / af.f64(M))


@LOOPS.beside(standardized_columns, lambda r, n: (r.normal(size=(3 * n, n)),), 300, tolerance=1e-10)
def _(x):
    m, n = x.shape
    for j in range(n):
        mean = 0.0
        for i in range(m):
            mean += x[i, j]
        mean = mean / m
        square = 0.0
        for i in range(m):
            square += (x[i, j] - mean) * (x[i, j] - mean)
        for i in range(m):
            x[i, j] = (x[i, j] - mean) / math.sqrt(square / m)


@af.kernel
def option_prices(price: af.f64[N], strike: af.f64[N], years: af.f64[N], call: af.f64[N], rate: af.f64, sigma: af.f64):
    """What options are worth after Black and Scholes."""
    with af.for_(N) as i:
        root = sigma * af.sqrt(years[i])
        d = (af.log(price[i] / strike[i]) + (rate + 0.5 * sigma * sigma) * years[i]) / root
        first = 0.5 * af.erfc(-d * math.sqrt(0.5))
        second = 0.5 * af.erfc((root - d) * math.sqrt(0.5))
        call[i] = price[i] * first - strike[i] * af.exp(-rate * years[i]) * second


@LOOPS.beside(
    option_prices,
    lambda r, n: (r.uniform(10, 50, n), r.uniform(10, 50, n), r.uniform(1, 2, n), np.zeros(n), 0.05, 0.2),
    50000,
    tolerance=1e-11,
)  # fmt: skip
def _(price, strike, years, call, rate, sigma):
    for i in range(len(price)):
        root = sigma * math.sqrt(years[i])
        d = (math.log(price[i] / strike[i]) + (rate + 0.5 * sigma * sigma) * years[i]) / root
        first = 0.5 * math.erfc(-d * math.sqrt(0.5))
        second = 0.5 * math.erfc((root - d) * math.sqrt(0.5))
        call[i] = price[i] * first - strike[i] * math.exp(-rate * years[i]) * second


@af.kernel
def moments(x: af.f64[N], out: af.f64[4]):
    """The mean of the first four powers."""
    s1 = af.var(af.f64(0))
    s2 = af.var(af.f64(0))
    s3 = af.var(af.f64(0))
    s4 = af.var(af.f64(0))
    with af.for_(N) as i:
        v = x[i]
        s1 += v
        s2 += v * v
        s3 += v * v * v
        s4 += v * v * v * v
    for k, total in enumerate((s1, s2, s3, s4)):
        out[k] = total / af.f64(N)


@LOOPS.beside(moments, lambda r, n: (r.normal(size=n), np.zeros(4)), 1000000, tolerance=1e-9)
def _(x, out):
    s1 = s2 = s3 = s4 = 0.0
    for i in range(len(x)):
        v = x[i]
        s1 += v
        s2 += v * v
        s3 += v * v * v
        s4 += v * v * v * v
    out[0], out[1], out[2], out[3] = s1 / len(x), s2 / len(x), s3 / len(x), s4 / len(x)
