"""What `affdsl opt` does not wait for."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
TEXT = """
func.func @f(%A: memref<100xf32>) {
  affine.for %i = 2 to 100 {
    %a = affine.load %A[%i - 2] : memref<100xf32>
    affine.store %a, %A[%i] : memref<100xf32>
  }
  return
}
"""
RUN = """
import sys
from affdsl.cli import main
assert main(sys.argv[1:]) == 0
print(*sys.modules)
"""


FLOATS = TEXT.replace("%a, ", "%s, ").replace(
    "affine.store",
    """%c = arith.constant 1.0 : f32
    %b = arith.addf %c, %c : f32
    %s = arith.mulf %a, %b : f32
    affine.store""",
)
HALVES = TEXT.replace("%i - 2", "%i floordiv 2")


def modules_after(*arguments, text=TEXT):
    """What has been imported when a command is done."""
    done = subprocess.run(
        [sys.executable, "-c", RUN, "opt", "-o", os.devnull, *arguments],
        cwd=ROOT, input=text, capture_output=True, check=True, text=True,
    )  # fmt: skip
    return set(done.stdout.split())


def test_a_text_is_read_and_printed_without_foreign_libraries():
    foreign = {"numpy", "islpy", "networkx", "subprocess", "ctypes", "affdsl.codegen"}
    slow = {"ast", "dataclasses", "difflib", "inspect", "json", "pathlib", "lazy_loader"}
    assert not modules_after() & {*foreign, *slow}


@pytest.mark.parametrize(
    "row", ["canonicalize", "cse", "affine-loop-fusion", "affine-super-vectorize=virtual-vector-size=8", "lower-affine"]
)
def test_no_pass_waits_for_numpy_or_networkx_unless_it_computes_with_floats(row):
    assert not modules_after(f"--{row}") & {"numpy", "networkx"}
    assert ("numpy" in modules_after(f"--{row}", text=FLOATS)) == (row == "canonicalize")


def test_a_pass_imports_what_it_needs_and_no_other_pass():
    loaded = modules_after("--test-memref-dependence-check")
    assert "affdsl.passes.mlir_opt.memref_dependence_check" in loaded
    others = {"affdsl.passes.cleanup.canonicalize", "affdsl.passes.mlir_opt.memref_bound_check"}
    assert not loaded & {"numpy", "networkx", "affdsl.codegen", *others}
    loaded = modules_after("--strip-debuginfo")
    assert "affdsl.passes.cleanup.strip_debuginfo" in loaded
    assert not loaded & {"islpy", "affdsl.passes.cleanup.canonicalize", "affdsl.passes.cleanup.cse"}


def test_isl_is_imported_where_a_question_needs_it():
    check = "--test-memref-dependence-check"
    assert "islpy" in modules_after(check, text=HALVES)
    assert "islpy" not in modules_after(check)
