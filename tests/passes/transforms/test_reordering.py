"""Loops are interchanged, skewed, shifted, reversed and distributed where nothing changes, and refused otherwise."""

from __future__ import annotations

import re

import numpy as np
import pytest

from affdsl.ir.dialects import affine, func
from affdsl.ir.interpreter import run
from affdsl.ir.verifier import verify
from affdsl.mlir.readers import parse
from affdsl.mlir.writers import print_op
from affdsl.passes.legality.refusal import IllegalTransform
from affdsl.passes.transforms.distribute import distribute
from affdsl.passes.transforms.interchange import interchange, permute
from affdsl.passes.transforms.reverse import reverse
from affdsl.passes.transforms.shift import shift
from affdsl.passes.transforms.skew import skew
from tests.harness import reading
from tests.harness.judges import alike
from tests.harness.reading import loops
from tests.passes.advice.asked import asked
from tests.passes.transforms.reordering_programs import TRIANGLES, triangle


def read(body: str, arguments: str = "%A: memref<?x?xf32>, %B: memref<?x?xf32>, %n: index, %x: f32") -> func.Func:
    return reading.read(body, arguments)


def ivs(function: func.Func) -> list[object]:
    return [loop.iv for loop in loops(function)]


def headers(function: func.Func) -> list[str]:
    """The loops and conditions of a function, in its order."""
    verify(function)
    found = re.findall(r"affine\.(?:for|if).*(?= \{)", print_op(function))
    return [" ".join(line.split()) for line in found]


NEST = """affine.for %i = 0 to %n { affine.for %j = 1 to 9 step 2 { affine.for %k = 0 to 7 {
  affine.store %x, %A[%i * 7 + %k, %j] : memref<?x?xf32>
} } }"""
SWEEP = """affine.for %i = 1 to %n { affine.for %j = 0 to %n {
  %a = affine.load %A[%i - 1, %j + 1] : memref<?x?xf32>
  affine.store %a, %A[%i, %j] : memref<?x?xf32>
} }"""


def test_a_rectangle_keeps_the_bounds_of_its_loops():
    f = read(NEST)
    i, j, k = ivs(f)
    swapped = permute(f, (k, i, j))
    assert headers(swapped) == [
        "affine.for %k = 0 to 7",
        "affine.for %i = 0 to %n",
        "affine.for %j = 1 to 9 step 2",
    ]
    assert ivs(swapped) == [k, i, j]
    assert [loop.location for loop in loops(swapped)] == [loops(f)[n].location for n in (2, 0, 1)]
    assert permute(f, (i, j, k)) is f
    assert headers(permute(f, (j, i)))[0] == "affine.for %j = 1 to 9 step 2"


def test_only_the_loops_that_move_get_new_bounds():
    f = read("""affine.for %i = 0 to %n { affine.for %j = 0 to 8 { affine.for %k = 0 to affine_map<(d0) -> (d0)>(%j) {
      affine.store %x, %A[%i, %j * 8 + %k] : memref<?x?xf32>
    } } }""")
    _, j, k = ivs(f)
    assert headers(interchange(f, j, k)) == [
        "affine.for %i = 0 to %n",
        "affine.for %k = 0 to 7",
        "affine.for %j = affine_map<(d0) -> (d0 + 1)>(%k) to 8",
    ]


@pytest.mark.parametrize("name", TRIANGLES)
def test_a_triangle_visits_the_same_iterations(name):
    f = parse(triangle(name)).functions[0]
    outer, inner = ivs(f)
    swapped = interchange(f, outer, inner)
    verify(swapped)
    assert loops(swapped)[0].iv is inner
    for n in range(13):
        assert alike([np.random.default_rng(n).integers(1, 9, (80, 80)), n], f, swapped), n


def test_refused_with_two_iterations():
    f = read(SWEEP)
    i, j = ivs(f)
    with pytest.raises(IllegalTransform) as refused:
        asked("interchange", f, i, j)
    assert str(refused.value) == (
        "k.mlir:2: cannot interchange loops i and j\n"
        "    the store A[i, j] at line 4 feeds the load A[i - 1, j + 1] at line 3 with distance (1, -1),\n"
        "    e.g. (i, j) = (1, 1) writes A[1, 1], which (i, j) = (2, 0) reads (for n = 3); "
        "the new order does not run them in this order\n"
        "    legal: skew(func, i, j, 1) first"
    )
    after = skew(f, i, j, 1)
    assert len(loops(interchange(after, i, j))) == 2


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("""affine.for %i = 0 to %n { affine.store %x, %A[%i, 0] : memref<?x?xf32>
          affine.for %j = 0 to %n { affine.store %x, %B[%i, %j] : memref<?x?xf32> } }""",
         "the loop i does not hold the loop j and nothing else"),
        ("""affine.for %i = 0 to %n { %s = affine.for %j = 0 to %n iter_args(%t = %x) -> f32 {
          affine.yield %t : f32 } }""",
         "the loop j carries values (iter_args) from each iteration to the next"),
        ("""affine.for %i = 0 to %n step 2 {
          affine.for %j = max affine_map<(d0) -> (d0, 3)>(%i) to %n step 2 {
            affine.store %x, %B[%i, %j] : memref<?x?xf32> } }""",
         "j begins at the largest of several numbers, in steps of 2"),
        ("""affine.for %i = 0 to %n { affine.for %j = affine_map<(d0)[s0] -> (d0 * s0)>(%i)[%n] to 100 {
          affine.store %x, %B[%i, %j] : memref<?x?xf32> } }""",
         "the new bounds cannot be written as those of affine.for: isl cannot express the semi-affine"),
    ],
)  # fmt: skip
def test_refused_for_its_form(body, text):
    f = read(body)
    with pytest.raises(IllegalTransform, match=re.escape(text)) as refused:
        interchange(f, *ivs(f))
    assert refused.value.dependence is None


