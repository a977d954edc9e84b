"""scf.while, scf.parallel, scf.index_switch and scf.execute_region: the interpreter, the C and MLIR agree."""

import numpy as np
import pytest

from affdsl.codegen.c.emit import emit
from affdsl.errors import UnsupportedError
from affdsl.ir.interpreter import InterpreterError, run
from affdsl.mlir.readers import parse
from affdsl.mlir.writers import print_op
from affdsl.passes.analysis.trip_count import trip_counts
from affdsl.passes.cleanup.canonicalize import canonicalize
from affdsl.passes.validation import validate
from tests.oracles import run_mlir
from tests.three_ways import agree, interpreted

A = np.arange(128, dtype=np.float32).reshape(8, 16)

WHILE = """
func.func @f(%A: memref<8x16xf32>, %n: i32) -> (i32, f32, i32) {
  %c1 = arith.constant 1 : i32
  %z = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %i1 = arith.constant 1 : index
  %r:3 = scf.while (%i = %n, %acc = %z, %k = %c0) : (i32, f32, index) -> (i32, f32, index) {
    %x = memref.load %A[%c0, %k] : memref<8x16xf32>
    %c = arith.cmpi sgt, %i, %c1 : i32
    %s = arith.addf %acc, %x : f32
    scf.condition(%c) %i, %s, %k : i32, f32, index
  } do {
  ^bb0(%i: i32, %acc: f32, %k: index):
    memref.store %acc, %A[%i1, %k] : memref<8x16xf32>
    %j = arith.subi %i, %c1 : i32
    %kk = arith.addi %k, %i1 : index
    scf.yield %j, %acc, %kk : i32, f32, index
  }
  %q = arith.index_cast %r#2 : index to i32
  return %r#0, %r#1, %q : i32, f32, i32
}
"""


@pytest.mark.parametrize("n", [7, 1, -3])
def test_while(n, tmp_path):
    times = max(n - 1, 0)
    (after, _), results = agree(WHILE, tmp_path, A, n)
    assert results == (n - times, A[0, : times + 1].sum(), times)
    np.testing.assert_array_equal(after[1, :times], np.cumsum(A[0, :times]))


def test_a_loop_that_swaps_and_allocates(tmp_path):
    text = """
func.func @f(%n: i32) -> (i32, i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %r:3 = scf.while (%a = %zero, %b = %one, %i = %n) : (i32, i32, i32) -> (i32, i32, i32) {
    %m = memref.alloc() : memref<1xi32>
    affine.store %i, %m[0] : memref<1xi32>
    %x = affine.load %m[0] : memref<1xi32>
    memref.dealloc %m : memref<1xi32>
    %c = arith.cmpi sgt, %x, %zero : i32
    scf.condition(%c) %a, %b, %i : i32, i32, i32
  } do {
  ^bb0(%a: i32, %b: i32, %i: i32):
    %s = arith.addi %a, %b : i32
    %j = arith.subi %i, %one : i32
    scf.yield %b, %s, %j : i32, i32, i32
  }
  return %r#0, %r#1 : i32, i32
}
"""
    assert agree(text, tmp_path, 10)[1] == (55, 89)


PARALLEL = """
func.func @f(%A: memref<8x16xf32>, %n: index) -> (i64, i64, i64) {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c0 = arith.constant 0 : index
  %z = arith.constant 100 : i64
  %p:2 = scf.parallel (%i, %j) = (%c0, %c1) to (%n, %n) step (%c1, %c2) init (%z, %z) -> (i64, i64) {
    %x = memref.load %A[%i, %j] : memref<8x16xf32>
    %y = arith.addf %x, %x : f32
    memref.store %y, %A[%i, %j] : memref<8x16xf32>
    %a = arith.index_cast %i : index to i64
    %b = arith.index_cast %j : index to i64
    scf.reduce(%a, %b : i64, i64) {
    ^bb0(%l: i64, %r: i64):
      %s = arith.addi %l, %r : i64
      scf.reduce.return %s : i64
    }, {
    ^bb0(%l: i64, %r: i64):
      %s = arith.minsi %l, %r : i64
      scf.reduce.return %s : i64
    }
  }
  %q = scf.parallel (%i) = (%c0) to (%n) step (%c1) init (%z) -> i64 {
    %a = arith.index_cast %i : index to i64
    scf.reduce(%a : i64) {
    ^bb0(%l: i64, %r: i64):
      %c = arith.cmpi slt, %l, %r : i64
      %s = arith.select %c, %l, %r : i64
      scf.reduce.return %s : i64
    }
  }
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    %x = memref.load %A[%i, %i] : memref<8x16xf32>
    %y = arith.addf %x, %x : f32
    memref.store %y, %A[%i, %i] : memref<8x16xf32>
  }
  return %p#0, %p#1, %q : i64, i64, i64
}
"""


