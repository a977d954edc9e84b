"""Loops that read one element in all iterations and store to it in one: vectors before it, and vectors behind it."""

from __future__ import annotations

import numpy as np
import pytest

import affdsl as af

M, N = af.symbols("M N")


@af.kernel
def by_one(x: af.f32[N], k: af.index):
    af.assume(k >= 0, k < N)
    with af.for_(N) as i:
        x[i] = x[i] / x[k]


@af.kernel
def by_the_first(x: af.f32[N], k: af.index):
    with af.for_(N) as i:
        x[i] = x[i] / x[0]


@af.kernel
def by_the_last(x: af.f32[N], k: af.index):
    with af.for_(N) as i:
        x[i] = x[i] / x[N - 1] + 1.0


@pytest.mark.parametrize("target", ["avx2", "avx512"])
@pytest.mark.parametrize("kernel", [by_one, by_the_first, by_the_last], ids=lambda each: each.name)
def test_both_parts_are_on_whole_vectors(kernel, target):
    fast = kernel.optimize(target, threads=1)
    assert "runs on vectors of" in fast.explain()
    assert "align" not in str(fast.schedule), "only one of them would begin where a line does"
    for n in (1, 2, 8, 9, 33, 70, 2000):
        for k in {0, n // 3, n - 1}:
            x = np.random.default_rng(n).random(n).astype("f4") + 1
            wanted = x.copy()
            kernel.interpret(wanted, k)
            fast(x, k)
            assert x.tobytes() == wanted.tobytes(), (n, k)


@af.kernel
def rows_by_the_diagonal(A: af.f64[M, N]):
    af.assume(M <= N)
    with af.for_(M) as i, af.for_(N) as j:
        A[i, j] = A[i, j] / A[i, i]


@af.kernel
def rows_so_far(A: af.f64[M, N]):
    with af.for_(M) as i, af.for_(1, N) as j:
        A[i, j] = A[i, j] / A[i, j - 1]


@pytest.mark.parametrize("threads", [1, 2])
def test_rows_are_no_recurrences_where_one_element_alone_is_in_the_way(threads):
    fast = rows_by_the_diagonal.optimize("avx2", threads=threads)
    assert "j runs on vectors of 4" in fast.explain()
    assert "a recurrence each" in rows_so_far.optimize("avx2", threads=1).explain()
    for m, n in ((0, 0), (0, 3), (1, 1), (3, 9), (17, 17), (30, 41)):
        a = np.random.default_rng(n).random((m, n)) + 1
        wanted = a.copy()
        rows_by_the_diagonal.interpret(wanted)
        fast(a)
        assert a.tobytes() == wanted.tobytes(), (m, n)
