"""Sums of products of narrow integers: neighbouring lanes go to one accumulator, and the sum is the same."""

import itertools

import numpy as np
import pytest

from affdsl.ir.dialects import affine, vector
from affdsl.ir.interpreter import run
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


LONG = """func.func @f(%A: memref<?xiB>, %B: memref<?xiB>, %r: memref<2xi64>, %n: index) {
  %x = affine.load %r[0] : memref<2xi64>
  %s = affine.for %i = 0 to %n iter_args(%t = %x) -> (i64) {
    %a = affine.load %A[%i] : memref<?xiB>
    %b = affine.load %B[%i] : memref<?xiB>
    TERM
    %u = arith.addi %t, %p : i64
    affine.yield %u : i64
  }
  affine.store %s, %r[1] : memref<2xi64>
  return
}"""
TERMS = {
    "number": "%p = arith.LEFT %a : iB to i64",
    "in two steps": "%c = arith.LEFT %a : iB to i32\n%p = arith.extsi %c : i32 to i64",
    "product": """%c = arith.LEFT %a : iB to i64
    %d = arith.LEFT %b : iB to i64
    %p = arith.muli %c, %d : i64""",
    "product of 32 bits": """%c = arith.LEFT %a : iB to i32
    %d = arith.LEFT %b : iB to i32
    %q = arith.muli %c, %d : i32
    %p = arith.extsi %q : i32 to i64""",
    "magnitude": """%c = arith.LEFT %a : iB to i32
    %d = arith.LEFT %b : iB to i32
    %e = arith.subi %c, %d : i32
    %q = math.absi %e : i32
    %p = arith.extsi %q : i32 to i64""",
}


@pytest.mark.parametrize(("term", "bits", "sign"), [*itertools.product(TERMS, (8, 16), ("extsi", "extui"))])
def test_sums_of_64_bits_are_the_same(term, bits, sign, tmp_path):
    """With the largest terms there are: sums of 32 bits on the way would not hold one more."""
    module = parse(LONG.replace("TERM", TERMS[term]).replace("iB", f"i{bits}").replace("LEFT", sign))
    short = {"product": (bits, sign) != (16, "extui"), "magnitude": bits == 8}
    is_taken = short.get(term.partition(" of ")[0], True)
    for width, tail in by_turns((16, 64, 128), ("scalar", "masked") if bits == 8 else ("masked", "scalar")):
        found = wide(module, width, tail)
        assert any(isinstance(op, vector.Contract) for op in walk(found)) == is_taken
        for n in (0, 1, 7, 40, 129):
            wanted = long_given(bits, n)
            run(module.functions[0], *wanted)
            for shown in (found, split_vectors(found, 512)):
                verify(shown)
                arrays = long_given(bits, n)
                run(shown.functions[0], *arrays)
                assert arrays[2].tolist() == wanted[2].tolist()
    agree(print_op(split_vectors(found, 512)), tmp_path / "c", *long_given(bits, 150), lowered=False)


def long_given(bits, n):
    """Products of the least numbers first, then of the greatest."""
    *arrays, _, n = given(bits, n)
    for array in arrays:
        array[n // 3 : n // 2] = np.iinfo(array.dtype).max
    return [*arrays, np.array([7 - 2**63, 0], np.int64), n]


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


SEVERAL = """func.func @f(%A: memref<?xi8>, %B: memref<?xi64>, %r: memref<3xi64>, %n: index) {
  %x = affine.load %r[0] : memref<3xi64>
  %s:3 = affine.for %i = 0 to %n iter_args(%t = %x, %u = %x, %v = %x) -> (i64, i64, i64) {
    %a = affine.load %A[%i] : memref<?xi8>
    %c = arith.extui %a : i8 to i64
    %q = arith.muli %c, %c : i64
    ALSO
    %t2 = arith.addi %t, %c : i64
    %u2 = arith.addi %q, %u : i64
    %v2 = arith.addi %v, %c : i64
    affine.yield %t2, %u2, %v2 : i64, i64, i64
  }
  affine.store %s#0, %r[0] : memref<3xi64>
  affine.store %s#1, %r[1] : memref<3xi64>
  affine.store %s#2, %r[2] : memref<3xi64>
  return
}"""


@pytest.mark.parametrize(
    ("also", "narrow"), [("", 3), ("affine.store %c, %B[%i] : memref<?xi64>", 1), ("%z = arith.shli %q, %c : i64", 0)]
)
def test_several_sums_may_add_the_same_numbers(also, narrow, tmp_path):
    module = parse(SEVERAL.replace("ALSO", also))
    for width, tail in ((64, "masked"), (16, "scalar")):
        found = wide(module, width, tail)
        loop = next(op for op in walk(found) if isinstance(op, affine.For))
        assert sum(isinstance(op, vector.Contract) for op in loop.body) == narrow
        for n in (0, 1, 63, 150):
            numbers = np.random.default_rng(n).integers(-128, 127, n, np.int8, endpoint=True)
            arrays = [numbers, np.zeros(n, np.int64), np.array([7 - 2**63, 0, 0]), n]
            assert alike(arrays, module.functions[0], found.functions[0])
            assert alike(arrays, module.functions[0], split_vectors(found, 512).functions[0])
    agree(print_op(split_vectors(found, 512)), tmp_path / "c", *arrays, lowered=False)
