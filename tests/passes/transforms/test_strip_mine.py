"""strip_mine: over all small bounds, and what it refuses."""

from itertools import product

import pytest

from affdsl.passes.legality.refusal import IllegalTransform
from affdsl.passes.transforms.strip_mine import strip_mine
from tests.effort import by_turns
from tests.harness.reading import by_name, function, loops
from tests.passes.transforms.loops_before_and_after import (
    LOWERS,
    UPPERS,
    assert_alike_on_small_bounds,
    one_loop,
)


@pytest.mark.parametrize(("bounds", "sizes"), by_turns([*product(LOWERS, UPPERS)], [(1, 1), (1, 3), (2, 2), (3, 2)]))
def test_all_small_bounds(bounds, sizes):
    (lower, upper), (step, size) = bounds, sizes
    before = one_loop(lower, upper, step)
    after = strip_mine(before, by_name(before, "i"), size)
    assert [(loop.iv.hint, loop.step) for loop in loops(after)] == [("i_strip", step * size), ("i", step)]
    assert assert_alike_on_small_bounds(before, after) > 5


def test_strips_that_are_whole_need_no_minimum():
    text = """func.func @f(%A: memref<40xf32>, %x: f32) {{
      affine.for %i = 1 to {end} step 2 {{ affine.store %x, %A[%i] : memref<40xf32> }}
      return
    }}"""
    whole, broken = function(text.format(end=17)), function(text.format(end=18))
    assert len(loops(strip_mine(whole, by_name(whole, "i"), 4))[1].upper) == 1
    assert len(loops(strip_mine(broken, by_name(broken, "i"), 4))[1].upper) == 2


def test_names_and_places_stay():
    func = function("""func.func @f(%n: index) {
      affine.for %j = 0 to %n {
        "test.use"(%j) : (index) -> ()
      } {tag} loc("a":1:2)
      return
    }""")
    (old,) = loops(func)
    outer, inner = loops(strip_mine(func, old.iv, 4, name="tile"))
    assert outer.iv.hint == "tile"
    assert inner.iv is old.iv
    assert outer.location == inner.location == old.location
    assert inner.attributes == old.attributes


@pytest.mark.parametrize("size", [0, -1, 2**63])
def test_refusals(size):
    before = one_loop("%a", "%c", 1)
    with pytest.raises(IllegalTransform, match=rf"cannot strip-mine loop %i by {size}\n    a strip has at least 1"):
        strip_mine(before, by_name(before, "i"), size)
