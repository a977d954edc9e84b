"""Sums in the order of the text and rows that are updated take turns: to the bit what the loops as written leave."""

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

M, N = af.symbols("M N")
STRICT = Options(AVX512)


def nest_of(kernel):
    s = Schedule(kernel)
    return s, [*nests(s)][-1]


@af.kernel
def moments(A: af.f32[M, N], w: af.f32[M], total: af.f32[M], square: af.f32[M], mean: af.f32[N]):
    with af.for_(M) as i, af.for_(N) as j:
        mean[j] += w[i] * A[i, j]
        total[i] += A[i, j]
        square[i] -= A[i, j] * A[i, j]


@pytest.mark.parametrize("target", ["avx512", "avx2", "neon"])
@pytest.mark.parametrize("kernel", [named("bicg").kernel, moments], ids=["bicg", "moments"])
def test_they_are_taken_where_the_order_is_that_of_the_text(kernel, target):
    fast = kernel.optimize(target, threads=1)
    assert "and then summed up in the order of the text; 8 iterations of" in fast.explain()
    assert "j_turn" in str(fast.schedule)
    assert "in the order of the text" not in kernel.optimize(target, threads=1, reassociate=True).explain()


@pytest.mark.parametrize("shape", [(0, 0), (1, 40), (40, 1), (8, 32), (9, 33), (23, 100), (17, 64), (3, 70)])
def test_they_leave_the_same_to_the_bit(shape):
    bicg, given = named("bicg"), {"N": shape[0], "M": shape[1]}
    wanted, found = bicg.arrays(given), bicg.arrays(given)
    bicg.kernel(*wanted.values())
    bicg.kernel.optimize(threads=1)(*found.values())
    for name in bicg.live_out:
        np.testing.assert_array_equal(found[name], wanted[name])
    r = np.random.default_rng(shape[0])
    arrays = [r.random(of, "f4") for of in (shape, shape[0], shape[0], shape[0], shape[1])]
    other = [each.copy() for each in arrays]
    moments(*arrays)
    moments.optimize(threads=1)(*other)
    for one, two in zip(arrays, other, strict=True):
        np.testing.assert_array_equal(one, two)


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


@pytest.mark.parametrize(("kernel", "reason"), [
    (whole, "may make its sum in lanes"), (alone, "no loop around"), (symmetric, "cannot"),
])  # fmt: skip
def test_others_take_no_turns(kernel, reason):
    s, nest = nest_of(kernel)
    with pytest.raises(UnfitError, match=reason):
        turns.take(s, nest, STRICT)
    assert not s.steps
