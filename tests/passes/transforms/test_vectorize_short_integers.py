"""Integers that fit into 16 bits have as many on vectors: the same numbers, for all bytes."""

import numpy as np
import pytest

from affdsl.ir.dialects import affine
from affdsl.ir.traverse import walk
from affdsl.ir.types import IntegerType, VectorType
from affdsl.ir.verifier import verify
from affdsl.mlir.readers import parse
from affdsl.passes.transforms.vectorize import vectorize
from tests.harness.judges import alike

BODIES = {
    "saturated": ("%v = arith.addi %a, %c60 : i32\n%r = arith.minsi %v, %c255 : i32", 16),
    "subtracted": ("%v = arith.subi %a, %b : i32\n%r = math.absi %v : i32", 16),
    "mixed": (
        """%p = arith.muli %a, %c60 : i32
        %q = arith.addi %p, %b : i32
        %s = arith.shrsi %q, %c3 : i32
        %r = arith.andi %s, %c255 : i32""",
        16,
    ),
    "chosen": (
        """%w = arith.cmpi ugt, %a, %b : i32
        %v = arith.select %w, %a, %b : i32
        %r = arith.maxsi %v, %c60 : i32""",
        16,
    ),
    "of 16 bits and one more": ("%p = arith.muli %a, %b : i32\n%r = arith.shrsi %p, %c3 : i32", 32),
    "a number that is not known": ("%v = arith.addi %a, %x : i32\n%r = arith.addi %v, %c60 : i32", 32),
}  # fmt: skip


def kernel(body, cast="extui"):
    """A loop over bytes."""
    return parse(f"""func.func @f(
        %A: memref<?xi8>, %B: memref<?xi8>, %C: memref<?xi8>, %D: memref<?xi32>, %x: i32, %n: index) {{
      affine.for %i = 0 to %n {{
        %a8 = affine.load %A[%i] : memref<?xi8>
        %b8 = affine.load %B[%i] : memref<?xi8>
        %a = arith.{cast} %a8 : i8 to i32
        %b = arith.{cast} %b8 : i8 to i32
        %c60 = arith.constant 60 : i32
        %c255 = arith.constant 255 : i32
        %c3 = arith.constant 3 : i32
        {body}
        %t = arith.trunci %r : i32 to i8
        affine.store %t, %C[%i] : memref<?xi8>
        affine.store %r, %D[%i] : memref<?xi32>
      }}
      return
    }}""").functions[0]  # fmt: skip


@pytest.mark.parametrize("cast", ["extui", "extsi"])
@pytest.mark.parametrize("name", BODIES)
def test_what_fits_into_16_bits(name, cast):
    body, bits = BODIES[name]
    f = kernel(body, cast)
    (loop,) = (op for op in walk(f) if isinstance(op, affine.For))
    made = vectorize(f, loop.iv, 16)
    verify(made)
    short = VectorType((16,), IntegerType(16))
    is_short = any(v.type == short for op in walk(made) for v in op.defines())
    assert is_short == (bits == 16 or (cast == "extsi" and name == "of 16 bits and one more"))
    a, b = (v.ravel() for v in np.meshgrid(np.arange(256, dtype="u1"), np.arange(0, 256, 17, dtype="u1")))
    given = [a.view("i1"), b.view("i1"), np.zeros(len(a), "i1"), np.zeros(len(a), "i4"), np.int32(70000), len(a)]
    assert alike(given, f, made)


def test_what_a_branch_reads_is_long_there():
    """An operation in a branch was taken for one that reads the short number, of which it knew nothing."""
    f = parse("""func.func @f(%A: memref<?xi8>, %C: memref<?xi8>, %D: memref<?xi64>, %n: index) {
      affine.for %i = 0 to %n {
        %c60 = arith.constant 60 : i32
        %c200 = arith.constant 200 : i32
        %a8 = affine.load %A[%i] : memref<?xi8>
        %a = arith.extui %a8 : i8 to i32
        %r = arith.addi %a, %c60 : i32
        %s = arith.minsi %r, %c200 : i32
        %z = arith.cmpi sgt, %s, %c60 : i32
        scf.if %z {
          %l = arith.extsi %r : i32 to i64
          affine.store %l, %D[%i] : memref<?xi64>
        }
        %t = arith.trunci %s : i32 to i8
        affine.store %t, %C[%i] : memref<?xi8>
      }
      return
    }""").functions[0]
    (loop,) = (op for op in walk(f) if isinstance(op, affine.For))
    made = vectorize(f, loop.iv, 16, tail="masked")
    verify(made)
    a = np.arange(40, dtype="u1") * 6
    assert alike([a.view("i1"), np.zeros(40, "i1"), np.zeros(40, "i8"), 40], f, made)


def test_what_would_be_made_long_again_stays():
    f = kernel("%r = arith.addi %a, %c60 : i32\n%u = arith.muli %a, %x : i32\n%v = arith.muli %r, %x : i32")
    (loop,) = (op for op in walk(f) if isinstance(op, affine.For))
    assert not any(
        v.type == VectorType((16,), IntegerType(16)) for op in walk(vectorize(f, loop.iv, 16)) for v in op.defines()
    )
