"""What stands beside a loop moves into it: what only it uses, or everything, under conditions."""

from __future__ import annotations

from collections import Counter

import pytest

from affdsl.ir.dialects import affine
from affdsl.ir.interpreter import InterpreterError
from affdsl.ir.verifier import verify
from affdsl.mlir.writers import print_op
from passes.legality.refusal import IllegalTransform
from passes.transforms.hoist import hoist
from passes.transforms.interchange import interchange
from passes.transforms.sink import make_perfect, sink
from tests.effort import some
from tests.harness.reading import iv, loops, read
from tests.passes.advice.asked import asked
from tests.passes.transforms.loops_before_and_after import on_random_programs
from tests.passes.transforms.own_buffer_programs import SIZES, generate, result


def shape(block: tuple) -> list[object]:
    """The classes of operations, with those inside of loops and conditions."""
    return [[type(op).__name__, *(shape(b) for b in op.blocks() if b)] for op in block]


USED = """affine.for %i = 0 to %n {
  %c = affine.apply affine_map<(d0) -> (d0 * 2)>(%i)
  %a = affine.load %B[%c] : memref<?xf32>
  %b = arith.addf %a, %x : f32
  affine.for %j = 0 to 8 { affine.store %b, %A[%i, %j] : memref<?x?xf32> }
}"""


def test_a_chain_moves_in_its_order():
    f = read(USED)
    made = sink(f, iv(f, "j"))
    verify(made)
    assert shape(made.body) == [["For", [["For", [["Apply"], ["Load"], ["Binary"], ["Store"]]]]]]
    assert len(loops(interchange(made, iv(f, "i"), iv(f, "j")))) == 2
    back = hoist(made, iv(f, "j"))
    assert shape(back.body) == shape(f.body)


def test_what_others_use_stays_and_what_it_needs_with_it():
    f = read(USED.replace("affine.for %j", "affine.store %a, %A[%i, 0] : memref<?x?xf32>\naffine.for %j"))
    made = sink(f, iv(f, "j"))
    assert shape(made.body) == [["For", [["Apply"], ["Load"], ["Store"], ["For", [["Binary"], ["Store"]]]]]]


KEPT = {
    "a load of what the loop writes": (
        """%a = affine.load %B[0] : memref<?xf32>
        affine.for %j = 0 to 8 { affine.store %a, %B[%j] : memref<?xf32> }""",
        (
            "the load B[0] at line 2 stays: the store B[j] at line 3 may change what it loads:\n"
            "    the load B[0] at line 2 must come before the store B[j] at line 3,\n"
            "    e.g. the only iteration reads B[0], which j = 0 writes; the new order does not run them in this order"
        ),
    ),
    "a load before a write": (
        """%a = affine.load %B[0] : memref<?xf32>
        affine.store %x, %B[0] : memref<?xf32>
        affine.for %j = 0 to 8 { affine.store %a, %A[0, %j] : memref<?x?xf32> }""",
        (
            "the load B[0] at line 2 stays: the store B[0] at line 3 may change what it loads:\n"
            "    the load B[0] at line 2 must come before the store B[0] at line 3,\n"
            "    e.g. the only iteration reads B[0], which the only iteration writes; "
            "the new order does not run them in this order"
        ),
    ),
    "a load before what may do anything": (
        """%a = affine.load %B[0] : memref<?xf32>
        "my.op"() : () -> ()
        affine.for %j = 0 to 8 { affine.store %a, %A[0, %j] : memref<?x?xf32> }""",
        "the load B[0] at line 2 stays: the write of B by my.op at line 3 may change what it loads",
    ),
    "a buffer": (
        """%t = memref.alloc() : memref<f32>
        affine.for %j = 0 to 8 { affine.store %x, %t[] : memref<f32> }""",
        "memref.alloc of t at line 2 stays: it does more than to compute or to load",
    ),
    "a symbol": (
        """%c = affine.apply affine_map<()[s0] -> (s0 * 2)>()[%n]
        affine.for %j = 0 to 8 { affine.store %x, %B[%j * symbol(%c)] : memref<?xf32> }""",
        "affine.apply of c at line 2 stays: its result is a symbol, which it would not be in a loop",
    ),
    "a bound": (
        """%c = arith.constant 8 : index
        affine.for %j = 0 to %c { affine.store %x, %B[%c] : memref<?xf32> }""",
        "arith.constant of c at line 2 stays: something outside of the loop uses its result",
    ),
    "nothing": ("affine.for %j = 0 to 8 { }", "it uses no result of what stands before it in its block"),
}


@pytest.mark.parametrize("name", KEPT)
def test_what_stays_says_why(name):
    body, reason = KEPT[name]
    f = read(body)
    with pytest.raises(IllegalTransform) as refused:
        sink(f, iv(f, "j"))
    assert str(refused.value).endswith(f"cannot sink anything into loop j\n    {reason}")


def test_random_programs_do_the_same_after_sinking():
    found = on_random_programs(some(range(500, 580), 40), sink)
    assert found.made > 20
    assert found.compared > 10


SUM = """affine.for %i = 0 to %n {
  %z = arith.constant 0.0 : f32
  affine.store %z, %B[%i] : memref<?xf32>
  affine.for %j = 1 to 8 step 3 {
    %a = affine.load %A[%i, %j] : memref<?x?xf32>
    %b = affine.load %B[%i] : memref<?xf32>
    %c = arith.addf %a, %b : f32
    affine.store %c, %B[%i] : memref<?xf32>
  }
  %d = affine.load %B[%i] : memref<?xf32>
  affine.for %k = 0 to 2 { affine.store %d, %A[%i, %k] : memref<?x?xf32> }
}"""


