"""Vectors divided by a number are the quotients that NumPy has, and that exact fractions round to, to the bit."""

from __future__ import annotations

from fractions import Fraction
from random import Random

import numpy as np
import pytest

import affdsl as af
from affdsl.codegen.c.quotients import reciprocal_parts
from affdsl.codegen.targets.avx512 import AVX512
from affdsl.codegen.targets.sse42 import SSE42
from affdsl.ir.dialects import arith
from affdsl.ir.expr import Value
from affdsl.ir.types import F32, F64, VectorType
from affdsl.optimize.machine import usual
from affdsl.optimize.model.chains import latency
from affdsl.optimize.model.units import units_of
from tests.effort import TRIES_ALL
from tests.oracles import require

N = af.symbols("N")
FLOATS = {"f32": np.float32, "f64": np.float64}
DIGITS = {"f32": 24, "f64": 53}
DIVISORS = (3.0, -9.0, 10.0, 255.0, 0.75, 524287.0, 3 * 2.0**-32, -3 * 2.0**30)
LARGE = (2.0**48 - 1, -3 * 2.0**-60, 7 * 2.0**57)
"""Those of f64 alone."""
if TRIES_ALL:
    DIVISORS += (5.0, 7.0, -25.0, 1000.0, 1e5, 273.125, 65537.0, 0.1875)
    LARGE += (281474976710597.0, 1e6 + 3, 1e14)
KEPT = (0.1, 273.15, 2.0, -0.5, 0.0, float("inf"), float("nan"), 3e30, 3e-30)
"""Divisions by these stay what they are."""
WAYS = [
    (f"{compiler}{flags}", bits)
    for compiler in ("gcc", "clang-22")
    for bits, flags in ((512, ""), (256, " -mno-avx512f"), (256, ""))
]
COUNT = 200_000 if TRIES_ALL else 1000
"""So many numbers of each kind are divided."""


def quotients(dtype: str, divisors: tuple[float, ...]) -> af.Kernel:
    """Rows of numbers, each divided by a number of its own."""
    kind = getattr(af, dtype)
    rows = len(divisors)

    @af.kernel
    def divided(x: kind[rows, N], y: kind[rows, N]):
        with af.for_(N) as i:
            for row, divisor in enumerate(divisors):
                y[row, i] = x[row, i] / divisor

    return divided


