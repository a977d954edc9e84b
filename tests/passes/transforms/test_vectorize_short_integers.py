"""Integers that fit into 16 bits have as many on vectors: the same numbers, for all bytes."""

from random import Random

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
    "as large as 16 bits without a sign": ("%p = arith.muli %a, %b : i32\n%r = arith.shrsi %p, %c3 : i32", 16),
    "of 16 bits and one more": (
        """%p = arith.muli %a, %c60 : i32
        %q = arith.muli %p, %c3 : i32
        %s = arith.addi %q, %c255 : i32
        %t1 = arith.muli %s, %c3 : i32
        %r = arith.shrsi %t1, %c3 : i32""",
        32,
    ),
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


LOW = {
    "a weighted sum": (
        """%p = arith.muli %a, %c150 : i32
        %q = arith.muli %b, %c250 : i32
        %s = arith.addi %p, %q : i32
        %r = arith.shrsi %s, %c8 : i32""",
        True,
    ),
    "constants beyond 16 bits": ("%p = arith.muli %a, %c70000 : i32\n%r = arith.addi %p, %b : i32", True),
    "chosen by what is known as it is": (
        """%p = arith.muli %a, %c70000 : i32
        %w = arith.cmpi ult, %a, %b : i32
        %r = arith.select %w, %p, %b : i32""",
        True,
    ),
    "bits above the low ones": (
        """%p = arith.muli %a, %c70000 : i32
        %r = arith.shrui %p, %c8 : i32
        %u = arith.addi %r, %b : i32""",
        True,
    ),
    "the sign of what is known as it is": (
        """%p = arith.subi %a, %b : i32
        %q = arith.shrui %p, %c8 : i32
        %s = arith.muli %q, %c250 : i32
        %r = arith.shrsi %s, %c8 : i32""",
        False,
    ),
    "mixed and divided": (
        """%p = arith.muli %a, %a : i32
        %q = arith.addi %p, %c150 : i32
        %r = arith.floordivsi %q, %c255 : i32""",
        True,
    ),
    "two mixed by a share": (
        """%c = arith.andi %b, %c255 : i32
        %s = arith.subi %c255, %a : i32
        %p = arith.muli %a, %c : i32
        %q = arith.muli %s, %c : i32
        %t1 = arith.addi %p, %q : i32
        %u = arith.addi %t1, %c150 : i32
        %r = arith.floordivsi %u, %c255 : i32""",
        True,
    ),
    "a remainder of what may be negative": (
        """%p = arith.muli %a, %b : i32
        %r = arith.remsi %p, %c255 : i32""",
        False,
    ),
    "bits that are not there": ("%p = arith.muli %a, %c70000 : i32\n%r = arith.shrsi %p, %c12 : i32", False),
}  # fmt: skip
"""Of these only the low eight bits are stored; and whether all of it is in 16 bits."""


KINDS = [
    *("addi", "subi", "muli", "andi", "ori", "xori", "shli", "shrsi", "shrui", "minsi", "maxsi", "divsi", "floordivsi"),
    *("divui", "remsi", "remui", "absi", "select"),
]


def low(body):
    """A loop over bytes that stores the low bits of what it computes."""
    constants = "".join(f"%c{n} = arith.constant {n} : i32\n" for n in (1, 3, 8, 12, 60, 150, 250, 255, 32768, 70000))
    return parse(f"""func.func @f(%A: memref<?xi8>, %B: memref<?xi8>, %C: memref<?xi8>, %n: index) {{
      affine.for %i = 0 to %n {{
        %a8 = affine.load %A[%i] : memref<?xi8>
        %b8 = affine.load %B[%i] : memref<?xi8>
        %a = arith.extui %a8 : i8 to i32
        %b = arith.extsi %b8 : i8 to i32
        {constants}
        {body}
        %t = arith.trunci %r : i32 to i8
        affine.store %t, %C[%i] : memref<?xi8>
      }}
      return
    }}""").functions[0]


def same(f, a, b):
    """The loop on vectors, which does the same."""
    (loop,) = (op for op in walk(f) if isinstance(op, affine.For))
    made = vectorize(f, loop.iv, 16)
    verify(made)
    assert alike([a, b, np.zeros(len(a), "i1"), len(a)], f, made)
    return made


@pytest.mark.parametrize("name", LOW)
def test_what_is_needed_of_low_bits(name):
    body, all_short = LOW[name]
    a, b = (v.ravel().view("i1") for v in np.meshgrid(np.arange(256, dtype="u1"), np.arange(0, 256, 17, dtype="u1")))
    made = same(low(body), a, b)
    long = VectorType((16,), IntegerType(32))
    assert all_short == (not any(v.type == long for op in walk(made) for v in op.defines()))


@pytest.mark.parametrize("seed", range(40))
def test_random_integers_of_bytes(seed):
    random = Random(seed)
    known, constants = ["%a", "%b"], ["%c1", "%c3", "%c8", "%c12", "%c60", "%c150", "%c255", "%c32768", "%c70000"]
    lines = []
    last = random.randint(1, 8)
    for k in range(last + 1):
        kind = random.choice(KINDS)
        x, y = (random.choice(known[-4:] if random.random() < 0.8 else constants) for _ in "xy")
        if kind.startswith("sh"):
            y = random.choice(["%c1", "%c3", "%c8", "%c12"])
        elif kind.startswith(("div", "rem", "floor")):
            y = random.choice(["%c3", "%c60", "%c150", "%c255", "%c70000"])
        elif kind == "select":
            lines.append(f"%w{k} = arith.cmpi {random.choice(['slt', 'ult', 'eq'])}, {x}, %a : i32")
        line = {"absi": f"math.absi {x}", "select": f"arith.select %w{k}, {x}, {y}"}.get(kind, f"arith.{kind} {x}, {y}")
        known.append("%r" if k == last else f"%v{k}")
        lines.append(f"{known[-1]} = {line} : i32")
    a, b = np.random.default_rng(seed).integers(-128, 128, (2, 96), "i1")
    same(low("\n".join(lines)), a, b)


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
