"""What loops compute of each element with a number is computed once, and every result stays the same to the bit."""

from __future__ import annotations

import numpy as np
import pytest

import affdsl as af
from affdsl.ir.traverse import with_fields
from affdsl.ir.verifier import verify
from affdsl.passes.transforms.precompute import precompute
from tests.passes.compare import assert_alike, parsed

M, N, K = af.symbols("M N K")


@af.kernel
def product(alpha: af.f64, A: af.f64[M, K], B: af.f64[K, N], C: af.f64[M, N]):
    with af.for_(M) as i, af.for_(N) as j, af.for_(K) as k:
        C[i, j] += alpha * A[i, k] * B[k, j]


@af.kernel
def lower(alpha: af.f64, A: af.f64[N, K], C: af.f64[N, N]):
    with af.for_(N) as i, af.for_(i + 1) as j, af.for_(K) as k:
        C[i, j] += alpha * A[i, k] * A[j, k]


def test_the_factor_is_scaled_once():
    s = af.Schedule(product).precompute("A", "i")
    rows = [(row.names[0], row.depth) for row in s.loops()]
    assert [depth for _, depth in rows] == [0, 1, 0, 1, 2]
    assert 's.precompute("A", "i")' in str(s)
    made = s.kernel(validate=True)
    for m, n, k in ((0, 2, 3), (2, 0, 3), (2, 3, 0), (1, 1, 1), (4, 5, 3)):
        random = np.random.default_rng(m + n)
        a, b, c = random.normal(size=(m, k)), random.normal(size=(k, n)), random.normal(size=(m, n))
        wanted, found = c.copy(), c.copy()
        product.interpret(0.1, a, b, wanted)
        made(0.1, a, b, found)
        assert wanted.tobytes() == found.tobytes()


def test_an_array_that_is_both_factors():
    made = af.Schedule(lower).precompute("A", "i").kernel(validate=True)
    for n, k in ((0, 1), (1, 0), (5, 4)):
        a, c = np.random.default_rng(n).normal(size=(n, k)), np.zeros((n, n))
        wanted, found = c.copy(), c.copy()
        lower.interpret(0.3, a, wanted)
        made(0.3, a, found)
        assert wanted.tobytes() == found.tobytes()


def test_a_product_does_so_where_it_is_optimized():
    assert ".precompute(" in str(product.optimize("avx2", threads=1).schedule)


def refused(kernel: af.Kernel, array: str, loop: str) -> str:
    with pytest.raises(af.IllegalTransform) as caught:
        af.Schedule(kernel).precompute(array, loop)
    return str(caught.value)


def test_what_is_written_is_not_computed_before():
    @af.kernel
    def smoothed(A: af.f64[N + 1], B: af.f64[N, N]):
        with af.for_(N) as i, af.for_(N) as j:
            B[i, j] = A[i] * 2.0
            A[j] = 1.0

    assert "it may write to A" in refused(smoothed, "A", "i")


def test_bounds_that_move_with_a_loop_that_the_element_does_not_depend_on():
    @af.kernel
    def triangle(A: af.f64[N], B: af.f64[N, N]):
        with af.for_(N) as i, af.for_(i) as j:
            B[i, j] = A[j] * 2.0

    assert "move with loops that it does not depend on" in refused(triangle, "A", "i")


def test_what_is_used_twice_or_under_a_condition_or_not_at_all():
    @af.kernel
    def used(A: af.f64[N], B: af.f64[N, N], C: af.f64[N]):
        with af.for_(N) as i, af.for_(N) as j:
            B[i, j] = A[j] * A[i]
            with af.if_(i > j):
                B[i, j] = C[j] * 2.0

    assert "no load of it is used in one operation alone" in refused(used, "A", "i")
    assert "the load stands under a condition" in refused(used, "C", "i")
    s = af.Schedule(product)
    with pytest.raises(af.IllegalTransform, match="no load of it is used"):
        s.precompute("B", "i")


def test_a_loop_that_calls_keeps_what_it_computes():
    @af.kernel
    def one(x: af.f64[N]):
        x[0] = 1.0

    @af.kernel
    def calls(A: af.f64[N], B: af.f64[N, N], x: af.f64[N]):
        af.assume(N >= 1)
        with af.for_(N) as i, af.for_(N) as j:
            one(x)
            B[i, j] = A[j] * 2.0

    assert "which does more than to compute, load and store" in refused(calls, "A", "i")


APPLIED = """func.func @f(%A: memref<18xf32>, %B: memref<8x18xf32>, %x: f32) {
  affine.for %i = 0 to 8 {
    %c = affine.apply affine_map<(d0) -> (d0 * 2)>(%i)
    affine.for %j = PLACE {
      %d = affine.apply affine_map<(d0) -> (d0 + 1)>(%c)
      %a = affine.load %A[%d] : memref<18xf32>
      %b = arith.mulf %x, %a : f32
      affine.store %b, %B[%i, %j] : memref<8x18xf32>
    }
  }
  return
}"""


@pytest.mark.parametrize("bounds", ["0 to 9", "affine_map<(d0) -> (d0)>(%c) to affine_map<(d0) -> (d0 + 2)>(%c)"])
def test_places_and_bounds_that_loops_compute(bounds):
    """What an affine.apply in the loops gives was read before them."""
    before = parsed(APPLIED.replace("PLACE", bounds))
    f = before.functions[0]
    after = with_fields(before, body=(precompute(f, f.args[0], f.body[0].iv),))
    verify(after)
    assert assert_alike(before, after) > 0


def test_a_place_that_is_computed_in_another_way():
    text = APPLIED.replace("PLACE", "0 to 9").replace(
        "%d = affine.apply affine_map<(d0) -> (d0 + 1)>(%c)",
        "%z:2 = affine.delinearize_index %i into (8, 2) : index, index",
    )
    f = parsed(text.replace("[%d]", "[%z#1]")).functions[0]
    with pytest.raises(
        af.IllegalTransform, match=r"its place, or a bound of a loop around it, depends on .*, which is only"
    ):
        precompute(f, f.args[0], f.body[0].iv)
