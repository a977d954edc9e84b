"""Sums over what a loop has made itself run in strips, and do what they did to the bit."""

from __future__ import annotations

import numpy as np
import pytest

import affdsl as af
from benchmarks.polybench.suite import named
from tests.effort import some

N = af.symbols("N")


@af.kernel
def solved(L: af.f64[N, N], b: af.f64[N], x: af.f64[N]):
    with af.for_(N) as i:
        x[i] = b[i]
        with af.for_(i) as j:
            x[i] -= L[i, j] * x[j]
        x[i] = x[i] / L[i, i]


def test_a_triangular_system_is_solved_strip_by_strip():
    fast = solved.optimize("avx2", threads=1)
    assert "in strips of i: what was made before a strip is added for all of it at once" in fast.explain()
    for n in (0, 1, 7, 15, 16, 17, 45):
        matrix, b = np.random.default_rng(n).normal(size=(n, n)) + 9 * np.eye(n), np.ones(n)
        wanted, found = np.zeros(n), np.zeros(n)
        solved.interpret(matrix, b, wanted)
        fast(matrix, b, found)
        assert wanted.tobytes() == found.tobytes()


@pytest.mark.parametrize("target", some(["avx512", "avx2"], 1))
def test_best_sections_of_a_sequence(target):
    nussinov = named("nussinov").kernel
    fast = nussinov.optimize(target, threads=1)
    assert "in strips of j" in fast.explain()
    for n in (0, 1, 2, 31, 33, 70):
        sequence = np.random.default_rng(n).integers(0, 4, n).astype("i1")
        wanted, found = (np.zeros((n, n), "i4") for _ in range(2))
        nussinov(sequence, wanted)
        fast(sequence, found)
        assert (wanted == found).all()


def test_where_nothing_was_made_before_the_loop_stays():
    @af.kernel
    def running(x: af.f64[N], y: af.f64[N]):
        with af.for_(N) as i, af.for_(i + 1) as j:
            y[i] += x[j]

    assert "in strips" not in running.optimize("avx2", threads=1).explain()
