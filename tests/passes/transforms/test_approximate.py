"""Exponentials and logarithms as arithmetic: how far they are off, and that they are the same wherever they run."""

from decimal import Decimal, getcontext
from fractions import Fraction
from itertools import product
from math import factorial

import numpy as np
import pytest

import affdsl as af
from affdsl.ir.dialects import math, scf
from affdsl.ir.formats import F32, F64
from affdsl.ir.traverse import walk
from affdsl.ir.types import VectorType
from affdsl.mlir.readers import parse
from affdsl.mlir.writers import print_op
from affdsl.passes.legality.refusal import IllegalTransform
from affdsl.passes.transforms.approximate import approximate
from affdsl.passes.transforms.approximate.circular import is_far
from tests.effort import by_turns, some
from tests.three_ways import agree

N = af.symbols("N")
PI = Decimal("3.14159265358979323846264338327950288419716939937510582097494")
FUNCTIONS = ("exp", "exp2", "log", "log2", "log10", "erf", "tanh", "sin", "cos")
MOST = {"exp": 1.5, "exp2": 1.5, "log": 1.5, "log2": 3, "log10": 3, "erf": 1.5, "tanh": 1.5, "sin": 1.5, "cos": 1.5}
"""How many ulp a result may be away from the exact one."""
TYPES = {"f32": (af.f32, np.float32), "f64": (af.f64, np.float64)}
SPECIAL = (
    0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 5e-324, -5e-324, 1e-310, 1e-40, 1e-45, 88.7, 88.8, -87.4, -103.9,
    -104.1, 127.99, 128.0, -149.0, -150.0, -151.0, 709.7, 709.8, -745.1, -745.2, 1024.0, -1074.0,
)  # fmt: skip


def kernel(function, type):
    """y = function(x), element by element."""
    kind = TYPES[type][0]

    @af.kernel
    def of(x: kind[N], y: kind[N]):
        with af.for_(N) as i:
            y[i] = getattr(af, function)(x[i])

    return af.Schedule(of).approximate("i")


def arguments(type):
    """Numbers of all sizes, those near 1, and special ones."""
    random, dtype = np.random.default_rng(0), TYPES[type][1]
    if type == "f32":
        found = np.arange(0, 2**32, 99_991, dtype=np.uint64).astype(np.uint32).view(np.float32)
    else:
        found = random.integers(0, 2**64, 30_000, np.uint64).view(np.float64)
    parts = [random.uniform(-750, 720, 30_000), 1 + random.uniform(-0.5, 0.7, 30_000), np.array(SPECIAL)]
    parts += [random.uniform(-7, 7, 9_000)]
    parts += [random.integers(-660_000, 660_000, 9_000) * (np.pi / 2), random.uniform(-1.1e6, 1.1e6, 9_000)]
    with np.errstate(over="ignore"):
        return np.concatenate([found, *(part.astype(dtype) for part in parts)])


@pytest.mark.parametrize(("of", "contracted"), by_turns([*product(TYPES, FUNCTIONS)], [False, True]))
def test_results_are_as_near_as_is_said(of, contracted):
    type, function = of
    s = kernel(function, type)
    x, dtype = arguments(type)[:: 23 if function == "erf" else 1].copy(), TYPES[type][1]
    y = np.empty_like(x)
    (s.contract("i") if contracted else s).kernel()(x, y)
    with np.errstate(all="ignore"):
        exact = (erf if function == "erf" else getattr(np, function))(x.astype(np.longdouble))
        rounded = exact.astype(dtype)
    is_finite = np.isfinite(rounded)
    np.testing.assert_array_equal(y[~is_finite], rounded[~is_finite])
    step = np.spacing(np.abs(rounded[is_finite])).astype(np.longdouble)
    assert np.max(np.abs(y[is_finite].astype(np.longdouble) - exact[is_finite]) / step) <= MOST[function]


def erf(x):
    """The error function of many numbers, by its series of positive terms: NumPy has none."""
    getcontext().prec = 40
    return np.array([_erf(each) for each in x], np.longdouble)


