"""How the numbers of each scalar type are held at run time: their range, their rounding and their bits.

index, iN      a Python int in signed two's complement, e.g. -128 .. 127 for i8; index has 64 bits
i1             0 or 1; as a signed number, true is -1 (`signed`)
f16, f32, f64  a NumPy scalar of the type
bf16           a np.float32 whose lower 16 bits are zero
complex        a NumPy scalar, np.complex64 or np.complex128
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import cache
from math import isfinite
from typing import TYPE_CHECKING, TypeAlias, overload

from affdsl.ir.integers import signed as signed
from affdsl.ir.integers import unsigned as unsigned
from affdsl.ir.integers import width as width
from affdsl.ir.integers import wrap as wrap
from affdsl.ir.types import ComplexType, FloatType, IntegerType, NumberType, ScalarType
from affdsl.later import Later

if TYPE_CHECKING:
    import numpy as np
else:
    np = Later("numpy")  # who has integers alone does not wait for it

Real: TypeAlias = "int | np.floating"
Number: TypeAlias = "Real | np.complexfloating"
Rounder: TypeAlias = "Callable[[float | np.floating], np.floating]"


def quiet() -> np.errstate:
    """`with quiet(): ...` around float arithmetic: overflow and NaN are results here, not warnings."""
    return np.errstate(all="ignore")


@cache
def _held(name: str) -> type[np.floating]:
    """The NumPy scalars that hold the floats of a type."""
    held: dict[str, type[np.floating]] = {"f16": np.float16, "f32": np.float32, "f64": np.float64, "bf16": np.float32}
    return held[name]


def _complex(part: FloatType) -> type[np.complexfloating]:
    return {"f32": np.complex64, "f64": np.complex128}[part.name]


def rounder(type: FloatType) -> Rounder:
    """What rounds a Python float or NumPy scalar to a type: once, to nearest, ties to even."""
    return _bf16 if type.name == "bf16" else _held(type.name)


def nearest(number: Fraction, type: FloatType) -> np.floating:
    """The float of a type that is nearest to an exact number, ties to even; beyond the range it is infinite."""
    with quiet():
        try:
            double = float(number)
        except OverflowError:
            return rounder(type)(np.float64(np.inf if number > 0 else -np.inf))
        if type.name != "f64" and Fraction(double) != number and _is_even(np.float64(double)):
            double = float(np.nextafter(double, np.inf if number > double else -np.inf))
        return rounder(type)(np.float64(double))


def toward(number: np.floating, type: FloatType, mode: str) -> np.floating:
    """A float as one of a narrower type, rounded by one of the modes of arith.ROUNDING.

    >>> import numpy as np
    >>> from affdsl.ir.types import F16
    >>> [float(toward(np.float64(2049.0), F16, mode)) for mode in ("downward", "upward", "to_nearest_even")]
    [2048.0, 2050.0, 2048.0]
    """
    near = rounder(type)(number)
    exact, found = float(number), float(near)
    if mode == "to_nearest_even" or exact != exact or exact == found:
        return near
    is_larger = abs(found) > abs(exact)
    match mode:
        case "downward":
            larger = exact < 0
        case "upward":
            larger = exact > 0
        case "toward_zero":
            larger = False
        case "to_nearest_away":
            larger = is_larger or _is_tie(exact, found, _beside(near, type, 1))
        case _:
            raise ValueError(f"no rounding mode {mode!r}")
    return near if larger == is_larger else _beside(near, type, 1 if larger else -1)


def _is_tie(exact: float, near: float, far: float | np.floating) -> bool:
    return isfinite(far) and 2 * Fraction(exact) == Fraction(near) + Fraction(float(far))


def _beside(number: np.floating, type: FloatType, away: int) -> np.floating:
    """The float next to a number, away from zero (1) or toward it (-1)."""
    found = from_bits(to_bits(number, type) + away, type)
    assert isinstance(found, np.floating)
    return found


@overload
def number_of(value: int | float, type: ScalarType) -> Real: ...
@overload
def number_of(value: int | float | complex, type: NumberType) -> Number: ...
def number_of(value: int | float | complex, type: NumberType) -> Number:
    """A Python number as one of a type: integers wrap; floats, and each part of a complex number, are rounded once."""
    if isinstance(type, ComplexType):
        to_part = rounder(type.part)
        return complex_of(to_part(value.real), to_part(value.imag), type)
    if isinstance(value, complex):
        raise TypeError(f"{value} is no number of type {type}")
    if isinstance(type, FloatType):
        return nearest(Fraction(value), type) if isinstance(value, int) else rounder(type)(np.float64(value))
    return wrap(int(value), width(type))


def complex_of(real: np.floating, imaginary: np.floating, type: ComplexType) -> np.complexfloating:
    """The number of two parts of its type. (real + imaginary * 1j would be another one beside infinities.)"""
    return _complex(type.part)(complex(real, imaginary))


def to_bits(number: Number, type: NumberType) -> int:
    """The bits of a number, as an unsigned integer; of a complex one, those of the real part below the others."""
    if isinstance(type, ComplexType):
        real, imaginary = (to_bits(part, type.part) for part in (number.real, number.imag))
        return imaginary << type.part.width | real
    assert not isinstance(number, np.complexfloating), "a complex number has a complex type"
    if not isinstance(type, FloatType):
        return unsigned(int(number), width(type))
    bits = int(_held(type.name)(number).view(f"u{_held(type.name)().itemsize}"))
    return bits >> 16 if type.name == "bf16" else bits


def from_bits(bits: int, type: ScalarType) -> Real:
    """The number of a type that has the given bits."""
    match type:
        case FloatType(name="bf16"):
            return _view(np.uint32(bits << 16), np.float32)
        case FloatType():
            return _view(np.dtype(f"u{type.width // 8}").type(bits), _held(type.name))
        case _:
            return wrap(bits, width(type))


def dtype(type: NumberType, *, unsigned: bool = False) -> np.dtype[np.generic]:
    """The dtype of NumPy arrays of a type: bool for i1, uint16 (the bits) for bf16, wide enough for odd widths."""
    match type:
        case FloatType(name="bf16"):
            return np.dtype(np.uint16)
        case FloatType():
            return np.dtype(_held(type.name))
        case ComplexType():
            return np.dtype(_complex(type.part))
        case IntegerType(width=1):
            return np.dtype(np.bool_)
        case _:
            size = next(n for n in (1, 2, 4, 8) if 8 * n >= width(type))
            return np.dtype(f"{'u' if unsigned else 'i'}{size}")


def _bf16(number: float | np.floating) -> np.floating:
    single = np.float32(number)
    if not isfinite(number):
        return single if single == single else np.float32(np.nan)
    if float(single) != float(number) and _is_even(
        single
    ):  # keep what was cut off, so that the next rounding is the only one
        single = np.nextafter(single, np.float32(np.inf if number > single else -np.inf))
    bits = int(single.view(np.uint32))
    bits += 0x7FFF + (bits >> 16 & 1)
    return _view(np.uint32(bits & 0xFFFF0000), np.float32)


def _view(number: np.generic, new: type[np.floating]) -> np.floating:
    """The float of a type with the bits of number."""
    found = number.view(new)
    assert isinstance(found, new)
    return found


def _is_even(number: np.floating) -> bool:
    return int(number.view(f"u{number.itemsize}")) & 1 == 0


# Rounding once through a wider format.
#
# Rounding to double and then to float may round twice in the wrong direction: the first rounding can produce a tie that
# the exact number was not. Where the first result is inexact, `nearest` and `_bf16` therefore take whichever of the two
# neighbours has an odd last bit ("round to odd"). It lies strictly on the right side of every tie of a format that is
# at least two bits shorter, so that the second rounding gives what one rounding of the exact number would.
