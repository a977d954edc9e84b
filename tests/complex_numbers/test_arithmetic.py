"""What operations on complex numbers compute: at infinities, NaN and zeros, in the interpreter and in C, to the bit."""

import cmath
import itertools
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

import affdsl as af
from affdsl.ir import complex_numbers
from affdsl.ir.dialects import complex as complex_
from affdsl.ir.numeric import number_of, quiet
from affdsl.ir.types import C64, C128, ComplexType
from tests.complex_numbers.same import same_bits

N = af.symbols("N")
TYPES = {"c64": (af.c64, af.f32, C64), "c128": (af.c128, af.f64, C128)}
EDGES = (0.0, -0.0, 1.0, -1.5, float("inf"), float("-inf"), float("nan"))
BINARY: dict[str, Callable[..., object]] = {
    "add": lambda a, b: a + b, "sub": lambda a, b: a - b, "mul": lambda a, b: a * b, "div": lambda a, b: a / b,
    "pow": lambda a, b: a**b,
}  # fmt: skip
UNARY: dict[str, Callable[..., object]] = {
    "neg": lambda z: -z, "conj": af.conj, "exp": af.exp, "log": af.log, "sqrt": af.sqrt, "sin": af.sin, "cos": af.cos,
    "tan": af.tan, "tanh": af.tanh,
}  # fmt: skip
PARTS: dict[str, Callable[..., object]] = {
    "re": lambda z: z.real, "im": lambda z: z.imag, "abs": af.abs, "angle": af.angle,
}  # fmt: skip


def test_every_kind_is_here():
    assert (tuple(BINARY), tuple(UNARY), tuple(PARTS)) == (complex_.BINARY, complex_.UNARY, complex_.PARTS)
    assert complex_.COMPARISONS == ("eq", "neq")


def numbers(of: np.dtype) -> np.ndarray:
    """Numbers whose parts are EDGES, and others near the ends of the range and between."""
    with np.errstate(all="ignore"):
        ends = [float(np.finfo(of).max), -float(np.finfo(of).tiny), float(np.finfo(of).smallest_subnormal)]
        pairs = [*itertools.product(EDGES, EDGES), *itertools.product(ends, (*ends, 1.0))]
        return np.array([complex(*pair) for pair in pairs], of)


@pytest.mark.parametrize("name", TYPES)
def test_c_is_the_interpreter_on_pairs(name: str):
    dtype, _, type = TYPES[name]

    @af.kernel
    def pairs(x: af.const(dtype[N]), y: af.const(dtype[N]), out: dtype[5, N], same: af.bool_[2, N]):
        with af.for_(N) as i:
            for k, compute in enumerate(BINARY.values()):
                out[k, i] = compute(x[i], y[i])
            same[0, i] = x[i] == y[i]
            same[1, i] = x[i] != y[i]

    some = numbers(dtype.numpy)
    x, y = (np.ascontiguousarray(part) for part in np.array([*itertools.product(some, some[::3])], dtype.numpy).T)
    out, same = np.zeros((5, len(x)), dtype.numpy), np.zeros((2, len(x)), bool)
    pairs(x, y, out, same)
    assert (same == [x == y, x != y]).all()
    with quiet():
        for k, kind in enumerate(BINARY):
            compute = complex_numbers.binary(kind, type)
            same_bits(np.array([compute(a, b) for a, b in zip(x, y, strict=True)], dtype.numpy), out[k])


