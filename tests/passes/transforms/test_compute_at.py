"""Arrays are computed where they are read: what is accepted changes nothing, and what is refused would."""

from __future__ import annotations

import pytest

from affdsl.ir.dialects import affine
from affdsl.ir.traverse import walk
from affdsl.mlir.readers import parse
from affdsl.passes.legality.refusal import IllegalTransform
from affdsl.passes.transforms.fuse.compute_at import compute_at


def refused(text: str, buffer: str, loop: str) -> str:
    function = parse(text).functions[0]
    (iv,) = [op.iv for op in walk(function) if isinstance(op, affine.For) and op.iv.hint == loop]
    values = (*function.args, *(v for op in function.body for v in op.defines()))
    (value,) = [v for v in values if v.hint == buffer]
    with pytest.raises(IllegalTransform) as error:
        compute_at(function, value, iv)
    return str(error.value)


SHIFTED = """func.func @f(%A: memref<10xf32>, %B: memref<10xf32>) {
  affine.for %i = 0 to 10 {
    %a = affine.load %A[%i] : memref<10xf32>
    affine.store %a, %B[%i] : memref<10xf32>
  }
  affine.for %j = 1 to 10 {
    %b = affine.load %B[%j - 1] : memref<10xf32>
    affine.store %b, %A[%j] : memref<10xf32>
  }
  return
}"""


def test_what_is_overwritten_before_it_is_read_again():
    message = refused(SHIFTED.replace("%B[%j - 1]", "%B[9 - %j]"), "B", "j")
    assert "cannot compute B at loop j" in message
    assert "other values would be computed: " in message


@pytest.mark.parametrize(
    ("text", "buffer", "loop", "reason"),
    [
        (SHIFTED, "A", "j", "no nest before the loop j stores what it reads of A"),
        (SHIFTED.replace("%A[%j] : memref<10xf32>\n  }", """%A[%j] : memref<10xf32>
          affine.for %k = 0 to 2 { %c = affine.load %B[%k] : memref<10xf32> } }"""), "B", "k",
         "the loop k is not around all that its nest does to B"),
        (SHIFTED.replace("affine.for %j", "affine.store %c, %B[3] : memref<10xf32>\n  affine.for %j")
         .replace("  affine.for %i", "  %c = arith.constant 0.0 : f32\n  affine.for %i"), "B", "j",
         "2 operations before it store what it reads of B: fuse them first"),
        (SHIFTED.replace("%B: memref<10xf32>) {", "%C: memref<10xf32>) {\n  %B = memref.alloc() : memref<10xf32>")
         .replace("affine.store %b, %A[%j]", """%c = arith.cmpf ogt, %b, %b : f32
          scf.if %c { affine.store %b, %B[%j - 1] : memref<10xf32> }
          affine.store %b, %A[%j]"""), "B", "j",
         "it is not proved that every value stays as it was: the condition is known only at run time"),
    ],
)  # fmt: skip
def test_refusals_say_why(text, buffer, loop, reason):
    assert reason in refused(text, buffer, loop)
