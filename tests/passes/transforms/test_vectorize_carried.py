"""Loops that carry several numbers; random ones, through sums, selections and branches, are in `tests/vectors`."""

from random import Random

import numpy as np
import pytest

import affdsl as af
from affdsl.ir.dialects import affine, arith, vector
from affdsl.ir.traverse import walk
from affdsl.ir.types import VectorType
from affdsl.passes.transforms.vectorize import vectorize
from tests.passes.transforms.test_vectorize import assert_same, iv, read


def test_several_numbers_need_something_else_of_the_lanes_that_do_not_run():
    f = read("""%r:2 = affine.for %i = 0 to %n iter_args(%s = %x, %t = %x) -> (f32, f32) {
      %a = affine.load %A[%i] : memref<?xf32>
      %u = arith.maximumf %s, %a : f32
      %v = arith.minimumf %t, %a : f32
      affine.yield %u, %v : f32, f32
    }
    affine.store %r#0, %C[0, 0] : memref<?x?xf32>
    affine.store %r#1, %C[0, 1] : memref<?x?xf32>""")
    assert_same(f, vectorize(f, iv(f, "i"), 4, tail="masked"))


def test_elements_that_were_loaded_before_are_lanes_of_others_beside_a_sum():
    f = read("""%r:3 = affine.for %i = 1 to %n iter_args(%a = %x, %s = %x, %b = %x) -> (f32, f32, f32) {
      %u = affine.load %A[%i] : memref<?xf32>
      %d = arith.subf %u, %a : f32
      %v = affine.load %B[%i] : memref<?xf32>
      %h = arith.addf %v, %b : f32
      %p = arith.mulf %d, %h : f32
      affine.store %p, %C[0, %i] : memref<?x?xf32>
      %t = arith.addf %s, %p : f32
      affine.yield %u, %t, %v : f32, f32, f32
    }
    affine.store %r#0, %C[3, 0] : memref<?x?xf32>
    affine.store %r#2, %C[3, 1] : memref<?x?xf32>""")
    made = vectorize(f, iv(f, "i"), 4, reassociate=True)
    assert sum(isinstance(op, vector.Shuffle) for op in walk(made)) == 2
    assert_same(f, made)


def test_what_is_handed_on_is_the_last_lane_of_a_vector_that_is_carried():
    f = read("""%r:2 = affine.for %i = 0 to %n iter_args(%a = %x, %b = %x) -> (f32, f32) {
      %u = affine.load %A[%i] : memref<?xf32>
      %d = arith.subf %u, %b : f32
      %e = arith.mulf %d, %a : f32
      affine.store %e, %C[0, %i] : memref<?x?xf32>
      affine.yield %u, %a : f32, f32
    }
    affine.store %r#0, %C[1, 0] : memref<?x?xf32>
    affine.store %r#1, %C[1, 1] : memref<?x?xf32>""")
    made = vectorize(f, iv(f, "i"), 4, tail="scalar")
    wide = next(op for op in walk(made) if isinstance(op, affine.For))
    assert [str(v.type) for v in wide.carried] == ["vector<4xf32>", "vector<4xf32>"]
    assert not any(isinstance(op, vector.Broadcast | vector.Extract) for op in walk(wide))
    assert_same(f, made)


def test_what_is_read_as_a_number_too_stays_one():
    f = read("""%r = affine.for %i = 0 to %n iter_args(%a = %x) -> (f32) {
      %u = affine.load %A[%i] : memref<?xf32>
      %d = arith.subf %u, %a : f32
      affine.store %d, %C[0, %i] : memref<?x?xf32>
      affine.store %a, %B[0] : memref<?xf32>
      affine.yield %u : f32
    }
    affine.store %r, %C[1, 0] : memref<?x?xf32>""")
    assert_same(f, vectorize(f, iv(f, "i"), 4, tail="masked"))


@pytest.mark.parametrize(
    "combine", ["af.max({}, {})", "af.min({}, {})", "({} + {})", "({} * {})", "({} ^ {})", "({} & {})"]
)
def test_of_integers_those_that_wait_for_the_lane_before_are_combined_last(combine):
    random = Random(combine)

    def tree(leaves):
        at = random.randrange(1, len(leaves)) if len(leaves) > 1 else 0
        return combine.format(tree(leaves[:at]), tree(leaves[at:])) if at else leaves[0]

    for _ in range(4):
        leaves = ["x[i]", "y[i]", "h - 2", "(h | 5)", "x[i + 1]", "a"]
        random.shuffle(leaves)
        made = kernel_of(f"h.set({tree(leaves)})", f"y[i] = h + {tree(['x[i]', 'y[i]', 'a'])}")
        fast = af.Schedule(made).scalar_replace("i").vectorize("i", 4, tail="masked").kernel()
        main = next(op for op in walk(fast.module) if isinstance(op, affine.For))
        again = [op.kind for op in main.body if isinstance(op, arith.Binary) and isinstance(op.result.type, VectorType)]
        assert max(map(again.count, again)) >= 3  # what combines the four that wait for nothing
        for n in (0, 1, 3, 4, 9, 14):
            numbers = np.random.default_rng(n).integers(-(2**31), 2**31, (2, n + 1)).astype(np.int32)
            wanted, found = ({"x": numbers[0].copy(), "y": numbers[1][:n].copy(), "a": 7} for _ in range(2))
            made.interpret(**wanted)
            fast.interpret(**found)
            np.testing.assert_array_equal(wanted["y"], found["y"])


def kernel_of(*lines):
    """A kernel whose loop hands h on, an integer."""
    text = "def f(x: af.i32[N + 1], y: af.i32[N], a: af.i32):\n    h = af.var(a)\n    with af.for_(N) as i:\n"
    names = {"af": af, "N": af.symbols("N")}
    exec(text + "".join(f"        {line}\n" for line in lines), names)
    return af.kernel(names["f"])