def near_a_middle(divisor: float, digits: int, random: Random) -> list[float]:
    """Numbers whose quotients are as near to the middle between two numbers as any.

    The middle is an odd number of one digit more, m; x 2**s is m times the odd part of the divisor, and very little.
    """
    odd = abs(Fraction(divisor).numerator)
    odd //= odd & -odd
    found, low, high = [], 1 << digits - 1, 1 << digits
    for shift in (odd.bit_length(), odd.bit_length() + 1):
        turned = pow(1 << shift, -1, odd)
        for _ in range(COUNT // 4):
            rest = random.choice((1, -1, 2, -2, 3, -3))
            x = low + random.randrange(low)
            x += (rest * turned - x) % odd
            middle, left = divmod((x << shift) - rest, odd)
            assert not left
            if x < high and middle % 2 and middle.bit_length() == digits + 1:
                found.append(x * 2.0 ** random.randrange(-60, 60))
    return found


def numbers(dtype: str, divisor: float) -> np.ndarray:
    """Any bits, few bits, numbers at the ends, and the hard cases of a divisor."""
    random, seed = Random(str(divisor)), np.random.default_rng(7)
    type, digits = FLOATS[dtype], DIGITS[dtype]
    size, ends = np.dtype(type).itemsize, np.finfo(type)
    anything = seed.integers(0, 256, COUNT * size, "u1").view(type)
    border = np.array({"f32": 2.0**-63, "f64": 2.0**-895}[dtype], type)
    tiny = ends.smallest_subnormal
    signed = [0.0, np.inf, np.nan, tiny, 3 * tiny, 9 * tiny, ends.tiny, ends.max, 1.0]
    signed += [border, np.nextafter(border, type(0)), np.nextafter(border, type(1))]
    special = np.array([*signed, *(-each for each in signed)], type)
    signalling = (np.array([np.nan, -np.nan], type).view(f"i{size}") ^ (1 << digits - 2) | 5).view(type)
    with np.errstate(over="ignore", under="ignore"):
        small = seed.integers(-1000, 1000, COUNT).astype(type)
        top = ends.max * seed.uniform(-1, 1, COUNT // 4).astype(type) * type(min(1.0, abs(divisor)))
        bottom = border * seed.uniform(-3, 3, COUNT // 4).astype(type)
        least = tiny * seed.integers(-1000, 1000, COUNT // 4).astype(type)
        hard = np.array(near_a_middle(divisor, digits, random)).astype(type)
    one_by_one = [np.insert(np.full(31, 1, type), at, value) for at, value in enumerate(special)]
    return np.concatenate([anything, small, top, bottom, least, hard, -hard, special, signalling, *one_by_one])


def in_rows(dtype: str, divisors: tuple[float, ...]) -> np.ndarray:
    """The numbers for each divisor, rows of one length."""
    rows = [numbers(dtype, divisor) for divisor in divisors]
    return np.array([np.resize(row, max(map(len, rows))) for row in rows])


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("way", range(len(WAYS)) if TRIES_ALL else (0, 4))
def test_quotients_are_those_of_numpy(dtype, way, monkeypatch):
    compiler, bits = WAYS[way]
    require(compiler.split()[0])
    monkeypatch.setenv("AFFDSL_CC", compiler)
    divisors = DIVISORS + (LARGE if dtype == "f64" else ())
    lanes = bits // int(dtype[1:])
    kernel = af.Schedule(quotients(dtype, divisors)).vectorize("i", lanes, tail="scalar").kernel()
    text = kernel.c()
    assert text.count(f"= divided_{dtype}x{lanes}(") == len(divisors)
    x = in_rows(dtype, divisors)
    y = np.zeros_like(x)
    kernel(x, y)
    with np.errstate(all="ignore"):
        wanted = x / np.array(divisors, x.dtype)[:, None]
    wrong = y.view(f"u{y.itemsize}") != wanted.view(f"u{y.itemsize}")
    assert not wrong.any(), (np.argwhere(wrong)[:5], x[wrong][:5], y[wrong][:5], wanted[wrong][:5])


@pytest.mark.parametrize("divisor", DIVISORS + LARGE)
def test_products_round_as_the_exact_quotient_does(divisor):
    first, second = reciprocal_parts(divisor, F64)
    assert first * second > 0
    for x in near_a_middle(divisor, 53, Random(0))[:: 1 if TRIES_ALL else 8]:
        less = float(Fraction(x) * Fraction(second))  # of a fraction, rounded to the nearest
        assert float(Fraction(x) * Fraction(first) + Fraction(less)) == float(Fraction(x) / Fraction(divisor)), x


def test_divisors_of_many_digits_and_powers_of_two_are_kept():
    assert [reciprocal_parts(divisor, type) for divisor in KEPT for type in (F32, F64)] == [None] * (2 * len(KEPT))
    assert reciprocal_parts(2.0**19 + 1, F32) is None
    assert reciprocal_parts(2.0**48 + 1, F64) is None
    text = af.Schedule(quotients("f64", (0.1,))).vectorize("i", 8, tail="scalar").kernel().c()
    assert "/ 0.1;" in text
    assert "divided_" not in text


def test_the_model_knows_which_quotients_are_products():
    x, c = Value(VectorType((8,), F64)), arith.Constant(Value(VectorType((8,), F64)), 3.0)
    quotient = arith.Binary(x, "divf", x, c.result)
    known, unknown = (units_of(quotient, usual(AVX512), maker) for maker in (lambda _: c, lambda _: None))
    assert (known.busy, known.floats) == (0.0, 2.0)
    assert unknown.cycles(usual(AVX512)) > 4 * known.cycles(usual(AVX512))
    assert units_of(quotient, usual(SSE42), lambda _: c).busy > 0
    assert latency(quotient, usual(AVX512), lambda _: c) < latency(quotient, usual(AVX512))


def test_hard_cases_would_show_a_product_with_the_reciprocal():
    """It is wrong for a quarter of those of three, and for half of the others."""
    for divisor in (3.0, 9.0, 1000.0):
        x = np.array(near_a_middle(divisor, 53, Random(0)))
        assert np.mean(x * (1 / divisor) != x / divisor) > (0.24 if divisor == 3.0 else 0.45)
