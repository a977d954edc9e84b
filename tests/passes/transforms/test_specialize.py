"""specialize: with results, in schedules, and what it refuses."""

from __future__ import annotations

import numpy as np
import pytest

import affdsl as af
from affdsl.ir.expr import Constraint
from affdsl.ir.interpreter import run
from affdsl.ir.verifier import verify
from affdsl.passes.legality.refusal import IllegalTransform
from affdsl.passes.transforms.specialize import specialize
from tests.harness.reading import by_name, function, loops

M, N, K = af.symbols("M N K")


@af.kernel
def product(A: af.f64[M, K], B: af.f64[K, N], C: af.f64[M, N]):
    with af.for_(M) as i, af.for_(N) as j, af.for_(K) as k:
        C[i, j] += A[i, k] * B[k, j]


CARRIED = """func.func @f(%n: index, %m: index) -> (i64, i64) {
  %p = arith.constant 3 : i64
  %q = arith.constant 4 : i64
  %r:2 = affine.for %i = 0 to %n iter_args(%a = %p, %b = %q) -> (i64, i64) {
    %s = arith.muli %a, %b : i64
    affine.yield %s, %a : i64, i64
  }
  return %r#1, %r#0 : i64, i64
}"""


def test_a_loop_that_carries_values_gives_them_either_way():
    before = function(CARRIED)
    m = before.args[1]
    after = specialize(before, by_name(before, "i"), [Constraint(m - 2), Constraint(5 - m)])
    verify(after)
    first, second = loops(after)
    assert (first.iv, second.iv.hint) == (by_name(before, "i"), "i_else")
    for sizes in [(n, m) for n in range(4) for m in range(8)]:
        assert run(after, *sizes) == run(before, *sizes)


@pytest.mark.parametrize("sizes", [(0, 3, 2), (15, 40, 3), (16, 31, 3), (16, 32, 5), (40, 50, 20)])
def test_each_version_is_changed_in_its_own_way(sizes):
    s = af.Schedule(product).specialize("i", (M >= 16) & (N >= 32)).tile(("i", "j"), (8, 32)).unroll("k_2", 2)
    made = s.kernel(validate=True)
    text = str(made.c())
    assert "if (M >= 16 && N >= 32) {" in text
    m, n, k = sizes
    a, b = np.random.default_rng(1).integers(-9, 9, (2, max(m, k), max(n, k))).astype(np.float64)
    a, b = np.ascontiguousarray(a[:m, :k]), np.ascontiguousarray(b[:k, :n])
    c = np.ones((m, n))
    made(a, b, c)
    assert np.array_equal(c, a @ b + 1)


def test_it_is_printed_as_it_is_replayed():
    s = af.Schedule(product).specialize("k", (N >= 32) & (M - K == 0))
    assert 's.specialize("k", (N >= 32) & (M - K == 0))' in str(s)
    again = af.Schedule(product).specialize("k", (N >= 32) & (M - K == 0))
    assert str(again.kernel().mlir()) == str(s.kernel().mlir())


@pytest.mark.parametrize("condition", [64, "N >= 64", N, ~((M >= 2) & (N >= 64))])
def test_what_is_no_condition_is_an_error(condition):
    with pytest.raises(
        af.ScheduleError, match="it takes comparisons of sizes, as N >= 64, several of them joined by &"
    ):
        af.Schedule(product).specialize("i", condition)


def test_sizes_that_the_kernel_does_not_have_are_an_error():
    with pytest.raises(af.ScheduleError, match="product has no size or loop Q"):
        af.Schedule(product).specialize("i", af.symbols("Q") >= 3)


@pytest.mark.parametrize(
    ("condition", "why"),
    [
        (af.symbols("j") >= 3, "its condition depends on j, which is only known inside"),
        (M // N >= 3, "its condition divides by a symbol, which may be 0"),
        (M - M >= 0, "its condition reads no size, so one of the two would never run"),
    ],
)
def test_refusals(condition, why):
    with pytest.raises((IllegalTransform, af.IllegalTransform), match=why):
        af.Schedule(product).specialize("i", condition)
