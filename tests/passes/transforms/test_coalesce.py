"""affine-loop-coalescing and coalesce: next to mlir-opt's, over all small sizes."""

import itertools

import numpy as np
import pytest

from affdsl.ir.dialects import affine, memref
from affdsl.ir.interpreter import run
from affdsl.ir.traverse import walk
from affdsl.ir.verifier import verify
from affdsl.mlir.readers import parse
from affdsl.passes.legality.refusal import IllegalTransform
from affdsl.passes.mlir_opt.affine_loop_coalescing import affine_loop_coalescing
from affdsl.passes.transforms.coalesce import coalesce
from tests.harness.judges import alike
from tests.harness.reading import by_name, function, loops
from tests.oracles import mlir_opt
from tests.passes.compare import differences, parsed, shown
from tests.passes.program_files import text

HEAD = "func.func @f(%m: index, %n: index, %A: memref<40x40xf32>, %x: f32)"
CLEAN = ("--canonicalize", "--cse")


def test_an_inner_size_is_not_taken_to_be_positive():
    sizes = text("affine-loop-coalescing", "sizes")
    theirs = mlir_opt(sizes, "--affine-loop-coalescing", *CLEAN)
    assert differences(theirs, shown(affine_loop_coalescing(parsed(sizes)), *CLEAN)) == [
        "-#map = affine_map<()[s0, s1] -> (s0 * s1)>",
        "+#map = affine_map<()[s0] -> (0, s0)>",
        "+#map1 = affine_map<()[s0, s1] -> (s0 * s1)>",
        "-affine.for %arg4 = 0 to #map()[%arg1, %arg0] {",
        "-affine.store %arg3, %arg2[%arg4 floordiv symbol(%arg1), %arg4 mod symbol(%arg1)] : memref<40x40xf32>",
        "+%0 = affine.max #map()[%arg1]",
        "+affine.for %arg4 = 0 to #map1()[%arg0, %0] {",
        "+affine.store %arg3, %arg2[%arg4 floordiv symbol(%0), %arg4 mod symbol(%0)] : memref<40x40xf32>",
    ]


def test_triangles_are_taken_apart():
    before = parsed(text("affine-loop-coalescing", "triangles"))
    after = affine_loop_coalescing(before)
    assert [loop.iv.hint for loop in loops(after.functions[0])] == ["h", "i_j", "h_i", "j"]


SQUARE = """{
    affine.for %i = 0 to %n { affine.for %j = 0 to %n { affine.store %x, %A[%i, %j] : memref<40x40xf32> } }
    return }"""
WHERE_IT_IS_POSITIVE = """{
    affine.if affine_set<()[s0] : (s0 - 1 >= 0)>()[%n] {
      affine.for %i = 0 to %n { affine.for %j = 0 to %n { affine.store %x, %A[%i, %j] : memref<40x40xf32> } }
    }
    return }"""


@pytest.mark.parametrize(("body", "natural"), [(SQUARE, 1), (WHERE_IT_IS_POSITIVE, 0)])
def test_two_sizes_that_are_negative_are_no_iterations(body, natural):
    before = parsed(HEAD + body)
    after = affine_loop_coalescing(before)
    assert len(loops(after.functions[0])) == 1
    assert shown(after).count("affine.max") == natural
    for n in range(-3, 4):
        wanted, found = np.zeros((40, 40), np.float32), np.zeros((40, 40), np.float32)
        for module, array in ((before, wanted), (after, found)):
            run(module.functions[0], 0, n, array, np.float32(7))
        assert wanted.any() == (n > 0)
        assert np.array_equal(wanted, found), n


ANY = """func.func @f(%a: index, %b: index, %c: index, %d: index, %x: i64) -> i64 {{
  %r = affine.for %i = %a to %b step {step} iter_args(%p = %x) -> i64 {{
    %s = affine.for %j = {lower} to {upper} step {inner} iter_args(%q = %p) -> i64 {{
      %t = arith.constant 31 : i64
      %u = arith.muli %q, %t : i64
      %k = affine.apply affine_map<(d0, d1) -> (d0 * 7 + d1)>(%i, %j)
      %l = arith.index_cast %k : index to i64
      %v = arith.addi %u, %l : i64
      affine.yield %v : i64
    }}
    affine.yield %s : i64
  }}
  return %r : i64
}}"""


BOUNDS = {
    ("%c", "%d"): lambda c, d: c < d,
    ("-1", "3"): lambda c, d: True,
    ("2", "min affine_map<()[s0, s1] -> (s0, s1 + 1)>()[%c, %d]"): lambda c, d: min(c, d + 1) > 2,
    ("2", "1"): lambda c, d: False,
}
"""Bounds of an inner loop, and whether it runs."""


@pytest.mark.parametrize(("step", "inner"), [(1, 1), (2, 3), (3, 2)])
@pytest.mark.parametrize("bounds", BOUNDS)
def test_all_small_bounds(bounds, step, inner):
    lower, upper = bounds
    before = function(ANY.format(lower=lower, upper=upper, step=step, inner=inner))
    after = coalesce(before, [by_name(before, "i"), by_name(before, "j")])
    verify(after)
    assert len(loops(after)) == 1
    for a, b, c, d in itertools.product(range(-1, 4), repeat=4):
        (wanted,), (found,) = run(before, a, b, c, d, np.int64(3)), run(after, a, b, c, d, np.int64(3))
        assert wanted == found, (a, b, c, d)
        assert (wanted != 3) == (a < b and BOUNDS[bounds](c, d))


