"""index_set_split: over all small bounds, and what it refuses."""

import pytest

from affdsl.ir.expr import Affine
from affdsl.passes.legality.refusal import IllegalTransform
from affdsl.passes.transforms.index_set_split import index_set_split
from tests.effort import TRIES_ALL
from tests.harness.reading import by_name, function, loops
from tests.passes.transforms.loops_before_and_after import (
    LOWERS,
    UPPERS,
    assert_alike_on_small_bounds,
    one_loop,
)


@pytest.mark.parametrize("step", [1, 2, 3])
@pytest.mark.parametrize("upper", UPPERS)
def test_all_small_bounds(upper, step):
    before = one_loop("%a", upper, step)
    _, b, _, d, _ = before.args
    turn = UPPERS.index(upper) + step  # unless all is tried, bounds and steps take turns at the places
    places = [Affine.of(b), b * 2 - d + 1, Affine.of(1)]
    for at in places if TRIES_ALL else [places[turn % 3]]:
        after = index_set_split(before, by_name(before, "i"), at)
        assert [loop.iv.hint for loop in loops(after)] == ["i", "i_rest"]
        assert assert_alike_on_small_bounds(after, before) > 10


def test_several_lower_bounds():
    before = one_loop(LOWERS[1], "%c", 1)
    after = index_set_split(before, by_name(before, "i"), before.args[3])
    assert assert_alike_on_small_bounds(after, before) > 10


def test_a_triangle_is_split_at_its_corner():
    func = function("""func.func @f(%A: memref<9xf32>, %x: f32) {
      affine.for %i = 0 to 9 {
        affine.for %j = 0 to 9 { affine.store %x, %A[%j] : memref<9xf32> }
      }
      return
    }""")
    after = index_set_split(func, by_name(func, "j"), by_name(func, "i") + 1)
    _, first, rest = loops(after)
    assert (first.upper, rest.lower) == ((Affine.of(9), by_name(func, "i") + 1), (Affine(), by_name(func, "i") + 1))


def test_refusals():
    func = function("""func.func @f(%n: index, %l: index, %A: memref<?xindex>) {
      affine.for %j = max affine_map<()[s0, s1] -> (s0, s1)>()[%n, %l] to 9 step 2 {
        %k = affine.load %A[%j] : memref<?xindex>
        affine.for %i = 0 to 9 { affine.store %n, %A[%i] : memref<?xindex> }
      }
      return
    }""")
    i, j, k = by_name(func, "i"), by_name(func, "j"), func.body[0].body[0].result
    with pytest.raises(IllegalTransform, match=r"cannot split loop %j at k\n    %k is not known before the loop"):
        index_set_split(func, j, k)
    with pytest.raises(IllegalTransform, match="%i is not known before the loop"):
        index_set_split(func, i, i + 1)
    with pytest.raises(IllegalTransform, match=r"dimension id: %k is computed .*, so it cannot be a bound"):
        index_set_split(func, i, k)
    with pytest.raises(IllegalTransform, match="with step 2, where the second part begins depends on which"):
        index_set_split(func, j, func.args[0])
