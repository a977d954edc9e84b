"""Numbers as MLIR writes them: every float of a type comes back bit for bit."""

from __future__ import annotations

import math
import struct

from affdsl.ir.types import F32, ComplexType, FloatName, FloatType, IndexType, IntegerType, Type, VectorType

# Bits of the significand with the hidden one, the exponent of the smallest number, bits of the exponent.
_FORMATS: dict[FloatName, tuple[int, int, int]] = {
    "f16": (11, -24, 5), "bf16": (8, -133, 8), "f32": (24, -149, 8), "f64": (53, -1074, 11),
}  # fmt: skip

_LETTERS = {"f16": "<e", "f32": "<f", "f64": "<d"}
"""What the struct module calls the formats of IEEE 754."""


def literal(value: int | float | complex | bool, type: Type) -> str:
    """A constant of a type, without the type; a complex one as it stands among the elements of dense<...>.

    >>> from affdsl.ir.types import F32, I1, I8
    >>> literal(0.1, F32), literal(True, I1), literal(255, I8), literal(float("inf"), F32)
    ('1.000000e-01', 'true', '-1', '0x7F800000')
    """
    if isinstance(type, ComplexType):
        return f"({float_literal(value.real, type.part)},{float_literal(value.imag, type.part)})"
    if isinstance(value, complex):
        raise TypeError(f"{value} is no constant of type {type}")
    match type:
        case FloatType():
            return float_literal(float(value), type)
        case IntegerType(1):
            return "true" if value else "false"
        case IntegerType(width):
            return str(_signed(int(value), width))
        case IndexType():
            return str(_signed(int(value), 64))
        case VectorType():
            return f"dense<{literal(value, type.element)}>"
        case _:
            raise TypeError(f"there are no constants of type {type}")


def constant_name(value: int | float | complex | bool, type: Type) -> str:
    """What mlir-opt calls a constant: c4, c4_i32, true, cst."""
    match type:
        case IndexType():
            return f"c{literal(value, type)}"
        case IntegerType(1):
            return literal(value, type)
        case IntegerType():
            return f"c{literal(value, type)}_{type}"
        case _:
            return "cst"


def float_literal(value: float, type: FloatType) -> str:
    """The number of the type nearest to value: seven digits where they suffice, as many as it takes where not."""
    number = nearest(value, type)
    if not math.isfinite(number):
        return _special(number, type)
    for digits in range(6, 17):
        text = f"{number:.{digits}e}"
        if nearest(float(text), type) == number:
            return text
    raise AssertionError(f"17 digits tell any two numbers apart, but not {number!r}")


def nearest(value: float, type: FloatType) -> float:
    """value rounded to a type: to nearest, ties to even, beyond the largest number to infinity."""
    if value == 0 or not math.isfinite(value):
        return value
    bits, smallest, exponent_bits = _FORMATS[type.name]
    unit = max(math.frexp(value)[1] - bits, smallest)
    count = round(math.ldexp(abs(value), -unit))
    overflows = count.bit_length() + unit > 2 ** (exponent_bits - 1)
    return math.copysign(math.inf if overflows else math.ldexp(count, unit), value)


def from_bits(bits: int, type: FloatType) -> float:
    """The number of a type that has the given bits.

    >>> from affdsl.ir.types import BF16, F16
    >>> from_bits(0x3C00, F16), from_bits(0xC000, BF16)
    (1.0, -2.0)
    """
    if type.name == "bf16":  # the upper half of an f32
        return from_bits(bits << 16, F32)
    number: float = struct.unpack(_LETTERS[type.name], bits.to_bytes(type.width // 8, "little"))[0]
    return number


def _special(number: float, type: FloatType) -> str:
    bits, _, exponent_bits = _FORMATS[type.name]
    pattern = (2**exponent_bits - 1) << (bits - 1)
    if math.isnan(number):
        pattern |= 1 << (bits - 2)  # quiet
    if math.copysign(1, number) < 0:
        pattern |= 1 << (type.width - 1)
    return f"0x{pattern:0{type.width // 4}X}"


def _signed(value: int, width: int) -> int:
    """The upper half of the unsigned numbers, written as the negative ones that they are."""
    return value - 2**width if 2 ** (width - 1) <= value < 2**width else value