def test_names_and_places_stay():
    func = function("""func.func @f() {
      affine.for %i = 0 to 4 {
        affine.for %j = 0 to 5 {
          "test.use"(%j, %i) : (index, index) -> ()
        } loc("a":3:4)
      } {tag} loc("a":1:2)
      return
    }""")
    outer, inner = loops(func)
    (new,) = loops(coalesce(func, [outer.iv, inner.iv]))
    assert (new.iv.hint, new.location, new.attributes) == ("i_j", outer.location, outer.attributes)
    assert [value for op in new.body[:2] for value in op.defines()] == [inner.iv, outer.iv]


REFUSED = {
    "one loop": ("i", r"cannot coalesce loops %i\n    it takes two loops at least"),
    "a triangle": ("ij", r"cannot coalesce loops %i, %j\n    the bounds of loop %j depend on loop %i"),
    "not nested": ("ik", "loop %k is not all that loop %i does"),
    "a size that varies": ("lm", "how often loop %m runs depends on %k, which is no symbol"),
    "captured": ("pq", "%a, which loop %p carries, is read inside of loop %q, where it stays the same"),
    "not handed on": ("rs", "loop %s does not carry on all that loop %r carries, in the same order"),
    "several lower bounds": ("tu", "loop %u begins at the largest of several lower bounds"),
    "too many": ("vw", "the number of all iterations does not fit into 64 bits"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refusals(name):
    func = function("""func.func @f(%n: index, %y: index, %A: memref<?xf32>, %x: f32, %z: i64) {
      affine.for %i = 0 to %n {
        affine.for %j = 0 to affine_map<(d0) -> (d0)>(%i) { affine.store %x, %A[%j] : memref<?xf32> }
      }
      affine.for %k = 0 to %n {
        affine.for %l = 0 to 9 {
          affine.for %m = 0 to affine_map<(d0) -> (d0)>(%k) { affine.store %x, %A[%m] : memref<?xf32> }
        }
        affine.store %x, %A[%k] : memref<?xf32>
      }
      %0 = affine.for %p = 0 to 3 iter_args(%a = %z) -> i64 {
        %1 = affine.for %q = 0 to 3 iter_args(%b = %a) -> i64 {
          %c = arith.addi %a, %b : i64
          affine.yield %c : i64
        }
        affine.yield %1 : i64
      }
      %2 = affine.for %r = 0 to 3 iter_args(%a = %z) -> i64 {
        %3 = affine.for %s = 0 to 3 iter_args(%b = %0) -> i64 {
          %c = arith.addi %b, %b : i64
          affine.yield %c : i64
        }
        affine.yield %3 : i64
      }
      affine.for %t = 0 to 4 {
        affine.for %u = max affine_map<()[s0, s1] -> (s0, s1)>()[%n, %y] to 9 {
          affine.store %x, %A[%u] : memref<?xf32>
        }
      }
      affine.for %v = 0 to 4611686018427387904 {
        affine.for %w = 0 to 4 { affine.store %x, %A[%w] : memref<?xf32> }
      }
      return
    }""")
    letters, message = REFUSED[name]
    with pytest.raises(IllegalTransform, match=message):
        coalesce(func, [by_name(func, letter) for letter in letters])


def test_what_is_refused_stays():
    text = """func.func @f(%n: index, %A: memref<?xf32>, %x: f32) {
      affine.for %v = 0 to 4611686018427387904 {
        affine.for %w = 0 to 4 { affine.store %x, %A[%w] : memref<?xf32> }
      }
      return
    }"""
    before = parsed(text)
    assert affine_loop_coalescing(before) is before


ROWS = """func.func @f(%A: memref<?x2x3xf32>, %B: memref<?x2x3xf32>, %C: memref<?x4xf32>, %n: index, %x: f32) {{
  affine.for %i = 1 to %n {{
    affine.for %j = 0 to 2 {{
      affine.for %k = 0 to 3 {{
        %a = affine.load %A[{load}] : memref<?x2x3xf32>
        %c = arith.cmpf ogt, %a, %x : f32
        scf.if %c {{
          affine.store %a, %B[%i, %j, %k] : memref<?x2x3xf32>
        }}
        {more}
      }}
    }}
  }}
  return
}}"""


def in_one(load="%i, %j, %k", more=""):
    """The nest, and it as one loop."""
    function = parse(ROWS.format(load=load, more=more)).functions[0]
    ivs = [op.iv for op in walk(function) if isinstance(op, affine.For)]
    made = coalesce(function, ivs)
    verify(made)
    return function, made


def test_whole_rows_are_one_dimension():
    function, made = in_one()
    assert not any(isinstance(op, affine.Apply) for op in walk(made))
    assert sum(isinstance(op, memref.CollapseShape) for op in walk(made)) == 2
    for n in (0, 1, 2, 5):
        a = np.random.default_rng(n).normal(size=(n, 2, 3)).astype("f4")
        assert alike([a, np.zeros_like(a), np.zeros((n, 4), "f4"), n, np.float32(0.2)], function, made)


@pytest.mark.parametrize(
    ("load", "more"),
    [
        ("%i, %j, %k mod 2", ""),
        ("%i - 1, %j, %k", ""),
        ("%i, 0, %k", ""),
        ("%i, %j, %k", "affine.store %x, %C[%i, %k] : memref<?x4xf32>"),
        ("%i, %j, %k", "%v = arith.index_cast %k : index to i64"),
    ],
)
def test_what_is_no_whole_row_keeps_its_dimensions(load, more):
    _, made = in_one(load, more)
    assert not any(isinstance(op, memref.CollapseShape) for op in walk(made))