def test_statements_beside_a_loop_run_in_its_first_or_last_iteration():
    f = read(SUM)
    made = make_perfect(f, iv(f, "i"), iv(f, "j"))
    verify(made)
    assert [line.strip() for line in print_op(made).splitlines() if "affine.if" in line] == [
        "affine.if affine_set<(d0) : (d0 - 1 == 0)>(%j) {",
        "affine.if affine_set<(d0) : (d0 - 5 >= 0)>(%j) {",
    ]
    with pytest.raises(IllegalTransform) as refused:
        asked("interchange", f, iv(f, "i"), iv(f, "j"))
    assert str(refused.value) == (
        "k.mlir:2: cannot interchange loops i and j\n"
        "    the loop i does not hold the loop j and nothing else\n"
        "    legal: make_perfect(func, i, j) first"
    )
    assert len(loops(interchange(made, iv(f, "i"), iv(f, "j")))) == 3


def test_what_both_use_is_computed_in_each_iteration():
    f = read("""affine.for %i = 0 to %n {
      %a = affine.load %B[%i] : memref<?xf32>
      %b = arith.addf %a, %x : f32
      affine.store %b, %A[%i, 0] : memref<?x?xf32>
      affine.for %j = 0 to 8 { affine.store %b, %A[%i, %j + 1] : memref<?x?xf32> }
      affine.store %a, %A[%i, 10] : memref<?x?xf32>
    }""")
    made = make_perfect(f, iv(f, "i"), iv(f, "j"))
    verify(made)
    assert shape(made.body) == [
        ["For", [["For", [["Load"], ["Binary"], ["If", [["Store"]]], ["Store"], ["If", [["Store"]]]]]]]
    ]
    assert make_perfect(made, iv(f, "i"), iv(f, "j")) is made


REFUSED = {
    "it may not run": (
        "affine.store %x, %B[%i] : memref<?xf32>\naffine.for %j = 0 to %n { }",
        (
            "the loop j may not run, and the store B[i] at line 3 beside it must\n"
            "    legal: promise n >= 1 (affdsl.assume)"
        ),
    ),
    "several lower bounds": (
        "affine.store %x, %B[%i] : memref<?xf32>\naffine.for %j = max affine_map<(d0) -> (d0, 1)>(%i) to 99 { }",
        "no condition says which iteration of j is the first: it has several bounds there",
    ),
    "several upper bounds": (
        "affine.for %j = 0 to min affine_map<(d0) -> (d0 + 1, 9)>(%i) { }\naffine.store %x, %B[%i] : memref<?xf32>",
        "no condition says which iteration of j is the last: it has several bounds there",
    ),
    "a bound that is computed": (
        "%c = affine.apply affine_map<(d0) -> (d0 + 1)>(%i)\naffine.for %j = 0 to affine_map<(d0) -> (d0)>(%c) { }",
        "the bounds of j use the result of affine.apply of c at line 3",
    ),
    "a number that changes": (
        """%a = affine.load %B[%i] : memref<?xf32>
        affine.for %j = 0 to 8 { affine.store %a, %B[%j] : memref<?xf32> }""",
        (
            "the load B[i] at line 3 stays: the store B[j] at line 4 may change what it loads:\n"
            "    the load B[i] at line 3 must come before the store B[j] at line 4 with distance (0),\n"
            "    e.g. i = 0 reads B[0], which (i, j) = (0, 0) writes; the new order does not run them in this order"
        ),
    ),
    "a buffer": (
        """%t = memref.alloc() : memref<f32>
        affine.for %j = 0 to 8 { affine.store %x, %t[] : memref<f32> }""",
        "memref.alloc of t at line 3 stays: it does more than to compute or to load",
    ),
    "carried": (
        "%r = affine.for %j = 0 to 8 iter_args(%s = %x) -> f32 { affine.yield %s : f32 }",
        "the loop j carries values (iter_args) from each iteration to the next",
    ),
    "further inside": (
        "affine.for %k = 0 to 8 { affine.for %j = 0 to 8 { } }",
        "the loop j does not stand right in the body of the loop i, but in that of k: make these two perfect first",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refusals(name):
    body, reason = REFUSED[name]
    f = read(f"affine.for %i = 0 to 5 {{\n{body} }}")
    with pytest.raises(IllegalTransform) as refused:
        asked("make_perfect", f, iv(f, "i"), iv(f, "j"))
    wanted = reason if "stays" not in reason else f"what j uses must be computed in each iteration, but {reason}"
    assert str(refused.value).endswith(f"cannot make loops i and j perfectly nested\n    {wanted}")


def test_random_programs_do_the_same_with_perfect_nests():
    seen: Counter[str] = Counter()
    for seed in some(range(3000, 3400), 200):
        function = generate(seed)
        pairs = [(outer, inner) for outer in loops(function) for inner in outer.body if isinstance(inner, affine.For)]
        for outer, inner in pairs:
            try:
                made = make_perfect(function, outer.iv, inner.iv)
            except IllegalTransform:
                seen["refused"] += 1
                continue
            verify(made)
            seen["done"] += made is not function
            for n in SIZES:
                try:
                    wanted = result(function, n)
                except InterpreterError:
                    continue
                assert result(made, n) == wanted, f"seed {seed}, n = {n}\n{function}\n{made}"
                seen["compared"] += 1
    assert seen["done"] > 30, seen
    assert seen["compared"] > 50, seen


def test_the_outer_loop_is_named_first():
    f = read("affine.for %i = 0 to 8 { affine.for %j = 0 to 8 { affine.store %x, %B[%j] : memref<?xf32> } }")
    with pytest.raises(
        IllegalTransform, match="not stand right in the body of the loop j, but around it: name the outer"
    ):
        make_perfect(f, iv(f, "j"), iv(f, "i"))
