"""Loops that reach an element which others of their iterations access: they are split there, and are right."""

import pytest

from affdsl.ir.dialects import affine
from affdsl.ir.traverse import walk
from affdsl.mlir.readers import parse
from affdsl.passes.legality.refusal import IllegalTransform
from affdsl.passes.transforms.vectorize import vectorize


def test_two_memrefs_of_one_buffer_have_no_subscripts_to_compare():
    f = parse("""func.func @f(%x: i64, %y: i64) {
      %T = memref.alloc() : memref<16xi64>
      %w = memref.reinterpret_cast %T to offset: [3], sizes: [3, 3], strides: [4, 1]
        : memref<16xi64> to memref<3x3xi64, strided<[4, 1], offset: 3>>
      affine.for %i = 0 to 3 {
        affine.store %x, %w[%i, 2] : memref<3x3xi64, strided<[4, 1], offset: 3>>
        affine.store %y, %T[9 - %i] : memref<16xi64>
        %z = affine.load %T[%i + 8] : memref<16xi64>
        affine.store %z, %T[%i + 9] : memref<16xi64>
      }
      return
    }""").functions[0]
    loop = next(op for op in walk(f) if isinstance(op, affine.For))
    with pytest.raises(IllegalTransform, match="cannot vectorize loop i by 3"):
        vectorize(f, loop.iv, 3)
