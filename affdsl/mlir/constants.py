"""Numbers as attributes write them, and the constants that they make."""

from __future__ import annotations

import re
from collections.abc import Iterator

from affdsl.ir.attributes import Attribute, Attributes, DenseAttr, FloatAttr, IntegerAttr, OpaqueAttr
from affdsl.ir.core import Op
from affdsl.ir.dialects import arith
from affdsl.ir.dialects.opaque import Opaque
from affdsl.ir.numeric import from_bits
from affdsl.ir.types import (
    I1,
    FloatType,
    IndexType,
    IntegerType,
    MemRefType,
    OpaqueType,
    ScalarType,
    Type,
    VectorType,
)
from affdsl.mlir.literals import constant_name, literal, nearest
from affdsl.mlir.parser import Head, Parser

Numbers = int | float | bool | tuple[int | float | bool, ...]
"""One number, for all elements, or one for each element, the last dimension fastest."""
_ITEM = re.compile(r"[\[\],]|-?(?:0x[0-9A-Fa-f]+|\d+\.\d*(?:[eE][+-]?\d+)?|\d+)|true|false|\S", re.A)
_MOST_ELEMENTS = 10_000_000


class NotNumbersError(ValueError):
    """A text that is no list of numbers of a type; or, where `opaque`, one that only has no class here."""

    def __init__(self, problem: str, *, opaque: bool = False) -> None:
        super().__init__(problem)
        self.opaque = opaque


def constant(
    p: Parser, head: Head, value: Attribute, type: Type, attributes: Attributes, place: int, suffix: str = ""
) -> Op:
    """An arith.constant; one whose value has no class here is kept as an opaque operation."""
    try:
        number = numbers_of(value, type)
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
            if not isinstance(type.element, ScalarType):
                raise NotNumbersError(f"constants of type {type} have no numbers here", opaque=True)
            return _elements(text, shape, type.element)
        case OpaqueAttr(), _:
            raise NotNumbersError(f"constants of type {type} have no numbers here", opaque=True)
        case DenseAttr() | IntegerAttr() | FloatAttr(), OpaqueType():
            raise NotNumbersError(f"constants of type {type} have no numbers here", opaque=True)
    raise NotNumbersError(f"this is no constant of type {type}")


def number(text: str, type: ScalarType) -> int | float | bool:
    """One number of a type. Raises NotNumbersError."""
    if isinstance(type, FloatType):
        if "0x" in text:
            found = float(from_bits(int(text, 16), type))
            if found != found and literal(found, type).lower() != text.lower():
                raise NotNumbersError(f"{text} is a NaN with a payload", opaque=True)
            return found
        if "." not in text:
            raise NotNumbersError(f"a number of type {type} needs a decimal point, got {text}")
        return nearest(float(text), type)
    if text in ("true", "false"):
        if type != I1:
            raise NotNumbersError(f"{text} is no number of type {type}")
        return text == "true"
    if "." in text or not text.lstrip("-")[:1].isdigit():
        raise NotNumbersError(f"{text} is no number of type {type}")
    value = int(text, 0)
    width = 64 if isinstance(type, IndexType) else type.width
    if not -(1 << width - 1) <= value < 1 << width:
        raise NotNumbersError(f"{value} does not fit into {type}")
    return bool(value) if type == I1 else int(literal(value, type))


def _elements(text: str, shape: tuple[int, ...], type: ScalarType) -> Numbers:
    """The elements of dense<...>: one for all, a nested list, or their bytes in hexadecimal."""
    count = 1
    for size in shape:
        count *= size
    if text.startswith('"'):
        raise NotNumbersError("elements as hexadecimal bytes are kept, but not read", opaque=True)
    if not text:
        if count:
            raise NotNumbersError(f"dense<> has no elements, but {count} are needed")
        return ()
    if not text.startswith("["):
        return number(text, type)
    if count > _MOST_ELEMENTS:
        raise NotNumbersError(f"{count} elements are too many to be written out")
    items = _ITEM.finditer(text)
    found: list[int | float | bool] = []
    _list((m[0] for m in items), shape, type, found)
    return tuple(found)


def _list(items: Iterator[str], shape: tuple[int, ...], type: ScalarType, found: list[int | float | bool]) -> None:
    """Read nested lists of a shape into one list."""
    open_at: list[int] = []  # the elements seen at each depth
    wanted_comma = False
    for item in items:
        depth = len(open_at)
        if item == "]":
            if not open_at or open_at.pop() != shape[depth - 1]:
                raise NotNumbersError(f"the lists of numbers do not have the shape {list(shape)}")
            wanted_comma = True
            continue
        if item == ",":
            if not wanted_comma:
                raise NotNumbersError("a ',' too many between the numbers")
            wanted_comma = False
            continue
        if wanted_comma or (depth == 0 and item != "[") or depth > len(shape):
            raise NotNumbersError(f"the lists of numbers do not have the shape {list(shape)}")
        if depth:
            open_at[-1] += 1
        if item == "[":
            open_at.append(0)
            if len(open_at) > len(shape):
                raise NotNumbersError(f"the lists of numbers do not have the shape {list(shape)}")
        else:
            if depth != len(shape):
                raise NotNumbersError(f"the lists of numbers do not have the shape {list(shape)}")
            found.append(number(item, type))
            wanted_comma = True
    if open_at:
        raise NotNumbersError("a list of numbers is not closed")


def dense_text(value: Numbers, type: VectorType | MemRefType) -> str:
    """The numbers of a vector or buffer as they stand between the brackets of dense<...>."""
    assert isinstance(type.element, ScalarType), "numbers are those of a scalar type"
    if not isinstance(value, tuple):
        return literal(value, type.element)
    texts = [literal(v, type.element) for v in value]
    for size in reversed(type.shape):
        step = size or 0
        texts = [f"[{', '.join(texts[n : n + step])}]" for n in range(0, len(texts), step)] if step else []
    return texts[0] if texts else ""
