"""Sequences: filters, sums so far, and how alike two of them are."""

import numpy as np

import affdsl as af
from benchmarks.everyday.loop import Group

LOOPS = Group()
K, M, N, W = af.symbols("K M N W")


@af.kernel
def fir_filter(x: af.f32[N + K], taps: af.f32[K], y: af.f32[N]):
    """Each number is a sum of the next ones, each times its weight."""
    with af.for_(N) as i:
        total = af.var(af.f32(0))
        with af.for_(K) as k:
            total += taps[k] * x[i + k]
        y[i] = total


@LOOPS.beside(
    fir_filter,
    lambda r, n: (r.random(n + 64, "f4"), r.random(64, "f4"), np.zeros(n, "f4")),
    200000,
    tolerance=1e-5,
)
def _(x, taps, y):
    for i in range(len(y)):
        total = np.float32(0)
        for k in range(len(taps)):
            total += taps[k] * x[i + k]
        y[i] = total


@af.kernel
def prefix_sum(x: af.f64[N], sums: af.f64[N]):
    """The sum so far."""
    total = af.var(af.f64(0))
    with af.for_(N) as i:
        total += x[i]
        sums[i] = total


@LOOPS.beside(prefix_sum, lambda r, n: (r.normal(size=n), np.zeros(n)), 1000000, tolerance=1e-9)
def _(x, sums):
    total = 0.0
    for i in range(len(x)):
        total += x[i]
        sums[i] = total


@af.kernel
def running_mean(x: af.f64[N], mean: af.f64[N], w: W):
    """The mean of the last w numbers: one more, one less."""
    total = af.var(af.f64(0))
    with af.for_(N) as i:
        total += x[i]
        with af.if_(i >= W):
            total -= x[i - W]
        mean[i] = total / af.f64(W)


@LOOPS.beside(running_mean, lambda r, n: (r.normal(size=n), np.zeros(n), 100), 1000000, tolerance=1e-9)
def _(x, mean, w):
    total = 0.0
    for i in range(len(x)):
        total += x[i]
        if i >= w:
            total -= x[i - w]
        mean[i] = total / w


@af.kernel
def largest_so_far(x: af.f32[N], out: af.f32[N]):
    """The maximum of all numbers up to each."""
    largest = af.var(x[0])
    with af.for_(N) as i:
        largest.set(af.max(largest, x[i]))
        out[i] = largest


@LOOPS.beside(largest_so_far, lambda r, n: (r.random(n, "f4"), np.zeros(n, "f4")), 1000000)
def _(x, out):
    largest = x[0]
    for i in range(len(x)):
        largest = max(largest, x[i])
        out[i] = largest


@af.kernel
def levenshtein_distance(a: af.u8[M], b: af.u8[N], row: af.i32[N + 1]):
    """How many letters must be changed to get from one word to another; one row of the table is kept."""
    with af.for_(N + 1) as j:
        row[j] = af.cast(j, af.i32)
    with af.for_(M) as i:
        corner = af.var(row[0])
        row[0] = af.cast(i + 1, af.i32)
        with af.for_(1, N + 1) as j:
            above = row[j]
            changed = corner + af.select(a[i] == b[j - 1], af.i32(0), af.i32(1))
            row[j] = af.min(changed, af.min(above, row[j - 1]) + 1)
            corner.set(above)


@LOOPS.beside(
    levenshtein_distance,
    lambda r, n: (r.integers(0, 4, n, "u1"), r.integers(0, 4, n, "u1"), np.zeros(n + 1, "i4")),
    1500,
)
def _(a, b, row):
    for j in range(len(row)):
        row[j] = j
    for i in range(len(a)):
        corner = row[0]
        row[0] = i + 1
        for j in range(1, len(row)):
            above = row[j]
            changed = corner + (0 if a[i] == b[j - 1] else 1)
            row[j] = min(changed, min(above, row[j - 1]) + 1)
            corner = above


@af.kernel
def smith_waterman(a: af.u8[M], b: af.u8[N], H: af.i32[M + 1, N + 1], best: af.i32[1]):
    """How well parts of two sequences match."""
    with af.for_(1, M + 1) as i, af.for_(1, N + 1) as j:
        match = H[i - 1, j - 1] + af.select(a[i - 1] == b[j - 1], af.i32(3), af.i32(-3))
        gap = af.max(H[i - 1, j], H[i, j - 1]) - 2
        H[i, j] = af.max(af.max(match, gap), 0)
        best[0] = af.max(best[0], H[i, j])


@LOOPS.beside(
    smith_waterman,
    lambda r, n: (
        r.integers(0, 4, n, "u1"), r.integers(0, 4, n, "u1"), np.zeros((n + 1, n + 1), "i4"), np.zeros(1, "i4")
    ),
    1200,
)  # fmt: skip
def _(a, b, H, best):
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            match = H[i - 1, j - 1] + (3 if a[i - 1] == b[j - 1] else -3)
            gap = max(H[i - 1, j], H[i, j - 1]) - 2
            H[i, j] = max(match, gap, 0)
            best[0] = max(best[0], H[i, j])


