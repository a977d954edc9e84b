"""Sums that count: lanes of a mask are counted at once, and the sum is the same."""

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
from affdsl.passes.transforms.vectorize import vectorize
from tests.harness.judges import alike
from tests.passes.transforms.lanes import wide
from tests.three_ways import agree

LOOP = """func.func @f(%A: memref<?xi8>, %r: memref<2xi64>, %n: index) {{
  %x = affine.load %r[0] : memref<2xi64>
  %k = arith.constant 2 : i8
  %s = affine.for %i = 0 to %n iter_args(%t = %x) -> (i64) {{
    %a = affine.load %A[%i] : memref<?xi8>
    %c = arith.cmpi slt, %a, %k : i8
    %one = arith.constant 1 : i64
    %none = arith.constant 0 : i64
    {body}
  }}
  affine.store %s, %r[1] : memref<2xi64>
  return
}}"""
COUNTED = {
    "chosen": """%p = arith.select %c, %one, %none : i64
    %u = arith.addi %t, %p : i64
    affine.yield %u : i64""",
    "chosen the other way": """%p = arith.select %c, %none, %one : i64
    %u = arith.addi %p, %t : i64
    affine.yield %u : i64""",
    "extended": """%p = arith.extui %c : i1 to i64
    %u = arith.addi %t, %p : i64
    affine.yield %u : i64""",
    "branches": """%d = arith.cmpi sgt, %a, %k : i8
    %u = scf.if %d -> (i64) {
      scf.yield %t : i64
    } else {
      %v = scf.if %c -> (i64) {
        %w = arith.addi %t, %one : i64
        scf.yield %w : i64
      } else {
        scf.yield %t : i64
      }
      scf.yield %v : i64
    }
    affine.yield %u : i64""",
    "both ways": """%d = arith.cmpi sgt, %a, %k : i8
    %e = arith.xori %c, %d : i1
    %v = arith.addi %t, %one : i64
    %u = arith.select %e, %v, %t : i64
    affine.yield %u : i64""",
}
TRUE = """func.func @f(%A: memref<?xi1>, %r: memref<2xi64>, %n: index) {
  %x = affine.load %r[0] : memref<2xi64>
  %s = affine.for %i = 0 to %n iter_args(%t = %x) -> (i64) {
    %c = affine.load %A[%i] : memref<?xi1>
    %p = arith.extui %c : i1 to i64
    %u = arith.addi %t, %p : i64
    affine.yield %u : i64
  }
  affine.store %s, %r[1] : memref<2xi64>
  return
}"""
OTHERS = {
    "other numbers": ("arith.constant 1 : i64", "arith.constant 3 : i64"),
    "what is read elsewhere": (
        "affine.yield %u : i64",
        "affine.store %u, %r[1] : memref<2xi64>\naffine.yield %u : i64",
    ),
}


def given(n):
    return [np.random.default_rng(n).integers(-4, 9, n, "i1"), np.array([2**63 - 5, 0]), n]


@pytest.mark.parametrize("name", COUNTED)
def test_the_sum_is_the_same_and_one_number(name):
    for width, tail in itertools.product((8, 64), ("scalar", "masked")):
        module = parse(LOOP.format(body=COUNTED[name]))
        found = wide(module, width, tail)
        assert f"vector<{width}xi64>" not in print_op(found)
        for n in (0, 1, 9, 64, 100):
            wanted = given(n)
            run(module.functions[0], *wanted)
            assert wanted[1][1] != 0 or n == 0
            for shown in (found, split_vectors(found, 128)):
                assert alike(given(n), module.functions[0], shown.functions[0])


def test_it_runs_in_c_and_lowered(tmp_path):
    found = wide(parse(LOOP.format(body=COUNTED["branches"])), 16, "masked")
    agree(print_op(found), tmp_path, *given(77))


@pytest.mark.parametrize("name", OTHERS)
def test_other_sums_are_made_as_they_were(name):
    module = parse(LOOP.format(body=COUNTED["chosen"]).replace(*OTHERS[name]))
    found = wide(module, 8)
    assert not any(isinstance(op, vector.Reduction) and op.source.type.element.width == 8 for op in walk(found))
    assert alike(given(37), module.functions[0], found.functions[0])


def test_a_count_beside_a_sum_goes_on_where_iterations_are_left_over():
    module = parse("""func.func @f(%A: memref<?xi8>, %r: memref<2xi64>, %n: index) {
      %x = affine.load %r[0] : memref<2xi64>
      %k = arith.constant 2 : i8
      %s:2 = affine.for %i = 0 to min affine_map<()[n] -> (n, n floordiv 2 + 9)>()[%n]
          iter_args(%t = %x, %m = %x) -> (i64, i64) {
        %a = affine.load %A[%i] : memref<?xi8>
        %c = arith.cmpi slt, %a, %k : i8
        %p = arith.extui %c : i1 to i64
        %u = arith.addi %t, %p : i64
        %b = arith.extsi %a : i8 to i64
        %v = arith.addi %m, %b : i64
        affine.yield %u, %v : i64, i64
      }
      affine.store %s#0, %r[0] : memref<2xi64>
      affine.store %s#1, %r[1] : memref<2xi64>
      return
    }""")
    (function,) = module.functions
    iv = next(op.iv for op in walk(function) if isinstance(op, affine.For))
    made = vectorize(function, iv, 8, tail="masked", module=module)
    verify(made)
    for n in (0, 5, 8, 17, 18, 19, 40):
        numbers = np.random.default_rng(n).integers(0, 5, n).astype(np.int8)
        found = np.array([7, 0], np.int64)
        run(made, numbers, found, n)
        seen = numbers[: n // 2 + 9]
        assert list(found) == [7 + np.count_nonzero(seen < 2), 7 + seen.sum(dtype=int)], f"n = {n}"


def test_truth_values_are_counted():
    f = parse(TRUE).functions[0]
    (loop,) = (op for op in walk(f) if isinstance(op, affine.For))
    made = vectorize(f, loop.iv, 8, tail="masked")
    assert [op.result.type.width for op in walk(made) if isinstance(op, vector.Reduction)] == [8, 8]
    for n in (0, 1, 8, 29):
        r = np.array([7, 0])
        run(made, np.random.default_rng(n).random(n) < 0.4, r, n)
        assert r[1] == 7 + np.count_nonzero(np.random.default_rng(n).random(n) < 0.4)