def test_an_unknown_loop_is_named_with_those_that_there_are():
    f, other = read(SWEEP), read("affine.for %q = 0 to 4 { }")
    with pytest.raises(IllegalTransform, match=r"@f has no affine\.for over q; its loops are i, j"):
        interchange(f, ivs(f)[0], ivs(other)[0])
    with pytest.raises(IllegalTransform, match="i is given twice"):
        interchange(f, ivs(f)[0], ivs(f)[0])


def test_skew_and_shift_count_from_elsewhere():
    f = read(SWEEP)
    i, j = ivs(f)
    assert headers(skew(f, i, j, -1)) == [
        "affine.for %i = 1 to %n",
        "affine.for %j = affine_map<(d0) -> (-d0)>(%i) to affine_map<(d0)[s0] -> (-d0 + s0)>(%i)[%n]",
    ]
    assert headers(shift(f, j, 5))[1] == "affine.for %j = 5 to affine_map<()[s0] -> (s0 + 5)>()[%n]"
    assert skew(f, i, j, 0) is f
    assert shift(f, i, 0) is f
    with pytest.raises(IllegalTransform, match="the loop i is not inside the loop j"):
        skew(f, j, i, 1)


def test_a_counter_that_is_read_as_it_is_gets_computed():
    body = """affine.for %i = 0 to %n {
      %c = arith.index_cast %i : index to i64
      affine.store %c, %A[%i] : memref<?xi64>
    }"""
    f = read(body, "%A: memref<?xi64>, %n: index")
    (i,) = ivs(f)
    moved = shift(f, i, 2)
    assert isinstance(loops(moved)[0].body[0], affine.Apply)
    wanted, found = np.zeros(5, np.int64), np.zeros(5, np.int64)
    run(f, wanted, 5)
    run(moved, found, 5)
    assert found.tolist() == wanted.tolist() == [0, 1, 2, 3, 4]


REVERSED = {
    "one bound": ("0 to %n", ["0 to %n"]),
    "steps": ("1 to %n step 3", ["1 to %n step 3"]),
    "several upper bounds": ("2 to min affine_map<()[s0] -> (s0, 7)>()[%n]",
                             ["max affine_map<()[s0] -> (-s0 + 1, -6)>()[%n] to -1"]),
    "several lower bounds": ("max affine_map<()[s0] -> (s0 - 5, 1)>()[%n] to %n",
                             ["affine_map<()[s0] -> (-s0 + 1)>()[%n] to min affine_map<()[s0] -> (-s0 + 6, 0)>()[%n]"]),
    "several upper bounds and steps": ("2 to min affine_map<()[s0] -> (s0, 10)>()[%n] step 4", None),
}  # fmt: skip


@pytest.mark.parametrize("name", REVERSED)
def test_reverse_runs_the_same_iterations(name):
    bounds, wanted_bounds = REVERSED[name]
    f = read(
        f"affine.for %i = {bounds} {{ affine.store %x, %A[%i] : memref<?xf32> }}",
        "%A: memref<?xf32>, %n: index, %x: f32",
    )
    (i,) = ivs(f)
    backwards = reverse(f, i)
    if wanted_bounds is not None:
        assert headers(backwards) == [f"affine.for %i = {b}" for b in wanted_bounds]
    for n in range(13):
        assert alike([np.zeros(16, np.float32), n, np.float32(1)], f, backwards), n


