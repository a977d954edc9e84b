"""Divisions by what all iterations divide by become products."""

import numpy as np
import pytest

from affdsl.ir.interpreter import run
from affdsl.ir.traverse import walk
from affdsl.mlir.readers import parse
from affdsl.passes.legality.refusal import IllegalTransform
from affdsl.passes.transforms.reciprocal import reciprocal

DIVISION = """func.func @f(%A: memref<?xf32>, %x: f32, %n: index) {
  affine.for %i = 0 to %n {
    %three = arith.constant 3.0 : f32
    %a = affine.load %A[%i] : memref<?xf32>
    %p = arith.divf %a, %x : f32
    %q = arith.divf %p, %three : f32
    %r = arith.divf %q, %a : f32
    affine.store %r, %A[%i] : memref<?xf32>
  }
  return
}"""


def test_what_all_iterations_divide_by_is_divided_by_once():
    f = parse(DIVISION).functions[0]
    made = reciprocal(f, f.body[0].iv)
    assert [op.kind for op in walk(made) if getattr(op, "kind", "") in ("divf", "mulf")] == [
        "divf", "divf", "mulf", "mulf", "divf",
    ]  # fmt: skip
    a, b = (np.array([1.5, 7, -3, 1e30], np.float32) for _ in "ab")
    run(f, a, np.float32(7), 4)
    run(made, b, np.float32(7), 4)
    np.testing.assert_allclose(a, b, rtol=4 * 2.0**-24)


def test_a_division_by_what_changes_is_refused():
    f = parse(DIVISION.replace("%a, %x", "%a, %a").replace("%p, %three", "%p, %a")).functions[0]
    with pytest.raises(IllegalTransform, match="nothing in it is divided by a constant"):
        reciprocal(f, f.body[0].iv)


def test_a_number_in_another_type_is_divided_by_once_but_no_integer_of_a_float():
    text = """func.func @f(%A: memref<?xf32>, %n: index, %x: f32) {
      affine.for %i = 0 to %n {
        %k = arith.index_cast %n : index to i64
        %m = arith.sitofp %k : i64 to f32
        %a = affine.load %A[%i] : memref<?xf32>
        %p = arith.divf %a, %m : f32
        affine.store %p, %A[%i] : memref<?xf32>
      }
      return
    }"""
    f = parse(text).functions[0]
    made = reciprocal(f, f.body[0].iv)
    assert [op.kind for op in walk(made) if getattr(op, "kind", "") in ("divf", "mulf")] == ["divf", "mulf"]
    before = [getattr(op, "kind", "") for op in made.body[:-1]]
    assert before == ["", "index_cast", "sitofp", "divf"]
    a, b = (np.array([1.5, 7, -3, 1e30], np.float32) for _ in "ab")
    run(f, a, 4, np.float32(0))
    run(made, b, 4, np.float32(0))
    np.testing.assert_allclose(a, b, rtol=2 * 2.0**-24)
    other = text.replace("arith.index_cast %n : index to i64", "arith.fptosi %x : f32 to i64")
    f = parse(other).functions[0]
    with pytest.raises(IllegalTransform, match="nothing in it is divided by a constant"):
        reciprocal(f, f.body[0].iv)


def test_a_number_in_all_lanes_is_divided_by_once():
    text = """func.func @f(%A: memref<?xf32>, %n: index, %x: f32) {
      affine.for %i = 0 to %n step 4 {
        %m = vector.broadcast %x : f32 to vector<4xf32>
        %a = affine.vector_load %A[%i] : memref<?xf32>, vector<4xf32>
        %k = vector.broadcast %a : vector<4xf32> to vector<2x4xf32>
        %p = arith.divf %a, %m : vector<4xf32>
        %q = arith.divf %k, %k : vector<2x4xf32>
        affine.vector_store %p, %A[%i] : memref<?xf32>, vector<4xf32>
      }
      return
    }"""
    f = parse(text).functions[0]
    made = reciprocal(f, f.body[0].iv)
    assert [op.kind for op in walk(made) if getattr(op, "kind", "") in ("divf", "mulf")] == ["divf", "mulf", "divf"]
    a, b = (np.array([1.5, 7, -3, 1e30], np.float32) for _ in "ab")
    run(f, a, 4, np.float32(3))
    run(made, b, 4, np.float32(3))
    np.testing.assert_allclose(a, b, rtol=2 * 2.0**-24)
    assert not np.array_equal(a, b)
