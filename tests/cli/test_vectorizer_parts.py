"""affine-super-vectorizer-test next to mlir-opt: what is said of slices, maps and shapes; slices against all paths."""

import pytest

from affdsl.ir.dialects.opaque import Opaque
from affdsl.ir.messages import op_name
from affdsl.ir.traverse import walk
from affdsl.mlir.readers import parse
from affdsl.passes.analysis.slices import backward, forward
from affdsl.passes.mlir_opt.affine_super_vectorizer_test import affine_super_vectorizer_test
from affdsl.passes.mlir_opt.options import OptionError
from tests.cli.tools import mlir_opt

SLICES = """\
func.func @diamond(%arg0: i32) -> i32 {
  %0 = "slicing-test-op"(%arg0) : (i32) -> i32
  %1 = "other"(%arg0, %0) : (i32, i32) -> i32
  %2 = "slicing-test-op"(%0, %1) : (i32, i32) -> i32
  %3:2 = "slicing-test-op"(%1, %0) : (i32, i32) -> (i32, i32)
  "slicing-test-op"(%arg0) : (i32) -> ()
  %4 = "other"(%3#1, %2) : (i32, i32) -> i32
  return %4 : i32
}
func.func @loops(%arg0: index, %arg1: memref<?xf32>) {
  %c3 = arith.constant 3 : index
  %0 = "slicing-test-op"(%c3) : (index) -> index
  affine.for %arg2 = 0 to %arg0 {
    %1 = affine.apply affine_map<(d0) -> (d0 + 3)>(%arg2)
    %2 = "other"(%arg2) ({
    ^bb0(%arg3: index):
      %4 = "slicing-test-op"(%arg3, %arg3) : (index, index) -> index
      "end"(%4) : (index) -> ()
    }) : (index) -> index
    %3 = "slicing-test-op"(%2, %1) : (index, index) -> index
  }
  return
}
func.func private @outside(i32)
"""
MAPS = """\
func.func @chain() {
  "test_affine_map"() {affine_map = affine_map<(d0, d1)[s0] -> (d0 * 6 + s0, d1 mod 5)>} : () -> ()
  "test_affine_map"() {affine_map = affine_map<(d0, d1)[s0, s1] -> (d0 floordiv 3 + s1, d1 + s0, d0 + d1)>} : () -> ()
  "test_affine_map"() {affine_map = affine_map<(d0, d1, d2) -> (d0 + d1 - d2, 7)>} : () -> ()
  return
}
func.func @none() { return }
"""
SHAPES = """\
func.func @shapes(%arg0: memref<16x16xf32>, %arg1: f32) -> vector<4x8xf32> {
  %0 = vector.broadcast %arg1 : f32 to vector<4x8xf32>
  %1 = vector.broadcast %arg1 : f32 to vector<3x8x8xf32>
  %2 = vector.broadcast %arg1 : f32 to vector<6x8xf32>
  %3 = vector.broadcast %arg1 : f32 to vector<8xf32>
  return %0 : vector<4x8xf32>
}
"""


def said(output):
    """What is said, without places, lines of the input and terminators that only mlir-opt keeps."""
    lines = [line.split("remark: ")[-1] for line in output.splitlines() if not line.startswith(("func.func", "^"))]
    text = [line.removeprefix("func.") for line in lines if line.strip() not in ("affine.yield", "scf.yield", "")]
    return [line for line in text if "note:" not in line]


@pytest.mark.parametrize(
    ("text", "option"),
    [
        (SLICES, "forward-slicing"),
        (SLICES, "backward-slicing"),
        (SLICES, "slicing"),
        (MAPS, "compose-maps"),
        (SHAPES, "vector-shape-ratio=4,4"),
    ],
)
def test_it_says_what_mlir_opt_says(cli, text, option):
    flags = (f"--affine-super-vectorizer-test={option}", "--allow-unregistered-dialect", "--mlir-print-local-scope")
    ours, theirs = cli("opt", "--numbered", *flags, text=text), mlir_opt(*flags, text=text)
    found = said(theirs.err)
    if "ratio" in option:  # of all that makes no vector it says that this is not done yet
        found = [line for line in found if line.startswith("matched")]
    assert found
    assert said(ours.err) == found


def test_slices_are_all_that_paths_of_values_reach():
    f = parse(SLICES).functions[0]
    ops = [op for op in walk(f) if op is not f]
    after = {a: [b for b in ops if set(a.defines()) & set(b.reads())] for a in ops}
    for op in ops:
        paths, reached = [op], set()
        for each in paths:
            new = [b for b in after[each] if b not in reached]
            reached.update(new)
            paths += new
        assert set(forward(f, op)) == reached
        assert all(op in forward(f, before) for before in backward(f, op))
        assert len(backward(f, op)) == sum(op in forward(f, other) for other in ops)


def test_what_an_operation_holds_may_need_more_than_its_operands():
    text = SLICES.replace('"slicing-test-op"(%arg3, %arg3)', '"slicing-test-op"(%arg3, %1)')
    loops = parse(text).functions[1]
    tested = next(op for op in walk(loops) if isinstance(op, Opaque) and len(op.operands) == 2)
    # mlir-opt takes operands alone: there, what "other" holds reads values that its slice has not.
    assert [op_name(op) for op in backward(loops, tested)] == ["affine.for", "affine.apply", "other"]


@pytest.mark.parametrize("ratio", [("x",), (4, 0)])
def test_a_ratio_is_a_shape(ratio):
    with pytest.raises(OptionError, match="option vector-shape-ratio takes sizes, got"):
        list(affine_super_vectorizer_test(parse(SHAPES), vector_shape_ratio=ratio))


def test_maps_that_do_not_fit_each_other_are_refused(cli):
    text = MAPS.replace("(d0, d1, d2) -> (d0 + d1 - d2, 7)", "(d0) -> (d0)")
    ours = cli("opt", "--affine-super-vectorizer-test=compose-maps", "--allow-unregistered-dialect", text=text)
    assert "affine_map<(d0) -> (d0)> takes 1 dims, but" in ours.err
    assert ours.status == 1
