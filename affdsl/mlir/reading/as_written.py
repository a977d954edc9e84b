"""An operation of another dialect, kept as it was read."""

from __future__ import annotations

from collections.abc import Sequence

from affdsl.ir.attributes import Attribute, Attributes
from affdsl.ir.dialects.opaque import Opaque, OpaqueRegion
from affdsl.ir.expr import Value
from affdsl.ir.types import Type
from affdsl.mlir.parser import Head, Parser

Properties = list[tuple[str, Attribute]]


def kept(
    p: Parser,
    head: Head,
    operands: Sequence[Value],
    types: Sequence[Type],
    own: Properties,
    said: Attributes = (),
    regions: tuple[OpaqueRegion, ...] = (),
) -> Opaque:
    """The operation, with its properties in the order of their names."""
    properties = tuple(sorted(own, key=lambda entry: entry[0]))
    return Opaque(
        head.name, tuple(operands), p.results(head, types), properties, regions,
        location=head.location, attributes=said,
    )  # fmt: skip
