"""The loops of `benchmarks.everyday` do, optimized, what they do in Python; and which recipes they have shown."""

from __future__ import annotations

import numpy as np
import pytest

import affdsl as af
from benchmarks.everyday import LOOPS
from tests.effort import TRIES_ALL

M, N = af.symbols("M N")
ALL = dict.fromkeys(("contract", "reassociate", "reciprocal", "approximate"), True)
FEW = ("fir filter", "standardized columns", "tridiagonal systems", "julia set")
SIZE = 19


@pytest.mark.parametrize("name", [each.name for each in LOOPS] if TRIES_ALL else FEW)
def test_it_does_what_python_does(name):
    loop = next(each for each in LOOPS if each.name == name)
    given = loop.arguments(np.random.default_rng(0), SIZE)
    results = []
    with np.errstate(all="ignore"):
        for call in (loop.function, loop.kernel.optimize(threads=1), loop.kernel.optimize(threads=1, **ALL)):
            results.append([np.copy(a) if isinstance(a, np.ndarray) else a for a in given])
            call(*results[-1])
    for found in results[1:]:
        for a, b in zip(found, results[0], strict=True):
            far = 1e-5 if np.asarray(b).dtype == np.float32 else 1e-9
            np.testing.assert_allclose(a, b, rtol=far, atol=far * float(np.max(np.abs(b), initial=0)), err_msg=name)


@af.kernel
def means(x: af.f64[M, N], mean: af.f64[N]):
    with af.for_(N) as j:
        total = af.var(af.f64(0))
        with af.for_(M) as i:
            total += x[i, j]
        mean[j] = total / af.f64(M)


@af.kernel
def forgetting(x: af.f64[M, N], y: af.f64[M, N]):
    with af.for_(M) as i, af.for_(1, N) as j:
        y[i, j] = x[i, j] - 0.25 * y[i, j - 1]


def same_to_the_bit(kernel: af.Kernel, fast: af.Kernel, arguments) -> None:
    """Both kernels leave the same in their arguments."""
    results = [[np.copy(a) for a in arguments] for _ in range(2)]
    kernel.interpret(*results[0])
    fast(*results[1])
    for a, b in zip(*results, strict=True):
        assert a.tobytes() == b.tobytes()


def test_a_loop_around_sums_runs_on_vectors_where_it_runs_along_rows():
    fast = means.optimize("avx2", threads=1)
    assert "j runs on vectors of 4, around loops that go on one by one; 4 of them at once" in fast.explain()
    assert "alloca" not in fast.mlir()
    for m, n in ((0, 3), (1, 1), (5, 3), (4, 16), (3, 37)):
        same_to_the_bit(means, fast, (np.random.default_rng(1).normal(size=(m, n)), np.zeros(n)))


def test_recurrences_along_rows_run_several_rows_at_once():
    fast = forgetting.optimize("avx2", threads=1)
    assert "8 iterations of i run at once, a recurrence each" in fast.explain()
    for m, n in ((0, 3), (3, 0), (1, 1), (8, 2), (19, 7)):
        same_to_the_bit(forgetting, fast, np.random.default_rng(1).normal(size=(2, m, n)))


def test_a_loop_without_a_name_over_time_is_tiled_too():
    @af.kernel
    def smoothed(A: af.f64[N, N], B: af.f64[N, N], steps: af.index):
        with af.for_(steps):
            with af.for_(1, N - 1) as i, af.for_(1, N - 1) as j:
                B[i, j] = 0.25 * (A[i - 1, j] + A[i + 1, j] + A[i, j - 1] + A[i, j + 1])
            with af.for_(1, N - 1) as i, af.for_(1, N - 1) as j:
                A[i, j] = B[i, j]

    assert "its sweeps are one, and tiled in time" in smoothed.optimize("avx2", threads=1).explain()


def test_exponentials_are_approximated_where_that_is_allowed():
    @af.kernel
    def decay(x: af.f64[N], y: af.f64[N]):
        with af.for_(N) as i:
            y[i] = af.exp(-x[i])

    strict, free = decay.optimize("avx2", threads=1), decay.optimize("avx2", threads=1, approximate=True)
    assert "math.exp" in strict.mlir()
    assert "math.exp" not in free.mlir()
    assert 'approximate("i' in str(free.schedule)
    x, y = np.linspace(0, 50, 101), np.zeros(101)
    free(x, y)
    np.testing.assert_array_max_ulp(y, np.exp(-x), 3)


def test_variables_of_a_loop_that_stays_are_in_registers():
    @af.kernel
    def highest(x: af.f32[N], y: af.f32[N]):
        top = af.var(af.f32(0))
        with af.for_(N) as i:
            top.set(af.max(top, x[i]))
            y[i] = top

    fast = highest.optimize("avx2", threads=1)
    assert "one iteration after the other, variables in registers" in fast.explain()
    for n in (0, 1, 9):
        same_to_the_bit(highest, fast, (np.random.default_rng(n).normal(size=n).astype("f4"), np.zeros(n, "f4")))
