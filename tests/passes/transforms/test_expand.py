"""A buffer gets a slice for each iteration of a loop, and everybody still reads what was written for them."""

from __future__ import annotations

import re

import numpy as np
import pytest

from affdsl.ir.dialects import func
from affdsl.ir.expr import Value
from affdsl.ir.interpreter import run
from affdsl.ir.verifier import verify
from affdsl.mlir.writers import print_op
from affdsl.passes.legality.refusal import IllegalTransform
from affdsl.passes.transforms.distribute import distribute
from affdsl.passes.transforms.expand import expand
from affdsl.passes.transforms.parallelize import parallelize
from tests.harness.reading import iv, loops, read
from tests.passes.transforms.own_buffer_programs import buffers


def buffer(function: func.Func) -> Value:
    return next(value for value in buffers(function) if value.hint == "t")


def expanded(body: str, loop: str = "i") -> func.Func:
    f = read(body)
    made = expand(f, buffer(f), iv(f, loop))
    verify(made)
    return made


def uses(function: func.Func) -> list[str]:
    """The lines that make, use or give back the buffer, and what computes its size."""
    lines = (line.strip() for line in print_op(function).splitlines())
    return [re.sub(r" : .*", "", line) for line in lines if re.search(r"%t\b|_count =", line)]


def test_a_slice_for_each_iteration():
    assert uses(
        expanded("""%t = memref.alloc(%n) : memref<?xf32>
        affine.for %i = 0 to %n {
          affine.for %j = 0 to %n { affine.store %x, %t[%j] : memref<?xf32> }
          affine.for %k = 0 to %n {
            %b = affine.load %t[%k] : memref<?xf32>
            affine.store %b, %A[%i, %k] : memref<?x?xf32>
          }
        }
        memref.dealloc %t : memref<?xf32>""")
    ) == [
        "%i_count = affine.max affine_map<()[s0] -> (s0, 0)>()[%n]",
        "%t = memref.alloc(%i_count, %n)",
        "affine.store %x, %t[%i, %j]",
        "%b = affine.load %t[%i, %k]",
        "memref.dealloc %t",
    ]


CARRIED = """%t = memref.alloca() : memref<f32>
affine.store %x, %t[] : memref<f32>
affine.for %i = 1 to %n step 2 {
  %p = affine.load %t[] : memref<f32>
  affine.store %p, %B[%i] : memref<?xf32>
  %a = affine.load %A[0, %i] : memref<?x?xf32>
  affine.store %a, %t[] : memref<f32>
}
%r = affine.load %t[] : memref<f32>
affine.store %r, %B[0] : memref<?xf32>"""


def test_what_the_iteration_before_wrote_and_what_is_left_behind():
    made = expanded(CARRIED)
    assert uses(made) == [
        "%i_count = affine.max affine_map<()[s0] -> (s0 floordiv 2 + 1, 1)>()[%n]",
        "%t = memref.alloc(%i_count)",
        "affine.store %x, %t[0]",
        "%p = affine.load %t[(%i - 1) floordiv 2]",
        "affine.store %a, %t[(%i - 1) floordiv 2 + 1]",
        "%r = affine.load %t[%i_count - 1]",
        "memref.dealloc %t",
    ]
    f = read(CARRIED)
    with pytest.raises(IllegalTransform):
        parallelize(f, iv(f, "i"))
    for n in range(9):
        numbers = []
        for each in (f, made):
            given = np.arange(9, dtype=np.float32).reshape(1, 9) + 1, np.zeros(9, np.float32), n, np.float32(99)
            run(each, *given)
            numbers.append(given[1].tolist())
        assert numbers[0] == numbers[1], n
    # What the iterations hand on is written by all of them first, and then read.
    apart = distribute(made, iv(made, "i"))
    first, second = loops(apart)
    assert [type(op).__name__ for op in first.body] == ["Load", "Store"]
    verify(parallelize(parallelize(apart, first.iv), second.iv))


def test_a_start_where_the_number_of_iterations_is_known():
    made = expanded(CARRIED.replace("%n", "8"))
    assert uses(made) == [
        "%t = memref.alloc()",
        "affine.store %x, %t[0]",
        "%p = affine.load %t[(%i - 1) floordiv 2]",
        "affine.store %a, %t[(%i - 1) floordiv 2 + 1]",
        "%r = affine.load %t[4]",
        "memref.dealloc %t",
    ]
    assert "memref<5xf32>" in print_op(made)


