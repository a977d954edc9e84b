"""Integers that a loop carries and lets grow by the same: subscripts of its counter, or numbers that grow with it."""

import itertools

import numpy as np
import pytest

from affdsl.ir.dialects import affine, arith, memref
from affdsl.ir.traverse import walk
from affdsl.ir.types import IntegerType
from affdsl.mlir.readers import parse
from tests.harness.judges import alike
from tests.passes.transforms.lanes import wide

SIZES = (0, 1, 3, 4, 7, 12)


def kernel(body, *, type="index", step=1, carried="", results="", behind=""):
    """A loop with a counter k, and what else it carries."""
    return parse(f"""func.func @f(%A: memref<?xf32>, %B: memref<?xf32>, %C: memref<?xi64>, %n: index) {{
      %first = arith.constant 30 : {type}
      %z = arith.constant 0.0 : f32
      {"%s:2" if carried else "%s"} = affine.for %i = 1 to %n step {step}
          iter_args(%k = %first{carried}) -> ({type}{results}) {{
        {body}
      }}
      {behind}
      return
    }}""")


def assert_same(before, after):
    for n in SIZES:
        given = [*np.random.default_rng(n).normal(size=(2, 4 * n + 42)).astype("f4"), np.zeros(n + 12, "i8"), n]
        assert alike(given, before.functions[0], after.functions[0], uninitialised="poison"), n


PLACES = {
    "an index": ("index", "%l = arith.constant 2 : index", "%p = arith.addi %k, %l : index"),
    "an integer": ("i64", "%l = arith.constant 2 : i64", "%p = arith.index_cast %g : i64 to index"),
    "it falls": ("index", "%l = arith.constant 2 : index", "%p = arith.subi %k, %l : index"),
}


@pytest.mark.parametrize("name", PLACES)
@pytest.mark.parametrize("step", [1, 2])
def test_subscripts_by_a_counter_are_affine(name, step):
    """Elements beside one another are then stored as whole vectors, and nothing is carried."""
    type, constant, place = PLACES[name]
    grows = "subi" if name == "it falls" else "addi"
    body = f"""{constant}
        %g = arith.{grows} %k, %l : {type}
        {place}
        %o = arith.constant 1 : index
        %q = arith.subi %p, %o : index
        %a = affine.load %A[%i] : memref<?xf32>
        memref.store %a, %B[%p] : memref<?xf32>
        %b = arith.addf %a, %a : f32
        memref.store %b, %B[%q] : memref<?xf32>
        affine.yield %g : {type}"""
    module = kernel(body, type=type, step=step)
    for width, tail in itertools.product((2, 4), ("scalar", "masked")):
        made = wide(module, width, tail)
        assert_same(module, made)
        loops = [op for op in walk(made) if isinstance(op, affine.For)]
        assert loops
        assert not any(loop.results for loop in loops)
        if tail == "scalar":
            assert not any(isinstance(op, memref.Load | memref.Store) for op in walk(made))
            whole = sum(isinstance(op, affine.VectorStore) for op in walk(made))
            assert whole == (2 if width == 4 and step == 1 else 0)


OTHERS = {
    "a sum": ("%w = arith.addf %t, %x : f32", "%w"),
    "the counter before": ("%y = arith.index_cast %k : index to i64\n%w = arith.sitofp %y : i64 to f32", "%w"),
}


@pytest.mark.parametrize("name", OTHERS)
def test_what_else_is_carried_stays(name):
    line, value = OTHERS[name]
    body = f"""%l = arith.constant 2 : index
        %g = arith.addi %k, %l : index
        %x = memref.load %A[%k] : memref<?xf32>
        {line}
        affine.store %t, %B[%i] : memref<?xf32>
        affine.yield %g, {value} : index, f32"""
    module = kernel(body, carried=", %t = %z", results=", f32", behind="affine.store %s#1, %B[0] : memref<?xf32>")
    for tail in ("scalar", "masked"):
        made = wide(module, 4, tail)
        assert_same(module, made)
        assert all(len(op.results) == 1 for op in walk(made) if isinstance(op, affine.For))


