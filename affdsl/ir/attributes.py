"""What MLIR text says of an operation beside its operands and types: numbers, strings, lists, names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:  # types and maps are attributes too, and a memref type may have a layout
    from affdsl.ir.maps import AffineMap, IntegerSet
    from affdsl.ir.types import Type


@dataclass(frozen=True, slots=True)
class IntegerAttr:
    """A number of a type; true and false are those of i1."""

    value: int
    type: Type


@dataclass(frozen=True, slots=True)
class FloatAttr:
    """A number of a float type, as text that says its every bit: 1.000000e+00, 0x7F800000."""

    text: str
    type: Type


@dataclass(frozen=True, slots=True)
class StringAttr:
    """A string; one that has a type says it."""

    value: str
    type: Type | None = None


@dataclass(frozen=True, slots=True)
class SymbolAttr:
    """The name of a function or other symbol, @a, or of one inside others, @a::@b."""

    path: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class UnitAttr:
    """Something that is said by being there."""


@dataclass(frozen=True, slots=True)
class TypeAttr:
    """A type."""

    type: Type


@dataclass(frozen=True, slots=True)
class MapAttr:
    """An affine map or an integer set."""

    map: AffineMap | IntegerSet


@dataclass(frozen=True, slots=True)
class ArrayAttr:
    """A list."""

    items: tuple[Attribute, ...]


@dataclass(frozen=True, slots=True)
class DictAttr:
    """Attributes by their names."""

    items: tuple[tuple[str, Attribute], ...]


@dataclass(frozen=True, slots=True)
class DenseArrayAttr:
    """array<i64: 1, 2>: numbers of one type, as their texts."""

    type: Type
    items: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DenseAttr:
    """dense<...> : type, the elements of a vector, tensor or buffer: the text between the brackets."""

    text: str
    type: Type


@dataclass(frozen=True, slots=True)
class OpaqueAttr:
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
