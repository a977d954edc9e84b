"""Numbers as attributes write them, and the constants that they make."""

from __future__ import annotations

import re
from typing import cast

from affdsl.ir.attributes import Attribute, Attributes, DenseAttr, FloatAttr, IntegerAttr, OpaqueAttr
from affdsl.ir.core import Op
from affdsl.ir.dialects import arith
from affdsl.ir.dialects.opaque import Opaque
from affdsl.ir.types import (
    I1,
    ComplexType,
    FloatType,
    IndexType,
    IntegerType,
    MemRefType,
    NumberType,
    OpaqueType,
    ScalarType,
    Type,
    VectorType,
)
from affdsl.mlir.elements import NotNumbersError as NotNumbersError
from affdsl.mlir.elements import check_number, elements, value_of
from affdsl.mlir.literals import constant_name, from_bits, literal, nearest
from affdsl.mlir.parser import Head, Parser

Real = int | float | bool
Number = Real | complex
Numbers = Number | tuple[Number, ...]
Reals = Real | tuple[Real, ...]
"""One number, for all elements, or one for each element, the last dimension fastest."""


def constant(
    p: Parser, head: Head, value: Attribute, type: Type, attributes: Attributes, place: int, suffix: str = ""
) -> Op:
    """An arith.constant; one whose value has no class here is kept as an opaque operation."""
    try:
        number = reals_of(value, type)
    except NotNumbersError as problem:
        if not problem.opaque:
            p.scanner.fail(str(problem), place)
        results = p.results(head, (type,))
        return Opaque("arith.constant", (), results, (("value", value),), location=head.location, attributes=attributes)
    result = p.result(head, type)
    if not isinstance(number, tuple) and re.fullmatch(rf"{re.escape(constant_name(number, type))}(_\d+)?", result.hint):
        result.hint = ""  # the name that printers give it anyway
    return arith.Constant(result, number, location=head.location, attributes=attributes)


def numbers_of(attribute: Attribute, type: Type) -> Numbers:
    """The number, or the numbers of a vector or buffer, that an attribute says. Raises NotNumbersError."""
    match attribute, type:
        case IntegerAttr(value), IntegerType() | IndexType():
            return bool(value) if type == I1 else int(literal(value, type))
        case FloatAttr(text), FloatType():
            return number(text, type)
        case DenseAttr(text), VectorType() | MemRefType():
            if isinstance(type, VectorType) and type.scalable and text.startswith("["):
                raise NotNumbersError("the elements of a scalable vector are all equal: dense<number>")
            shape = tuple([0 if size is None else size for size in type.shape])
            if not isinstance(type.element, NumberType):
                raise NotNumbersError(f"constants of type {type} have no numbers here", opaque=True)
            return _elements(text, shape, type.element)
        case OpaqueAttr(), _:
            raise NotNumbersError(f"constants of type {type} have no numbers here", opaque=True)
        case DenseAttr() | IntegerAttr() | FloatAttr(), OpaqueType():
            raise NotNumbersError(f"constants of type {type} have no numbers here", opaque=True)
    raise NotNumbersError(f"this is no constant of type {type}")


def reals_of(attribute: Attribute, type: Type) -> Reals:
    """What an attribute of arith says, which has no complex numbers. Raises NotNumbersError."""
    found = numbers_of(attribute, type)
    if isinstance(type, MemRefType) and isinstance(type.element, ComplexType):
        raise NotNumbersError(f"this is no constant of type {type}")
    return cast("Reals", found)


def number(text: str, type: ScalarType) -> Real:
    """One number of a type. Raises NotNumbersError."""
    text = "".join(text.split())
    check_number(text, str(type))
    if isinstance(type, FloatType):
        if "0x" in text:
            found = from_bits(int(text, 16), type)
            if found != found and literal(found, type).lower() != text.lower():
                raise NotNumbersError(f"{text} is a NaN with a payload", opaque=True)
            return found
        return nearest(float(text), type)
    value = int(text == "true") if text in ("true", "false") else value_of(text)
    return bool(value) if type == I1 else int(literal(value, type))


def _elements(text: str, shape: tuple[int, ...], type: NumberType) -> Numbers:
    """The elements of dense<...>: one for all, a nested list, or their bytes in hexadecimal."""
    if text.startswith('"'):
        raise NotNumbersError("elements as hexadecimal bytes are kept, but not read", opaque=True)
    found: tuple[Number, ...]
    if isinstance(type, ComplexType):
        parts = [float(number(item, type.part)) for item in elements(text, shape, pairs=True)]
        found = tuple(map(complex, parts[::2], parts[1::2]))
    else:
        found = tuple([number(item, type) for item in elements(text, shape)])
    return found if not text or text.startswith("[") else found[0]


def dense_text(value: Numbers, type: VectorType | MemRefType) -> str:
    """The numbers of a vector or buffer as they stand between the brackets of dense<...>."""
    assert isinstance(type.element, NumberType), "numbers are those of a scalar or complex type"
    if not isinstance(value, tuple):
        return literal(value, type.element)
    texts = [literal(v, type.element) for v in value]
    for size in reversed(type.shape):
        step = size or 0
        texts = [f"[{', '.join(texts[n : n + step])}]" for n in range(0, len(texts), step)] if step else []
    return texts[0] if texts else ""
