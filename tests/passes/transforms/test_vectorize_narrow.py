"""Sums of products of narrow integers: neighbouring lanes go to one accumulator, and the sum is the same."""

import itertools

import numpy as np
import pytest

from affdsl.ir.dialects import vector
from affdsl.ir.traverse import walk
from affdsl.ir.verifier import verify
from affdsl.mlir.readers import parse
from affdsl.mlir.writers import print_op
from affdsl.passes.lowering.split_vectors import split_vectors
from tests.effort import by_turns, some
from tests.harness.judges import alike
from tests.passes.transforms.lanes import wide
from tests.three_ways import agree

SUM = """func.func @f(%A: memref<?xiB>, %B: memref<?xiB>, %r: memref<2xi32>, %n: index) {
  %x = affine.load %r[0] : memref<2xi32>
  %s = affine.for %i = 0 to %n iter_args(%t = %x) -> (i32) {
    %a = affine.load %A[%i] : memref<?xiB>
    %b = affine.load %B[%i] : memref<?xiB>
    %c = arith.LEFT %a : iB to i32
    %d = arith.RIGHT %b : iB to i32
    %p = arith.muli %c, %d : i32
    %u = arith.addi %p, %t : i32
    affine.yield %u : i32
  }
  affine.store %s, %r[1] : memref<2xi32>
  return
}"""


def program(bits, left="extsi", right="extsi"):
    text = SUM.replace("iB", f"i{bits}").replace("LEFT", left).replace("RIGHT", right)
    return parse(text)


def given(bits, n):
    random, full = np.random.default_rng(n), np.iinfo(f"i{bits // 8}")
    arrays = [random.integers(full.min, full.max, n, full.dtype, endpoint=True) for _ in "AB"]
    for array in arrays:
        array[: n // 3] = full.min  # the largest products there are
    return [*arrays, np.array([7 - 2**31, 0], np.int32), n]


@pytest.mark.parametrize(
    ("bits", "left", "right"),
    [*itertools.product((8, 16), ("extsi", "extui"), ("extsi", "extui"))],
)
def test_the_sum_is_the_same(bits, left, right):
    module = program(bits, left, right)
    for width, tail in by_turns((8, 16, 64), ("scalar", "masked") if left == right else ("masked", "scalar")):
        found = wide(module, width, tail)
        is_narrow = width // (32 // bits) >= 4
        assert any(isinstance(op, vector.Contract) for op in walk(found)) == is_narrow
        for n in (0, 1, 7, 16, 40, 65):
            for shown in (found, split_vectors(found, 128), split_vectors(found, 512)):
                verify(shown)
                assert alike(given(bits, n), module.functions[0], shown.functions[0])


@pytest.mark.parametrize(("bits", "sign"), some([(8, "extui"), (16, "extsi"), (8, "extsi"), (16, "extui")], 2))
def test_it_runs_in_c_and_lowered(bits, sign, tmp_path):
    for width, tail in ((16, "masked"), (64, "scalar")):
        found = wide(program(bits, sign, sign), width, tail)
        agree(print_op(found), tmp_path / f"{width}", *given(bits, 77))
        agree(print_op(split_vectors(found, 256)), tmp_path / f"{width}s", *given(bits, 77), lowered=False)


@pytest.mark.parametrize(
    "change",
    [
        ("affine.yield %u : i32", "affine.store %u, %r[1] : memref<2xi32>\naffine.yield %u : i32"),
        ("affine.yield %u : i32", "affine.store %p, %r[1] : memref<2xi32>\naffine.yield %u : i32"),
        ("arith.muli", "arith.addi"),
    ],
)
def test_what_is_read_elsewhere_stays_as_wide_as_it_is(change):
    text = SUM.replace("iB", "i8").replace("LEFT", "extsi").replace("RIGHT", "extsi").replace(*change)
    module = parse(text)
    found = wide(module, 16, "scalar")
    assert not any(isinstance(op, vector.Contract) for op in walk(found))
    assert alike(given(8, 37), module.functions[0], found.functions[0])
