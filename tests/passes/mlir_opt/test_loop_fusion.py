"""What is said of two loops that could be fused, next to mlir-opt; and all fusions that are legal, run."""

from __future__ import annotations

import re

import pytest

from affdsl.mlir.readers import parse
from affdsl.passes.mlir_opt.loop_fusion import loop_fusion, remarks_on_fusion
from tests.cli.tools import mlir_opt
from tests.passes.compare import assert_alike

DEEP = """\
func.func @deep(%A: memref<40x40xf32>, %B: memref<40x40xf32>, %x: f32) {
  affine.for %i = 0 to 30 { affine.for %j = 0 to 20 {
    affine.store %x, %A[%i, %j + 2] : memref<40x40xf32>
  } }
  affine.for %k = 3 to 20 { affine.for %l = 0 to 7 {
    %a = affine.load %A[%k - 1, %l + 4] : memref<40x40xf32>
    affine.store %a, %B[%l, %k] : memref<40x40xf32>
  } }
  affine.for %m = 0 to 7 { affine.for %n = 5 to 9 {
    %b = affine.load %B[%m, %n + 1] : memref<40x40xf32>
    affine.store %b, %A[%n + 30, %m] : memref<40x40xf32>
  } }
  return
}
"""
IN_A_LOOP = """\
func.func @in_a_loop(%A: memref<40x40xf32>, %B: memref<40xf32>, %x: f32) {
  affine.for %i = 0 to 30 {
    affine.for %j = 0 to 20 {
      affine.store %x, %A[%i, %j] : memref<40x40xf32>
    }
    affine.store %x, %B[3] : memref<40xf32>
    affine.for %k = 0 to 20 {
      %b = affine.load %B[%k] : memref<40xf32>
      affine.store %b, %A[%i, %k] : memref<40x40xf32>
    }
    affine.store %x, %A[%i, 17] : memref<40x40xf32>
    affine.for %l = 0 to 5 {
      %a = affine.load %A[%i, 19 - %l] : memref<40x40xf32>
      affine.store %a, %A[39, %l] : memref<40x40xf32>
    }
  }
  return
}
"""
SYMBOLIC = """\
func.func @symbolic(%A: memref<40xf32>, %B: memref<40xf32>, %n: index, %x: f32) {
  affine.for %i = 0 to %n { affine.store %x, %A[%i] : memref<40xf32> }
  affine.for %j = 2 to %n {
    %a = affine.load %A[%j - 2] : memref<40xf32>
    affine.store %a, %B[%j] : memref<40xf32>
  }
  affine.for %k = 0 to 9 step 3 {
    %b = affine.load %B[%k * 2] : memref<40xf32>
    affine.store %b, %A[%k + 20] : memref<40xf32>
  }
  return
}
"""


def remarks(text: str, option: str) -> list[str]:
    """What is said, and where."""
    found = remarks_on_fusion(parse(text), **{f"test_loop_fusion_{option}": True})
    return [f"{each.op.location.line}: {message}" for each in found for message in each.messages]


def theirs(text: str, option: str) -> list[str]:
    """What mlir-opt says, and where: each once, as it says some of it for each depth."""
    flag = f"--test-loop-fusion=test-loop-fusion-{option.replace('_', '-')}"
    said = mlir_opt(flag, "--mlir-print-op-on-diagnostic=false", "-", text=text).err
    return list(dict.fromkeys(f"{line}: {what}" for line, what in re.findall(r":(\d+):\d+: remark: (.*)", said)))


@pytest.mark.parametrize("option", ["dependence_check", "slice_computation"])
def test_remarks_are_those_of_mlir_opt(option: str) -> None:
    found = remarks(DEEP, option)
    assert found == theirs(DEEP, option)
    assert len(found) == {"dependence_check": 2, "slice_computation": 8}[option]


def test_loops_inside_of_a_loop_are_kept_apart_by_what_they_touch() -> None:
    """mlir-opt has one more pair: of %k and %l, since both touch %A, as what stands between them does."""
    found = remarks(IN_A_LOOP, "dependence_check")
    others = [line for line in theirs(IN_A_LOOP, "dependence_check") if line not in found]
    apart = "block-level dependence preventing fusion of loop nest {} into loop nest {} at depth 1"
    assert found == [f"3: {apart.format(0, 2)}", f"7: {apart.format(1, 2)}", f"12: {apart.format(2, 0)}",
                     f"12: {apart.format(2, 1)}"]  # fmt: skip
    assert others == []
    elsewhere = remarks(IN_A_LOOP.replace("17]", "7]"), "dependence_check")
    assert elsewhere == [found[0], found[2]]
    assert [line for line in theirs(IN_A_LOOP.replace("17]", "7]"), "dependence_check") if line not in elsewhere] == [
        found[1], found[3]
    ]  # fmt: skip


def test_slices_for_symbolic_sizes_and_steps_of_which_mlir_opt_has_none() -> None:
    found = remarks(SYMBOLIC, "slice_computation")
    assert theirs(SYMBOLIC, "slice_computation") == []
    backward, forward = "depth: 1 : insert point: (1, 0) loop bounds:", "depth: 1 : insert point: (1, 1) loop bounds:"
    assert found[:2] == [
        f"3: slice ( src loop: 0, dst loop: 1, {backward} [(d0) -> (d0 - 2), (d0) -> (d0 - 1)] )",
        f"2: Incorrect slice ( src loop: 1, dst loop: 0, {forward} [(d0) -> (d0 + 2), (d0) -> (d0 + 3)] )",
    ]
    touched = {(j, k) for j in range(2, 40) for k in range(0, 9, 3) if j == 2 * k or j - 2 == k + 20}
    for remark, needed in zip(found[2:], (touched, {(k, j) for j, k in touched}), strict=True):
        assert "Incorrect slice" in remark
        assert all(holds(remark, iteration, at) for iteration, at in needed)
        assert not holds(remark, 100, 3)


def holds(remark: str, iteration: int, at: int) -> bool:
    """Whether a slice of one loop has an iteration where the target is at another one."""
    lower, upper = (
        [eval(e.replace("floordiv", "//"), {"d0": at}) for e in side.split(", ")]  # noqa: S307 - our own text
        for side in re.findall(r"\(d0\) -> \((.*?)\)[,\]]", re.sub(r"d0 ceildiv (\d+)", r"-(-d0 floordiv \1)", remark))
    )
    return max(lower) <= iteration < min(upper)


@pytest.mark.parametrize("text", [DEEP, IN_A_LOOP, SYMBOLIC])
def test_all_fusions_that_are_legal_do_the_same(text: str) -> None:
    before = parse(text)
    made = loop_fusion(before, test_loop_fusion_utilities=True)
    assert made is not before
    assert assert_alike(before, made) >= 5
    assert loop_fusion(before) is before