@pytest.mark.parametrize("n", [5, 1, 0])
def test_parallel(n, tmp_path):
    points = [(i, j) for i in range(n) for j in range(1, n, 2)]
    (after, _), results = agree(PARALLEL, tmp_path, A, n)
    assert results == (100 + sum(i for i, _ in points), min([100] + [j for _, j in points]), min([100, *range(n)]))
    expected = A.copy()
    for point in [*points, *((i, i) for i in range(n))]:
        expected[point] *= 2
    np.testing.assert_array_equal(after, expected)


def test_the_order_of_parallel_is_free():
    function = parse(PARALLEL).functions[0]
    results = {run(function, A.copy(), 7, order=order, seed=3) for order in ("forward", "reverse", "shuffled")}
    assert len(results) == 1


def test_steps_must_be_positive():
    text = """
func.func @f(%A: memref<8x16xf32>, %n: index) {
  scf.parallel (%i) = (%n) to (%n) step (%n) {
  }
  return
}"""
    with pytest.raises(InterpreterError, match=r"scf.parallel: the step %n must be positive, got 0"):
        interpreted(text, A, 0)


@pytest.mark.parametrize(("n", "chosen"), [(2, 1), (5, 2), (3, 3)])
def test_switch_and_region(n, chosen, tmp_path):
    text = """
func.func @f(%A: memref<8x16xf32>, %n: index) -> (i64, f32) {
  %c1 = arith.constant 1 : i64
  %c2 = arith.constant 2 : i64
  %c3 = arith.constant 3 : i64
  %r = scf.index_switch %n -> i64
  case 2 { scf.yield %c1 : i64 }
  case 5 { scf.yield %c2 : i64 }
  default { scf.yield %c3 : i64 }
  scf.index_switch %n
  case 5 {
    %x = arith.constant 1.0 : f32
    memref.store %x, %A[%n, %n] : memref<8x16xf32>
    scf.yield
  }
  default { }
  %e = scf.execute_region -> f32 {
    %x = memref.load %A[%n, %n] : memref<8x16xf32>
    scf.yield %x : f32
  }
  return %r, %e : i64, f32
}
"""
    assert agree(text, tmp_path, A, n)[1] == (chosen, 1 if n == 5 else A[n, n])


def test_unsigned_and_signed_reductions():
    text = """
func.func @f(%A: memref<4xui32>, %B: memref<4xsi32>) -> (ui32, ui32, si32) {
  %r:3 = affine.parallel (%i) = (0) to (4) reduce ("maxu", "minu", "mins") -> (ui32, ui32, si32) {
    %x = affine.load %A[%i] : memref<4xui32>
    %y = affine.load %B[%i] : memref<4xsi32>
    affine.yield %x, %x, %y : ui32, ui32, si32
  }
  return %r#0, %r#1, %r#2 : ui32, ui32, si32
}
"""
    a, b = np.uint32([7, 2**32 - 1, 3, 9]), np.int32([7, -1, 3, 9])
    assert interpreted(text, a, b)[1] == (2**32 - 1, 3, -1)


UNSIGNED = """
func.func @f(%l: TYPE, %u: TYPE) -> i64 {
  %zero = arith.constant 0 : i64
  %step = arith.constant 50 : TYPE
  %r = scf.for unsigned %i = %l to %u step %step iter_args(%x = %zero) -> (i64) : TYPE {
    %e = CAST %i : TYPE to i64
    %y = arith.addi %x, %e : i64
    scf.yield %y : i64
  }
  return %r : i64
}
"""


@pytest.mark.parametrize(
    ("type", "cast"), [("i8", "arith.extui"), ("i8", "arith.extsi"), ("index", "arith.index_cast")]
)
def test_unsigned_bounds(type, cast):
    text = UNSIGNED.replace("TYPE", type).replace("CAST", cast)
    module = parse(text)
    sums = []
    for lower, upper in ((100, -6), (-6, 100), (5, 120), (-128, 127), (-100, -90)):
        if type == "index" and (lower > 0 > upper):
            continue  # it would take for ever
        (found,) = run(module.functions[0], lower, upper)
        assert found == run_mlir(text, "f", [lower, upper]) == run_mlir(print_op(module), "f", [lower, upper])
        sums.append(found)
    assert len(set(sums)) >= 3


def test_unsigned_bounds_are_not_taken_for_signed_ones():
    text = UNSIGNED.replace("TYPE", "i8").replace("CAST", "arith.extui")
    with pytest.raises(UnsupportedError, match=r"^C output does not know scf.for with unsigned bounds yet"):
        emit(parse(text), "f")
    for part in (("execution",), ("polyhedral",), ("polyhedral", "execution")):
        (found,) = validate(parse(text), parse(text.replace("unsigned ", "")), halves=part).functions
        assert found.answer.verdict != "proved"
        assert (found.failure is not None) == ("execution" in part)
    known = text.replace("(%l: i8, %u: i8)", "()").replace(
        "%zero", "%l = arith.constant 100 : i8\n%u = arith.constant -6 : i8\n%zero", 1
    )
    module = parse(known)
    assert run(canonicalize(module).functions[0]) == run(module.functions[0]) == (450,)
    assert str(next(iter(trip_counts(module.functions[0]).values()))) == "unknown"
