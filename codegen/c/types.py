"""How types and numbers of the IR are spelled in C."""

from __future__ import annotations

import math

import numpy as np

from affdsl.errors import UnsupportedError
from affdsl.ir.numeric import quiet, rounder
from affdsl.ir.types import ComplexType, FloatType, IndexType, IntegerType, MemRefType, NumberType, ScalarType, Type

LANES = (2, 4, 8, 16, 32, 64)
"""How many lanes vectors have that are values of vector types of C; others are arrays."""


def scalar(type: Type) -> ScalarType:
    """type, which must be a scalar."""
    if isinstance(type, IndexType | IntegerType | FloatType):
        return type
    raise UnsupportedError(f"C output has no value of type {type} here yet; only scalars and memrefs of scalars")


def number_type(type: Type) -> NumberType:
    """type, which must be that of a number: a scalar or complex."""
    return type if isinstance(type, ComplexType) else scalar(type)


def container(bits: int) -> int:
    """The bits of the C integer that holds an integer of so many bits."""
    return next(size for size in (8, 16, 32, 64) if bits <= size)


def value_type(type: Type) -> str:
    """The C type in which a value is computed with: narrow floats are floats there."""
    match number_type(type):
        case ComplexType(part):
            return f"{value_type(part)} _Complex"
        case IndexType():
            return "int64_t"
        case IntegerType(1):
            return "bool"
        case IntegerType(bits):
            return f"int{container(bits)}_t"
        case FloatType("f64"):
            return "double"
        case _:
            return "float"


def stored_type(type: Type, unsigned: bool = False) -> str:
    """The C type of an element in memory, an argument or a result: narrow floats are their bits there."""
    match number_type(type):
        case FloatType("f16" | "bf16"):
            return "uint16_t"
        case IntegerType(bits) if bits > 1 and unsigned:
            return f"uint{container(bits)}_t"
        case other:
            return value_type(other)


def suffix(type: ScalarType) -> str:
    """What ends the name of a helper for this type."""
    return "i64" if isinstance(type, IndexType) else str(type)


def element(type: Type) -> NumberType:
    """The element type of a memref."""
    assert isinstance(type, MemRefType)
    return number_type(type.element)


def is_memref(type: Type) -> bool:
    """Whether a type is a buffer."""
    return isinstance(type, MemRefType)


def integer_literal(number: int, bits: int = 64) -> str:
    """A number of a signed type of so many bits.

    >>> integer_literal(7), integer_literal(-(2**31)), integer_literal(2**40)
    ('7', 'INT32_MIN', 'INT64_C(1099511627776)')
    """
    if bits == 1:
        return "true" if number & 1 else "false"
    number = (number + (1 << bits - 1)) % (1 << bits) - (1 << bits - 1)
    if number == -(2**63):
        return "INT64_MIN"
    if number == -(2**31):
        return "INT32_MIN"
    return str(number) if -(2**31) < number < 2**31 else f"INT64_C({number})"


def float_literal(number: float, type: FloatType) -> str:
    """A number of a float type, as the shortest decimal that reads back the same.

    >>> from affdsl.ir.types import F32, F64
    >>> float_literal(0.1, F32), float_literal(-0.0, F64), float_literal(1e300, F32)
    ('0.1f', '-0.0', 'INFINITY')
    """
    with quiet():
        rounded = float(rounder(type)(np.float64(number)))
    if math.isnan(rounded):
        return "NAN"
    if math.isinf(rounded):
        return "INFINITY" if rounded > 0 else "-INFINITY"
    if type.name == "f64":
        return repr(rounded)
    return f"{decimal(np.float32(rounded))}f"


def decimal(number: np.float32) -> str:
    """The shortest decimal that reads back the same, which says that it is no integer."""
    text = str(number)
    return text if "." in text or "e" in text else f"{text}.0"