@af.kernel
def random_walks(seed: af.u64[M], end: af.f64[M], steps: af.index):
    """Where walks end that a linear congruential generator leads, each with its own seed."""
    with af.for_(M) as i:
        state = af.var(seed[i])
        at = af.var(af.f64(0))
        with af.for_(steps):
            state.set(state * 6364136223846793005 + 1442695040888963407)
            at += af.f64(state >> 11) * 2.0**-53 - 0.5
        end[i] = at


@LOOPS.beside(random_walks, lambda r, n: (r.integers(0, 2**63, n, "u8"), np.zeros(n), 500), 4000, tolerance=1e-9)
def _(seed, end, steps):
    for i in range(len(seed)):
        state = seed[i]
        at = 0.0
        for _ in range(steps):
            state = state * np.uint64(6364136223846793005) + np.uint64(1442695040888963407)
            at += float(state >> np.uint64(11)) * 2.0**-53 - 0.5
        end[i] = at


@af.kernel
def interpolation_by_table(x: af.f64[N], table: af.f64[K], y: af.f64[N], scale: af.f64):
    """A function by straight lines between its values at equal distances."""
    with af.for_(N) as i:
        at = x[i] * scale
        k = af.i32(at)
        part = at - af.f64(k)
        y[i] = table[k] * (1 - part) + table[k + 1] * part


@LOOPS.beside(
    interpolation_by_table,
    lambda r, n: (r.random(n), np.sin(np.linspace(0, 3, 1025)), np.zeros(n), 1023.0),
    1000000,
    tolerance=1e-12,
)
def _(x, table, y, scale):
    for i in range(len(x)):
        at = x[i] * scale
        k = np.int32(at)
        part = at - k
        y[i] = table[k] * (1 - part) + table[k + 1] * part


@af.kernel
def exponential_mean(x: af.f64[M, N], mean: af.f64[M, N], alpha: af.f64):
    """The mean of each row that forgets."""
    with af.for_(M) as i:
        mean[i, 0] = x[i, 0]
        with af.for_(1, N) as j:
            mean[i, j] = alpha * x[i, j] + (1 - alpha) * mean[i, j - 1]


@LOOPS.beside(
    exponential_mean, lambda r, n: (r.normal(size=(n, 2 * n)), np.zeros((n, 2 * n)), 0.1), 600, tolerance=1e-11
)
def _(x, mean, alpha):
    for i in range(x.shape[0]):
        mean[i, 0] = x[i, 0]
        for j in range(1, x.shape[1]):
            mean[i, j] = alpha * x[i, j] + (1 - alpha) * mean[i, j - 1]


@af.kernel
def biquad_filter(x: af.f32[N], y: af.f32[N], b0: af.f32, b1: af.f32, b2: af.f32, a1: af.f32, a2: af.f32):
    """A filter of sound with two poles, which hands on two numbers."""
    first = af.var(af.f32(0))
    second = af.var(af.f32(0))
    with af.for_(N) as i:
        now = b0 * x[i] + first
        first.set(b1 * x[i] - a1 * now + second)
        second.set(b2 * x[i] - a2 * now)
        y[i] = now


def _sound(r: np.random.Generator, n: int) -> tuple[object, ...]:
    return (r.normal(size=n).astype("f4"), np.zeros(n, "f4"), *map(np.float32, (0.2, 0.3, 0.2, -0.5, 0.3)))


@LOOPS.beside(biquad_filter, _sound, 300000, tolerance=1e-5)
def _(x, y, b0, b1, b2, a1, a2):
    first = np.float32(0)
    second = np.float32(0)
    for i in range(len(x)):
        now = b0 * x[i] + first
        first = b1 * x[i] - a1 * now + second
        second = b2 * x[i] - a2 * now
        y[i] = now


@af.kernel
def most_likely_states(
    change: af.f64[K, K], emit: af.f64[K, W], seen: af.i32[N], best: af.f64[N, K], origin: af.i32[N, K]
):
    """What a hidden Markov model has gone through, by Viterbi's table of logarithms."""
    with af.for_(K) as k:
        best[0, k] = emit[k, seen[0]]
    with af.for_(1, N) as t, af.for_(K) as j:
        most = af.var(best[t - 1, 0] + change[0, j])
        where = af.var(af.i32(0))
        with af.for_(1, K) as i:
            found = best[t - 1, i] + change[i, j]
            with af.if_(found > most):
                most.set(found)
                where.set(af.cast(i, af.i32))
        best[t, j] = most + emit[j, seen[t]]
        origin[t, j] = where


def _model(r: np.random.Generator, n: int) -> tuple[np.ndarray, ...]:
    states, letters = r.normal(size=(16, 16)), r.normal(size=(16, 8))
    return states, letters, r.integers(0, 8, n, "i4"), np.zeros((n, 16)), np.zeros((n, 16), "i4")


@LOOPS.beside(most_likely_states, _model, 5000, tolerance=1e-12)
def _(change, emit, seen, best, origin):
    n, states = best.shape
    for k in range(states):
        best[0, k] = emit[k, seen[0]]
    for t in range(1, n):
        for j in range(states):
            most = best[t - 1, 0] + change[0, j]
            where = 0
            for i in range(1, states):
                found = best[t - 1, i] + change[i, j]
                if found > most:
                    most = found
                    where = i
            best[t, j] = most + emit[j, seen[t]]
            origin[t, j] = where
