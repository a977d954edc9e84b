"""Functions of floats on vectors are those of the C library for doubles, rounded, to the bit.

A part of all floats is tried here, and the hard ones; `python -m tests.every_float.run` tries all.
"""

import math
from decimal import Decimal, getcontext

import numpy as np
import pytest

import affdsl as af
from affdsl.codegen.c.in_doubles import NEAR
from affdsl.ir import semantics
from affdsl.ir.numeric import quiet
from affdsl.ir.types import FloatType
from affdsl.mlir.readers import parse
from tests.every_float.program import FLOATS, compiled, differing, trials
from tests.three_ways import agree

N = af.symbols("N")
F32 = FloatType("f32")
HARD = {"exp": ("-0x1.e1dbe2p-8", "-0x1.d2259ap+3")}
"""Those whose results lie so near the middle of two floats that doubles hardly tell the side: from `run --hard`."""
SPECIAL = (0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 1e-45, -1e-45, 1e-40, 3.4e38, -3.4e38)
EXACT = {"exp": Decimal.exp}
NATIVE = ("avx512", "avx2", "sse4.2")
STEP = 40_009


@pytest.mark.parametrize("machine", NATIVE)
def test_a_part_of_all_floats_is_as_the_c_library_has_it(machine, tmp_path):
    trial = next(trials(NEAR, [machine]))
    assert differing(compiled(trial, tmp_path), trial, step=STEP) == ["0"]


def kernel(kind):
    """y = kind(x), element by element."""

    @af.kernel
    def of(x: af.f32[N], y: af.f32[N]):
        with af.for_(N) as i:
            y[i] = getattr(af, kind)(x[i])

    return of


def arguments(kind):
    """Hard ones, special ones, and some of all sizes, as many as leave a part of a vector over."""
    plain = np.arange(0, FLOATS, 16_769_023, dtype=np.uint64).astype(np.uint32).view(np.float32)
    return np.concatenate([np.float32([float.fromhex(text) for text in HARD[kind]]), np.float32(SPECIAL), plain])


@pytest.mark.parametrize("kind", NEAR)
def test_vectors_have_what_the_interpreter_has(kind):
    x = arguments(kind)
    function = semantics.unary(kind, F32)
    with quiet():
        wanted = np.array([function(each) for each in x])
    for lanes in (4, 8, 16):
        made, y = af.Schedule(kernel(kind)).vectorize("i", lanes, tail="masked").kernel(), np.empty_like(x)
        assert f"{kind}_f32x{lanes}(" in made.c()
        made(x, y)
        np.testing.assert_array_equal(y.view("i4")[~np.isnan(wanted)], wanted.view("i4")[~np.isnan(wanted)])
        assert np.isnan(y[np.isnan(wanted)]).all()


@pytest.mark.parametrize("kind", NEAR)
def test_hard_floats_are_rounded_as_the_exact_result_is(kind):
    getcontext().prec = 60
    for text in HARD[kind]:
        x = float.fromhex(text)
        exact = EXACT[kind](Decimal(x))
        found = semantics.unary(kind, F32)(np.float32(x))
        beside = [np.nextafter(found, np.float32(end)) for end in (-np.inf, np.inf)]
        assert all(abs(Decimal(float(found)) - exact) < abs(Decimal(float(other)) - exact) for other in beside)


PROGRAM = """func.func @f(%x: memref<8xf32>) {
  %v = affine.vector_load %x[0] : memref<8xf32>, vector<8xf32>
  %w = math.KIND %v : vector<8xf32>
  affine.vector_store %w, %x[0] : memref<8xf32>, vector<8xf32>
  return
}"""


@pytest.mark.parametrize("kind", NEAR)
def test_the_interpreter_and_c_agree_on_vectors_of_mlir(kind, tmp_path):
    text = PROGRAM.replace("KIND", kind)
    assert f"math.{kind}" in str(parse(text))
    agree(text, tmp_path, arguments(kind)[:8].copy(), lowered=False)


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
