"""One loop counts from 0 in steps of 1."""

from __future__ import annotations

import pytest

from affdsl.ir.verifier import verify
from affdsl.mlir.readers import parse
from affdsl.passes.legality.refusal import IllegalTransform
from affdsl.passes.transforms.interchange import interchange
from affdsl.passes.transforms.normalize import normalize
from tests.harness.reading import by_name, function, loops
from tests.passes.transforms.loops_before_and_after import (
    LOWERS,
    UPPERS,
    assert_alike_on_small_bounds,
    one_loop,
)


@pytest.mark.parametrize("step", [1, 2, 3])
@pytest.mark.parametrize("upper", UPPERS)
def test_the_same_on_all_small_bounds(upper, step):
    before = one_loop(LOWERS[0], upper, step)
    after = normalize(before, by_name(before, "i"))
    (loop,) = loops(after)
    assert (loop.step, [e.constant for e in loop.lower], loop.iv) == (1, [0], by_name(before, "i"))
    assert assert_alike_on_small_bounds(before, after) >= 15


def test_a_loop_that_is_normal_stays():
    before = one_loop("0", "%c", 1)
    assert normalize(before, by_name(before, "i")) is before


def test_only_the_one_that_is_asked_for():
    before = function("""func.func @f(%A: memref<99x99xf32>, %x: f32) {
      affine.for %i = 2 to 9 {
        affine.for %j = affine_map<(d0) -> (d0)>(%i) to 99 step 5 { affine.store %x, %A[%i, %j] : memref<99x99xf32> }
      }
      return
    }""")
    after = normalize(before, by_name(before, "j"))
    verify(after)
    assert [str(op).splitlines()[0] for op in loops(after)] == [
        "affine.for %i = 2 to 9 {",
        "affine.for %j = 0 to affine_map<(d0) -> ((-d0 + 99) ceildiv 5)>(%i) {",
    ]


def test_refused_with_the_reason():
    before = one_loop(LOWERS[1], "%c", 1)
    with pytest.raises(IllegalTransform) as refused:
        normalize(before, by_name(before, "i"))
    assert str(refused.value).endswith("cannot normalize loop i\n    it begins at the largest of several numbers")
    other = one_loop("0", "%c", 1)
    with pytest.raises(IllegalTransform, match=r"@f has no affine\.for over i; its loops are i"):
        normalize(before, by_name(other, "i"))


def test_a_loop_of_one_length_may_change_places_with_the_loop_that_it_moved_along_with():
    """How its end was written has the counter of that loop, which changes nothing."""
    band = parse("""func.func @f(%A: memref<99x99xf32>, %x: f32, %n: index) {
      affine.for %i = 0 to %n {
        affine.for %k = affine_map<(d0) -> (d0 - 3)>(%i) to affine_map<(d0) -> (d0 + 1)>(%i) {
          affine.store %x, %A[%i, %k + 3] : memref<99x99xf32>
        }
      }
      return
    }""")
    (f,) = band.functions
    turned = interchange(normalize(f, by_name(f, "k")), by_name(f, "i"), by_name(f, "k"))
    verify(turned)
    assert [str(loop).split(" {")[0] for loop in loops(turned)] == ["affine.for %k = 0 to 4", "affine.for %i = 0 to %n"]
