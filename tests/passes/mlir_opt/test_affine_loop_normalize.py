"""affine-loop-normalize: next to mlir-opt's, with its option, and run before and after."""

import pytest

from affdsl.ir.dialects import affine
from affdsl.ir.traverse import walk
from affdsl.passes.mlir_opt.affine_loop_normalize import affine_loop_normalize
from tests.oracles import mlir_opt
from tests.passes.compare import UNKNOWN, assert_alike, parsed, shown
from tests.passes.program_files import text

HEAD = "func.func @f(%i: index, %n: index, %A: memref<40x40xf32>, %x: f32)"


@pytest.mark.parametrize("name", ["constant bounds", "triangles", "nothing to do"])
def test_the_same_as_mlir_opt_also_before_it_is_cleaned_up(name):
    given = text("affine-loop-normalize", name)
    assert shown(affine_loop_normalize(parsed(given))) == mlir_opt(given, UNKNOWN, "--affine-loop-normalize")


def test_operands_stand_in_the_order_of_the_bounds_and_constants_are_numbers():
    text = (
        HEAD
        + """{
      %c3 = arith.constant 3 : index
      affine.parallel (%j, %k) = (0, 4) to (10, 12) { affine.store %x, %A[%j, %k] : memref<40x40xf32> }
      affine.for %j = 3 to 5 { affine.store %x, %A[%i, %n] : memref<40x40xf32> }
      affine.for %j = %c3 to 9 step 2 {
        affine.for %k = affine_map<(d0)[s0] -> (d0 + s0)>(%j)[%i]
                     to min affine_map<(d0)[s0, s1] -> (s1, s0 + d0)>(%j)[%n, %c3] {
          affine.store %x, %A[%k, %n] : memref<40x40xf32>
        }
      }
      return }"""
    )
    assert shown(affine_loop_normalize(parsed(text))) == mlir_opt(text, "--affine-loop-normalize")


def test_a_loop_that_runs_once_is_put_in_place():
    text = (
        HEAD
        + """{
      affine.for %j = %i to affine_map<()[s0] -> (s0 + 2)>()[%i] step 2 {
        affine.store %x, %A[%j, 0] : memref<40x40xf32>
      }
      %r = affine.for %j = 3 to 4 iter_args(%p = %x) -> f32 {
        memref.store %p, %A[%j, %j] : memref<40x40xf32>
        %v = affine.load %A[%j, %j + 1] : memref<40x40xf32>
        affine.yield %v : f32
      }
      affine.store %r, %A[1, 1] : memref<40x40xf32>
      return }"""
    )
    before = parsed(text)
    after = affine_loop_normalize(before, promote_single_iter=True)
    assert not [op for op in walk(after) if isinstance(op, affine.For)]
    assert [op for op in walk(affine_loop_normalize(before)) if isinstance(op, affine.For)]
    assert assert_alike(before, after) > 3


def test_counters_name_their_loops_and_places_stay():
    text = (
        HEAD
        + """{
      affine.for %j = 3 to %n step 2 {
        "test.use"(%j) : (index) -> ()
      } {tag} loc("a":1:2)
      return }"""
    )
    before = parsed(text)
    (old,) = [op for op in walk(before) if isinstance(op, affine.For)]
    (new,) = [op for op in walk(affine_loop_normalize(before)) if isinstance(op, affine.For)]
    assert new.iv is old.iv
    assert new.attributes == old.attributes
    assert new.location == old.location is not None
    assert new.body[0].location == old.location  # the affine.apply
