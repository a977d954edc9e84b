"""affine-loop-normalize: next to mlir-opt's, with its option, and run before and after."""

import functools

import pytest

from affdsl.ir.dialects import affine
from affdsl.ir.traverse import walk
from passes.mlir_opt.affine_loop_normalize import affine_loop_normalize
from tests.fuzz.check import check_seeds, pipelines
from tests.oracles import mlir_opt
from tests.passes.compare import UNKNOWN, assert_alike, both, parsed, shown

HEAD = "func.func @f(%i: index, %n: index, %A: memref<40x40xf32>, %x: f32)"

PROGRAMS = {
    "constant bounds": """{
        affine.for %j = 3 to 17 step 4 { affine.store %x, %A[%j, 0] : memref<40x40xf32> } {tag}
        affine.for %j = 0 to 7 step 3 { affine.store %x, %A[%j, 1] : memref<40x40xf32> }
        affine.for %j = 6 to 5 step 8 { affine.store %x, %A[%j, 2] : memref<40x40xf32> }
        return }""",
    "bounds known at run time": """{
        affine.for %j = %i to %n { affine.store %x, %A[%j, 0] : memref<40x40xf32> }
        affine.for %j = %i to %n step 5 { affine.store %x, %A[%j, 1] : memref<40x40xf32> }
        return }""",
    "triangles": """{
        affine.for %j = 1 to 13 step 2 {
          affine.for %k = affine_map<(d0) -> (d0 + 2)>(%j) to %n step 3 {
            affine.store %x, %A[%j, %k] : memref<40x40xf32>
          }
        }
        return }""",
    "minima and maxima": """{
        affine.for %j = 2 to min affine_map<()[s0, s1] -> (s0, s1 * 2, 8)>()[%n, %i] step 2 {
          affine.store %x, %A[%j, 0] : memref<40x40xf32>
        }
        affine.for %j = max affine_map<()[s0] -> (s0, 3)>()[%i] to 12 step 2 {
          affine.store %x, %A[%j, 1] : memref<40x40xf32>
        }
        return }""",
    "nothing to do": """{
        affine.for %j = 0 to %n { affine.store %x, %A[%j, 0] : memref<40x40xf32> }
        affine.parallel (%j) = (0) to (%n) { affine.store %x, %A[%j, 1] : memref<40x40xf32> }
        return }""",
    "carried values": """{
        %r:2 = affine.for %j = 1 to 20 step 6 iter_args(%p = %x, %q = %i) -> (f32, index) {
          affine.store %p, %A[%j, 0] : memref<40x40xf32>
          %v = affine.load %A[%j + 1, 2] : memref<40x40xf32>
          affine.yield %v, %j : f32, index
        }
        affine.store %r#0, %A[39, 39] : memref<40x40xf32>
        memref.store %x, %A[%r#1, %r#1] : memref<40x40xf32>
        return }""",
    "bands": """{
        affine.parallel (%j, %k) = (1, 4) to (10, 12) step (2, 1) { affine.store %x, %A[%j, %k] : memref<40x40xf32> }
        affine.parallel (%j, %k) = (%i, 2) to (min(%n, 10), 12) step (2, 3) {
          affine.store %x, %A[%j, %k + 20] : memref<40x40xf32>
        }
        return }""",
}  # fmt: skip


@functools.cache
def normalized(option):
    texts, clean = [HEAD + body for body in PROGRAMS.values()], ["--canonicalize", "--cse"]
    made = [affine_loop_normalize(parsed(text), promote_single_iter=option == "true") for text in texts]
    passes = [f"--affine-loop-normalize=promote-single-iter={option}", *clean]
    return dict(zip(PROGRAMS, both(made, clean, texts, passes), strict=True))


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("option", ["false", "true"])
def test_the_same_as_mlir_opt(name, option):
    ours, theirs = normalized(option)[name]
    assert ours == theirs


@pytest.mark.parametrize("name", ["constant bounds", "triangles", "nothing to do"])
def test_the_same_as_mlir_opt_also_before_it_is_cleaned_up(name):
    text = HEAD + PROGRAMS[name]
    assert shown(affine_loop_normalize(parsed(text))) == mlir_opt(text, UNKNOWN, "--affine-loop-normalize")


def test_counters_that_stay_are_not_computed_again():
    text = (
        HEAD
        + """{
      affine.parallel (%j, %k) = (0, 4) to (10, 12) { affine.store %x, %A[%j, %k] : memref<40x40xf32> }
      return }"""
    )
    assert mlir_opt(text, "--affine-loop-normalize").count("affine.apply") == 2
    assert shown(affine_loop_normalize(parsed(text))).count("affine.apply") == 1


@pytest.mark.parametrize("promote", [False, True])
def test_programs_do_the_same(promote):
    meant = 0
    for body in PROGRAMS.values():
        before = parsed(HEAD + body)
        meant += assert_alike(before, affine_loop_normalize(before, promote_single_iter=promote))
    assert meant > 50


def test_random_programs_do_the_same():
    report = check_seeds(
        range(400, 425), pipelines(["affine-loop-normalize{promote-single-iter=true}"]), ["interpreter"]
    )
    assert not report.failures
    assert sum(report.changed.values()) > 10


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