@pytest.mark.parametrize("behind", ["memref.store %z, %B[%s] : memref<?xf32>", ""])
def test_a_counter_that_is_read_behind_the_loop_is_what_it_was(behind):
    body = """%l = arith.constant 2 : index
        %g = arith.addi %k, %l : index
        %x = memref.load %A[%g] : memref<?xf32>
        affine.store %x, %B[%i] : memref<?xf32>
        affine.yield %g : index"""
    module = kernel(body, behind=behind)
    for tail in ("scalar", "masked"):
        made = wide(module, 4, tail)
        assert_same(module, made)
        assert any(op.results for op in walk(made) if isinstance(op, affine.For)) == bool(behind)


def test_a_counter_that_another_value_takes_over_is_computed():
    body = """%l = arith.constant 5 : index
        %g = arith.addi %k, %l : index
        %c = arith.index_cast %before : index to i64
        affine.store %c, %C[%i] : memref<?xi64>
        affine.yield %g, %k : index, index"""
    module = kernel(body, carried=", %before = %first", results=", index")
    made = wide(module, 4)
    assert_same(module, made)


EVEN = {
    "cast": "%v = arith.index_cast %i : index to i8",
    "made narrow": "%w = arith.index_cast %i : index to i32\n%v = arith.trunci %w : i32 to i8",
    "times and plus": """%w = arith.index_cast %i : index to i8
        %c = arith.constant 100 : i8
        %m = arith.muli %c, %w : i8
        %v = arith.addi %m, %y : i8""",
    "minus": """%w = arith.index_cast %i : index to i8
        %c = arith.constant -3 : i8
        %m = arith.muli %w, %c : i8
        %v = arith.subi %y, %m : i8""",
    "one minus another": """%w = arith.index_cast %i : index to i8
        %c = arith.constant 77 : i8
        %m = arith.muli %w, %c : i8
        %v = arith.subi %m, %w : i8""",
}


@pytest.mark.parametrize("name", EVEN)
def test_numbers_that_grow_evenly_wrap_in_each_lane(name):
    """No vector is multiplied, and none of indices made, which would be wider."""
    module = parse(f"""func.func @f(%R: memref<?xi8>, %y: i8, %n: index) {{
      affine.for %i = 0 to %n {{
        {EVEN[name]}
        affine.store %v, %R[%i] : memref<?xi8>
      }}
      return
    }}""")
    for tail in ("scalar", "masked", "overlapped"):
        made = wide(module, 8, tail)
        vectors = [
            op.result
            for op in walk(made)
            if isinstance(op, arith.Binary | arith.Cast) and "vector" in str(op.result.type)
        ]
        assert vectors
        assert all(v.type.element in (IntegerType(8), IntegerType(1)) for v in vectors)
        assert not any(isinstance(op, arith.Binary) and op.kind == "muli" and op.result in vectors for op in walk(made))
        for n in (0, 5, 8, 300):
            assert alike([np.zeros(n, "i1"), np.int8(-5), n], module.functions[0], made.functions[0])


def test_a_counter_that_starts_at_a_size_is_an_affine_subscript():
    module = parse("""func.func @f(%A: memref<?xf32>, %B: memref<?xf32>, %C: memref<?xi64>, %n: index) {
      %k0 = arith.index_cast %n : index to i64
      %end = affine.for %i = 0 to %n iter_args(%k = %k0) -> (i64) {
        %one = arith.constant 1 : i64
        %down = arith.subi %k, %one : i64
        %at = arith.index_cast %down : i64 to index
        %a = memref.load %A[%at] : memref<?xf32>
        affine.store %a, %B[%i] : memref<?xf32>
        affine.yield %down : i64
      }
      return
    }""")
    made = wide(module, 4)
    assert not any(isinstance(op, memref.Load) for op in walk(made.functions[0]))
    assert_same(module, made)
