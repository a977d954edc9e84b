"""affine-loop-unroll, unroll and unroll_full: next to mlir-opt's, and over all small bounds."""

from itertools import product

import pytest

from affdsl.errors import AffdslError
from affdsl.ir.dialects import affine
from affdsl.ir.traverse import walk
from affdsl.ir.verifier import verify
from affdsl.passes.legality.refusal import IllegalTransform
from affdsl.passes.mlir_opt.affine_loop_unroll import affine_loop_unroll
from affdsl.passes.pipeline.language import run_pipeline
from affdsl.passes.transforms.loops.pieces import MOST_OPERATIONS
from affdsl.passes.transforms.unroll import unroll, unroll_full
from tests.effort import by_turns
from tests.fuzz.check import pipelines
from tests.harness.reading import by_name, function, loops
from tests.oracles import mlir_opt
from tests.passes.compare import assert_alike, differences, parsed, shown
from tests.passes.program_files import program_file
from tests.passes.transforms.loops_before_and_after import (
    LOWERS,
    UPPERS,
    assert_alike_on_small_bounds,
    one_loop,
)

HEAD = "func.func @f(%i: index, %n: index, %A: memref<40xf32>, %x: f32)"


def test_where_the_size_is_not_known_only_the_tail_begins_elsewhere():
    text = f"""{HEAD} {{
      affine.for %j = %i to %n step 3 {{ affine.store %x, %A[%j] : memref<40xf32> }}
      return
    }}"""
    theirs = mlir_opt(text, "--pass-pipeline=builtin.module(func.func(affine-loop-unroll),canonicalize)")
    assert differences(theirs, shown(affine_loop_unroll(parsed(text)), "--canonicalize")) == [
        "+#map1 = affine_map<()[s0, s1] -> (s0, s0 + (((-s0 + s1) ceildiv 3) floordiv 4) * 12)>",
        "-affine.for %arg4 = #map()[%arg0, %arg1] to %arg1 step 3 {",
        "+affine.for %arg4 = max #map1()[%arg0, %arg1] to %arg1 step 3 {",
    ]


def test_a_size_that_is_certainly_large_enough_needs_no_maximum():
    func = function("""func.func @f(%A: memref<40xf32>, %x: f32) {
      affine.for %i = 0 to 9 {
        affine.for %j = 0 to affine_map<(d0) -> (d0 + 4)>(%i) { affine.store %x, %A[%j] : memref<40xf32> }
      }
      return
    }""")
    after = unroll(func, by_name(func, "j"), 4)
    (tail,) = [loop for loop in loops(after) if loop.iv.hint == "j_tail"]
    assert len(tail.lower) == 1


@pytest.mark.parametrize(
    ("bounds", "sizes"), by_turns([*product(LOWERS, UPPERS)], [(1, 2), (1, 4), (2, 2), (2, 3), (3, 3)])
)
def test_all_small_bounds(bounds, sizes):
    (lower, upper), (step, factor) = bounds, sizes
    before = one_loop(lower, upper, step)
    after = unroll(before, by_name(before, "i"), factor)
    assert any(loop.step == step * factor for loop in loops(after))
    assert assert_alike_on_small_bounds(before, after) > 5


@pytest.mark.parametrize("factor", [2, 3, 4, 5])
def test_several_upper_bounds_of_which_the_factor_divides_one(factor):
    before = one_loop("%a", f"min affine_map<()[s0, s1, s2] -> (s0 + {factor}, s1, s2)>()[%a, %c, %d]", 1)
    after = unroll(before, by_name(before, "i"), factor)
    assert len(loops(after)) == 3
    assert assert_alike_on_small_bounds(before, after) > 50


@pytest.mark.parametrize("step", [1, 2, 3])
@pytest.mark.parametrize("length", range(-2, 6))
def test_all_small_trip_counts_entirely(length, step):
    before = one_loop("%a", f"affine_map<()[s0] -> (s0 + {length})>()[%a]", step)
    after = unroll_full(before, by_name(before, "i"))
    assert not loops(after)
    assert (assert_alike_on_small_bounds(before, after) > 0) == (length > 0)


def test_the_largest_of_numbers_is_where_a_loop_begins():
    before = one_loop("max affine_map<() -> (1, 3)>()", "7", 2)
    after = unroll_full(before, by_name(before, "i"))
    assert not loops(after)
    assert assert_alike_on_small_bounds(before, after) == 1


def test_rotated_values_are_a_recurrence():
    text = """func.func @f(%z: i64, %o: i64) -> i64 {
      %r:2 = affine.for %i = 0 to 10 iter_args(%a = %z, %b = %o) -> (i64, i64) {
        %s = arith.addi %a, %b : i64
        affine.yield %b, %s : i64, i64
      }
      return %r#0 : i64
    }"""
    for pipeline in map(pipelines, zip(program_file("affine-loop-unroll").runs)):
        before = parsed(text)
        assert assert_alike(before, run_pipeline(before, pipeline[-1])) > 5


