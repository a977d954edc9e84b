"""Iterations as lanes of vectors: the same numbers to the bit, no element more, and refusals that say why."""

import itertools

import numpy as np
import pytest

import affdsl as af
from affdsl.ir.dialects import arith, vector
from affdsl.ir.dialects.affine import For, If, VectorLoad
from affdsl.ir.interpreter import run
from affdsl.ir.traverse import walk
from affdsl.ir.types import F32, I1, INDEX, IntegerType, MemRefType, VectorType
from affdsl.ir.verifier import verify
from affdsl.mlir.readers import parse
from affdsl.passes.transforms.vectorize import vectorize
from tests.effort import TRIES_ALL, by_turns
from tests.harness.judges import alike
from tests.oracles import mlir_opt
from tests.passes.advice.asked import asked

WIDTHS = (2, 3, 4, 8)
N, M = af.symbols("N M")


def read(body, arguments="%A: memref<?xf32>, %B: memref<?xf32>, %C: memref<?x?xf32>, %n: index, %x: f32"):
    function = parse(f"func.func @f({arguments}) {{\n{body}\nreturn }}", "k.mlir").functions[0]
    verify(function)
    return function


def iv(function, name):
    return next(op.iv for op in walk(function) if getattr(getattr(op, "iv", None), "hint", "") == name)


def given(function, n):
    """Arguments of n elements along each dimension, and a few more."""
    random = np.random.default_rng(0)
    for value in function.args:
        if isinstance(value.type, MemRefType):
            yield random.integers(1, 9, [n + 4] * len(value.type.shape)).astype(np.float32)
        else:
            yield n if value.type == INDEX else np.float32(1.5)


def assert_same(before, after, sizes=(0, 1, 2, 3, 4, 5, 7, 8, 9, 13)):
    verify(after)
    for n in sizes:
        assert alike([*given(before, n)], before, after, uninitialised="poison"), f"n = {n}\n{after}"


STATEMENTS = {
    "neighbours": "%a = affine.load %A[%i + 1] : memref<?xf32>\naffine.store %a, %B[%i] : memref<?xf32>",
    "backwards": "%a = affine.load %A[-%i + symbol(%n)] : memref<?xf32>\naffine.store %a, %B[%n - %i] : memref<?xf32>",
    "every second one": "%a = affine.load %A[%i floordiv 2] : memref<?xf32>\naffine.store %a, %B[%i] : memref<?xf32>",
    "a column": "%a = affine.load %C[%i, 1] : memref<?x?xf32>\naffine.store %a, %C[%i, 2] : memref<?x?xf32>",
    "a row": "%a = affine.load %C[1, %i] : memref<?x?xf32>\naffine.store %a, %C[2, %i] : memref<?x?xf32>",
    "one element for all": "%a = affine.load %A[0] : memref<?xf32>\naffine.store %a, %B[%i] : memref<?xf32>",
    "the last one stays": "%a = affine.load %A[%i] : memref<?xf32>\naffine.store %a, %B[0] : memref<?xf32>",
    "far away": """%a = affine.load %A[%i] : memref<?xf32>
      affine.if affine_set<(d0) : (d0 - 8 >= 0)>(%i) {
        %b = affine.load %B[%i - 8] : memref<?xf32>
        %c = arith.addf %a, %b : f32
        affine.store %c, %B[%i] : memref<?xf32>
      }""",
    "a condition": """%a = affine.load %A[%i] : memref<?xf32>
      affine.if affine_set<(d0)[n] : (d0 mod 3 == 0, n - d0 - 3 >= 0)>(%i)[%n] {
        affine.store %a, %B[%i + 2] : memref<?xf32>
      } else {
        %b = affine.load %C[0, %i] : memref<?x?xf32>
        affine.store %b, %C[%i + 1, 1] : memref<?x?xf32>
      }""",
    "a condition on data": """%a = affine.load %A[%i] : memref<?xf32>
      %c = arith.cmpf ogt, %a, %x : f32
      %r = scf.if %c -> (f32) {
        %b = affine.load %B[%i] : memref<?xf32>
        scf.yield %b : f32
      } else { scf.yield %x : f32 }
      affine.store %r, %B[%i] : memref<?xf32>""",
    "a number of the loop": """%s = affine.apply affine_map<(d0) -> (d0 * 2 + 1)>(%i)
      %k = arith.index_cast %s : index to i32
      %a = arith.sitofp %k : i32 to f32
      affine.store %a, %B[%i] : memref<?xf32>""",
    "subscripts that are data": """%a = affine.load %A[%i] : memref<?xf32>
      %k = arith.fptosi %a : f32 to i32
      %s = arith.index_cast %k : i32 to index
      %z = arith.constant 0 : index
      %m = arith.remui %s, %z4 : index
      %b = memref.load %B[%m] : memref<?xf32>
      affine.store %b, %A[%i] : memref<?xf32>""",
    "an outer loop": """%s = affine.for %j = 0 to %n iter_args(%t = %x) -> (f32) {
        %a = affine.load %C[%i, %j] : memref<?x?xf32>
        %b = arith.addf %t, %a : f32
        affine.yield %b : f32
      }
      affine.store %s, %B[%i] : memref<?xf32>""",
    "stored under a condition, and loaded": """%a = affine.load %A[%i] : memref<?xf32>
      %c = arith.cmpf ogt, %a, %x : f32
      scf.if %c {
        %b = affine.load %C[0, %i] : memref<?x?xf32>
        %d = arith.mulf %a, %b : f32
        affine.store %d, %B[%i] : memref<?xf32>
        affine.store %a, %C[1, %i] : memref<?x?xf32>
      }
      %e = affine.load %B[%i] : memref<?xf32>
      %f = affine.load %C[1, %i] : memref<?x?xf32>
      %g = arith.addf %e, %f : f32
      affine.store %g, %C[2, %i] : memref<?x?xf32>""",
    "the store comes first": """%a = affine.load %B[%i] : memref<?xf32>
      affine.store %a, %A[%i] : memref<?xf32>
      %b = affine.load %A[%i + 1] : memref<?xf32>
      affine.store %b, %C[0, %i] : memref<?x?xf32>""",
}  # fmt: skip


