"""Arrays that are computed where they are read: the same numbers, and nothing that is not proved."""

import numpy as np
import pytest

from affdsl.ir.dialects import memref
from affdsl.ir.interpreter import run
from affdsl.ir.traverse import walk
from affdsl.ir.verifier import verify
from affdsl.mlir.readers import parse
from affdsl.passes.legality.refusal import IllegalTransform
from affdsl.passes.transforms.fuse.inline import inline


def made_by(function):
    """The buffer that a function makes."""
    return next(op.result for op in walk(function) if isinstance(op, memref.Allocation))


COPY = "affine.for %j = 0 to 9 { %b = affine.load %t[%j] : T affine.store %b, %B[%j] : T }"
REFUSED = {
    "2 stores make t": "affine.for %i = 0 to 9 { affine.store %x, %t[%i] : T affine.store %x, %t[%i] : T }" + COPY,
    "no subscript alone says the iteration of i": "affine.for %i = 0 to 9 { affine.store %x, %t[0] : T }" + COPY,
    "affine.if": """affine.for %i = 0 to 9 {
      affine.if affine_set<(i) : (i - 2 >= 0)>(%i) { affine.store %x, %t[%i] : T } }"""
    + COPY,
    "affine.for takes part": """affine.for %i = 0 to 9 {
      %s = affine.for %k = 0 to 3 iter_args(%c = %x) -> (f32) { %d = arith.addf %c, %x : f32 affine.yield %d : f32 }
      affine.store %s, %t[%i] : T }"""
    + COPY,
    "memref.load uses t": """affine.for %i = 0 to 9 { affine.store %x, %t[%i] : T }
      %c0 = arith.constant 0 : index %l = memref.load %t[%c0] : T""",
    "other values would be computed": """affine.for %i = 0 to 9 {
      %a = affine.load %A[%i] : T affine.store %a, %t[%i] : T }
      affine.for %i = 0 to 9 { affine.store %x, %A[%i] : T }"""
    + COPY,
}


@pytest.mark.parametrize("reason", REFUSED)
def test_what_is_refused(reason):
    body = REFUSED[reason].replace(": T", ": memref<9xf32>\n")
    f = parse(f"""func.func @f(%A: memref<9xf32>, %B: memref<9xf32>, %x: f32) {{
      %t = memref.alloc() : memref<9xf32>
      {body}
      return
    }}""").functions[0]
    with pytest.raises(IllegalTransform, match=reason):
        inline(f, made_by(f))


def test_an_argument_is_refused():
    f = parse("func.func @f(%A: memref<9xf32>) { return }").functions[0]
    with pytest.raises(IllegalTransform, match="does not make A"):
        inline(f, f.args[0])


def test_counters_are_numbers_too():
    f = parse("""func.func @f(%B: memref<5xi32>) {
      %t = memref.alloc() : memref<8xi32>
      affine.for %i = 0 to 8 { %n = arith.index_cast %i : index to i32 affine.store %n, %t[-%i + 7] : memref<8xi32> }
      affine.for %j = 0 to 5 { %b = affine.load %t[%j + 2] : memref<8xi32> affine.store %b, %B[%j] : memref<5xi32> }
      return
    }""").functions[0]
    made, b = inline(f, made_by(f)), np.zeros(5, "i4")
    verify(made)
    run(made, b)
    assert b.tolist() == [5, 4, 3, 2, 1]
