"""DMA, prefetches, atomic and vector accesses, and index arithmetic by a basis, in generic form."""

from __future__ import annotations

from affdsl.ir.applied import Applied, applied
from affdsl.ir.attributes import Attribute, IntegerAttr, MapAttr, OpaqueAttr, without
from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, memref, ub
from affdsl.ir.dialects.opaque import Opaque
from affdsl.ir.expr import Value
from affdsl.ir.maps import AffineMap
from affdsl.ir.types import I1, I32, I64, MemRefType
from affdsl.mlir.form import Form
from affdsl.mlir.generic.rows import Property, Reading, Row, Writing, named
from affdsl.mlir.generic.views import static_property, unit_property

KINDS = tuple(sorted(memref.ATOMIC))
"""The ways to combine in the order of their numbers."""


def _flag(name: str, property: str) -> Property:
    """A field that is true or false."""

    def back(attribute: Attribute | None) -> bool:
        if not isinstance(attribute, IntegerAttr) or attribute.type != I1:
            raise ValueError("must be true or false")
        return bool(attribute.value)

    return Property(name, property, lambda on: IntegerAttr(int(on), I1), back)


def _locality() -> Property:
    def back(attribute: Attribute | None) -> int:
        if not isinstance(attribute, IntegerAttr):
            raise ValueError("must be a number")
        return attribute.value

    return Property("locality", "localityHint", lambda n: IntegerAttr(n, I32), back)


def _combine() -> Property:
    def back(attribute: Attribute | None) -> str:
        if not isinstance(attribute, IntegerAttr) or not 0 <= attribute.value < len(KINDS):
            raise ValueError(f"must be a number from 0 to {len(KINDS) - 1}")
        return KINDS[attribute.value]

    return Property("combine", "kind", lambda kind: IntegerAttr(KINDS.index(kind), I64), back)


_MANNER = (_flag("is_data", "isDataCache"), _flag("is_write", "isWrite"), _locality())


# DMA: how many operands belong to which buffer is said by its map or its rank.


def _write_dma_start(op: affine.DmaStart, writing: Writing) -> Opaque:
    operands: list[Value] = []
    maps: list[tuple[str, Attribute]] = []
    for buffer, field, name in (
        (op.source, "source_index", "src_map"),
        (op.target, "target_index", "dst_map"),
        (op.tag, "tag_index", "tag_map"),
    ):
        positional = writing.positional(op, field)
        operands += [buffer, *positional.dims, *positional.symbols]
        maps.append((name, OpaqueAttr(writing.alias(positional.text))))
    attributes = (*sorted(maps), *op.attributes)
    operands += [op.elements, *op.stride]
    return Opaque(op.name, tuple(operands), (), attributes=attributes, location=op.location)


def _read_dma_start(opaque: Opaque, reading: Reading) -> Op:
    said = (*opaque.properties, *opaque.attributes)
    rest = opaque.operands
    found: list[tuple[Value, Applied]] = []
    for name in ("src_map", "dst_map", "tag_map"):
        buffer, index, rest = _mapped_end(opaque, rest, named(said, name), name, reading)
        found.append((buffer, index))
    if len(rest) not in (1, 3):
        reading.refuse(opaque, f"{opaque.kind} has {len(rest)} operands after its buffers, not 1 or 3")
    (source, at), (target, to), (tag, busy) = found
    others = without(said, "src_map", "dst_map", "tag_map")
    return affine.DmaStart(
        source, at.exprs, target, to.exprs, tag, busy.exprs, rest[0], rest[1:],
        location=opaque.location, attributes=others,
        written={"source_index": at, "target_index": to, "tag_index": busy},
    )  # fmt: skip


def _write_dma_wait(op: affine.DmaWait, writing: Writing) -> Opaque:
    positional = writing.positional(op, "tag_index")
    operands = (op.tag, *positional.dims, *positional.symbols, op.elements)
    attributes = (("tag_map", OpaqueAttr(writing.alias(positional.text))), *op.attributes)
    return Opaque(op.name, operands, (), attributes=attributes, location=op.location)


def _read_dma_wait(opaque: Opaque, reading: Reading) -> Op:
    said = (*opaque.properties, *opaque.attributes)
    tag, index, rest = _mapped_end(opaque, opaque.operands, named(said, "tag_map"), "tag_map", reading)
    if len(rest) != 1:
        reading.refuse(opaque, f"{opaque.kind} has {len(rest)} operands after its tag, not 1")
    others = without(said, "tag_map")
    return affine.DmaWait(
        tag, index.exprs, rest[0], location=opaque.location, attributes=others, written={"tag_index": index}
    )