@pytest.mark.parametrize("name", STATEMENTS)
def test_statements_do_the_same(name):
    f = read(f"%z4 = arith.constant 4 : index\naffine.for %i = 0 to %n {{\n{STATEMENTS[name]}\n}}")
    for width, tail in by_turns(WIDTHS, ("scalar", "masked")):
        assert_same(f, vectorize(f, iv(f, "i"), width, tail=tail))


def test_no_lane_touches_what_no_iteration_touches():
    f = read(
        f"affine.for %i = 0 to %n {{ {STATEMENTS['neighbours']} }}", "%A: memref<?xf32>, %B: memref<?xf32>, %n: index"
    )
    for tail in ("scalar", "masked"):
        made = vectorize(f, iv(f, "i"), 4, tail=tail)
        for n in range(10):
            a, b = np.arange(n + 1, dtype=np.float32), np.zeros(n, np.float32)
            run(made, a, b, n)
            assert b.tolist() == a[1:].tolist()


# Reductions: combined in all lanes if any order will do, from lane to lane if not.

INTEGER = ("addi", "muli", "andi", "ori", "xori", "maxsi", "minsi", "maxui", "minui")
FLOAT = ("addf", "mulf", "maximumf", "minimumf")
SUM = """%s = affine.for %i = 0 to %n iter_args(%t = %x) -> (T) {
  %a = affine.load %A[%i] : memref<?xT>
  %b = arith.KIND %t, %a : T
  affine.yield %b : T
}
affine.store %s, %B[0] : memref<?xT>"""


@pytest.mark.parametrize(
    ("kind", "type"), [*itertools.product(INTEGER, ("i8", "i32", "i64")), *itertools.product(FLOAT, ("f32", "f64"))]
)
def test_a_number_that_is_reduced(kind, type):
    f = read(
        SUM.replace("KIND", kind).replace("T", type),
        f"%A: memref<?x{type}>, %B: memref<?x{type}>, %x: {type}, %n: index",
    )
    dtype = np.dtype(type.replace("f", "float").replace("i", "int"))
    random = np.random.default_rng(3)
    for (tail, start), width in by_turns([*itertools.product(("scalar", "masked"), (0, 3))], (2, 5, 16)):
        made = vectorize(f, iv(f, "i"), width, tail=tail)
        verify(made)
        in_all_lanes = any(isinstance(op, vector.Reduction) for op in walk(made))
        assert in_all_lanes == (kind not in ("addf", "mulf")), "strict sums go from lane to lane"
        for n in (0, 1, 4, 5, 16, 23, 40):
            numbers = random.integers(-100, 100, n + 1).astype(dtype)
            assert alike([numbers, np.zeros(1, dtype), dtype.type(start), n], f, made), f"n = {n}\n{made}"


@pytest.mark.parametrize("kind", ["addf", "mulf"])
def test_a_sum_in_another_order_where_that_is_allowed(kind):
    arguments = "%A: memref<?xf64>, %B: memref<?xf64>, %x: f64, %n: index"
    f = read(SUM.replace("KIND", kind).replace("T", "f64"), arguments)
    made = vectorize(f, iv(f, "i"), 4, reassociate=True)
    numbers = np.random.default_rng(3).random(23) + 0.5
    lanes = np.full(4, -0.0 if kind == "addf" else 1.0)
    combine = np.add if kind == "addf" else np.multiply
    for k in range(0, 20, 4):
        lanes = combine(lanes, numbers[k : k + 4])
    total = np.float64(2.0)
    for each in (*lanes, *numbers[20:]):
        total = combine(total, each)
    b = np.zeros(1)
    run(made, numbers, b, 2.0, 23)
    assert b[0] == total, "the start and the lanes from the left, then what is left over"


