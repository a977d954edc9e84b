"""What the text of a type says, whether the IR has a class for it or not: its shape, and what its elements are."""

from __future__ import annotations

import re

from affdsl.frozen import FrozenValue
from affdsl.ir.types import MemRefType, OpaqueType, Type, UnrankedMemRefType, VectorType
from affdsl.later import pattern

_TENSOR = pattern(r"tensor<((?:[?\d]+x)*)(\*x)?(.*)>", re.S)
_VECTOR = pattern(r"vector<((?:\[?\d+\]?x)*)(.*)>", re.S)
_COMPLEX = pattern(r"complex<\s*(.*?)\s*>")
_INTEGER = pattern(r"([su]?)i(\d+)")
_FLOAT = pattern(r"b?f(\d+)(?:E\d+M\d+\w*)?|tf32")


class Shaped(FrozenValue):
    """Sizes (None is one known only at run time; no sizes at all where the rank is not known), and the element."""

    shape: tuple[int | None, ...] | None
    element: str


class NumberKind(FrozenValue):
    """What a number is: "integer", "index", "float" or "complex"; its width; the sign of an integer type."""

    kind: str
    width: int
    sign: str = ""


def shaped(type: Type) -> Shaped | None:
    """The shape and element of a vector, buffer or tensor; None for any other type.

    >>> shaped(OpaqueType("tensor<4x?xi128>"))
    Shaped(shape=(4, None), element='i128')
    """
    match type:
        case VectorType():
            return Shaped(type.shape, str(type.element))
        case MemRefType():
            return Shaped(type.shape, str(type.element))
        case UnrankedMemRefType():
            return Shaped(None, str(type.element))
        case OpaqueType(text):
            return _of_text(text)
    return None


def _of_text(text: str) -> Shaped | None:
    plain = re.sub(r"\s", "", text)
    if found := _TENSOR.fullmatch(plain):
        element = _before_comma(found[3])
        return Shaped(None if found[2] else _sizes(found[1]), element)
    if found := _VECTOR.fullmatch(plain):
        return Shaped(_sizes(found[1]), found[2])
    return None


def _sizes(text: str) -> tuple[int | None, ...]:
    return tuple([None if size == "?" else int(size.strip("[]")) for size in text.split("x")[:-1]])


def _before_comma(text: str) -> str:
    """The element type of a tensor, without the encoding that may follow it."""
    depth = 0
    for place, sign in enumerate(text):
        depth += (sign in "<([{") - (sign in ">)]}")
        if sign == "," and depth == 0:
            return text[:place]
    return text


def scalar(element: str) -> NumberKind | None:
    """What the numbers of an element type are; None where it has none, or is not known.

    >>> scalar("ui8"), scalar("f8E5M2")
    (NumberKind(kind='integer', width=8, sign='u'), NumberKind(kind='float', width=8, sign=''))
    """
    if element == "index":
        return NumberKind("index", 64)
    if found := _INTEGER.fullmatch(element):
        return NumberKind("integer", int(found[2]), found[1])
    if found := _FLOAT.fullmatch(element):
        return NumberKind("float", int(found[1] or 19))  # tf32 has 19 bits
    if found := _COMPLEX.fullmatch(element):
        part = scalar(found[1])
        return None if part is None else NumberKind("complex", 2 * part.width, part.sign)
    return None


def complex_part(element: str) -> str | None:
    """The type of both parts of a complex number; None if the type is not complex."""
    found = _COMPLEX.fullmatch(element)
    return found[1] if found else None


def element_text(type: Type) -> str:
    """The type of the scalars of a vector or tensor, as text; any other type itself."""
    found = shaped(type) if isinstance(type, VectorType | OpaqueType) else None
    return str(type) if found is None else found.element


def truth_text(tensor: OpaqueType) -> str:
    """The type of a comparison of tensors.

    >>> truth_text(OpaqueType('tensor<4x?xi128, "encoding">'))
    'tensor<4x?xi1, "encoding">'
    """
    of = shaped(tensor)
    assert of is not None, "a tensor has elements"
    before, _, after = tensor.text.partition(of.element)
    return f"{before}i1{after}"
