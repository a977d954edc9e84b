"""Each iteration gets its own buffer where it hands nothing on in it, and dependences that were only for space go."""

from __future__ import annotations

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
from affdsl.passes.transforms.interchange import interchange
from affdsl.passes.transforms.parallelize import parallelize
from affdsl.passes.transforms.privatize import privatize
from affdsl.passes.transforms.reverse import reverse
from tests.harness.reading import function, iv, loops, read
from tests.oracles import mlir_opt
from tests.passes.advice.asked import asked, taken
from tests.passes.transforms.own_buffer_programs import buffers


def buffer(function: func.Func, name: str = "t") -> Value:
    return next(value for value in buffers(function) if value.hint == name)


def refused(function: func.Func, *arguments: Value, by=privatize) -> IllegalTransform:
    with pytest.raises(IllegalTransform) as caught:
        asked(by.__name__, function, *arguments)
    return caught.value


SCALAR = """%t = memref.alloca() : memref<f32>
affine.for %i = 0 to %n { affine.for %j = 0 to %n {
  %a = affine.load %A[%i, %j] : memref<?x?xf32>
  affine.store %a, %t[] : memref<f32>
  %b = affine.load %t[] : memref<f32>
  affine.store %b, %A[%i, %j] : memref<?x?xf32>
} }"""
ROW = """%t = memref.alloc(%n) {alignment = 64 : i64} : memref<?xf32>
affine.for %i = 0 to %n {
  affine.for %j = 0 to %n {
    %a = affine.load %A[%i, %j] : memref<?x?xf32>
    affine.store %a, %t[%j] : memref<?xf32>
  }
  affine.for %k = 0 to %n {
    %b = affine.load %t[%n - 1 - %k] : memref<?xf32>
    affine.store %b, %A[%i, %k] : memref<?x?xf32>
  }
}
memref.dealloc %t : memref<?xf32>"""


def test_the_allocation_moves_into_the_loop():
    f = read(ROW)
    made = privatize(f, buffer(f), iv(f, "i"))
    verify(made)
    (outer,) = made.body
    assert [type(op).__name__ for op in outer.body] == ["Alloc", "For", "For", "Dealloc"]
    assert outer.body[0].result is buffer(f)
    assert outer.body[0].alignment == 64


def test_the_stack_does_not_grow_with_the_iterations():
    """mlir-opt makes of a memref.alloca in a loop one that is done in each iteration, and given back by none."""
    f = read(SCALAR.replace("alloca()", "alloca() {alignment = 32 : i64}"))
    made = privatize(f, buffer(f), iv(f, "j"))
    verify(made)
    (outer,) = made.body
    assert [type(op).__name__ for op in outer.body[0].body] == ["Alloc", "Load", "Store", "Load", "Store", "Dealloc"]
    assert outer.body[0].body[0].alignment == 32
    lowering = (
        "--lower-affine", "--convert-scf-to-cf", "--expand-strided-metadata", "--finalize-memref-to-llvm",
        "--convert-func-to-llvm",
    )  # fmt: skip
    assert "llvm.alloca" in mlir_opt(print_op(func.Module((f,))), *lowering)
    assert "llvm.alloca" not in mlir_opt(print_op(func.Module((made,))), *lowering)


def test_a_layout_with_symbols_keeps_them():
    f = read("""%t = memref.alloca()[%n] : memref<4xf32, affine_map<(d0)[s0] -> (d0 + s0)>>
    affine.for %i = 0 to %n {
      affine.store %x, %t[1] : memref<4xf32, affine_map<(d0)[s0] -> (d0 + s0)>>
      %a = affine.load %t[1] : memref<4xf32, affine_map<(d0)[s0] -> (d0 + s0)>>
      affine.store %a, %B[%i] : memref<?xf32>
    }""")
    verify(privatize(f, buffer(f), iv(f, "i")))
    assert "t has a layout of its own" in str(refused(f, buffer(f), iv(f, "i"), by=expand))


def test_an_iteration_has_no_more_than_it_uses():
    f = read("""%t = memref.alloc(%n) : memref<?x9x2xf32>
    affine.for %i = 0 to 8 { affine.for %j = 0 to 9 {
      affine.store %x, %t[%i * 2 + 1, %j, 1] : memref<?x9x2xf32>
      affine.store %x, %t[%i * 2, %j, 1] : memref<?x9x2xf32>
      %a = affine.load %t[%i * 2, %j, 1] : memref<?x9x2xf32>
      affine.store %a, %A[%i, %j] : memref<?x?xf32>
    } }""")
    made = privatize(f, buffer(f), iv(f, "i"))
    verify(made)
    assert [line.strip() for line in print_op(made).splitlines() if "%t" in line] == [
        "%t = memref.alloc() : memref<2x9x1xf32>",
        "affine.store %x, %t[1, %j, 0] : memref<2x9x1xf32>",
        "affine.store %x, %t[0, %j, 0] : memref<2x9x1xf32>",
        "%a = affine.load %t[0, %j, 0] : memref<2x9x1xf32>",
        "memref.dealloc %t : memref<2x9x1xf32>",
    ]
    inner = privatize(f, buffer(f), iv(f, "j"))
    assert "%t = memref.alloc() : memref<2x1x1xf32>" in print_op(inner)


