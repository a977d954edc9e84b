"""Integers divided in lanes: the quotients and remainders of Python, but by 0, and of the least number by -1."""

import numpy as np
import pytest

from affdsl.ir.dialects import arith
from affdsl.ir.interpreter import run
from affdsl.ir.traverse import walk
from affdsl.ir.verifier import verify
from affdsl.mlir.readers import parse
from affdsl.passes.lowering.divided_lanes import divided_lanes
from tests.vectors.check import TARGETS
from tests.vectors.together import by_c

KINDS = ("divsi", "floordivsi", "remsi", "divui", "remui")


def quotient(kind, a, b, bits):
    """What one kind of division makes of two integers."""
    if kind.endswith("ui"):
        a, b = a % 2**bits, b % 2**bits
    if b == 0:
        return 0
    found = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
    if kind.startswith("rem"):
        return a - found * b
    return a // b if kind == "floordivsi" else found


def pairs(bits):
    """All pairs of bytes but every third, and of longer integers those at the ends, near multiples, and others."""
    if bits == 8:
        every = np.arange(-128, 128, dtype="i1")
        found = np.array([v.ravel() for v in np.meshgrid(every, every)])[:, ::3]
    else:
        random, most = np.random.default_rng(bits), 2 ** (bits - 1)
        b = random.integers(-most, most, 3000) >> random.integers(0, bits - 1, 3000)
        times = random.integers(-most, most, 3000) // np.where(b == 0, 1, b)
        ends = np.array([-most, -most + 1, -2, -1, 0, 1, 2, most - 1])
        near = [b * times + off for off in (-1, 0, 1)]
        found = np.array([
            np.concatenate([*near, random.integers(-most, most, 3000), np.repeat(ends, 8)]),
            np.concatenate([b, b, b, b, np.tile(ends, 8)]),
        ])  # fmt: skip
    wrapped = found.astype(f"i{bits // 8}")
    return wrapped[:, : wrapped.shape[1] // 16 * 16]


def text(kind, bits):
    """Elements of two arrays divided, 16 at once."""
    vector = f"memref<?xi{bits}>, vector<16xi{bits}>"
    return f"""func.func @f(%A: memref<?xi{bits}>, %B: memref<?xi{bits}>, %C: memref<?xi{bits}>, %n: index) {{
      affine.for %i = 0 to %n step 16 {{
        %a = affine.vector_load %A[%i] : {vector}
        %b = affine.vector_load %B[%i] : {vector}
        %q = arith.{kind} %a, %b : vector<16xi{bits}>
        affine.vector_store %q, %C[%i] : {vector}
      }}
      return
    }}"""


CASES = [(kind, bits) for kind in KINDS for bits in (8, 16, 32)]


def wanted(kind, bits):
    """The quotients of all pairs."""
    found = [quotient(kind, int(a), int(b), bits) for a, b in zip(*pairs(bits), strict=True)]
    return (np.array(found, object) % 2**bits).astype(f"u{bits // 8}").view(f"i{bits // 8}")


@pytest.mark.parametrize(("kind", "bits"), CASES)
def test_quotients_are_those_of_integers(kind, bits):
    module = divided_lanes(parse(text(kind, bits)))
    verify(module)
    assert not any(isinstance(op, arith.Binary) and op.kind in KINDS for op in walk(module))
    a, b = pairs(bits)
    right = wanted(kind, bits)
    some = np.arange(len(a)).reshape(-1, 16)[:: max(1, len(a) // 1024)].ravel()
    found = np.zeros_like(right[some])
    run(module.functions[0], a[some], b[some], found, len(some), module=module)
    np.testing.assert_array_equal(found, right[some])


@pytest.mark.parametrize("bits", [128, 512])
def test_quotients_in_c_are_those_of_integers(bits):
    functions = [parse(text(kind, width)).functions[0] for kind, width in CASES]
    runs = [[(*pairs(width), np.zeros_like(pairs(width)[0]), len(pairs(width)[0]))] for _, width in CASES]
    left = by_c(functions, runs, TARGETS["optimized"][0], register_bits=bits)
    for (kind, width), (after,) in zip(CASES, left, strict=True):
        assert not isinstance(after, str), after
        np.testing.assert_array_equal(after[2], wanted(kind, width), f"{kind} {width}")


def test_what_is_divided_by_a_number_that_is_known_stays():
    module = parse("""func.func @f(%a: vector<8xi32>, %x: i32) -> vector<8xi32> {
      %c7 = arith.constant dense<7> : vector<8xi32>
      %q = arith.divsi %a, %c7 : vector<8xi32>
      return %q : vector<8xi32>
    }""")
    assert str(divided_lanes(module)) == str(module)
