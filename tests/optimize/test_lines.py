"""Recurrences along lines run several lines at once, in lanes, and do what they did."""

from __future__ import annotations

import affdsl as af

M, N = af.symbols("M N")


def test_lines_that_hand_values_on_are_not_tried(monkeypatch):
    """What a loop around a recurrence carries cannot be in lanes, so nothing is tried that would be refused."""

    @af.kernel
    def chained(A: af.i64[M, N], B: af.i64[M, N]):
        with af.for_(M, iter_args=af.i64(1)) as (i, last):
            with af.for_(1, N) as j:
                A[i, j] = A[i, j - 1] * last + B[i, j]
            af.yield_(last * A[i, N - 1])

    tried = []
    vectorize = af.Schedule.vectorize
    monkeypatch.setattr(af.Schedule, "vectorize", lambda s, *a, **k: (tried.append(a), vectorize(s, *a, **k))[1])
    chained.optimize("avx2", threads=1)
    assert "i" not in [loop for loop, *_ in tried]
