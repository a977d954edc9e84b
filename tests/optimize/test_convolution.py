"""Convolutions: results that load the same rows are made at once; of full length, vectors run along the signal."""

from __future__ import annotations

import numpy as np

import affdsl as af

B, C, H, K, N, W = af.symbols("B C H K N W")


@af.kernel
def convolution(x: af.f32[B, C, H + 2, W + 2], w: af.f32[K, C, 3, 3], y: af.f32[B, K, H, W]):
    """A layer of convolutions, 3 x 3."""
    with af.for_(B) as b, af.for_(K) as k, af.for_(H) as i, af.for_(W) as j:
        total = af.var(af.f32(0))
        with af.for_(C) as c, af.for_(3) as p, af.for_(3) as q:
            total += x[b, c, i + p, j + q] * w[k, c, p, q]
        y[b, k, i, j] = total


def test_channels_of_the_result_that_load_the_same_rows_are_made_at_once():
    fast = convolution.optimize("avx2", threads=1)
    assert "4 iterations of k at once, which load the same rows" in fast.explain()
    steps = [str(step) for step in fast.schedule.steps]
    assert 'unroll_jam("k", 4)' in steps
    assert 'unroll_jam("j", 4)' not in steps, "registers are full of sums already"
    rng = np.random.default_rng(0)
    for batch, channels, results, rows, columns in ((1, 2, 5, 3, 11), (2, 1, 4, 1, 8), (1, 0, 3, 2, 9)):
        x = rng.normal(size=(batch, channels, rows + 2, columns + 2)).astype(np.float32)
        w = rng.normal(size=(results, channels, 3, 3)).astype(np.float32)
        wanted, found = (np.full((batch, results, rows, columns), 7, np.float32) for _ in range(2))
        convolution.interpret(x, w, wanted)
        fast(x, w, found)
        assert wanted.tobytes() == found.tobytes()


@af.kernel
def of_full_length(x: af.f64[N], h: af.f64[K], y: af.f64[N + K - 1]):
    """All shifts at which two signals overlap, also in part: the inner loop is clamped at both ends."""
    with af.for_(N + K - 1) as i:
        y[i] = 0.0
        with af.for_(af.max(0, i - K + 1), af.min(i + 1, N)) as k:
            y[i] += x[k] * h[i - k]


def test_where_all_of_a_filter_overlaps_vectors_run_along_the_signal():
    """Whichever of the two is longer; to the bit."""
    fast = of_full_length.optimize("avx2", threads=1)
    assert "normalize" in str(fast.schedule)
    random = np.random.default_rng(1)
    for n, k in ((40, 5), (5, 40), (33, 33), (70, 1), (1, 70), (64, 16), (17, 18)):
        x, h = random.normal(size=n), random.normal(size=k)
        found, wanted = np.full((2, n + k - 1), np.nan)
        fast(x, h, found)
        of_full_length.interpret(x, h, wanted)
        assert found.tobytes() == wanted.tobytes(), (n, k)