def _mapped_end(
    opaque: Opaque, operands: tuple[Value, ...], attribute: Attribute | None, name: str, reading: Reading
) -> tuple[Value, Applied, tuple[Value, ...]]:
    """A buffer, its index, and the operands after them."""
    if not isinstance(attribute, MapAttr) or not isinstance(attribute.map, AffineMap):
        reading.refuse(opaque, f"{opaque.kind} needs the attribute {name}, an affine map")
    map = attribute.map
    count = 1 + map.dims + map.symbols
    if len(operands) < count:
        reading.refuse(opaque, f"{opaque.kind} has too few operands for its {name}")
    inputs = operands[1:count]
    return operands[0], applied(map.written, inputs[: map.dims], inputs[map.dims :]), operands[count:]


def _write_plain_dma_start(op: memref.DmaStart, writing: Writing) -> Opaque:
    operands = (
        op.source, *op.source_indices, op.target, *op.target_indices, op.elements, op.tag, *op.tag_indices, *op.stride,
    )  # fmt: skip
    return Opaque(op.name, operands, (), attributes=op.attributes, location=op.location)


def _read_plain_dma_start(opaque: Opaque, reading: Reading) -> Op:
    source, at, rest = _ranked_end(opaque, opaque.operands, reading)
    target, to, rest = _ranked_end(opaque, rest, reading)
    if len(rest) < 2:
        reading.refuse(opaque, f"{opaque.kind} has too few operands")
    tag, busy, stride = _ranked_end(opaque, rest[1:], reading)
    if len(stride) not in (0, 2):
        reading.refuse(opaque, f"a stride is a distance and a count, got {len(stride)} values")
    return memref.DmaStart(
        source, at, target, to, rest[0], tag, busy, stride,
        location=opaque.location, attributes=(*opaque.properties, *opaque.attributes),
    )  # fmt: skip


def _ranked_end(
    opaque: Opaque, operands: tuple[Value, ...], reading: Reading
) -> tuple[Value, tuple[Value, ...], tuple[Value, ...]]:
    """A buffer, its indices, and the operands after them."""
    if not operands or not isinstance(operands[0].type, MemRefType) or len(operands) <= operands[0].type.rank:
        reading.refuse(opaque, f"{opaque.kind} takes buffers with an index for each of their dimensions")
    count = 1 + operands[0].type.rank
    return operands[0], operands[1:count], operands[count:]


def _write_poison(op: ub.Poison, writing: Writing) -> Opaque:
    value: tuple[tuple[str, Attribute], ...] = (("value", OpaqueAttr("#ub.poison")),)
    return Opaque(op.name, (), (op.result,), value, attributes=op.attributes, location=op.location)


def _read_poison(opaque: Opaque, reading: Reading) -> Op:
    said = (*opaque.properties, *opaque.attributes)
    value = named(said, "value")
    if opaque.operands or len(opaque.results) != 1:
        reading.refuse(opaque, "ub.poison takes no operands and gives one result")
    if not isinstance(value, OpaqueAttr) or value.text != "#ub.poison":
        return opaque
    others = without(said, "value")
    return ub.Poison(opaque.results[0], location=opaque.location, attributes=others)


_PREFETCHED = "is_write:access, locality:locality, is_data:cache"

ROWS = (
    Row(affine.DmaStart, write=_write_dma_start, read=_read_dma_start),
    Row(
        affine.DmaWait, Form("%tag[tag_index:affine], %elements{generic} : <tag:memref>", {"elements": "index"}),
        write=_write_dma_wait, read=_read_dma_wait,
    ),
    Row(affine.Prefetch, Form(f"%memref[index:affine], {_PREFETCHED}{{}} : <memref:memref>"), _MANNER),
    Row(
        affine.DelinearizeIndex, Form("%linear_index into (mixed:basis){} : <results*>", {"linear_index": "index"}),
        (static_property("static_basis"),),
    ),
    Row(
        affine.LinearizeIndex,
        Form("disjoint:unit [%indices*] by (mixed:basis){} : <result>", {"indices": "index"}),
        (unit_property("disjoint", "disjoint", among_attributes=False), static_property("static_basis")),
    ),
    Row(memref.AtomicRMW, properties=(_combine(),)),
    Row(memref.DmaStart, write=_write_plain_dma_start, read=_read_plain_dma_start),
    Row(
        memref.DmaWait,
        Form("%tag[%tag_indices*], %elements{} : <tag:memref>", {"tag_indices": "index", "elements": "index"}),
    ),
    Row(
        memref.Prefetch,
        Form(f"%memref[%indices*], {_PREFETCHED}{{generic}} : <memref:memref>", {"indices": "index"}), _MANNER,
    ),
    Row(ub.Poison, write=_write_poison, read=_read_poison),
)  # fmt: skip
