"""Quotients by a known number as two products, the same to the bit: docs/decisions/0137."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from math import isfinite

from affdsl.codegen.c.vector_helpers import has_row
from affdsl.codegen.targets.target import Target
from affdsl.ir.types import Type

_FORMATS = {"f64": (53, 60), "f32": (24, 32)}
"""How many digits a number has, and the largest exponent of divisors; the smallest is as far below 0."""
_SPARE = 5
"""So many digits fewer than a number has, or less, the odd part of a divisor must have."""


@cache
def reciprocal_parts(divisor: float, type: Type) -> tuple[float, float] | None:
    """1 / divisor, of a type, as a number and a smaller one of the same sign, so that `fma(x, first, x * second)` is
    `x / divisor`, for each x but those near the smallest that there are; None for divisors of which that is not proved.

    The quotient of a number by one with few digits is far from each middle between two numbers, and so what comes
    before the last rounding is on the same side. Divisors that are powers of 2 have no second part: None.

    >>> from affdsl.ir.types import F32, F64
    >>> reciprocal_parts(3.0, F64)
    (0.3333333333333333, 1.850371707708594e-17)
    >>> reciprocal_parts(-9.0, F32)
    (-0.1111111044883728, -6.622737913630772e-09)
    >>> reciprocal_parts(0.1, F64), reciprocal_parts(8.0, F64)
    (None, None)
    """
    if str(type) not in _FORMATS or not isfinite(divisor) or not divisor:
        return None
    digits, most = _FORMATS[str(type)]
    exact = Fraction(divisor)
    size = abs(exact.numerator)
    odd = size // (size & -size)
    if odd == 1 or odd.bit_length() > digits - _SPARE or not Fraction(1, 1 << most) <= abs(exact) <= 1 << most:
        return None
    first = _cut(1 / exact, digits)
    return float(first), float(_cut(1 / exact - first, digits))


def is_product(divisor: float, type: Type, lanes: int, target: Target | None = None) -> bool:
    """Whether vectors are divided by a number without a division: for some instruction set, or for that of a target."""
    return reciprocal_parts(divisor, type) is not None and has_row("divided", str(type), lanes, target)


def _cut(number: Fraction, digits: int) -> Fraction:
    """The first binary digits of a number."""
    shift = digits + number.denominator.bit_length() - abs(number.numerator).bit_length()
    if int(abs(number) * Fraction(2) ** shift) >> digits:
        shift -= 1
    return int(number * Fraction(2) ** shift) / Fraction(2) ** shift
