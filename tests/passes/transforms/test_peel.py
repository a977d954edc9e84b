"""peel: over all small bounds, and what it refuses."""

import itertools

import pytest

from affdsl.passes.legality.refusal import IllegalTransform
from affdsl.passes.transforms.peel import peel
from tests.harness.reading import by_name, function, loops
from tests.passes.transforms.loops_before_and_after import (
    LOWERS,
    SMALL,
    UPPERS,
    assert_alike_on_small_bounds,
    one_loop,
)

PARTS = [(1, 0), (2, 0), (0, 1), (0, 3), (1, 1), (2, 3)]


@pytest.mark.parametrize("step", [1, 2, 3])
@pytest.mark.parametrize(("first", "last"), PARTS)
def test_all_small_bounds(first, last, step):
    before = one_loop("%a", "%c", step)
    after = peel(before, by_name(before, "i"), first=first, last=last)
    assert [loop.iv.hint for loop in loops(after)] == ["i_first"] * bool(first) + ["i"] + ["i_last"] * bool(last)
    assert assert_alike_on_small_bounds(before, after) == 15


def test_several_bounds_on_the_other_side():
    many_uppers, many_lowers = one_loop("%a", UPPERS[1], 2), one_loop(LOWERS[1], "%c", 1)
    first = peel(many_uppers, by_name(many_uppers, "i"), first=2)
    last = peel(many_lowers, by_name(many_lowers, "i"), last=2)
    three = itertools.product(SMALL, repeat=3)
    assert assert_alike_on_small_bounds(many_uppers, first) == sum(a < min(c + 3, d * 2) for a, c, d in three)
    three = itertools.product(SMALL, repeat=3)
    assert assert_alike_on_small_bounds(many_lowers, last) == sum(max(a, b + 1) < c for a, b, c in three)


def test_bounds_that_are_numbers_stay_numbers():
    func = function("""func.func @f(%A: memref<40xf32>, %x: f32) {
      affine.for %i = 2 to 20 step 3 { affine.store %x, %A[%i] : memref<40xf32> }
      return
    }""")
    found = loops(peel(func, by_name(func, "i"), first=1, last=1))
    bounds = [(*loop.lower, *loop.upper) for loop in found]
    assert [[bound.constant for bound in pair] for pair in bounds] == [[2, 5], [5, 17], [17, 20]]


REFUSED = {
    "nothing": ({}, "j", r"peel loop %j\n    it takes a number of first or last iterations, got first=0 and"),
    "less than nothing": ({"first": -1}, "j", "got first=-1 and last=0"),
    "the first after several lower bounds": (
        {"first": 2}, "m", r"the first 2 iterations end at the largest .* the smallest of several$",
    ),
    "the last before several upper bounds": (
        {"last": 2}, "m", r"the last 2 iterations begin at the smallest .* the largest of several$",
    ),
    "the last of steps from several lower bounds": (
        {"last": 1}, "k", "with step 2, the last 1 iterations depend on which lower bound is the largest",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_refusals(name):
    func = function("""func.func @f(%n: index, %l: index, %A: memref<?xf32>, %x: f32) {
      affine.for %j = 0 to %n { affine.store %x, %A[%j] : memref<?xf32> }
      affine.for %k = max affine_map<()[s0, s1] -> (s0, s1)>()[%n, %l] to 9 step 2 {
        affine.store %x, %A[%k] : memref<?xf32>
      }
      affine.for %m = max affine_map<()[s0, s1] -> (s0, s1)>()[%n, %l]
          to min affine_map<()[s0, s1] -> (s0, s1)>()[%n, %l] { affine.store %x, %A[%m] : memref<?xf32> }
      return
    }""")
    parts, loop, message = REFUSED[name]
    with pytest.raises(IllegalTransform, match=message):
        peel(func, by_name(func, loop), **parts)
