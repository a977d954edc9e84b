"""The numbers between the brackets of dense<...> and array<...>: their shape, and whether they are of their type."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import import_module
from math import prod

from affdsl.ir.opaque_types import NumberKind, complex_part, scalar, shaped
from affdsl.ir.types import Type
from affdsl.later import pattern

_ITEM = pattern(
    r'[\[\],()]|"(?:[^"\\]|\\.)*"|-?\s*(?:0x[0-9A-Fa-f]+|\d+\.\d*(?:[eE][-+]?\d+)?|\d+)|true|false|\S', re.A
)
_NUMBER = pattern(r"-?\s*(?:0x[0-9A-Fa-f]+|\d+(?:\.\d*(?:[eE][-+]?\d+)?)?)", re.A)
_SPARSE = pattern(r"(\[.*\]|-?\d+)\s*,\s*(\[.*\]|[^\[\]]*)", re.S)
_LONGEST_NUMBER = 1000
_MOST_ELEMENTS = 10_000_000


class NotNumbersError(ValueError):
    """A text that is no list of numbers of a type; or, where `opaque`, one that only has no class here."""

    def __init__(self, problem: str, *, opaque: bool = False) -> None:
        super().__init__(problem)
        self.opaque = opaque


def check_elements(text: str, type: Type) -> None:
    """Refuse elements that are not those of a type, `text` being what stands in the brackets of dense<...>."""
    of = shaped(type)
    if of is None:
        raise NotNumbersError(f"dense<...> is for vectors, tensors and buffers, not for {type}")
    if of.shape is None or None in of.shape:
        raise NotNumbersError(f"dense<...> needs a type whose sizes are known, but {type} leaves one open")
    sizes = tuple([size for size in of.shape if size is not None])
    kind = scalar(of.element)
    if text.startswith('"') and kind is not None:
        _check_bytes(text, prod(sizes), kind, type)
        return
    for item in elements(text, sizes, complex_part(of.element) is not None):
        check_number(item, of.element)


def elements(text: str, shape: tuple[int, ...], pairs: bool = False) -> Iterator[str]:
    """The numbers of dense<...>, one for all elements or all of them: they must have the shape.

    `pairs`: each element is two numbers in parentheses.
    """
    if not text:
        if prod(shape):
            raise NotNumbersError(f"dense<> has no elements, but {prod(shape)} are needed")
        return
    if text.startswith("["):
        if prod(shape) > _MOST_ELEMENTS:
            raise NotNumbersError(f"{prod(shape)} elements are too many to be written out")
        yield from _listed(iter([m[0] for m in _ITEM.finditer(text)]), shape, pairs)
        return
    items = iter([m[0] for m in _ITEM.finditer(text)])
    yield from _one(next(items), items, pairs)
    if (rest := next(items, None)) is not None:
        raise NotNumbersError(f"expected one number, or lists of them, but '{rest}' follows")


def _one(item: str, items: Iterator[str], pairs: bool) -> Iterator[str]:
    if not pairs:
        yield item
        return
    parts = [item, *[next(items, "") for _ in range(4)]]
    if (parts[0], parts[2], parts[4]) != ("(", ",", ")"):
        raise NotNumbersError("a complex number is written as two numbers, (1, 2)")
    yield parts[1]
    yield parts[3]


def _listed(items: Iterator[str], shape: tuple[int, ...], pairs: bool) -> Iterator[str]:
    """What nested lists of a shape hold, in order."""
    wrong = f"the lists of numbers do not have the shape {list(shape)}"
    open_at: list[int] = []  # the elements seen at each depth
    after_item = after_comma = False
    for item in items:
        depth = len(open_at)
        if item == "]":
            if after_comma:
                raise NotNumbersError("a number is missing after ','")
            if not open_at or (seen := open_at.pop()) != shape[depth - 1]:
                raise NotNumbersError(f"{wrong}: {seen if open_at or depth else 0} elements in one of them")
            after_item = True
            continue
        if item == ",":
            if not after_item or depth == 0:
                raise NotNumbersError("a ',' too many between the numbers")
            after_item, after_comma = False, True
            continue
        if after_item or depth > len(shape) or (item != "[" and depth != len(shape)):
            raise NotNumbersError(wrong)
        if depth:
            open_at[-1] += 1
        after_comma = False
        if item == "[":
            if depth == len(shape):
                raise NotNumbersError(wrong)
            open_at.append(0)
        else:
            yield from _one(item, items, pairs)
            after_item = True
    if open_at:
        raise NotNumbersError("a list of numbers is not closed")


def _check_bytes(text: str, count: int, kind: NumberKind, type: Type) -> None:
    """Elements as hexadecimal bytes: those of all elements, or of one for all."""
    if re.fullmatch(r'"0x(?:[0-9A-Fa-f]{2})*"', text) is None:
        raise NotNumbersError('elements as text are bytes, "0x" with two hexadecimal digits for each')
    given, one = (len(text) - 4) // 2, (kind.width + 7) // 8
    every = (count + 7) // 8 if kind == NumberKind("integer", 1) else one * count
    if given not in (one, every):
        raise NotNumbersError(f"{given} bytes are given, but {type} has {every}")


def check_sparse(text: str, type: Type) -> None:
    """Refuse elements that are not those of a type, `text` being what stands in the brackets of sparse<...>."""
    of = shaped(type)
    if of is None or of.shape is None or None in of.shape:
        raise NotNumbersError(f"sparse<...> needs a vector, tensor or buffer whose sizes are known, not {type}")
    if not text:
        return
    found = _SPARSE.fullmatch(text)
    if found is None:
        raise NotNumbersError("sparse<...> takes indices and their values, as in sparse<[[0, 1]], [2.0]>")
    try:
        indices: object = import_module("json").loads(found[1])  # few texts have any
    except (ValueError, RecursionError):
        raise NotNumbersError(f"expected lists of indices, not {_cut(found[1])}") from None
    rows = _rows(indices, len(of.shape))
    for row in rows:
        if any(not 0 <= at < size for at, size in zip(row, of.shape, strict=True) if size is not None):
            raise NotNumbersError(f"the index {row} of sparse<...> is outside of {type}")
    for item in elements(found[2], (len(rows),), complex_part(of.element) is not None):
        check_number(item, of.element)


def _rows(indices: object, rank: int) -> list[list[int]]:
    """The index of each element, from a list of them; from a list of numbers where there is one dimension."""
    match indices:
        case int():
            return [[indices] * rank]
        case list() if rank == 1 and all(isinstance(at, int) for at in indices):
            return [[at] for at in indices]
        case list() if all(isinstance(row, list) and len(row) == rank for row in indices):
            return [row for row in indices if all(isinstance(at, int) for at in row)]
    raise NotNumbersError(f"sparse<...> needs an index of {rank} numbers for each of its elements")


def check_number(text: str, element: str) -> None:
    """Refuse what is no number of an element type, given as its text."""
    kind = scalar(complex_part(element) or element)
    if kind is None:
        if not text.startswith('"'):
            raise NotNumbersError(f"{element} has no numbers, such as {text}")
        return
    if text in ("true", "false"):
        if (kind.kind, kind.width) != ("integer", 1):
            raise NotNumbersError(f"{text} is no number of type {element}; it is one of i1")
        return
    if _NUMBER.fullmatch(text) is None:
        raise NotNumbersError(f"expected a number of type {element}, not {_cut(text)}")
    if len(text) > _LONGEST_NUMBER:
        raise NotNumbersError("a number of too many digits")
    if kind.kind == "float":
        _check_float(text, kind, element)
    elif "." in text:
        raise NotNumbersError(f"{text} is no number of type {element}, which takes whole numbers")
    else:
        _check_integer(value_of(text), kind, element)


def value_of(text: str) -> int:
    """The whole number that a text is, decimal or hexadecimal."""
    digits = text.removeprefix("-").strip()
    value = int(digits, 16 if digits.startswith("0x") else 10)
    return -value if text.startswith("-") else value


def _check_float(text: str, kind: NumberKind, element: str) -> None:
    if "0x" in text:
        if text.startswith("-"):
            raise NotNumbersError(f"the bits of a number have no sign before them: {text}")
        if value_of(text) >> kind.width:
            raise NotNumbersError(f"{text} has more than the {kind.width} bits of {element}")
    elif "." not in text:
        raise NotNumbersError(f"a number of type {element} needs a decimal point, got {text}")


def _check_integer(value: int, kind: NumberKind, element: str) -> None:
    if kind.sign == "u" and value < 0:
        raise NotNumbersError(f"{value} does not fit into {element}, which has no negative numbers")
    lowest = 0 if kind.sign == "u" else -(1 << kind.width >> 1)
    # Of no bits there is one number, 0.
    highest = 1 << max(kind.width - (kind.sign == "s" or kind.kind == "index"), 0)
    if not lowest <= value < highest:
        raise NotNumbersError(f"{value} does not fit into {element}")


def check_item(text: str, element: Type) -> None:
    """Refuse what is no number of array<element: ...>."""
    kind = scalar(str(element))
    if kind is not None and (kind.kind, kind.width) == ("integer", 1) and text not in ("true", "false"):
        raise NotNumbersError(f"array<{element}: ...> holds true and false, not {text}")
    check_number(text, str(element).replace("u", "").removeprefix("s"))


def check_array(element: Type) -> None:
    """Refuse a type that array<...> has no room for."""
    kind = scalar(str(element))
    if kind is None or kind.kind not in ("integer", "float"):
        raise NotNumbersError(f"array<...> holds integers or floats, not {element}")
    if kind.width % 8 and kind.width != 1:
        raise NotNumbersError(f"array<...> holds numbers of whole bytes, and {element} has {kind.width} bits")


def _cut(text: str) -> str:
    return text if len(text) < 40 else f"{text[:40]}..."