def test_reverse_is_refused_where_an_iteration_needs_another():
    f = read(SWEEP)
    with pytest.raises(IllegalTransform, match=r"with distance \(1, -1\)"):
        reverse(f, ivs(f)[0])
    assert headers(reverse(f, ivs(f)[1])) == headers(f)
    carrying = read("%r = affine.for %i = 0 to %n iter_args(%s = %x) -> f32 { affine.yield %s : f32 }")
    with pytest.raises(IllegalTransform, match=r"%s of one iteration is used in the next, and not only combined"):
        reverse(carrying, ivs(carrying)[0])
    stepping = read("""affine.for %i = max affine_map<()[s0] -> (s0, 3)>()[%n] to 20 step 2 {
      affine.store %x, %A[%i, 0] : memref<?x?xf32> }""")
    with pytest.raises(IllegalTransform, match="the largest of several numbers, in steps of 2"):
        reverse(stepping, ivs(stepping)[0])


def test_a_sum_runs_in_another_order_only_where_that_is_allowed():
    f = read("""affine.for %i = 0 to %n { affine.for %j = 0 to %n {
      %a = affine.load %A[%i + %j, 0] : memref<?x?xf32>
      %b = arith.addf %a, %x : f32
      affine.store %b, %A[%i + %j, 0] : memref<?x?xf32>
    } }""")
    i, j = ivs(f)
    for step in (lambda **allowed: reverse(f, i, **allowed), lambda **allowed: permute(f, (j, i), **allowed)):
        with pytest.raises(IllegalTransform):
            step()
        verify(step(reassociate=True))
    with pytest.raises(IllegalTransform) as refused:
        asked("reverse", f, i)
    assert refused.value.alternative == "the same with reassociate=True"
    g = read("""affine.for %i = 1 to %n {
      %a = affine.load %A[%i - 1, 0] : memref<?x?xf32>
      %b = arith.addf %a, %x : f32
      affine.store %b, %A[%i, 0] : memref<?x?xf32>
    }""")
    with pytest.raises(IllegalTransform) as refused:
        asked("reverse", g, ivs(g)[0], reassociate=True)
    assert refused.value.alternative == ""


def test_statements_run_in_loops_of_their_own_in_the_order_of_their_dependences():
    f = read("""affine.for %i = 1 to %n {
      %c = affine.apply affine_map<(d0) -> (d0 * 2)>(%i)
      %a = affine.load %A[%i - 1, 0] : memref<?x?xf32>
      affine.store %a, %B[%c, 0] : memref<?x?xf32>
      %s = arith.addf %x, %x : f32
      affine.store %s, %A[%i, 0] : memref<?x?xf32>
      affine.for %j = 0 to affine_map<(d0) -> (d0)>(%i) { affine.store %s, %B[%c, %j + 1] : memref<?x?xf32> }
    }""")
    made = distribute(f, ivs(f)[0])
    verify(made)
    first, second, third = [op for op in made.body if isinstance(op, affine.For)]
    assert first.iv is ivs(f)[0]
    assert [type(op).__name__ for op in first.body] == ["Binary", "Store"]
    assert [type(op).__name__ for op in second.body] == ["Apply", "Load", "Store"]
    assert [type(op).__name__ for op in third.body] == ["Apply", "Binary", "For"]
    assert third.iv.hint == "i"


def test_a_cycle_stays_together():
    f = read("""affine.for %i = 1 to %n {
      %a = affine.load %A[%i - 1, 0] : memref<?x?xf32>
      affine.store %a, %B[%i, 0] : memref<?x?xf32>
      %b = affine.load %B[%i, 0] : memref<?x?xf32>
      affine.store %b, %A[%i, 0] : memref<?x?xf32>
    }""")
    with pytest.raises(IllegalTransform) as refused:
        distribute(f, ivs(f)[0])
    assert str(refused.value) == (
        "k.mlir:2: cannot distribute loop i\n"
        "    the store A[i, 0] at line 6 feeds the load A[i - 1, 0] at line 3 with distance (1),\n"
        "    e.g. i = 1 writes A[1, 0], which i = 2 reads (for n = 3); the new order does not run them in this order"
    )
    one = read("affine.for %i = 0 to %n { affine.store %x, %A[%i, 0] : memref<?x?xf32> }")
    with pytest.raises(IllegalTransform, match="or are only one"):
        distribute(one, ivs(one)[0])
    carrying = read("%r = affine.for %i = 0 to %n iter_args(%s = %x) -> f32 { affine.yield %s : f32 }")
    with pytest.raises(IllegalTransform, match="carries values"):
        distribute(carrying, ivs(carrying)[0])


def test_what_may_do_anything_stays_in_order():
    text = """func.func private @say()
    func.func @f(%x: f32) {
      %A = memref.alloc() : memref<9xf32>
      affine.for %i = 0 to 9 { func.call @say() : () -> ()
        affine.store %x, %A[%i] : memref<9xf32>
        func.call @say() : () -> () }
      return }"""
    module = parse(text)
    f = module.functions[1]
    made = distribute(f, ivs(f)[0], module=module)
    verify(made)
    groups = [[type(op).__name__ for op in loop.body] for loop in loops(made)]
    assert groups in ([["Call", "Call"], ["Store"]], [["Store"], ["Call", "Call"]])
