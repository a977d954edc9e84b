"""What MLIR text says of an operation beside its operands and types: numbers, strings, lists, names."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from affdsl.frozen import FrozenValue

if TYPE_CHECKING:  # types and maps are attributes too, and a memref type may have a layout
    from affdsl.ir.maps import AffineMap, IntegerSet
    from affdsl.ir.types import Type


class IntegerAttr(FrozenValue):
    """A number of a type; true and false are those of i1."""

    value: int
    type: Type


class FloatAttr(FrozenValue):
    """A number of a float type, as text that says its every bit: 1.000000e+00, 0x7F800000."""

    text: str
    type: Type


class StringAttr(FrozenValue):
    """A string; one that has a type says it."""

    value: str
    type: Type | None = None


class SymbolAttr(FrozenValue):
    """The name of a function or other symbol, @a, or of one inside others, @a::@b."""

    path: tuple[str, ...]


class UnitAttr(FrozenValue):
    """Something that is said by being there."""


class TypeAttr(FrozenValue):
    """A type."""

    type: Type


class MapAttr(FrozenValue):
    """An affine map or an integer set."""

    map: AffineMap | IntegerSet


class ArrayAttr(FrozenValue):
    """A list."""

    items: tuple[Attribute, ...]


class DictAttr(FrozenValue):
    """Attributes by their names."""

    items: tuple[tuple[str, Attribute], ...]


class DenseArrayAttr(FrozenValue):
    """array<i64: 1, 2>: numbers of one type, as their texts."""

    type: Type
    items: tuple[str, ...]


class DenseAttr(FrozenValue):
    """dense<...> : type, the elements of a vector, tensor or buffer: the text between the brackets."""

    text: str
    type: Type


class OpaqueAttr(FrozenValue):
    """An attribute that has no class here, as its text: #dialect.name<...>, loc(...), dense_resource<...> : type.

    `type` is the type that the text says it has, if any.
    """

    text: str
    type: Type | None = None


Attribute: TypeAlias = (
    IntegerAttr
    | FloatAttr
    | StringAttr
    | SymbolAttr
    | UnitAttr
    | TypeAttr
    | MapAttr
    | ArrayAttr
    | DictAttr
    | DenseArrayAttr
    | DenseAttr
    | OpaqueAttr
)
Attributes: TypeAlias = "tuple[tuple[str, Attribute], ...]"
"""Attributes by name, in the order of the text."""


def without(attributes: Attributes, *names: str) -> Attributes:
    """Attributes but those of some names."""
    return tuple([entry for entry in attributes if entry[0] not in names])
