"""Nests over one matrix run as one where that is legal and pays, and do what they did."""

from __future__ import annotations

import re

import numpy as np
import pytest

import affdsl as af
from benchmarks.polybench.suite import named

M, N = af.symbols("M N")
SHAPES = ((0, 3), (3, 0), (1, 1), (8, 16), (9, 17), (20, 35))


@af.kernel
def both(A: af.f64[M, N], p: af.f64[N], q: af.f64[M], x: af.f64[M], y: af.f64[N]):
    with af.for_(M) as i:
        x[i] = 0.0
        with af.for_(N) as j:
            x[i] += A[i, j] * p[j]
    with af.for_(N) as k, af.for_(M) as m:
        y[k] += A[m, k] * q[m]


@af.kernel
def changed(A: af.f64[M, N], u: af.f64[M], v: af.f64[N], q: af.f64[M], y: af.f64[N]):
    with af.for_(M) as i, af.for_(N) as j:
        A[i, j] += u[i] * v[j]
    with af.for_(N) as k, af.for_(M) as m:
        y[k] += A[m, k] * q[m]


@af.kernel
def by_hand(A: af.f64[M * N], p: af.f64[N], q: af.f64[N], x: af.f64[M], y: af.f64[M], m: M, n: N):
    with af.for_(m) as i, af.for_(n) as j:
        x[i] += A[i * n + j] * p[j]
    with af.for_(m) as i, af.for_(n) as j:
        y[i] += A[i * n + j] * q[j]


def agree(kernel: af.Kernel, made: af.Kernel, m: int, n: int) -> None:
    """Both leave the same; numbers are small and whole, so that sums are exact in every order."""
    random = np.random.default_rng(m + n)
    of = {"A": (m, n) if kernel is not by_hand else (m * n,), "p": n, "q": m, "x": m, "y": n, "u": m, "v": n}
    if kernel is by_hand:
        of |= {"q": n, "y": m}
    names = [p.name for p in kernel.program.parameters]
    given = [random.integers(-9, 9, of[name]).astype(float) if name in of else {"m": m, "n": n}[name] for name in names]
    wanted = [x.copy() if isinstance(x, np.ndarray) else x for x in given]
    kernel.interpret(*wanted)
    made(*given)
    for name, a, b in zip(names, wanted, given, strict=True):
        np.testing.assert_array_equal(a, b, err_msg=f"{name} of {m} x {n}")


@pytest.mark.parametrize(("kernel", "options"), [(both, {"reassociate": True}), (changed, {}), (by_hand, {})])
def test_two_nests_over_one_matrix_are_one(kernel, options):
    fast = kernel.optimize("avx2", threads=1, **options)
    assert re.search(r"\(.*:\d+\): one nest with .* \(.*:\d+\), row by row over A", fast.explain())
    assert "iterations of i" in fast.explain()
    for m, n in SHAPES:
        agree(kernel, fast, m, n)


def test_sums_beside_what_lies_in_a_row_stay_apart_unless_their_order_is_open():
    strict = both.optimize("avx2", threads=1)
    assert "one nest with" not in strict.explain()
    assert "iterations of i run at once, in lanes of vectors of 4, as each sum is made in" in strict.explain()


def test_threads_of_its_own_are_worth_more_than_one_pass():
    assert "one nest with" in by_hand.optimize("avx2", threads=2).explain()
    assert "one nest with" not in by_hand.optimize("avx2", threads=4).explain()


def test_what_waits_for_a_whole_sum_stays_behind_it():
    gemver = named("gemver")
    fast = gemver.kernel.optimize("avx2", threads=1)
    assert fast.explain().count("one nest with") == 1, "the third one reads all that they sum"
    given, wanted = (gemver.arrays(gemver.sizes["MINI"]) for _ in range(2))
    fast(*given.values())
    gemver.kernel(*wanted.values())
    assert given["w"].tobytes() == wanted["w"].tobytes()


def test_other_matrices_and_sweeps_stay_apart():
    @af.kernel
    def two(A: af.f64[M, N], B: af.f64[M, N], p: af.f64[N], x: af.f64[M]):
        with af.for_(M) as i, af.for_(N) as j:
            x[i] += A[i, j] * p[j]
        with af.for_(M) as i, af.for_(N) as j:
            x[i] += B[i, j] * p[j]

    @af.kernel
    def swept(A: af.f64[M, N], p: af.f64[N], steps: af.index):
        with af.for_(steps):
            with af.for_(M) as i, af.for_(N) as j:
                A[i, j] += p[j]
            with af.for_(M) as i, af.for_(N) as j:
                A[i, j] *= p[j]

    for kernel in (two, swept):
        assert "one nest with" not in kernel.optimize("avx2", threads=1, reassociate=True).explain()
