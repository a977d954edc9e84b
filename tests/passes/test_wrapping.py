"""Arithmetic on indices wraps; where it may do so, no pass takes it for that of exact numbers."""

import numpy as np
import pytest

from affdsl.ir.interpreter import run
from affdsl.mlir.readers import parse
from affdsl.passes.analysis.dependence import Dependences
from affdsl.passes.pipeline.language import run_pipeline
from affdsl.passes.validation import validate

HEAD = """func.func @f(%A: memref<8xi32>, %B: memref<8xi32>, %x: i32, %y: i32) {
  %big = arith.constant 4611686018427387904 : index
  %most = arith.constant 9223372036854775807 : index
  %c4 = arith.constant 4 : index
  affine.for %i = 2 to 8 {
"""
ZERO = "%a = arith.muli %i, %big : index %z = arith.muli %a, %c4 : index "
TWO_LESS = "%a = arith.addi %i, %most : index %z = arith.addi %a, %most : index "
OVERWRITE = """affine.store %x, %A[{0}] : memref<8xi32>
    memref.store %y, %A[%z] : memref<8xi32>
    %v = affine.load %A[{0}] : memref<8xi32>
    affine.store %v, %B[%i] : memref<8xi32> }} return }}"""
SAME = "%v = affine.load %B[%i] : memref<8xi32> memref.store %v, %A[%z] : memref<8xi32> } return }"
PASSES = (
    "affine-scalrep", "affine-data-copy-generate", "affine-parallelize", "affine-loop-invariant-code-motion",
    "affine-loop-unroll,affine-scalrep", "affine-raise-from-memref,affine-scalrep", "affine-loop-unroll-jam",
)  # fmt: skip


@pytest.mark.parametrize("name", PASSES)
@pytest.mark.parametrize(
    "body", [ZERO + OVERWRITE.format(0), TWO_LESS + OVERWRITE.format("%i - 2"), ZERO + SAME], ids=["0", "i - 2", "loop"]
)
def test_no_pass_takes_wrapped_indices_for_large_ones(body, name):
    before = parse(HEAD + body)
    after = run_pipeline(before, f"builtin.module(func.func({name}))")
    parse(str(after))
    for order in ("forward", "reverse"):
        left = []
        for module in (before, after):
            a, b = np.arange(8, dtype=np.int32), np.arange(10, 18, dtype=np.int32)
            run(module.functions[0], a, b, 101, 202, module=module, order=order)
            left.append((a.tolist(), b.tolist()))
        assert left[0] == left[1]
    assert validate(before, after).failure is None


def test_small_arithmetic_is_still_followed():
    text = HEAD + "%z = arith.muli %i, %c4 : index memref.store %x, %A[%z] : memref<8xi32> } return }"
    dependences = Dependences(parse(text).functions[0])
    assert not list(dependences.all())
    wrong = parse(HEAD + ZERO + OVERWRITE.format(0))
    right = parse(str(wrong).replace("%v, %B", "%x, %B"))
    assert validate(wrong, right).failure is not None
