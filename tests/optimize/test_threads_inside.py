"""Loops that stay sequential, with work for threads inside of them: split, tiled, or as they are."""

import numpy as np
import pytest

import affdsl as af
from tests.effort import some

M, N, T = af.symbols("M N T")


@af.kernel
def shortest(path: af.i32[N, N]):
    with af.for_(N) as k, af.for_(N) as i, af.for_(N) as j:
        path[i, j] = af.min(path[i, j], path[i, k] + path[k, j])


@af.kernel
def in_place(A: af.f64[M, N], steps: af.index):
    with af.for_(steps), af.for_(1, M - 1) as i, af.for_(1, N - 1) as j:
        A[i, j] = (A[i - 1, j + 1] + A[i, j - 1] + A[i, j] + A[i, j + 1] + A[i + 1, j - 1]) / 5


@af.kernel
def swept(A: af.f64[M, N], B: af.f64[M, N], steps: af.index):
    with af.for_(steps):
        with af.for_(M) as i, af.for_(1, N) as j:
            B[i, j] = A[i, j] / (2 + B[i, j - 1])
        with af.for_(N) as k, af.for_(1, M) as n:
            A[n, k] = B[n, k] / (2 + A[n - 1, k])


def same(kernel, fast, *given):
    """Whether a kernel and what was made of it leave the same in their arguments, to the bit."""
    wanted, found = ([np.copy(a) if isinstance(a, np.ndarray) else a for a in given] for _ in range(2))
    kernel(*wanted)
    fast(*found)
    return all(np.asarray(a).tobytes() == np.asarray(b).tobytes() for a, b in zip(wanted, found, strict=True))


def test_rows_before_and_behind_a_pivot_run_on_threads():
    """Lengths may be negative, so that the row of the pivot changes on its way."""
    fast = shortest.optimize(threads=2)
    assert "split at k, which all iterations read; those before and behind run on threads" in fast.explain()
    assert str(fast.schedule).count(".parallel(") == 2
    assert ".split(" not in str(shortest.optimize(threads=1).schedule)
    for n in (0, 1, 2, 17, 70):
        assert same(shortest, fast, np.random.default_rng(n).integers(-2, 99, (n, n)).astype("i4")), n


def test_rows_that_no_pivot_makes_stay_together():
    @af.kernel
    def behind(A: af.f64[N, N]):
        with af.for_(N), af.for_(1, N) as i, af.for_(N) as j:
            A[i, j] = A[i, j] + A[i - 1, j]

    assert ".split(" not in str(behind.optimize(threads=2).schedule)


@pytest.mark.parametrize("threads", some([2, 1], 1))
def test_tiles_of_a_sweep_in_place_run_on_threads(threads):
    fast = in_place.optimize(threads=threads)
    on_threads = "tiles that do not wait for each other run on threads, and in them 4 iterations of" in fast.explain()
    assert on_threads == ("parallel" in fast.c()) == (threads == 2)
    for m, n, steps in ((3, 3, 1), (40, 9, 13), (90, 20, 21)):
        assert same(in_place, fast, np.random.default_rng(m).random((m, n)), steps)


def test_lines_in_a_loop_over_time_run_on_threads():
    fast = swept.optimize("avx512", threads=2)
    assert fast.explain().count("16 iterations of i run at once, in lanes, on threads") == 1
    for m, n, steps in ((1, 1, 1), (19, 33, 3), (40, 7, 2)):
        a, b = np.random.default_rng(m).random((2, m, n))
        assert same(swept, fast, a, b, steps)


@pytest.mark.parametrize("threads", some([1, 2], 1))
def test_rows_of_whole_tiles_run_at_once_where_a_sweep_loads_three(threads):
    """At the edges of the array, and in the last time steps, tiles are not whole."""

    @af.kernel
    def swept_over(A: af.f64[M, N], B: af.f64[M, N], steps: af.index):
        with af.for_(steps):
            with af.for_(1, M - 1) as i, af.for_(N) as j:
                B[i, j] = A[i - 1, j] + A[i, j] * A[i + 1, j]
            with af.for_(1, M - 1) as k, af.for_(N) as n:
                A[k, n] = B[k - 1, n] - B[k, n] * B[k + 1, n]

    fast = swept_over.optimize("avx2", threads=threads)
    steps = str(fast.schedule)
    assert "separate=True" in steps
    assert ", 4)" in steps[steps.index(".unroll_jam(") :]
    for m, n, steps_taken in ((2, 3, 2), (60, 9, 37), (75, 16, 33)):
        a, b = np.random.default_rng(m).random((2, m, n)) / 4
        assert same(swept_over, fast, a, b, steps_taken)
