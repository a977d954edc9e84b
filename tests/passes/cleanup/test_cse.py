"""cse: one operation for all equal ones, and for no other."""

import pytest

from affdsl.ir.dialects import affine, arith, memref
from affdsl.ir.traverse import walk
from affdsl.ir.verifier import verify
from affdsl.mlir.readers import parse
from affdsl.mlir.writers import print_op
from affdsl.passes.cleanup.cse import cse
from tests.effort import some
from tests.mlir.batches import judge
from tests.passes.cleanup.canonicalize_corpus import RANDOM, corpus, size
from tests.passes.cleanup.random_arithmetic import assert_same_at_the_ends, random_function


def count(text: str, cls: type) -> int:
    """How many operations of a class are left."""
    module = parse(text)
    after = cse(module)
    verify(after)
    return sum(isinstance(op, cls) for op in walk(after))


def loads(between: str) -> int:
    """How many of two equal loads are left with something between them."""
    return count(
        f"""func.func @f(%A: memref<?xf32>, %B: memref<?xf32>, %n: index, %x: f32) -> (f32, f32) {{
          %a = affine.load %A[%n] : memref<?xf32>
          {between}
          %b = affine.load %A[%n] : memref<?xf32>
          return %a, %b : f32, f32
        }}""",
        affine.Load,
    )


def test_equal_operations():
    text = """func.func @f(%x: i32, %y: i32) -> (i32, i32, i32) {
      %a = arith.addi %x, %y : i32
      %b = arith.addi %y, %x : i32
      %c = arith.subi %x, %y : i32
      %d = arith.subi %y, %x : i32
      %e = arith.muli %a, %b : i32
      return %c, %d, %e : i32, i32, i32
    }"""
    assert count(text, arith.Binary) == 4


@pytest.mark.parametrize(
    ("first", "second", "left"),
    [
        ("0.0 : f32", "0.0 : f32", 1), ("0.0 : f32", "-0.0 : f32", 2), ("0x7FC00000 : f32", "0x7FC00000 : f32", 1),
        ("1 : i32", "true", 2), ("1 : i32", "1 : i64", 2), ("dense<1> : vector<2xi32>", "dense<1> : vector<4xi32>", 2),
    ],
)  # fmt: skip
def test_constants(first, second, left):
    types = [text.rpartition(" : ")[2] if " : " in text else "i1" for text in (first, second)]
    text = f"""func.func @f() -> ({types[0]}, {types[1]}) {{
      %a = arith.constant {first}
      %b = arith.constant {second}
      return %a, %b : {types[0]}, {types[1]}
    }}"""
    assert count(text, arith.Constant) == left


@pytest.mark.parametrize(
    ("between", "left"),
    [
        ("", 1),
        ("%v = affine.load %B[%n] : memref<?xf32>", 1),
        ("%v = memref.alloc() : memref<4xf32>\nmemref.store %x, %v[%n] : memref<4xf32>", 2),
        ("affine.store %x, %B[%n] : memref<?xf32>", 2),
        ("affine.for %i = 0 to 4 { affine.store %x, %B[%i] : memref<?xf32> }", 2),
        ("affine.for %i = 0 to 4 { %v = affine.load %B[%i] : memref<?xf32> }", 1),
        ("memref.copy %B, %A : memref<?xf32> to memref<?xf32>", 2),
        ("memref.dealloc %B : memref<?xf32>", 2),
        ("func.call @g() : () -> ()", 2),
        ('"test.unknown"() : () -> ()', 2),
    ],
)
def test_loads_with_something_between(between, left):
    before = "func.func private @g()\n" if "@g" in between else ""
    text = f"""{before}func.func @f(%A: memref<?xf32>, %B: memref<?xf32>, %n: index, %x: f32) -> (f32, f32) {{
      %a = affine.load %A[%n] : memref<?xf32>
      {between}
      %b = affine.load %A[%n] : memref<?xf32>
      return %a, %b : f32, f32
    }}"""
    after = cse(parse(text))
    found = [op for op in walk(after) if isinstance(op, affine.Load) and op.memref.hint == "A"]
    assert len(found) == left