def test_what_else_uses_the_buffer_keeps_it():
    f = read("""%t = memref.alloc() : memref<f32>
    affine.for %i = 0 to %n {
      affine.store %x, %t[] : memref<f32>
      %a = affine.load %t[] : memref<f32>
      affine.store %a, %B[%i] : memref<?xf32>
    }
    affine.for %k = 0 to %n {
      affine.store %x, %t[] : memref<f32>
      %b = affine.load %t[] : memref<f32>
      affine.store %b, %B[%k] : memref<?xf32>
    }
    memref.dealloc %t : memref<f32>""")
    made = privatize(f, buffer(f), iv(f, "k"))
    verify(made)
    assert [type(op).__name__ for op in made.body] == ["Alloc", "For", "For", "Dealloc"]
    assert [type(op).__name__ for op in made.body[2].body] == ["Alloc", "Store", "Load", "Store", "Dealloc"]
    assert made.body[2].body[0].result is not buffer(f)
    both = privatize(made, buffer(f), iv(f, "i"))
    verify(both)
    assert [type(op).__name__ for op in both.body] == ["For", "For"]


def test_views_and_carried_values_inside_of_the_loop():
    f = read("""%t = memref.alloc() : memref<8xf32>
    %r = affine.for %i = 0 to 4 iter_args(%s = %x) -> f32 {
      %v = memref.subview %t[4][4][1] : memref<8xf32> to memref<4xf32, strided<[1], offset: 4>>
      affine.store %s, %t[6] : memref<8xf32>
      %a = affine.load %v[2] : memref<4xf32, strided<[1], offset: 4>>
      %b = arith.addf %a, %x : f32
      affine.yield %b : f32
    }
    affine.store %r, %B[0] : memref<?xf32>""")
    made = privatize(f, buffer(f), iv(f, "i"))
    verify(made)
    assert [type(op).__name__ for op in loops(made)[0].body][-2:] == ["Dealloc", "Yield"]
    for each in (f, made):
        given = np.zeros((1, 1), np.float32), np.zeros(1, np.float32), 1, np.float32(2)
        run(each, *given)
        assert given[1].tolist() == [10]


def test_dependences_that_were_only_for_space_are_gone():
    f = read(SCALAR)
    i, j, t = iv(f, "i"), iv(f, "j"), buffer(f)
    for step in (interchange, parallelize, reverse):
        arguments = (i, j) if step is interchange else (i,)
        error = refused(f, *arguments, by=step)
        assert error.dependence is not None
        assert error.dependence.source.buffer.root is t
        assert error.alternative == "privatize(func, t, j) first"
        assert error.proposal is not None
        assert [(s.verb, s.arguments) for s in error.proposal.steps] == [("privatize", (t, j))]
        verify(step(taken(error.proposal.steps[0], f), *arguments))
    row = read(ROW)
    error = refused(row, iv(row, "i"), by=parallelize)
    assert error.alternative == "privatize(func, t, i) first"
    verify(parallelize(privatize(row, buffer(row), iv(row, "i")), iv(row, "i")))


def test_the_whole_message():
    f = read(SCALAR)
    assert str(refused(f, iv(f, "i"), by=parallelize)) == (
        "k.mlir:3: cannot make i parallel\n"
        "    the store t[] at line 5 is overwritten by the store t[] at line 5 with distance (1..*, *..*),\n"
        "    e.g. (i, j) = (0, 0) writes t[], which (i, j) = (1, 0) writes again (for n = 2); "
        "the new order does not run them in this order\n"
        "    it is parallel if privatized: each iteration needs its own t\n"
        "    legal: privatize(func, t, j) first"
    )


def test_several_buffers_are_named_together():
    f = read("""%t = memref.alloca() : memref<f32>
    %u = memref.alloca() : memref<f32>
    affine.for %i = 0 to %n {
      affine.store %x, %t[] : memref<f32>
      %a = affine.load %t[] : memref<f32>
      affine.store %a, %u[] : memref<f32>
      %b = affine.load %u[] : memref<f32>
      affine.store %b, %B[%i] : memref<?xf32>
    }""")
    error = refused(f, iv(f, "i"), by=reverse)
    assert error.alternative == "privatize(func, t, i) and privatize(func, u, i) first"
    assert error.proposal is not None
    done = f
    for step in error.proposal.steps:
        done = taken(step, done)
    verify(reverse(done, iv(f, "i")))


def test_distribution_needs_expansion():
    f = read("""%t = memref.alloca() : memref<f32>
    affine.for %i = 0 to %n {
      %a = affine.load %A[%i, 0] : memref<?x?xf32>
      affine.store %a, %t[] : memref<f32>
      %b = affine.load %t[] : memref<f32>
      affine.store %b, %B[%i] : memref<?xf32>
    }""")
    error = refused(f, iv(f, "i"), by=distribute)
    assert error.alternative == "expand(func, t, i) first"
    made = distribute(expand(f, buffer(f), iv(f, "i")), iv(f, "i"))
    verify(made)
    assert [type(op).__name__ for op in made.body] == ["Max", "Alloc", "For", "For", "Dealloc"]


def test_a_buffer_that_is_returned():
    f = function("""func.func @f(%n: index, %x: f32) -> memref<f32> {
      %t = memref.alloc() : memref<f32>
      affine.for %i = 0 to %n { affine.store %x, %t[] : memref<f32> }
      return %t : memref<f32>
    }""")
    reason = "k.mlir:2: cannot privatize t in loop i\n    @f returns t, so that its caller sees it"
    assert str(refused(f, buffer(f), iv(f, "i"))) == reason


def test_the_buffer_must_be_there():
    f, other = read(ROW), read(SCALAR)
    assert "@f has no allocation of t; the buffers that it makes are t" in str(refused(f, buffer(other), iv(f, "i")))
    assert "@f has no affine.for over i; its loops are i, j, k" in str(refused(f, buffer(f), iv(other, "i")))
    none = read("affine.for %i = 0 to %n { }")
    assert "@f has no allocation of t; it makes none" in str(refused(none, buffer(f), iv(none, "i")))
