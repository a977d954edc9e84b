"""What every kind of the complex dialect computes, on numbers held as NumPy's complex64 and complex128.

Each operation on parts is rounded to the type of the parts, in the order in which it is written here, and no product is
fused with a sum. So a product is (ac - bd) + (ad + bc)i whatever a, b, c and d are, and infinities and NaN come out as
these formulas have them. A quotient is Smith's, which does not overflow where the divisor is large. Functions are those
of the C library on two doubles, rounded once where the parts are f32; docs/decisions/0040 has the formulas and why.

>>> from affdsl.ir.types import C128
>>> print(binary("mul", C128)(number_of(1 + 2j, C128), number_of(3 - 1j, C128)))
(5+5j)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from affdsl.ir.numeric import complex_of, number_of, rounder
from affdsl.ir.semantics import LIBM_BINARY
from affdsl.ir.types import ComplexType

Complex: TypeAlias = np.complexfloating
Pair: TypeAlias = tuple[np.floating, np.floating]


def binary(kind: str, type: ComplexType) -> Callable[[Complex, Complex], Complex]:
    """What a kind of `complex.BINARY` does to two numbers."""
    if kind == "pow":
        return lambda a, b: _rounded(_power(np.complex128(a), np.complex128(b)), type)
    formula = _FORMULAS[kind]
    return lambda x, y: complex_of(*formula(x.real, x.imag, y.real, y.imag), type)


def unary(kind: str, type: ComplexType) -> Callable[[Complex], Complex]:
    """What a kind of `complex.UNARY` does to a number."""
    if kind in _LIBRARY:
        function = _LIBRARY[kind]
        return lambda z: _rounded(complex(function(np.complex128(z))), type)
    signs = _SIGNS[kind]
    return lambda z: complex_of(*signs(z.real, z.imag), type)


def part(kind: str, type: ComplexType) -> Callable[[Complex], np.floating]:
    """What a kind of `complex.PARTS` says of a number."""
    to_part = rounder(type.part)
    match kind:
        case "re":
            return lambda z: to_part(z.real)
        case "im":
            return lambda z: to_part(z.imag)
        case "abs":
            return lambda z: to_part(np.hypot(np.float64(z.real), np.float64(z.imag)))
        case _:
            angle = LIBM_BINARY["atan2"]
            return lambda z: to_part(np.float64(angle(float(z.imag), float(z.real))))


def compare(kind: str) -> Callable[[Complex, Complex], int]:
    """eq: both parts are equal; neq: they are not. NaN is equal to nothing, and -0 equals 0."""
    if kind == "eq":
        return lambda a, b: int(a.real == b.real and a.imag == b.imag)
    return lambda a, b: int(not (a.real == b.real and a.imag == b.imag))


def _rounded(value: complex, type: ComplexType) -> Complex:
    found = number_of(value, type)
    assert isinstance(found, np.complexfloating)
    return found


def _product(a: np.floating, b: np.floating, c: np.floating, d: np.floating) -> Pair:
    return a * c - b * d, a * d + b * c


def _quotient(a: np.floating, b: np.floating, c: np.floating, d: np.floating) -> Pair:
    """(a + bi) / (c + di), by R. L. Smith, "Algorithm 116: Complex division", 1962."""
    if abs(c) >= abs(d):
        if c == 0:
            return a / abs(c), b / abs(c)
        ratio = d / c
        divisor = c + d * ratio
        return (a + b * ratio) / divisor, (b - a * ratio) / divisor
    ratio = c / d
    divisor = c * ratio + d
    return (a * ratio + b) / divisor, (b * ratio - a) / divisor


def _power(base: np.complex128, exponent: np.complex128) -> complex:
    """exp(exponent * log(base)); 1 where the exponent is 0, and 0 where only the base is, and the exponent positive."""
    if exponent == 0:
        return 1 + 0j
    if base == 0:
        nan = float("nan")
        return 0j if exponent.real > 0 and exponent.imag == 0 else complex(nan, nan)
    log = np.log(base)
    real, imaginary = _product(exponent.real, exponent.imag, log.real, log.imag)
    return complex(np.exp(np.complex128(complex(real, imaginary))))


_FORMULAS: dict[str, Callable[[np.floating, np.floating, np.floating, np.floating], Pair]] = {
    "add": lambda a, b, c, d: (a + c, b + d),
    "sub": lambda a, b, c, d: (a - c, b - d),
    "mul": _product,
    "div": _quotient,
}
_SIGNS: dict[str, Callable[[np.floating, np.floating], Pair]] = {
    "neg": lambda a, b: (-a, -b),
    "conj": lambda a, b: (a, -b),
}
_LIBRARY: dict[str, Callable[[np.complex128], np.complex128]] = {
    "exp": np.exp, "log": np.log, "sqrt": np.sqrt, "sin": np.sin, "cos": np.cos, "tan": np.tan, "tanh": np.tanh,
}  # fmt: skip
"""Functions of complex.h, which are what NumPy calls for one number."""