@pytest.mark.parametrize("upper", ["%n", "min affine_map<()[n] -> (n, n floordiv 2 + 3)>()[%n]"])
def test_iterations_that_are_left_over_go_on_in_the_same_lanes(upper):
    f = read(f"""%r = affine.for %i = 0 to {upper} iter_args(%t = %x) -> (f32) {{
      %a = affine.load %A[%i] : memref<?xf32>
      %u = arith.addf %t, %a : f32
      affine.yield %u : f32
    }}
    affine.store %r, %B[0] : memref<?xf32>""")
    made = vectorize(f, iv(f, "i"), 4, tail="masked", reassociate=True)
    assert sum(isinstance(op, vector.Reduction) for op in walk(made)) == 1
    for n in (0, 1, 4, 6, 7, 13):
        numbers = np.random.default_rng(n).random(n + 1, np.float32)
        end = n if upper == "%n" else min(n, n // 2 + 3)
        lanes = np.full(4, -0.0, np.float32)
        for k in range(end):
            lanes[k % 4] += numbers[k]
        total = np.float32(1e3)
        for each in lanes:
            total += each
        b = np.zeros(1, np.float32)
        run(made, numbers, b, np.zeros((0, 0), np.float32), n, np.float32(1e3))
        assert b[0] == total, f"n = {n}"


def test_numbers_that_go_from_lane_to_lane():
    f = read("""%r:2 = affine.for %i = 0 to %n iter_args(%t = %x, %last = %x) -> (f32, f32) {
      %a = affine.load %A[%i] : memref<?xf32>
      %u = arith.mulf %t, %a : f32
      %v = arith.addf %u, %x : f32
      %w = arith.addf %last, %v : f32
      affine.store %w, %B[%i] : memref<?xf32>
      affine.store %t, %C[0, %i] : memref<?x?xf32>
      affine.yield %v, %a : f32, f32
    }
    affine.store %r#0, %C[1, 0] : memref<?x?xf32>
    affine.store %r#1, %C[1, 1] : memref<?x?xf32>""")
    for width, tail in by_turns(WIDTHS, ("scalar", "masked")):
        assert_same(f, vectorize(f, iv(f, "i"), width, tail=tail))


BRANCHES = {
    "a sum in a branch": """%r = scf.if %c -> (f32) {
        %b = affine.load %B[%i] : memref<?xf32>
        %d = arith.mulf %a, %b : f32
        %e = arith.addf %t, %d : f32
        scf.yield %e : f32
      } else { scf.yield %t : f32 }""",
    "a difference in the other branch": """%r = scf.if %c -> (f32) { scf.yield %t : f32 } else {
        %e = arith.subf %t, %a : f32
        scf.yield %e : f32
      }""",
    "two formulas": """%r = scf.if %c -> (f32) {
        %d = arith.mulf %t, %x : f32
        %e = arith.addf %d, %a : f32
        scf.yield %e : f32
      } else { scf.yield %a : f32 }""",
    "a branch in a branch": """%r = scf.if %c -> (f32) {
        %s = affine.if affine_set<(d0) : (d0 mod 2 == 0)>(%i) -> f32 {
          %d = arith.addf %t, %a : f32
          affine.yield %d : f32
        } else {
          %d = arith.mulf %a, %t : f32
          affine.yield %d : f32
        }
        %e = arith.addf %s, %x : f32
        scf.yield %e : f32
      } else { scf.yield %t : f32 }""",
    "a number that is stored there, too": """%r = scf.if %c -> (f32) {
        %one = arith.constant 1.0 : f32
        %e = arith.addf %t, %one : f32
        affine.store %e, %C[0, %i] : memref<?x?xf32>
        scf.yield %e : f32
      } else { scf.yield %t : f32 }""",
}  # fmt: skip
CHOOSING = """%s = affine.for %i = 0 to %n iter_args(%t = %x) -> (f32) {
  %a = affine.load %A[%i] : memref<?xf32>
  %z = arith.constant 4.0 : f32
  %c = arith.cmpf ogt, %a, %z : f32
  BRANCH
  affine.store %t, %C[2, %i] : memref<?x?xf32>
  affine.yield %r : f32
}
affine.store %s, %B[0] : memref<?xf32>"""


@pytest.mark.parametrize("name", BRANCHES)
def test_what_a_loop_carries_may_go_through_branches(name):
    f = read(CHOOSING.replace("BRANCH", BRANCHES[name]))
    for width, tail in itertools.product((2, 4, 8), ("scalar", "masked")):
        assert_same(f, vectorize(f, iv(f, "i"), width, tail=tail))


def test_what_may_fail_stays_in_its_branch():
    f = read("""%s = affine.for %i = 0 to %n iter_args(%t = %x) -> (i32) {
      %a = affine.load %A[%i] : memref<?xi32>
      %z = arith.constant 0 : i32
      %c = arith.cmpi sgt, %a, %z : i32
      %r = scf.if %c -> (i32) {
        %d = arith.divsi %t, %a : i32
        scf.yield %d : i32
      } else { scf.yield %t : i32 }
      affine.yield %r : i32
    }
    affine.store %s, %A[0] : memref<?xi32>""", "%A: memref<?xi32>, %x: i32, %n: index")  # fmt: skip
    with pytest.raises(af.IllegalTransform, match=r"%t goes from each iteration to the next through scf\.if"):
        vectorize(f, iv(f, "i"), 4)


def test_a_number_of_two_iterations_ago():
    f = read("""%r:2 = affine.for %i = 0 to %n iter_args(%last = %x, %older = %x) -> (f32, f32) {
      affine.store %older, %B[%i] : memref<?xf32>
      %a = affine.load %A[%i] : memref<?xf32>
      %b = arith.addf %last, %a : f32
      affine.store %b, %C[0, %i] : memref<?x?xf32>
      affine.yield %a, %last : f32, f32
    }
    affine.store %r#1, %C[1, 1] : memref<?x?xf32>""")
    for width, tail in by_turns(WIDTHS, ("scalar", "masked")):
        made = vectorize(f, iv(f, "i"), width, tail=tail)
        assert_same(f, made)
        assert sum(isinstance(op, vector.Shuffle) for op in walk(made)) == 2, "one for each of the two"


CHOICE = """%r:2 = affine.for %i = 0 to %n iter_args(%best = %x, %at = %z) -> (T, i64) {
  %a = affine.load %A[%i] : memref<?xT>
  %c = arith.CMP PREDICATE, LEFT, RIGHT : T
  %v = arith.select %c, %a, %best : T
  %k = arith.index_cast %i : index to i64
  %p = arith.select %c, %k, %at : i64
  affine.yield %v, %p : T, i64
}
affine.store %r#0, %B[0] : memref<?xT>
affine.store %r#1, %P[0] : memref<?xi64>"""
ORDERS = [*itertools.product(("ogt", "oge", "olt", "ole"), ("f32", "f64")),
          *itertools.product(("sgt", "sge", "slt", "sle", "ugt", "uge", "ult", "ule"), ("i8", "i32"))]  # fmt: skip


def chosen(predicate, type, *, turned=False):
    """A function that finds the best number, and its place."""
    sides = ("%best", "%a") if turned else ("%a", "%best")
    text = CHOICE.replace("LEFT", sides[0]).replace("RIGHT", sides[1]).replace("PREDICATE", predicate)
    text = text.replace("CMP", "cmpf" if type[0] == "f" else "cmpi").replace("T", type)
    return read(text, f"%A: memref<?x{type}>, %B: memref<?x{type}>, %P: memref<?xi64>, %x: {type}, %z: i64, %n: index")


@pytest.mark.parametrize(("predicate", "type"), ORDERS)
def test_the_best_number_and_its_place(predicate, type):
    dtype = np.dtype(type.replace("f", "float").replace("i", "int"))
    random = np.random.default_rng(5)
    for turned, width, tail in ((False, 2, "scalar"), (True, 2, "masked"), (True, 8, "scalar"), (False, 5, "masked")):
        f = chosen(predicate, type, turned=turned)
        made = vectorize(f, iv(f, "i"), width, tail=tail)
        verify(made)
        in_a_row = sum(isinstance(op, arith.Select) and op.result.type == IntegerType(64) for op in walk(made))
        assert in_a_row == 2, "behind the lanes of each loop once, or in what is left"
        for n, start in by_turns((0, 1, 7, 16, 19), (0, 2, 100)):
            given = random.integers(-3, 4, n + 1).astype(dtype)
            if type[0] == "f":
                given = np.where(random.random(n + 1) < 0.2, np.nan, np.copysign(given, random.normal(size=n + 1)))
                start = np.nan if start == 100 else -float(start)
            arguments = [given.astype(dtype), np.zeros(1, dtype), np.zeros(1, np.int64), dtype.type(start), 77, n]
            assert alike(arguments, f, made), f"n = {n}, {given}\n{made}"


def test_what_a_mask_has_stored_is_not_loaded():
    text = STATEMENTS["stored under a condition, and loaded"]
    f = read(f"affine.for %i = 0 to %n {{\n{text}\n}}")
    made = vectorize(f, iv(f, "i"), 4, tail="scalar")
    wide = next(op for op in walk(made) if isinstance(op, For))
    kinds = [type(op) for op in wide.body if isinstance(op, VectorLoad | vector.MaskedStore)]
    assert kinds == [VectorLoad] * 3 + [vector.MaskedStore] * 2


def test_a_place_that_is_computed_of_the_iteration_is_computed_once():
    f = read("""%s, %p = affine.for %i = 2 to %n iter_args(%best = %x, %at = %z) -> (f32, i64) {
      %a = affine.load %A[%i] : memref<?xf32>
      %c = arith.cmpf ogt, %a, %best : f32
      %next = affine.apply affine_map<(d0) -> (d0 + 3)>(%i)
      %j = arith.index_cast %next : index to i64
      %k = arith.muli %j, %z : i64
      %v = arith.select %c, %a, %best : f32
      %w = arith.select %c, %k, %at : i64
      affine.yield %v, %w : f32, i64
    }
    affine.store %s, %B[0] : memref<?xf32>
    affine.store %p, %P[0] : memref<?xi64>""",
        "%A: memref<?xf32>, %B: memref<?xf32>, %P: memref<?xi64>, %x: f32, %z: i64, %n: index",
    )  # fmt: skip
    for tail in ("scalar", "masked"):
        made = vectorize(f, iv(f, "i"), 8, tail=tail)
        assert sum(isinstance(v.type, VectorType) and v.type.element == IntegerType(64) for v in values(made)) == 0
        for n in (0, 2, 3, 9, 10, 27):
            given = np.random.default_rng(n).normal(size=n + 1).astype("f4")
            assert alike([given, np.zeros(1, "f4"), np.zeros(1, np.int64), np.float32(-0.5), -5, n], f, made)


def values(function):
    """All that operations of a function define."""
    return [v for op in walk(function) for v in op.defines()]


@pytest.mark.parametrize("predicate", ["ugt", "une", "oeq"])
def test_what_is_no_order_goes_from_lane_to_lane(predicate):
    f = chosen(predicate, "f32")
    made = vectorize(f, iv(f, "i"), 4)
    assert sum(isinstance(op, arith.Select) and op.result.type == IntegerType(64) for op in walk(made)) == 4 + 1


def test_a_running_maximum_goes_from_lane_to_lane():
    f = read("""%s = affine.for %i = 0 to %n iter_args(%t = %x) -> (f32) {
      %a = affine.load %A[%i] : memref<?xf32>
      %c = arith.cmpf ogt, %a, %t : f32
      %v = arith.select %c, %a, %t : f32
      affine.store %v, %B[%i] : memref<?xf32>
      affine.yield %v : f32
    }""")
    for width, tail in by_turns(WIDTHS, ("scalar", "masked")):
        assert_same(f, vectorize(f, iv(f, "i"), width, tail=tail))


def test_the_last_of_what_a_condition_allows():
    f = read("""%r:2 = affine.for %i = 0 to %n iter_args(%t = %x, %u = %x) -> (f32, f32) {
      %a = affine.load %A[%i] : memref<?xf32>
      %z = arith.constant 5.0 : f32
      %c = arith.cmpf ogt, %a, %z : f32
      %b = affine.load %C[1, %i] : memref<?x?xf32>
      %v = arith.select %c, %a, %t : f32
      %w = arith.select %c, %b, %u : f32
      affine.yield %v, %w : f32, f32
    }
    affine.store %r#0, %B[0] : memref<?xf32>
    affine.store %r#1, %B[1] : memref<?xf32>""")
    for width, tail in by_turns(WIDTHS, ("scalar", "masked")):
        made = vectorize(f, iv(f, "i"), width, tail=tail)
        assert_same(f, made)
        assert any(isinstance(op, arith.Select) and op.result.type == VectorType((width,), F32) for op in walk(made))


def test_the_best_of_what_a_branch_loads_once_more():
    f = read("""%r:2 = affine.for %i = 0 to %n iter_args(%best = %x, %other = %x) -> (f32, f32) {
      %a = affine.load %A[%i] : memref<?xf32>
      %c = arith.cmpf ogt, %a, %best : f32
      %s:2 = scf.if %c -> (f32, f32) {
        %b = affine.load %A[%i] : memref<?xf32>
        %d = arith.mulf %b, %b : f32
        scf.yield %b, %d : f32, f32
      } else { scf.yield %best, %other : f32, f32 }
      affine.yield %s#0, %s#1 : f32, f32
    }
    affine.store %r#0, %B[0] : memref<?xf32>
    affine.store %r#1, %B[1] : memref<?xf32>""")
    for width, tail in by_turns(WIDTHS, ("scalar", "masked")):
        made = vectorize(f, iv(f, "i"), width, tail=tail)
        assert_same(f, made)
        assert any(isinstance(op, arith.Compare) and op.result.type == VectorType((width,), I1) for op in walk(made))


INNER = {
    "below a diagonal": "0 to affine_map<(d) -> (d)>(%i)",
    "above a diagonal": "affine_map<(d) -> (d + 1)>(%i) to %n",
    "the other way round": "affine_map<(d)[n] -> (n - d)>(%i)[%n] to %n",
    "a band": "max affine_map<(d) -> (0, d - 2)>(%i) to min affine_map<(d)[n] -> (n, d + 3)>(%i)[%n]",
    "two rows for each": "affine_map<(d) -> (2 * d)>(%i) to min affine_map<(d)[n] -> (2 * d + 3, n)>(%i)[%n]",
}


@pytest.mark.parametrize("name", INNER)
def test_bounds_of_loops_inside_may_differ_from_lane_to_lane(name):
    f = read(
        f"""affine.for %i = 0 to %n {{
      %s, %t = affine.for %j = {INNER[name]} iter_args(%u = %x, %last = %x) -> (f32, f32) {{
        %a = affine.load %C[%j, %i] : memref<?x?xf32>
        %b = arith.addf %u, %a : f32
        affine.store %last, %D[%i, %j] : memref<?x?xf32>
        affine.yield %b, %a : f32, f32
      }}
      affine.store %s, %B[%i] : memref<?xf32>
      affine.store %t, %A[%i] : memref<?xf32>
    }}""",
        "%A: memref<?xf32>, %B: memref<?xf32>, %C: memref<?x?xf32>, %D: memref<?x?xf32>, %n: index, %x: f32",
    )
    for width, tail in by_turns(WIDTHS, ("scalar", "masked")):
        assert_same(f, vectorize(f, iv(f, "i"), width, tail=tail))


def test_a_loop_that_begins_at_the_largest_of_several_numbers():
    f = read("""affine.for %i = 0 to %n {
      %s = affine.for %j = max affine_map<(d) -> (1, d - 5)>(%i) to min affine_map<(d)[n] -> (n, d + 6)>(%i)[%n]
          iter_args(%u = %x) -> (f32) {
        %a = affine.load %C[%i, %j - 1] : memref<?x?xf32>
        %b = arith.maximumf %u, %a : f32
        affine.store %a, %C[%i + 1, %j] : memref<?x?xf32>
        affine.yield %b : f32
      }
      affine.store %s, %B[%i] : memref<?xf32>
    }""")
    for width, tail in by_turns(WIDTHS, ("scalar", "masked")):
        assert_same(f, vectorize(f, iv(f, "j"), width, tail=tail))


def test_a_loop_that_never_runs_loads_nothing_though_it_begins_at_the_largest_of_several_numbers():
    f = read("""affine.for %i = max affine_map<()[s0] -> (3, s0 - 9)>()[%n] to %n {
      %a = affine.load %A[%n - 1] : memref<?xf32>
      affine.store %a, %B[%i] : memref<?xf32>
    }""")
    made = vectorize(f, iv(f, "i"), 4)
    for n in (0, 2, 4, 11):
        a, b = (np.arange(n, dtype=np.float32) for _ in "ab")
        assert alike([a, b, np.zeros((1, 1), np.float32), n, 0.5], f, made)


BAND = "min affine_map<(d)[n] -> (n, d + 6)>(%i)[%n]"


@pytest.mark.parametrize(
    ("tail", "upper", "widths"),
    [
        ("scalar", BAND, (2, 4, 8)),
        ("scalar", f"{BAND} step 2", (2, 3, 4)),
        ("overlapped", "%n", (2, 8)),
        ("halved", "affine_map<(d) -> (d + 1)>(%i)", (4,)),
    ],
)
def test_from_the_larger_of_two_numbers_on_no_vector_has_a_mask(tail, upper, widths):
    """There is a loop for each of them, and a condition says which one runs."""
    f = read(
        f"""affine.for %i = 0 to %n {{
      affine.for %j = max affine_map<(d) -> (1, d - 5)>(%i) to {upper} {{
        %a = affine.load %C[%i, %j - 1] : memref<?x?xf32>
        %b = arith.addf %a, %x : f32
        affine.store %b, %D[%i, %j] : memref<?x?xf32>
      }}
    }}""",
        "%C: memref<?x?xf32>, %D: memref<?x?xf32>, %n: index, %x: f32",
    )
    for width in widths:
        made = vectorize(f, iv(f, "j"), width, tail=tail)
        assert_same(f, made)
        assert not any(isinstance(op, vector.CreateMask) for op in walk(made))
        assert sum(isinstance(op, If) and bool(op.orelse) for op in walk(made)) > 0


def test_a_recurrence_from_the_largest_of_several_numbers_is_refused():
    f = read("""affine.for %j = max affine_map<(d) -> (3, d - 5)>(%n) to %n {
      %a = affine.load %A[%j - 3] : memref<?xf32>
      affine.store %a, %A[%j] : memref<?xf32>
    }""")
    assert_same(f, vectorize(f, iv(f, "j"), 3))
    with pytest.raises(af.IllegalTransform, match=r"feeds the load A\[j - 3\] at line 3 with distance \(3\)"):
        vectorize(f, iv(f, "j"), 4)


CIRCLES = {
    "sums whose numbers are data": """%k = arith.fptosi %a : f32 to i32
      %s = arith.index_cast %k : i32 to index
      %m = arith.remui %s, %z4 : index
      %b = memref.load %B[%m] : memref<?xf32>
      %d = arith.mulf %a, %x : f32
      %c = arith.addf %b, %d : f32
      memref.store %c, %B[%m] : memref<?xf32>""",
    "a recurrence between maps": """%b = affine.load %B[%i] : memref<?xf32>
      %c = arith.mulf %a, %x : f32
      %d = arith.addf %b, %c : f32
      affine.store %d, %B[%i + 1] : memref<?xf32>
      %e = arith.mulf %d, %d : f32
      affine.store %e, %C[0, %i] : memref<?x?xf32>""",
    "a recurrence of two arrays": """%b = affine.load %B[%i] : memref<?xf32>
      %c = arith.mulf %a, %a : f32
      %d = arith.addf %b, %c : f32
      affine.store %d, %C[1, %i + 1] : memref<?x?xf32>
      %e = affine.load %C[1, %i] : memref<?x?xf32>
      affine.store %e, %B[%i + 1] : memref<?xf32>""",
    "a recurrence in a branch": """%c = arith.mulf %a, %x : f32
      %d = arith.cmpf ogt, %c, %a : f32
      %r = scf.if %d -> (f32) {
        %b = affine.load %B[%i] : memref<?xf32>
        %e = arith.addf %b, %c : f32
        affine.store %e, %B[%i + 1] : memref<?xf32>
        scf.yield %e : f32
      } else { scf.yield %c : f32 }
      affine.store %r, %C[1, %i] : memref<?x?xf32>""",
    "a recurrence through a loop": """%c = arith.mulf %a, %x : f32
      %s = affine.for %j = 0 to 3 iter_args(%t = %c) -> (f32) {
        %b = affine.load %B[%i - %j + 2] : memref<?xf32>
        %d = arith.addf %t, %b : f32
        affine.yield %d : f32
      }
      affine.store %s, %B[%i + 3] : memref<?xf32>""",
    "an element that all iterations change": """%b = affine.load %B[0] : memref<?xf32>
      %c = arith.mulf %a, %x : f32
      %d = arith.addf %b, %c : f32
      affine.store %d, %B[0] : memref<?xf32>
      affine.store %b, %C[0, %i] : memref<?x?xf32>
      affine.store %c, %C[1, %i] : memref<?x?xf32>""",
}  # fmt: skip


@pytest.mark.parametrize("name", CIRCLES)
def test_what_needs_the_iteration_before_runs_one_by_one_between_vectors(name):
    body = f"%a = affine.load %A[%i] : memref<?xf32>\n{CIRCLES[name]}"
    f = read(f"%z4 = arith.constant 4 : index\naffine.for %i = 0 to %n {{\n{body}\n}}")
    for width, tail in by_turns(WIDTHS, ("scalar", "masked")):
        made = vectorize(f, iv(f, "i"), width, tail=tail)
        assert_same(f, made)
        products = [op for op in walk(made) if isinstance(op, arith.Binary) and op.kind == "mulf"]
        assert any(op.result.type == VectorType((width,), F32) for op in products)


COUNTERS = {
    "a constant": ("arith.addi %k, %c : i8", "i8"),
    "a number that stays": ("arith.subi %k, %y : i8", "i8"),
    "an index": ("arith.addi %k, %c : index", "index"),
    "the counter of the loop, so that it does not grow evenly": ("arith.addi %k, %i : index", "index"),
}


@pytest.mark.parametrize("name", COUNTERS)
@pytest.mark.parametrize("start", ["0", "2"])
def test_what_grows_evenly_is_computed_in_all_lanes(name, start):
    step, type = COUNTERS[name]
    f = read(
        f"""%z = arith.constant 120 : {type}
    %s = affine.for %i = {start} to %n step 3 iter_args(%k = %z) -> ({type}) {{
      %c = arith.constant 7 : {type}
      %m = arith.muli %k, %k : {type}
      %l = {step}
      %o = arith.xori %m, %l : {type}
      affine.store %o, %A[%i] : memref<?x{type}>
      affine.yield %l : {type}
    }}
    affine.store %s, %B[0] : memref<?x{type}>""",
        f"%A: memref<?x{type}>, %B: memref<?x{type}>, %y: i8, %n: index",
    )
    dtype = np.int8 if type == "i8" else np.int64
    for width, tail in itertools.product((2, 8), ("scalar", "masked")):
        made = vectorize(f, iv(f, "i"), width, tail=tail)
        verify(made)
        assert sum(isinstance(op, arith.Binary) and op.kind == "muli" for op in walk(made)) <= 4, "once for all lanes"
        for n in (0, 2, 3, 17, 70):
            assert alike([np.zeros(n + 3, dtype), np.zeros(1, dtype), np.int8(-5), n], f, made)


def test_a_division_where_no_lane_runs_does_not_fail():
    f = read("""affine.for %i = 0 to %n {
      %a = affine.load %A[%i] : memref<?xi32>
      %z = arith.constant 5 : i32
      %c = arith.cmpi sgt, %a, %z : i32
      scf.if %c {
        %k = affine.load %B[0] : memref<?xi32>
        %b = arith.divsi %a, %k : i32
        %d = arith.divsi %k, %a : i32
        %e = arith.addi %b, %d : i32
        affine.store %e, %A[%i] : memref<?xi32>
      }
    }""", "%A: memref<?xi32>, %B: memref<?xi32>, %n: index")  # fmt: skip
    made = vectorize(f, iv(f, "i"), 4, tail="masked")
    verify(made)
    for numbers, divisor in (([0, 1, 2, 3, 4, 0], 0), ([9, 0, 3, 0, 0, 8, 7], 3)):
        assert alike([np.array(numbers, np.int32), np.array([divisor], np.int32), len(numbers)], f, made)


# Refusals


SWEEP = """affine.for %i = 1 to %n {
  %a = affine.load %A[%i - D] : memref<?xf32>
  %b = arith.addf %a, %x : f32
  affine.store %b, %A[%i] : memref<?xf32>
}"""


def test_a_distance_of_at_least_the_width_is_legal():
    f = read(SWEEP.replace("D", "4").replace("= 1", "= 4"))
    assert_same(f, vectorize(f, iv(f, "i"), 4), sizes=(4, 5, 8, 13))
    with pytest.raises(af.IllegalTransform, match=r"feeds the load A\[i - 4\] at line 3 with distance \(4\)"):
        vectorize(f, iv(f, "i"), 5)


REFUSED = {
    "a recurrence": (SWEEP.replace("D", "1"), r"the store A\[i\] at line 5 feeds the load A\[i - 1\]"),
    "bounds that are data": (
        """affine.for %i = 0 to %n {
          %a = affine.load %A[%i] : memref<?xf32>
          %b = arith.fptosi %a : f32 to i32
          %m = arith.index_cast %b : i32 to index
          %z = arith.constant 0 : index
          %o = arith.constant 1 : index
          scf.for %j = %z to %m step %o { affine.store %x, %C[0, 0] : memref<?x?xf32> }
        }""",
        "the bounds of loop %j are data that differs from lane to lane",
    ),
    "a triangle in steps": (
        """affine.for %i = 0 to %n {
          affine.for %j = affine_map<(d) -> (d)>(%i) to %n step 2 { affine.store %x, %C[%i, %j] : memref<?x?xf32> }
        }""",
        "the bounds of loop %j differ from lane to lane: they depend on %i",
    ),
    "bounds that do not grow evenly": (
        """affine.for %i = 0 to %n {
          affine.for %j = 0 to affine_map<(d) -> (d floordiv 2)>(%i) { affine.store %x, %C[%i, %j] : memref<?x?xf32> }
        }""",
        "the bounds of loop %j differ from lane to lane: they depend on %i",
    ),
    "steps from the largest of several numbers": (
        """affine.for %i = max affine_map<(d) -> (0, d - 9, 2)>(%n) to %n step 2 {
          affine.store %x, %A[%i] : memref<?xf32>
        }""",
        "i begins at the largest of several numbers, and its step is not 1",
    ),
    "a loop that runs too rarely": ("affine.for %i = 0 to 3 { affine.store %x, %A[%i] : memref<?xf32> }",
                                    "it runs at most 3 times\n    legal: fewer lanes"),
    "vectors": (
        """affine.for %i = 0 to %n {
          %v = affine.vector_load %A[%i] : memref<?xf32>, vector<2xf32>
          affine.vector_store %v, %B[%i] : memref<?xf32>, vector<2xf32>
        }""",
        "affine.vector_load has no form on vectors",
    ),
    "a recurrence through a loop": (
        """%s = affine.for %i = 0 to %n iter_args(%t = %x) -> (f32) {
          %u = affine.for %j = 0 to 4 iter_args(%v = %t) -> (f32) {
            %w = arith.mulf %v, %v : f32
            affine.yield %w : f32
          }
          affine.yield %u : f32
        }""",
        "%t goes from each iteration to the next through affine.for",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_refusals(name):
    body, reason = REFUSED[name]
    f = read(body)
    with pytest.raises(af.IllegalTransform, match=reason):
        vectorize(f, iv(f, "i"), 4)


def test_a_sum_in_memory_is_carried_as_a_value_first():
    f = read("""affine.for %i = 0 to 9 {
      %a = affine.load %A[%i] : memref<?xf32>
      %b = affine.load %B[0] : memref<?xf32>
      %c = arith.addf %a, %b : f32
      affine.store %c, %B[0] : memref<?xf32>
    }""")
    with pytest.raises(af.IllegalTransform) as refused:
        asked("vectorize", f, iv(f, "i"), 4)
    assert refused.value.alternative == "scalar_replace(func, i) first"


def test_what_is_no_width_and_no_tail():
    f = read(SWEEP.replace("D", "1"))
    for width, tail in ((1, "scalar"), (4, "none")):
        with pytest.raises(ValueError, match=f"got {width}, '{tail}'"):
            vectorize(f, iv(f, "i"), width, tail=tail)


# In a schedule, through C and MLIR


@af.kernel
def blend(A: af.f32[N, M], B: af.f32[N, M], w: af.f32[M], least: af.f32):
    with af.for_(N) as i, af.for_(M) as j:
        with af.if_(A[i, j] > least):
            B[i, j] = B[i, j] + w[j] * A[i, M - 1 - j]


@pytest.mark.parametrize(("loop", "tail"), [*itertools.product("ij", ("scalar", "masked"))])
def test_a_schedule_is_vectorized_and_runs_in_c(loop, tail):
    made = af.Schedule(blend, validate=True).vectorize(loop, 4, tail=tail).kernel()
    random = np.random.default_rng(1)
    for n, m in ((0, 3), (1, 1), (4, 5), (9, 8), (6, 13)):
        A, B, w = random.random((n, m), np.float32), random.random((n, m), np.float32), random.random(m, np.float32)
        other = B.copy()
        blend(A, B, w, np.float32(0.5))
        made(A, other, w, np.float32(0.5))
        assert B.tobytes() == other.tobytes()


@pytest.mark.parametrize("tail", ["scalar", "masked"])
def test_mlir_opt_reads_it(tail):
    """Unless all is tried, each program with one tail; they take turns."""
    mine = slice(0 if TRIES_ALL else int(tail == "masked"), None, 1 if TRIES_ALL else 2)
    loaded = "%a = affine.load %A[%i] : memref<?xf32>\n"
    bodies = [f"affine.for %i = 0 to %n {{\n{body}\n}}" for body in STATEMENTS.values()]
    bodies += [f"affine.for %i = 0 to %n {{ {loaded}{body} }}" for body in CIRCLES.values()]
    bodies += [CHOOSING.replace("BRANCH", each) for each in BRANCHES.values()]
    for text in bodies[mine]:
        f = read(f"%z4 = arith.constant 4 : index\n{text}")
        mlir_opt(str(vectorize(f, iv(f, "i"), 4, tail=tail)))
    f = chosen("oge", "f32")
    mlir_opt(str(vectorize(f, iv(f, "i"), 4, tail=tail)))


@pytest.mark.parametrize("tail", ["scalar", "masked"])
@pytest.mark.parametrize("kind", ["minnumf", "maxnumf"])
def test_extremes_that_leave_out_nan_are_found_in_all_lanes(kind, tail):
    """There is no number that they would leave alone; each lane starts with what the loop starts with."""
    body = f"""%r = affine.for %i = 0 to %n iter_args(%s = %x) -> (f32) {{
      %a = affine.load %A[%i] : memref<?xf32>
      %b = arith.{kind} %s, %a : f32
      affine.yield %b : f32
    }}
    affine.store %r, %B[0] : memref<?xf32>"""
    before = read(body)
    after = vectorize(before, iv(before, "i"), 4, tail=tail)
    assert any(isinstance(op, vector.Reduction) for op in walk(after))
    assert_same(before, after)
    a = np.array([np.nan, 3, -0.0, 0.0, np.nan, 7, -2, 1, np.nan, 5, np.nan], "f4")
    for first in (np.nan, -0.0, 9.0):
        found = [[a.copy(), np.zeros(11, "f4"), np.zeros((2, 2), "f4"), 11, np.float32(first)] for _ in "ab"]
        run(before, *found[0])
        run(after, *found[1])
        np.testing.assert_array_equal(found[0][1], found[1][1])
        assert np.signbit(found[0][1][0]) == np.signbit(found[1][1][0])


def test_a_map_that_names_what_differs_from_lane_to_lane_without_need_is_written_anew():
    function = read(
        """affine.for %i = 0 to 8 {
      %j = affine.apply affine_map<(d0) -> (d0 - 2)>(%i)
      %a = affine.load %A[(%j * 2 + 1) mod 2] : memref<?xf32>
      affine.store %a, %B[%j + 2] : memref<?xf32>
    }""",
        "%A: memref<?xf32>, %B: memref<?xf32>",
    )
    made = vectorize(function, iv(function, "i"), 4)
    verify(made)
    arguments = list(given(made, 8))
    run(made, *arguments)
    np.testing.assert_array_equal(arguments[1][:8], np.full(8, arguments[0][1]))


@pytest.mark.parametrize("step", [1, 2, 3])
@pytest.mark.parametrize("factor", [-3, -2, -1, 1, 2, 3])
def test_conditions_of_lanes_are_masks_of_the_first_or_the_last_ones(factor, step):
    for constant, tail in by_turns(range(-9, 10, 3), ("scalar", "masked", "folded")):
        before = read(
            f"""affine.for %i = 1 to %n step {step} {{
                  affine.if affine_set<(d0) : ({factor} * d0 + {constant} >= 0)>(%i) {{
                    %a = affine.load %A[%i] : memref<?xf32>
                    affine.store %a, %B[%i] : memref<?xf32>
                  }}
                }}"""
        )
        after = vectorize(before, iv(before, "i"), 4, tail=tail)
        assert_same(before, after)
        assert not any(VectorType((4,), INDEX) == v.type for op in walk(after) for v in op.defines()), after
        masks = [op for op in walk(after) if isinstance(op, vector.CreateMask)]
        assert masks, after