def test_several_iterations_before_without_a_start():
    assert uses(
        expanded("""%t = memref.alloc() : memref<f32>
        affine.for %i = 0 to 8 {
          affine.for %j = 0 to 4 {
            affine.store %x, %t[] : memref<f32>
            %b = affine.load %t[] : memref<f32>
            affine.store %b, %A[%i, %j] : memref<?x?xf32>
          }
        }""", "j")
    ) == ["%t = memref.alloc()", "affine.store %x, %t[%j]", "%b = affine.load %t[%j]"]  # fmt: skip
    assert uses(
        expanded("""%t = memref.alloc() : memref<9xf32>
        affine.for %i = 0 to 8 {
          affine.store %x, %t[%i] : memref<9xf32>
          affine.if affine_set<(d0) : (d0 - 3 >= 0)>(%i) {
            %b = affine.load %t[%i - 3] : memref<9xf32>
            affine.store %b, %B[%i] : memref<?xf32>
          }
        }""")
    ) == ["%t = memref.alloc()", "affine.store %x, %t[%i, %i]", "%b = affine.load %t[%i - 3, %i - 3]"]


def test_where_a_size_is_known_only_further_inside():
    made = expanded("""%t = memref.alloca() : memref<f32>
    affine.for %o = 0 to 8 {
      affine.for %i = 0 to affine_map<(d0)[s0] -> (d0 + s0)>(%o)[%n] {
        affine.store %x, %t[] : memref<f32>
        %b = affine.load %t[] : memref<f32>
        affine.store %b, %A[%o, %i] : memref<?x?xf32>
      }
    }""")
    (outer,) = made.body
    assert [type(op).__name__ for op in outer.body] == ["Max", "Alloc", "For", "Dealloc"]


OWN = """affine.for %o = 0 to %n { affine.for %i = 0 to affine_map<(d0) -> (d0 + 1)>(%o) {
  %t = memref.alloc() : memref<f32>
  affine.store %x, %t[] : memref<f32>
  affine.for %k = 0 to %n {
    %v = affine.load %t[] : memref<f32>
    %a = affine.load %A[%i, %k] : memref<?x?xf32>
    %s = arith.addf %v, %a : f32
    affine.store %s, %t[] : memref<f32>
  }
  %r = affine.load %t[] : memref<f32>
  affine.store %r, %B[%i] : memref<?xf32>
  memref.dealloc %t : memref<f32>
} }"""


def test_what_each_iteration_makes_for_itself_is_made_before_the_loop():
    made = expanded(OWN)
    assert uses(made) == [
        "%i_count = affine.apply affine_map<(d0) -> (d0 + 1)>(%o)",
        "%t = memref.alloc(%i_count)",
        "affine.store %x, %t[%i]",
        "%v = affine.load %t[%i]",
        "affine.store %s, %t[%i]",
        "%r = affine.load %t[%i]",
        "memref.dealloc %t",
    ]
    apart = distribute(made, iv(made, "i"))
    assert [type(op).__name__ for op in loops(apart)[0].body] == ["Apply", "Alloc", "For", "For", "For", "Dealloc"]
    for n in range(5):
        outcomes = []
        for each in (read(OWN), made, apart):
            given = np.arange(25, dtype=np.float32).reshape(5, 5) + 1, np.zeros(9, np.float32), n, np.float32(9)
            run(each, *given)
            outcomes.append(given[1].tolist())
        assert outcomes[0] == outcomes[1] == outcomes[2], n


def test_what_computes_a_size_moves_with_the_buffer():
    rectangular = OWN.replace("affine_map<(d0) -> (d0 + 1)>(%o)", "%n")
    once = expanded(rectangular)
    twice = expand(once, buffer(once), iv(once, "o"))
    verify(twice)
    assert uses(twice)[-1] == "memref.dealloc %t"
    assert "%t[%o, %i]" in "".join(uses(twice))
    f = expanded(OWN)
    with pytest.raises(IllegalTransform, match="how large t is, is only known inside"):
        expand(f, buffer(f), iv(f, "o"))
