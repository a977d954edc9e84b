"""Convolutions of full length: vectors run along the signal."""

from __future__ import annotations

import numpy as np

import affdsl as af

K, N = af.symbols("K N")


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
