"""An operation that the IR has no class for, as it was read."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence

from affdsl.ir.attributes import Attribute, Attributes
from affdsl.ir.dialects.opaque import Opaque, OpaqueRegion
from affdsl.ir.expr import Value
from affdsl.ir.types import Type
from affdsl.mlir.parser import Head, Parser

Properties = list[tuple[str, Attribute]]


def opaque(
    p: Parser,
    head: Head,
    operands: Sequence[Value],
    types: Sequence[Type],
    own: Sequence[tuple[str, Attribute]] = (),
    said: Attributes = (),
    regions: tuple[OpaqueRegion, ...] = (),
    successors: tuple[str, ...] = (),
) -> Opaque:
    """The operation, with its own attributes apart from those that anybody may give to any operation."""
    return Opaque(
        head.name, tuple(operands), p.results(head, types), tuple(own), regions, successors,
        location=head.location, attributes=said,
    )  # fmt: skip


def by_name(own: Iterable[tuple[str, Attribute]]) -> Attributes:
    """Attributes in the order of their names."""
    return tuple(sorted(own, key=lambda entry: entry[0]))


def parted(said: Iterable[tuple[str, Attribute]], names: Container[str]) -> tuple[Attributes, Attributes]:
    """The attributes of these names, and the others."""
    entries = tuple(said)
    return tuple([e for e in entries if e[0] in names]), tuple([e for e in entries if e[0] not in names])