def _erf(x):
    if not abs(x) < 7:
        return np.sign(x)
    x = Decimal(float(x))
    term = total = 2 * x / PI.sqrt() * (-x * x).exp()
    k = 0
    while abs(term) > abs(total) * Decimal(10) ** -30:
        k += 1
        term *= 2 * x * x / (2 * k + 1)
        total += term
    return np.longdouble(str(total))


PROGRAM = """func.func @f(%A: memref<?xT>, %B: memref<?xT>, %n: index) {
  affine.for %i = 0 to %n {
    %a = affine.load %A[%i] : memref<?xT>
    %e = math.KIND %a : T
    affine.store %e, %B[%i] : memref<?xT>
  }
  return
}"""


IN_TURN = [
    (function, type) for n, function in enumerate(FUNCTIONS) for type in some([*TYPES][n % 2 :] + [*TYPES][: n % 2], 1)
]
"""Unless all is tried, functions take turns at the types."""


@pytest.mark.parametrize(("function", "type"), IN_TURN)
def test_the_interpreter_c_and_mlir_agree_to_the_bit(function, type, tmp_path):
    f = parse(PROGRAM.replace("KIND", function).replace("T", type)).functions[0]
    made = approximate(f, f.body[0].iv)
    assert not any(isinstance(op, math.Unary) and op.kind == function and not is_far(op) for op in walk(made))
    dtype = TYPES[type][1]
    with np.errstate(over="ignore"):
        x = np.array([*SPECIAL, 0.7, 3.5, 100.25, -3.75], dtype)
    after, _ = agree(print_op(made), tmp_path, x, np.zeros_like(x), x.size)
    s = kernel(function, type)
    for width in some((4, 16, 2, 8), 1) if type == "f32" else some((16, 4, 2, 8), 1):
        y = np.empty_like(x)
        s.__copy__().vectorize("i", width, tail="masked").kernel()(x, y)
        assert y.tobytes() == after[1].tobytes()


def test_loops_without_such_functions_are_refused():
    for text in (
        PROGRAM.replace("KIND", "sqrt").replace("T", "f32"),
        PROGRAM.replace("KIND", "exp").replace("T", "f16"),
    ):
        f = parse(text).functions[0]
        with pytest.raises(
            IllegalTransform, match="no exp, exp2, log, log2, log10, erf, tanh, sin, cos of f32 or f64 is compute"
        ):
            approximate(f, f.body[0].iv)


@pytest.mark.parametrize("type", TYPES)
def test_far_angles_of_a_vector_are_left_to_the_c_library(type):
    kind, dtype = TYPES[type]

    @af.kernel
    def of(x: kind[N], y: kind[N], z: kind[N]):
        with af.for_(N) as i:
            y[i] = af.sin(x[i])
            z[i] = af.cos(x[i])

    fast = of.optimize("avx2", threads=1, approximate=True)
    assert "i runs on vectors" in fast.explain()
    x = np.linspace(-50, 50, 61).astype(dtype)
    x[7:9] = 3e7, np.inf
    with np.errstate(invalid="ignore"):
        wanted = np.sin(x.astype(np.longdouble)), np.cos(x.astype(np.longdouble))
    found = np.empty_like(x), np.empty_like(x)
    fast(x, *found)
    for a, b in zip(found, wanted, strict=True):
        np.testing.assert_array_max_ulp(a, b.astype(dtype), 1)
    named = [op for op in walk(fast.func) if isinstance(op, math.Unary) and op.kind != "absf"]
    assert named
    assert all(map(is_far, named))
    choices = [op for op in walk(fast.func) if isinstance(op, scf.If) and op.results]
    assert any(isinstance(op.results[0].type, VectorType) for op in choices)


# The coefficients


def cosine(x):
    term = total = Decimal(1)
    k = 0
    while abs(term) > Decimal(10) ** -58:
        k += 2
        term *= -x * x / (k * (k - 1))
        total += term
    return total