@pytest.mark.parametrize("name", TYPES)
def test_c_is_the_interpreter_on_numbers(name: str):
    dtype, part, type = TYPES[name]

    @af.kernel
    def each(x: af.const(dtype[N]), out: dtype[9, N], parts: part[4, N]):
        with af.for_(N) as i:
            for k, compute in enumerate(UNARY.values()):
                out[k, i] = compute(x[i])
            for k, compute in enumerate(PARTS.values()):
                parts[k, i] = compute(x[i])

    drawn = np.random.default_rng(2).standard_normal((2, 300)) * 10.0 ** np.arange(-5, 3).repeat(75).reshape(2, 300)
    x = np.concatenate([numbers(dtype.numpy), drawn[0] + 1j * drawn[1]]).astype(dtype.numpy)
    out, parts = np.zeros((9, len(x)), dtype.numpy), np.zeros((4, len(x)), part.numpy)
    each(x, out, parts)
    with quiet():
        for k, kind in enumerate(UNARY):
            same_bits(np.array([complex_numbers.unary(kind, type)(z) for z in x], dtype.numpy), out[k])
        for k, kind in enumerate(PARTS):
            same_bits(np.array([complex_numbers.part(kind, type)(z) for z in x], part.numpy), parts[k])


@pytest.mark.parametrize("kind", ["mul", "div"])
@pytest.mark.parametrize("type", [C64, C128], ids=str)
def test_products_and_quotients_are_near_the_exact_ones(kind: str, type: ComplexType):
    compute, epsilon = complex_numbers.binary(kind, type), Fraction(2.0 ** (-22 if type == C64 else -51))
    random = np.random.default_rng(5)
    for scales in random.integers(-12, 13, (200, 4)):
        a, b, c, d = (random.standard_normal(4) * 10.0**scales).tolist()
        x, y = number_of(complex(a, b), type), number_of(complex(c, d), type)
        a, b, c, d = (Fraction(float(part)) for z in (x, y) for part in (z.real, z.imag))
        size = c * c + d * d
        exact = (a * c - b * d, a * d + b * c) if kind == "mul" else ((a * c + b * d) / size, (b * c - a * d) / size)
        found = compute(x, y)
        error = [Fraction(float(part)) - wanted for part, wanted in zip((found.real, found.imag), exact, strict=True)]
        assert sum(e * e for e in error) <= 4 * epsilon**2 * sum(e * e for e in exact)


def test_a_product_is_its_formula_at_infinity():
    with quiet():
        z = complex_numbers.binary("mul", C128)(number_of(complex("inf+infj"), C128), number_of(1 + 0j, C128))
    assert np.isnan([z.real, z.imag]).all()  # inf * 1 - inf * 0: Annex G of C would make infinities of it


def test_quotients_by_zero_and_by_large_numbers():
    divide = complex_numbers.binary("div", C128)
    with quiet():
        same_bits(divide(number_of(1 - 2j, C128), number_of(0j, C128)), np.complex128(complex("inf-infj")))
        same_bits(divide(number_of(1 + 0j, C128), number_of(-0j, C128)), np.complex128(complex("inf+nanj")))
    large = number_of(1e300 + 1e300j, C128)
    assert divide(large, large) == 1


@pytest.mark.parametrize("kind", [kind for kind in UNARY if kind not in ("neg", "conj")])
def test_functions_are_those_of_cmath(kind: str):
    compute, wanted = complex_numbers.unary(kind, C128), getattr(cmath, kind)
    random = np.random.default_rng(7)
    for z in random.standard_normal(200) + 1j * random.standard_normal(200):
        assert cmath.isclose(complex(compute(z)), wanted(complex(z)), rel_tol=1e-14)
    assert complex_numbers.part("abs", C128)(np.complex128(3 - 4j)) == 5
    assert complex_numbers.part("angle", C64)(np.complex64(-1)) == np.float32(np.pi)


def test_powers():
    power = complex_numbers.binary("pow", C128)
    given = [(2 + 1j, 3), (0, 0), (0, 2), (1j, 0.5), (-8, 1 / 3), (2 - 1j, -1 + 2j)]
    for a, b in given:
        found = complex(power(number_of(complex(a), C128), number_of(complex(b), C128)))
        assert cmath.isclose(found, complex(a) ** complex(b), rel_tol=1e-14)
    for exponent in (-1, 1j):
        assert cmath.isnan(complex(power(number_of(0j, C128), number_of(complex(exponent), C128))))