def test_results_of_inner_loops_are_copied_with_them():
    text = """func.func @f(%x: i64, %A: memref<4xi64>) {
      affine.for %i = 0 to 4 {
        %k = arith.index_cast %i : index to i64
        %r = affine.for %j = 0 to 3 iter_args(%a = %k) -> (i64) {
          %s = arith.muli %a, %x : i64
          affine.yield %s : i64
        }
        affine.store %r, %A[%i] : memref<4xi64>
      }
      return
    }"""
    before = parsed(text)
    after = affine_loop_unroll(before, unroll_factor=-1, unroll_full_threshold=4)
    assert not loops(after.functions[0])
    assert assert_alike(before, after) > 5


def test_names_and_places_stay():
    func = function("""func.func @f(%n: index) {
      affine.for %j = 0 to %n {
        "test.use"(%j) : (index) -> () loc("a":2:3)
      } {tag} loc("a":1:2)
      return
    }""")
    (old,) = loops(func)
    main, tail = loops(unroll(func, old.iv, 2))
    assert main.iv is old.iv
    assert (main.location, main.attributes) == (tail.location, tail.attributes) == (old.location, old.attributes)
    assert [op.location for op in main.body] == [old.body[0].location, old.location, old.body[0].location]
    assert tail.iv.hint == "j_tail"


def test_what_is_too_large_stays():
    text = f"""func.func @f(%A: memref<?xf32>, %x: f32) {{
      affine.for %i = 0 to {MOST_OPERATIONS + 1} {{ affine.store %x, %A[%i] : memref<?xf32> }}
      return
    }}"""
    before = parsed(text)
    assert affine_loop_unroll(before, unroll_factor=-1) is before
    with pytest.raises(IllegalTransform, match=f"that makes {MOST_OPERATIONS + 1} operations, of at most"):
        unroll_full(before.functions[0], by_name(before.functions[0], "i"))


@pytest.mark.parametrize("factor", [0, -2])
def test_factors_that_are_none(factor):
    with pytest.raises(AffdslError, match=f"'unroll-factor' should be greater than 0, .*; got {factor}"):
        affine_loop_unroll(parsed("func.func @f() { return }"), unroll_factor=factor)
    with pytest.raises(AffdslError, match="pass 'affine-loop-unroll' failed: 'unroll-factor'"):
        run_pipeline(
            parsed("func.func @f() { return }"),
            f"builtin.module(func.func(affine-loop-unroll{{unroll-factor={factor}}}))",
        )


REFUSED = {
    "a factor of 1": (lambda f: unroll(f, by_name(f, "k"), 1), "%k by 1\n    the factor must be at least 2"),
    "fewer iterations": (
        lambda f: unroll(f, by_name(f, "k"), 8),
        r"cannot unroll loop %k by 8\n    it runs at most 3 times\n    legal: unroll_full\(func, k\)",
    ),
    "no number": (
        lambda f: unroll_full(f, by_name(f, "j")),
        r"its trip count is max\(0, n\), not a number\n    legal: unroll\(func, j, 4\)",
    ),
    "several lower bounds": (
        lambda f: unroll_full(f, by_name(f, "m")),
        "it begins at the largest of several lower bounds, which is no affine expression",
    ),
    "no loop": (lambda f: unroll(f, f.args[0], 2), "@f has no affine.for over n; its loops are j, k, m"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_refusals(name):
    func = function("""func.func @f(%n: index, %l: index, %A: memref<?xf32>, %x: f32) {
      affine.for %j = 0 to %n { affine.store %x, %A[%j] : memref<?xf32> }
      affine.for %k = 0 to 3 { affine.store %x, %A[%k] : memref<?xf32> }
      affine.for %m = max affine_map<()[s0, s1] -> (s0, s1, s1 - 1)>()[%n, %l]
          to min affine_map<()[s0, s1] -> (s0, s1)>()[%n, %l] { affine.store %x, %A[%m] : memref<?xf32> }
      return
    }""")
    call, message = REFUSED[name]
    with pytest.raises(IllegalTransform, match=message):
        call(func)
    assert isinstance(func.body[0], affine.For)


def test_a_map_that_names_the_counter_without_need_is_written_anew():
    func = function("""func.func @f(%A: memref<8xf32>) {
      affine.for %i = 2 to 6 {
        %a = affine.load %A[%i - %i + 1] : memref<8xf32>
        affine.store %a, %A[3] : memref<8xf32>
      }
      return
    }""")
    i = by_name(func, "i")
    for made in (unroll_full(func, i), unroll(func, i, 2), unroll(func, i, 3)):
        verify(made)
    assert not any(i in op.mentions() for op in walk(unroll_full(func, i)))