def test_a_load_of_another_block_is_not_taken():
    """What stands before a loop is as it was only until the loop writes."""
    inside = (
        "affine.for %i = 0 to 4 { %v = affine.load %A[%n] : memref<?xf32> affine.store %v, %A[%i] : memref<?xf32> }"
    )
    assert loads(inside) == 3


def test_operations_inside_take_those_around():
    text = """func.func @f(%A: memref<?xindex>, %n: index) {
      %a = arith.addi %n, %n : index
      affine.for %i = 0 to 4 {
        %b = arith.addi %n, %n : index
        %c = arith.muli %n, %n : index
        memref.store %b, %A[%c] : memref<?xindex>
      }
      %d = arith.muli %n, %n : index
      memref.store %d, %A[%a] : memref<?xindex>
      return
    }"""
    assert count(text, arith.Binary) == 3


def test_equal_loops():
    loop = """affine.for %i = 0 to 10 iter_args(%a = %x) -> f32 {
      %v = affine.load %A[%i] : memref<?xf32>
      %w = arith.addf %v, %a : f32
      affine.yield %w : f32
    }"""
    text = f"""func.func @f(%A: memref<?xf32>, %x: f32) -> (f32, f32, f32) {{
      %p = {loop}
      %q = {loop.replace("%i", "%k")}
      %r = {loop.replace("%v, %a", "%a, %a")}
      return %p, %q, %r : f32, f32, f32
    }}"""
    assert count(text, affine.For) == 2


def test_maps_are_compared_with_their_operands():
    text = """func.func @f(%n: index, %m: index) -> (index, index, index) {
      %a = affine.apply affine_map<(d0)[s0] -> (d0 + s0)>(%n)[%m]
      %b = affine.apply affine_map<(d0)[s0] -> (d0 + s0)>(%n)[%m]
      %c = affine.apply affine_map<(d0)[s0] -> (d0 + s0)>(%m)[%n]
      return %a, %b, %c : index, index, index
    }"""
    assert count(text, affine.Apply) == 2


def test_what_nobody_uses_goes():
    text = """func.func @f(%n: index, %A: memref<?xf32>) {
      %a = arith.addi %n, %n : index
      %b = arith.addi %a, %n : index
      %v = memref.load %A[%b] : memref<?xf32>
      %B = memref.alloc() : memref<4xf32>
      return
    }"""
    assert count(text, arith.Binary) == count(text, memref.Load) == count(text, memref.Alloc) == 0


def test_buffers_are_not_merged():
    text = """func.func @f() -> (memref<4xf32>, memref<4xf32>) {
      %a = memref.alloc() : memref<4xf32>
      %b = memref.alloc() : memref<4xf32>
      return %a, %b : memref<4xf32>, memref<4xf32>
    }"""
    assert count(text, memref.Alloc) == 2


def test_modules_inside():
    text = """module { func.func @f(%x: i32) -> i32 { %a = arith.addi %x, %x : i32 %b = arith.addi %x, %x : i32
      %c = arith.muli %a, %b : i32 return %c : i32 } module @inner { func.func @g(%x: i32) -> i32 {
      %a = arith.addi %x, %x : i32 %b = arith.addi %x, %x : i32 %c = arith.muli %a, %b : i32 return %c : i32 } } }"""
    assert count(text, arith.Binary) == 4


def test_the_corpus_does_the_same_and_gets_no_larger_than_with_mlir_opt():
    examples = corpus(some(RANDOM, 25))
    made = [cse(parse(e.text)) for e in examples]
    theirs = judge([e.text for e in examples], "--allow-unregistered-dialect", "--cse")
    for example, after, verdict in zip(examples, made, theirs, strict=True):
        before = parse(example.text)
        assert_same_at_the_ends(before, after, runs=2)
        assert verdict.output is not None
        assert size(print_op(after)) <= size(verdict.output), example.name


def test_random_arithmetic_does_the_same():
    changed = 0
    for seed in some(range(200), 100):
        before = parse(random_function(seed))
        after = cse(before)
        changed += print_op(after) != print_op(before)
        assert_same_at_the_ends(before, after, runs=2, seed=seed)
    assert changed > 20
