"""Sums in the order of the text and rows that are updated take turns: to the bit what the loops as written leave."""

from functools import cache

import numpy as np
import pytest

import affdsl as af
from affdsl.codegen.targets.avx512 import AVX512
from affdsl.optimize.nests import nests
from affdsl.optimize.options import Options
from affdsl.optimize.recipes import turns
from affdsl.optimize.recipes.unfit import UnfitError
from affdsl.schedule.schedule import Schedule
from benchmarks.polybench.suite import named
from tests.effort import some

M, N = af.symbols("M N")
STRICT = Options(AVX512)


@af.kernel
def moments(A: af.f32[M, N], w: af.f32[M], total: af.f32[M], square: af.f32[M], mean: af.f32[N]):
    with af.for_(M) as i, af.for_(N) as j:
        mean[j] += w[i] * A[i, j]
        total[i] += A[i, j]
        square[i] -= A[i, j] * A[i, j]


@af.kernel
def twice(A: af.f64[N, N], x: af.f64[N], y: af.f64[N]):
    """The sum stands first, and another loop has the same name."""
    with af.for_(N) as j:
        x[j] = 1.0
    with af.for_(N) as i, af.for_(N) as j:
        x[i] += A[i, j]
        y[j] += A[i, j]


KERNELS = {"bicg": named("bicg").kernel, "moments": moments, "twice": twice}
TARGETS = ("avx512", "avx2", "neon")


@pytest.mark.parametrize(
    ("name", "target"),
    [(name, target) for n, name in enumerate(KERNELS) for target in some(TARGETS[n:] + TARGETS[:n], 1)],
)
def test_they_are_taken_where_the_order_is_that_of_the_text(name, target):
    """Unless all is tried, kernels take turns at the targets."""
    kernel = KERNELS[name]
    fast = kernel.optimize(target, threads=1)
    assert "then each sum in the order of the text; 8 iterations of" in fast.explain()
    assert ".strip_mine(" in str(fast.schedule)
    assert "in the order of the text" not in kernel.optimize(target, threads=1, reassociate=True).explain()


@cache
def fast(kernel):
    return kernel.optimize(threads=1)


@pytest.mark.parametrize("shape", [(0, 0), (1, 40), (40, 1), (8, 32), (9, 33), (23, 100), (17, 64), (3, 70)])
def test_they_leave_the_same_to_the_bit(shape):
    bicg, given = named("bicg"), {"N": shape[0], "M": shape[1]}
    wanted, found = bicg.arrays(given), bicg.arrays(given)
    bicg.kernel(*wanted.values())
    fast(bicg.kernel)(*found.values())
    for name in bicg.live_out:
        np.testing.assert_array_equal(found[name], wanted[name])
    r = np.random.default_rng(shape[0])
    arrays = [r.random(of, "f4") for of in (shape, shape[0], shape[0], shape[0], shape[1])]
    other = [each.copy() for each in arrays]
    moments(*arrays)
    fast(moments)(*other)
    for one, two in zip(arrays, other, strict=True):
        np.testing.assert_array_equal(one, two)
    square = r.random((shape[1], shape[1]))
    both = [(np.zeros(shape[1]), np.ones(shape[1])) for _ in range(2)]
    twice(square, *both[0])
    fast(twice)(square, *both[1])
    np.testing.assert_array_equal(both[0], both[1])


@af.kernel
def whole(A: af.i32[M, N], sums: af.i32[M], row: af.i32[N]):
    with af.for_(M) as i, af.for_(N) as j:
        row[j] += A[i, j]
        sums[i] += A[i, j]


@af.kernel
def symmetric(A: af.f64[N, N], x: af.f64[N], y: af.f64[N]):
    with af.for_(N) as i, af.for_(i) as j:
        y[i] += A[i, j] * x[j]
        y[j] += A[i, j] * x[i]


@af.kernel
def alone(x: af.f64[N], y: af.f64[N], sum: af.f64[1]):
    with af.for_(N) as i:
        y[i] = x[i] * 2.0
        sum[0] += x[i]


@af.kernel
def columns(A: af.f64[N, M], s: af.f64[M], q: af.f64[N]):
    with af.for_(M) as j, af.for_(N) as i:
        q[i] += A[i, j]
        s[j] += A[i, j]


@af.kernel
def smoothed(A: af.f64[M, N + 1], B: af.f64[M, N], q: af.f64[M]):
    with af.for_(M) as i, af.for_(N) as j:
        B[i, j] = A[i, j] + A[i, j + 1]
        q[i] += A[i, j]


@af.kernel
def two(A: af.f64[M, N], s: af.f64[N], t: af.f64[N], q: af.f64[M]):
    with af.for_(M) as i:
        with af.for_(N) as j:
            s[j] += A[i, j]
            q[i] += A[i, j]
        with af.for_(N) as k:
            t[k] += A[i, k]
            q[i] += A[i, k]


@pytest.mark.parametrize(("kernel", "reason"), [
    (whole, "no sum of floats"),
    (alone, "not that of all iterations around it"),
    (columns, "some array does not lie along it"),
    (smoothed, "not that of all iterations around it"),
    (two, "not that of all iterations around it"),
    (symmetric, "no single start for all copies"),
])  # fmt: skip
def test_others_take_no_turns(kernel, reason):
    s = Schedule(kernel)
    for nest in nests(s):
        with pytest.raises(UnfitError, match=reason):
            turns.take(s, nest, STRICT)
    assert not s.steps


def test_loops_beside_one_another_are_all_on_vectors():
    """They do not take turns; each has its row in a loop of its own."""
    fast = two.optimize("avx2", threads=1)
    assert str(fast.schedule).count("vectorize(") == 2
    assert "take turns" not in fast.explain()


def test_what_eight_iterations_leave_over_has_no_recipe_of_its_own():
    @af.kernel
    def batch(A: af.f64[4, M, N], s: af.f64[4, N], q: af.f64[4, M]):
        with af.for_(4) as b, af.for_(M) as i, af.for_(N) as j:
            s[b, j] += A[b, i, j]
            q[b, i] += A[b, i, j]

    fast = batch.optimize("avx2", threads=1)
    assert str(fast.schedule).count("unroll_jam(") == 1
    for m, n in ((0, 3), (9, 40), (16, 33)):
        given = np.random.default_rng(m).random((4, m, n))
        wanted, found = [[np.zeros((4, n)), np.zeros((4, m))] for _ in range(2)]
        batch(given, *wanted)
        fast(given, *found)
        for one, other in zip(wanted, found, strict=True):
            np.testing.assert_array_equal(one, other)