def interpolated(term, low, high, count):
    """The polynomial that has the values of a series at the Chebyshev points of an interval."""
    points = [(low + high) / 2 + (high - low) / 2 * cosine(PI * (2 * k + 1) / (2 * count)) for k in range(count)]
    rows = [[x**j for j in range(count)] + [sum(term(k) * x**k for k in range(60))] for x in points]
    for i in range(count):
        pivot = max(range(i, count), key=lambda r: abs(rows[r][i]))
        rows[i], rows[pivot] = rows[pivot], rows[i]
        for r in range(count):
            if r != i:
                factor = rows[r][i] / rows[i][i]
                rows[r] = [a - factor * b for a, b in zip(rows[r], rows[i], strict=True)]
    return tuple(float(rows[i][count] / rows[i][i]) for i in range(count))


@pytest.mark.parametrize("format", [F32, F64], ids=lambda format: format.type.name)
def test_the_coefficients_are_what_they_are_said_to_be(format):
    getcontext().prec = 60
    ln2, half = Decimal(2).ln(), Decimal(2).ln() / 2
    tiny = Decimal(10) ** -40  # a middle of exactly 0 has no powers
    assert format.exp == interpolated(lambda k: Decimal(1) / factorial(k + 2), -half + tiny, half, len(format.exp))
    most = (3 - 2 * Decimal(2).sqrt()) ** 2
    assert format.log == interpolated(lambda k: Decimal(2) / (2 * k + 3), Decimal(0), most, len(format.log))
    quarter = (PI / 4) ** 2 * Decimal("1.0001")
    most = quarter if format.cos else 4 * quarter
    sine = interpolated(lambda k: Decimal((-1) ** (k + 1)) / factorial(2 * k + 3), Decimal(0), most, len(format.sin))
    cosine = interpolated(lambda k: Decimal((-1) ** k) / factorial(2 * k + 4), Decimal(0), quarter, len(format.cos))
    assert (format.sin, format.cos) == (sine, cosine)
    terms = [Decimal(2) / PI.sqrt() * (-1) ** k / (factorial(k) * (2 * k + 1)) - (k == 0) for k in range(60)]
    assert format.erf == interpolated(lambda k: terms[k], Decimal(0), Decimal(1), len(format.erf))
    *exact_parts, last = map(Decimal, format.half_pi)
    assert abs(sum(exact_parts) + last - PI / 2) < abs(last) * Decimal(2) ** -52
    for part in exact_parts:
        assert all(Fraction(float(part) * n) == Fraction(part) * n for n in range(1, 2**20, 97))
    for parts, exact in ((format.ln2, ln2), (format.log10_2, ln2 / Decimal(10).ln())):
        high, low = map(Decimal, parts)
        assert abs(high + low - exact) < Decimal(2) ** (-format.fraction - 20)
        for exponent in range(-format.bias - format.fraction, format.bias + 2, 7):
            assert float(high) * exponent == high * exponent
            assert Decimal(float(format_of(format)(float(high) * exponent))) == high * exponent


def format_of(format):
    return np.float32 if format is F32 else np.float64


@pytest.mark.parametrize(("lanes", "type"), by_turns([3, 5, 6, 8], [*TYPES]))
def test_vectors_that_are_arrays_in_c(lanes, type):
    """Of 3 lanes, say: a product with a power of 2 was taken for one of a vector type, and C ended in a KeyError."""
    kind, dtype = TYPES[type]

    @af.kernel
    def of(x: kind[N], y: kind[N]):
        with af.for_(N) as i:
            y[i] = af.exp(x[i])

    made = af.Schedule(of).vectorize("i", lanes).approximate("i").kernel()
    x = np.linspace(-120, 120, 41).astype(dtype)
    wanted, found = np.empty_like(x), np.empty_like(x)
    made.interpret(x, wanted)
    made(x, found)
    assert wanted.tobytes() == found.tobytes()


def test_powers_of_two_stay_products_when_sums_are_contracted():
    """C scales by one instruction; as a part of e**x + 1 it was four and a sum."""

    @af.kernel
    def of(x: af.f32[N], y: af.f32[N]):
        with af.for_(N) as i:
            y[i] = af.exp(x[i]) + 1

    made = of.optimize("avx512", threads=1, approximate=True, contract=True)
    assert "scaled_f32x16(" in made.c()
