"""What stands beside a loop moves into it: what only it uses, or everything, under conditions."""

from __future__ import annotations

import pytest

from affdsl.ir.verifier import verify
from affdsl.mlir.writers import print_op
from affdsl.passes.legality.refusal import IllegalTransform
from affdsl.passes.transforms.hoist import hoist
from affdsl.passes.transforms.interchange import interchange
from affdsl.passes.transforms.sink import make_perfect, sink
from tests.harness.reading import iv, loops, read
from tests.passes.advice.asked import asked


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


def test_a_buffer_stays_for_what_makes_it_and_not_for_what_gives_it_back():
    """Nobody wrote what gives it back, so that it was said to be used outside of the loop."""
    f = read("""affine.for %i = 0 to %n {
      %t = memref.alloc() : memref<2xf32>
      affine.for %j = 0 to 8 { affine.store %x, %t[0] : memref<2xf32> }
      memref.dealloc %t : memref<2xf32>
    }""")
    with pytest.raises(
        IllegalTransform, match=r"memref\.alloc of t at line \d+ stays: it does more than to compute or to load"
    ):
        sink(f, iv(f, "j"))


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


def test_the_outer_loop_is_named_first():
    f = read("affine.for %i = 0 to 8 { affine.for %j = 0 to 8 { affine.store %x, %B[%j] : memref<?xf32> } }")
    with pytest.raises(
        IllegalTransform, match="not stand right in the body of the loop j, but around it: name the outer"
    ):
        make_perfect(f, iv(f, "j"), iv(f, "i"))
