"""The vector dialect, printed in its custom form."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from affdsl.ir.attributes import Attribute, OpaqueAttr
from affdsl.ir.core import Block, Op
from affdsl.ir.dialects import vector
from affdsl.ir.expr import Value
from affdsl.ir.maps import AffineMap
from affdsl.ir.types import MemRefType, VectorType
from affdsl.mlir.attributes import dictionary_text
from affdsl.mlir.generic.rows import Property
from affdsl.mlir.generic.vector import (
    COMBINE,
    IN_BOUNDS,
)
from affdsl.mlir.names import string
from affdsl.mlir.printer import Printer


def _said(op: Op, *properties: Property, more: Sequence[tuple[str, Attribute]] = ()) -> str:
    """Fields and attributes as ` {name = attribute}`, in the order of their names; nothing where there are none."""
    fields = [(prop.property, prop.to_attribute(getattr(op, prop.name))) for prop in properties]
    entries = [(name, attribute) for name, attribute in fields if attribute is not None]
    text = dictionary_text(tuple(sorted([*entries, *more, *op.attributes], key=lambda entry: entry[0])))
    return f" {text}" if text else ""


def _at(p: Printer, memref: Value, indices: Sequence[Value]) -> str:
    return f"{p.names(memref)}[{p.list(indices)}]"


def _map(p: Printer, map: AffineMap) -> OpaqueAttr:
    return OpaqueAttr(p.alias(f"affine_map<{map}>"))


def _transfer(p: Printer, op: vector.TransferRead | vector.TransferWrite, value: Value) -> str:
    """`, %mask {in_bounds = [true], permutation_map = #map}`"""
    mask = "".join([f", {p.names(v)}" for v in op.mask])
    type, of = value.type, op.memref.type
    assert isinstance(type, VectorType)
    inner = of.element.rank if isinstance(of, MemRefType) and isinstance(of.element, VectorType) else 0
    rank = type.rank - inner
    plain = 0 <= rank <= op.map.dims and op.map == vector.minor_identity(op.map.dims, rank)
    more: list[tuple[str, Attribute]] = [] if plain else [("permutation_map", _map(p, op.map))]
    return f"{mask}{_said(op, *((IN_BOUNDS,) if any(op.in_bounds) else ()), more=more)}"


def write_transfer_read(p: Printer, op: vector.TransferRead) -> str:
    """`vector.transfer_read %A[%i], %pad, %mask {in_bounds = [true]} : memref<...>, vector<...>`"""
    place = f"{_at(p, op.memref, op.indices)}, {p.names(op.padding)}"
    return f"{op.name} {place}{_transfer(p, op, op.result)} : {p.type(op.memref)}, {p.type(op.result)}"


def write_transfer_write(p: Printer, op: vector.TransferWrite) -> str:
    """`vector.transfer_write %v, %A[%i], %mask {in_bounds = [true]} : vector<...>, memref<...>`"""
    place = f"{p.names(op.value)}, {_at(p, op.memref, op.indices)}"
    return f"{op.name} {place}{_transfer(p, op, op.value)} : {p.type(op.value)}, {p.type(op.memref)}"


def write_contract(p: Printer, op: vector.Contract) -> str:
    """`vector.contract {indexing_maps = [...], iterator_types = [...], kind = ...} %a, %b, %c : ... into f32`"""
    maps = OpaqueAttr(f"[{', '.join([_map(p, m).text for m in op.maps])}]")
    kinds = OpaqueAttr("[" + ", ".join([string(kind) for kind in op.iterators]) + "]")
    kind = OpaqueAttr(f"#vector.kind<{op.combine}>")
    trait = dictionary_text((("indexing_maps", maps), ("iterator_types", kinds), (COMBINE.property, kind)))
    types = f"{p.types((op.left, op.right))} into {p.type(op.result)}"
    return f"{op.name} {trait} {p.list((op.left, op.right, op.acc))}{p.dictionary(op)} : {types}"


WRITERS: dict[type[Op], Callable[..., str | Iterator[Block]]] = {
    vector.TransferRead: write_transfer_read,
    vector.TransferWrite: write_transfer_write,
    vector.Contract: write_contract,
}
