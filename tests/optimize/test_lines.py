"""Recurrences along lines run several lines at once, in lanes, and do what they did."""

from __future__ import annotations

import numpy as np
import pytest

import affdsl as af

M, N = af.symbols("M N")


@af.kernel
def eliminated(A: af.f64[M, N], B: af.f64[M, N], C: af.f64[M, N]):
    """Tridiagonal systems, one for each row: elimination forward, substitution back."""
    with af.for_(M) as i:
        B[i, 0] = 0.5
        with af.for_(1, N) as j:
            B[i, j] = 1.0 / (4.0 - B[i, j - 1])
            C[i, j] = (A[i, j] + C[i, j - 1]) / (4.0 - B[i, j - 1])
        with af.for_(1, N) as back:
            j = N - 1 - back
            C[i, j] = C[i, j] + B[i, j] * C[i, j + 1] * 0.25 - A[i, j]


@af.kernel
def smoothed(A: af.f32[M, N], B: af.f32[M, N]):
    """A filter down each column, with what it remembers carried as values."""
    with af.for_(N) as j:
        start = (af.f32(0), af.f32(0))
        with af.for_(M, iter_args=start) as (i, before, two_before):
            now = 0.25 * A[i, j] + 0.5 * before + 0.125 * two_before
            B[i, j] = now
            af.yield_(now, before)


@pytest.mark.parametrize("target", ["avx2", "avx512", "baseline"])
def test_lines_run_in_lanes(target):
    fast = eliminated.optimize(target, threads=1)
    assert "iterations of i run at once, in lanes" in fast.explain()
    assert "iter_args" in fast.mlir()
    for m, n in ((0, 3), (1, 1), (8, 5), (19, 7)):
        a, b, c = np.random.default_rng(1).normal(size=(3, m, n))
        wanted, found = [a.copy(), b.copy(), c.copy()], [a.copy(), b.copy(), c.copy()]
        eliminated.interpret(*wanted)
        fast(*found)
        assert all(x.tobytes() == y.tobytes() for x, y in zip(wanted, found, strict=True))


def test_columns_of_a_filter_run_in_lanes():
    fast = smoothed.optimize("avx2", threads=1)
    assert "runs on vectors of 8" in fast.explain() or "8 iterations of j run at once, in lanes" in fast.explain()
    for m, n in ((0, 3), (3, 0), (1, 1), (9, 23)):
        a = np.random.default_rng(2).normal(size=(m, n)).astype("f4")
        wanted, found = np.zeros_like(a), np.zeros_like(a)
        smoothed.interpret(a, wanted)
        fast(a, found)
        assert wanted.tobytes() == found.tobytes()


@af.kernel
def along(A: af.f32[M, N], B: af.f32[M, N]):
    """The same filter along each row: what it has just stored it loads again."""
    with af.for_(M) as i:
        start = (af.f32(0), af.f32(0))
        with af.for_(N, iter_args=start) as (j, before, two_before):
            B[i, j] = 0.25 * A[i, j] + 0.5 * before + 0.125 * two_before + A[i, j] * 0.0625
            af.yield_(B[i, j], before)


@af.kernel
def down(A: af.f32[M, N], B: af.f32[M, N]):
    """A filter down each column, with nothing between its loops."""
    start = af.f32(0)
    with af.for_(N) as j, af.for_(M, iter_args=start) as (i, before):
        B[i, j] = 0.25 * A[i, j] + 0.5 * before
        af.yield_(B[i, j])


def test_columns_are_several_vectors_and_rows_as_many_lanes_as_are_put_together_well():
    assert "16 iterations of j run at once, in lanes; 4 vectors" in down.optimize("avx512", threads=1).explain()
    fast = along.optimize("avx512", threads=1)
    assert "8 iterations of i run at once, in lanes" in fast.explain()
    assert fast.mlir().count("vector.from_elements") == 1, "A, once; what was stored in B is there"
    for kernel, made in ((along, fast), (down, down.optimize("avx2", threads=1))):
        for m, n in ((0, 3), (3, 0), (1, 1), (9, 43)):
            a = np.random.default_rng(3).normal(size=(m, n)).astype("f4")
            wanted, found = np.zeros_like(a), np.zeros_like(a)
            kernel.interpret(a, wanted)
            made(a, found)
            assert wanted.tobytes() == found.tobytes()


def test_few_operations_for_many_lines_far_apart_are_not_put_into_lanes():
    @af.kernel
    def summed(A: af.f64[M, N]):
        with af.for_(M) as i, af.for_(1, N) as j:
            A[i, j] = A[i, j] + A[i, j - 1]

    assert "in lanes" not in summed.optimize("avx2", threads=1).explain()


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
