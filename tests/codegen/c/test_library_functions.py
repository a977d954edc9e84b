"""Functions of the C library are computed by it, also where a compiler sees the operands: as the interpreter does."""

import numpy as np
import pytest

import affdsl as af
from affdsl.codegen.c.names import CALLED
from affdsl.codegen.c.tables import EXACT, FUNCTION_OF
from affdsl.codegen.library_functions import PROTOTYPES, called, unknown
from affdsl.codegen.toolchain import find_compiler, identify, jit_flags
from tests.oracles import require

N = af.symbols("N")
# Arguments at which the library that this was written with does not round correctly.
ROUNDED_OTHERWISE = {
    "exp": 1.4009739817594327, "sin": 2.6750471212858913, "cos": 2.928077001795656, "tan": 1.8940035569823792,
    "log": 2.1052361567527025, "sinh": 1.7405061823440877, "cosh": 1.8557913273371902, "tanh": 2.096170306661694,
    "asin": 0.1377743829849004, "atan": 1.2269899531062995, "expm1": 0.370401116588149, "log1p": 1.617551443496944,
    "cbrt": 0.6786978923575477, "erf": 1.116338817734297, "exp2": 1.2091883125865788, "log2": 1.7815884239171973,
    "log10": 2.796420554625203,
}  # fmt: skip


@af.kernel
def constants(out: af.f64[len(ROUNDED_OTHERWISE)], steps: af.f64[40]):
    for place, (name, at) in enumerate(ROUNDED_OTHERWISE.items()):
        out[place] = getattr(af, name)(af.f64(at))
    with af.for_(40) as i:
        steps[i] = af.exp(af.f64(i) * 0.37)


@af.kernel
def powers(x: af.f64[N], square: af.f64[N], inverse: af.f64[N], of_two: af.f64[N]):
    with af.for_(N) as i:
        square[i] = af.pow(x[i], af.f64(2.0))
        inverse[i] = af.pow(x[i], af.f64(-1.0))
        of_two[i] = af.pow(af.f64(2.0), x[i])


@pytest.mark.parametrize("compiler", ["gcc", "clang-22"])
def test_constants_and_powers_are_the_library_s(compiler, monkeypatch):
    monkeypatch.setenv("AFFDSL_CC", require(compiler))
    for kernel, arrays in (
        (constants, [np.zeros(len(ROUNDED_OTHERWISE)), np.zeros(40)]),
        (powers, [np.random.default_rng(1).uniform(0.1, 3, 6000), *np.zeros((3, 6000))]),
    ):
        expected = [each.copy() for each in arrays]
        kernel.interpret(*expected)
        kernel(*arrays)
        for ours, meant in zip(arrays, expected, strict=True):
            np.testing.assert_array_equal(ours, meant)


def test_the_interpreter_s_powers_are_no_products():
    x = np.random.default_rng(1).uniform(0.1, 3, 6000)
    square, inverse, of_two = np.zeros((3, 6000))
    powers.interpret(x, square, inverse, of_two)
    assert 0 < np.sum(square != x * x) < 60


def test_a_square_is_a_product_however_its_exponent_is_written():
    @af.kernel
    def squares(x: af.f64[N], y: af.f64[N], z: af.f32[N]):
        with af.for_(N) as i:
            y[i] = x[i] ** 2.0 - af.pow(x[i], 2)
            z[i] = z[i] ** 2.0

    assert "pow" not in squares.c()
    x = np.random.default_rng(1).uniform(0.1, 3, 6000)
    y, z = np.ones(6000), x.astype(np.float32)
    squares.interpret(x, y, z)
    np.testing.assert_array_equal(y, 0)
    np.testing.assert_array_equal(z, x.astype(np.float32) ** np.float32(2))


def test_every_function_that_is_not_exact_is_known():
    inexact = {name for kind, name in FUNCTION_OF.items() if kind not in EXACT}
    assert inexact - PROTOTYPES.keys() == set()
    assert PROTOTYPES.keys() - CALLED == set()
    assert set(unknown()) <= set(jit_flags(identify(find_compiler())))


def test_calls_are_found_in_text():
    assert called("a_exp(x) + expf(x) + o.sin(x) + exp (x) + sqrt(x)") == []
    assert called("log1p(x) + log(cexp(z))") == ["cexp", "log", "log1p"]
    text = constants.c()
    assert text.count("__attribute__((const));") == len(ROUNDED_OTHERWISE)
    assert "fabs" not in text


@af.kernel
def circle(x: af.f64[N], cosine: af.f64[N], sine: af.f64[N], at: af.f64[4]):
    with af.for_(N) as i:
        cosine[i] = af.cos(x[i])
        sine[i] = af.sin(x[i]) + af.sin(af.sqrt(x[i]))
    for place, name in enumerate(("sin", "cos")):
        angle = af.f64(ROUNDED_OTHERWISE[name])
        at[2 * place], at[2 * place + 1] = af.sin(angle), af.cos(angle)


@pytest.mark.parametrize("compiler", ["gcc", "clang-22"])
def test_sines_and_cosines_of_one_number_are_made_together_with_the_same_bits(compiler, monkeypatch):
    monkeypatch.setenv("AFFDSL_CC", require(compiler))
    text = circle.c()
    assert text.count(" paired_sin(x[i])") == text.count(" paired_cos(x[i])") == text.count(" sin(sqrt(x[i]))") == 1
    x = np.concatenate((np.geomspace(5e-324, 1e308, 6000), (0.0, np.inf, np.nan)))
    found, meant = ((x, *np.zeros((2, x.size)), np.zeros(4)) for _ in range(2))
    circle.interpret(*meant)
    circle(*found)
    for ours, wanted in zip(found, meant, strict=True):
        np.testing.assert_array_equal(ours, wanted)


@af.kernel
def moved_on(x: af.f64[1], y: af.f64[2]):
    y[0] = af.sin(x[0])
    x[0] = x[0] + 1.0
    y[1] = af.cos(x[0])


def test_what_is_stored_in_between_is_another_number():
    assert "paired" not in moved_on.c()
