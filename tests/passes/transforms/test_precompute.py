"""What loops compute of each element with a number is computed once, and every result stays the same to the bit."""

from __future__ import annotations

import pytest

import affdsl as af
from affdsl.ir.traverse import with_fields
from affdsl.ir.verifier import verify
from affdsl.passes.transforms.precompute import precompute
from tests.passes.compare import assert_alike, parsed
from tests.passes.transforms.steps import kernels

product = kernels("buffers")["product"]


def test_a_product_does_so_where_it_is_optimized():
    assert ".precompute(" in str(product.optimize("avx2", threads=1).schedule)


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
