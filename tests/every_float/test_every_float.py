"""Functions of floats on vectors are those of the C library for doubles, rounded, to the bit.

A part of all floats is tried here, and the hard ones; `python -m tests.every_float.run` tries all.
"""

import math
from decimal import Decimal, getcontext
from math import factorial

import numpy as np
import pytest

import affdsl as af
from affdsl.codegen.c.in_doubles import NEAR
from affdsl.ir import semantics
from affdsl.ir.numeric import quiet
from affdsl.ir.types import FloatType
from affdsl.mlir.readers import parse
from affdsl.passes.lowering.in_doubles import CLOSE, COS, HALF_PI, KINDS, SIN
from tests.every_float.program import FLOATS, compiled, found, trials
from tests.passes.transforms.test_approximate import PI, interpolated
from tests.three_ways import agree

N = af.symbols("N")
F32 = FloatType("f32")
HARD = {
    "exp": ("-0x1.e1dbe2p-8", "-0x1.d2259ap+3"),
    "log": ("0x1.917748p-100", "0x1.390ffp-93", "0x1.088d96p-74", "0x1.b97c7p-14", "0x1.2f1fd6p+3", "0x1.cfd86ep+116"),
}
"""Those whose results lie so near the middle of two floats that doubles hardly tell the side: from `run --hard`."""
SPECIAL = (0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 1e-45, -1e-45, 1e-40, 3.4e38, -3.4e38, 1048577.0, -0.999, 1e6)
NATIVE = ("avx512", "sse4.2")
"""With fused products, and without."""
STEP = 40_009


@pytest.mark.parametrize("machine", NATIVE)
def test_a_part_of_all_floats_is_as_the_c_library_has_it(machine, tmp_path):
    trial = next(trials([machine]))
    program = compiled(trial, [*NEAR], tmp_path, level="-O1")
    for kind in NEAR:
        answer = found(program, trial, kind, STEP)
        assert (answer.wrong, answer.said) == (0, []), kind
        assert answer.apart <= (1 if KINDS[kind].is_exact else CLOSE // 4)


@af.kernel
def everything(x: af.f32[N], y: af.f32[len(NEAR), N]):
    """Each function of each number."""
    with af.for_(N) as i:
        for k, kind in enumerate(NEAR):
            y[k, i] = getattr(af, kind)(x[i])


def test_vectors_have_what_the_interpreter_has():
    hard = [float.fromhex(text) for texts in HARD.values() for text in texts]
    plain = np.arange(0, FLOATS, 16_769_023, dtype=np.uint64).astype(np.uint32).view(np.float32)
    x = np.concatenate([np.float32([*hard, *SPECIAL]), plain])
    y = np.empty((len(NEAR), x.size), np.float32)
    made = af.Schedule(everything).vectorize("i", 16, tail="masked").kernel()
    assert all(f"{kind}_f32x16(" in made.c() for kind in NEAR)
    made(x, y)
    for kind, row in zip(NEAR, y, strict=True):
        with quiet():
            wanted = np.array([semantics.unary(kind, F32)(each) for each in x])
        none = np.isnan(wanted)
        np.testing.assert_array_equal(row.view("i4")[~none], wanted.view("i4")[~none], err_msg=kind)
        assert np.isnan(row[none]).all()


def test_hard_floats_of_what_asks_no_library_are_rounded_as_the_exact_result_is():
    getcontext().prec = 60
    assert [kind for kind in NEAR if KINDS[kind].is_exact] == ["exp"]
    for text in HARD["exp"]:
        x = float.fromhex(text)
        exact = Decimal(x).exp()
        of_float = semantics.unary("exp", F32)(np.float32(x))
        beside = [np.nextafter(of_float, np.float32(end)) for end in (-np.inf, np.inf)]
        assert all(abs(Decimal(float(of_float)) - exact) < abs(Decimal(float(other)) - exact) for other in beside)


def test_the_coefficients_are_what_they_are_said_to_be():
    getcontext().prec = 60
    most = (PI / 4) ** 2
    signs = (1, -1)
    assert interpolated(lambda k: Decimal(signs[(k + 1) % 2]) / factorial(2 * k + 3), Decimal(0), most, 6) == SIN
    assert interpolated(lambda k: Decimal(signs[k % 2]) / factorial(2 * k + 4), Decimal(0), most, 6) == COS
    assert abs(sum(map(Decimal, HALF_PI)) - PI / 2) < Decimal(2) ** -115
    for part in HALF_PI[:2]:
        fraction, _ = math.frexp(part)
        assert (fraction * 2**31).is_integer()


PROGRAM = """func.func @f(%x: memref<8xf32>) {
  %v = affine.vector_load %x[0] : memref<8xf32>, vector<8xf32>
  %w = math.KIND %v : vector<8xf32>
  affine.vector_store %w, %x[0] : memref<8xf32>, vector<8xf32>
  return
}"""


def test_mlir_has_the_function_and_the_interpreter_and_c_agree(tmp_path):
    text = PROGRAM.replace("KIND", "tanh")
    assert "math.tanh %v : vector<8xf32>" in str(parse(text))
    agree(text, tmp_path, np.float32([*SPECIAL[:5], 0.3, -7.0, 100.0]), lowered=False)


def test_other_vectors_are_computed_lane_by_lane():
    for lanes, type in ((2, af.f32), (4, af.f64)):
        x = np.linspace(-3, 3, 8, dtype="f4" if type is af.f32 else "f8")
        y = np.empty_like(x)

        @af.kernel
        def of(a: type[N], b: type[N]):
            with af.for_(N) as i:
                b[i] = af.exp(a[i])

        made = af.Schedule(of).vectorize("i", lanes).kernel()
        assert "near_" not in made.c()
        made(x, y)
        np.testing.assert_array_equal(y, np.array([math.exp(each) for each in x]).astype(x.dtype))
