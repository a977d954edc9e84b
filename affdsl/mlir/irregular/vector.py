"""Transfers and contractions of vector, where no form says it: read, and printed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from affdsl.ir.attributes import Attribute, Attributes, DictAttr, OpaqueAttr, without
from affdsl.ir.core import Op
from affdsl.ir.dialects import vector
from affdsl.ir.dialects.opaque import Opaque
from affdsl.ir.expr import Value
from affdsl.ir.maps import AffineMap
from affdsl.ir.types import I1, INDEX, FloatType, IntegerType, MemRefType, Type, VectorType
from affdsl.mlir.attributes import dictionary_text
from affdsl.mlir.generic.rows import Property, segments
from affdsl.mlir.generic.vector import COMBINE, IN_BOUNDS, ITERATORS, MAP, MAPS
from affdsl.mlir.irregular.table import Table
from affdsl.mlir.names import string
from affdsl.mlir.parser import Head, Parser, Use
from affdsl.mlir.pieces import field_of
from affdsl.mlir.printer import Printer


def _base(p: Parser) -> tuple[Use, list[Use]]:
    """`%m[%i, %j]`"""
    return p.use(), list(p.listed(p.use, "[", "]"))


def _indices(p: Parser, uses: list[Use]) -> tuple[Value, ...]:
    return p.typed(uses, (INDEX,) * len(uses))


def _vector(p: Parser) -> VectorType:
    place, type = p.scanner.start, p.type()
    if not isinstance(type, VectorType):
        p.scanner.fail(f"expected a type like vector<4xf32>, got {type}", place)
    return type


def then(p: Parser) -> Use:
    """`, %x`"""
    p.scanner.expect(",")
    return p.use()


def _dictionary(p: Parser, *wanted: Property) -> tuple[list[Any], Attributes]:
    """`{name = attribute, ...}`: what it says of some fields, None for those that it does not, and the rest."""
    place, attributes = p.scanner.start, p.dictionary()
    said = dict(attributes)
    found = [field_of(p, prop, said[prop.property], place) if prop.property in said else None for prop in wanted]
    names = [prop.property for prop in wanted]
    return found, without(attributes, *names)


"""What the kinds of 2019 are for floats and for integers."""


def read_transfer_read(p: Parser, head: Head) -> Op:
    """`vector.transfer_read %A[%i], %pad, %mask {in_bounds = [true]} : memref<...>, vector<...>`"""
    base, at = _base(p)
    pad = then(p)
    mask = [p.use()] if p.scanner.accept(",") else []
    place = p.scanner.start
    (map, in_bounds), attributes = _dictionary(p, MAP, IN_BOUNDS)
    source = p.colon_type()
    p.scanner.expect(",")
    type = _vector(p)
    map, in_bounds, of = _transfer(p, map, in_bounds, source, type, place)
    memref, indices, padding = p.resolve(base, source), _indices(p, at), p.resolve(pad, of)
    masks = tuple(p.resolve(use, _mask_type(map, type)) for use in mask)
    result = p.result(head, type)
    if not isinstance(source, MemRefType):
        operands, counts = (memref, *indices, padding, *masks), (1, len(indices), 1, len(masks))
        return _opaque_transfer(head, operands, (result,), counts, map, in_bounds, attributes)
    return vector.TransferRead(
        result, memref, indices, padding, map, in_bounds, masks, location=head.location, attributes=attributes
    )  # fmt: skip


def read_transfer_write(p: Parser, head: Head) -> Op:
    """`vector.transfer_write %v, %A[%i], %mask {in_bounds = [true]} : vector<...>, memref<...>`"""
    stored = p.use()
    p.scanner.expect(",")
    base, at = _base(p)
    mask = [p.use()] if p.scanner.accept(",") else []
    place = p.scanner.start
    (map, in_bounds), attributes = _dictionary(p, MAP, IN_BOUNDS)
    p.scanner.expect(":")
    type = _vector(p)
    p.scanner.expect(",")
    target = p.type()
    map, in_bounds, _ = _transfer(p, map, in_bounds, target, type, place)
    value, memref, indices = p.resolve(stored, type), p.resolve(base, target), _indices(p, at)
    masks = tuple(p.resolve(use, _mask_type(map, type)) for use in mask)
    if not isinstance(target, MemRefType):
        operands, counts = (value, memref, *indices, *masks), (1, 1, len(indices), len(masks))
        return _opaque_transfer(head, operands, p.results(head, (target,)), counts, map, in_bounds, attributes)
    p.no_results(head)
    return vector.TransferWrite(
        value, memref, indices, map, in_bounds, masks, location=head.location, attributes=attributes
    )  # fmt: skip


def _transfer(
    p: Parser,
    map: AffineMap | None,
    in_bounds: tuple[bool, ...] | None,
    source: Type,
    type: VectorType,
    place: int,
) -> tuple[AffineMap, tuple[bool, ...], Type]:
    """Map and flags, with what they are where nothing is said; the type of an element of memref."""
    rank, of = _shaped(p, source, place)
    inner = of.rank if isinstance(of, VectorType) else 0
    if map is None:
        if rank < type.rank - inner:
            p.scanner.fail(f"{type} has more dimensions than {source}, which has {rank}: say a permutation_map", place)
        map = vector.minor_identity(rank, type.rank - inner)
    if in_bounds is None:
        in_bounds = (False,) * len(map.results)
    return map, in_bounds, of


def _shaped(p: Parser, source: Type, place: int) -> tuple[int, Type]:
    """The rank and the elements' type of a memref, or of a tensor, which is kept as text."""
    if isinstance(source, MemRefType):
        return source.rank, source.element
    text = str(source)
    if not text.startswith("tensor<") or text.startswith("tensor<*"):
        p.scanner.fail(f"expected a memref or a tensor, got {source}", place)
    sizes, _, last = text[7:-1].split(",")[0].rpartition("x")
    names = {"index": INDEX} | {name: FloatType(name) for name in ("f16", "bf16", "f32", "f64")}
    of = names.get(last) or (IntegerType(int(last[1:])) if last[1:].isdigit() else None)
    if of is None:
        p.scanner.fail(f"transfers of {source} are read in generic form only", place)
    return len(sizes.split("x")) if sizes else 0, of


def _mask_type(map: AffineMap, type: VectorType) -> VectorType:
    scalable = type.scalable or (False,) * type.rank
    kept = [k for k in vector.mask_dims(map) if k < type.rank]
    flags = tuple(scalable[k] for k in kept)
    return VectorType(tuple(type.shape[k] for k in kept), I1, flags if any(flags) else ())


def _opaque_transfer(
    head: Head,
    operands: tuple[Value, ...],
    results: tuple[Value, ...],
    counts: tuple[int, ...],
    map: AffineMap,
    in_bounds: tuple[bool, ...],
    attributes: Attributes,
) -> Opaque:
    """A transfer of a tensor, which has no class here."""
    said = (
        ("in_bounds", IN_BOUNDS.to_attribute(in_bounds)),
        segments(*counts),
        ("permutation_map", MAP.to_attribute(map)),
    )
    properties = tuple([(name, attribute) for name, attribute in said if attribute is not None])
    return Opaque(head.name, operands, results, properties, location=head.location, attributes=attributes)


def read_contract(p: Parser, head: Head) -> Op:
    """`vector.contract {indexing_maps = [...], iterator_types = [...]} %a, %b, %c : ..., ... into f32`"""
    s = p.scanner
    place = s.start
    said = p.attribute()
    entries = said.items if isinstance(said, DictAttr) else ()
    known = dict(entries)
    missing = [prop.property for prop in (MAPS, ITERATORS) if prop.property not in known]
    if missing:
        s.fail(f"vector.contract needs the attribute {missing[0]}", place)
    maps, iterators = (field_of(p, prop, known[prop.property], place) for prop in (MAPS, ITERATORS))
    combine = field_of(p, COMBINE, known["kind"], place) if "kind" in known else "add"
    uses = p.uses()
    attributes = p.dictionary()
    types = [p.colon_type()]
    s.expect(",")
    types.append(p.type())
    s.expect("into")
    type = p.type()
    left, right, acc = p.typed(uses, [*types, type], place)
    rest = without(entries, "indexing_maps", "iterator_types", "kind")
    return vector.Contract(
        p.result(head, type), left, right, acc, maps, iterators, combine,
        location=head.location, attributes=(*rest, *attributes),
    )  # fmt: skip


def read_splat(p: Parser, head: Head) -> Op:
    """`vector.splat %x : vector<...>`, which is a broadcast today"""
    use, attributes = p.use(), p.dictionary()
    p.scanner.expect(":")
    type = _vector(p)
    value = p.resolve(use, type.element)
    return vector.Broadcast(p.result(head, type), value, location=head.location, attributes=attributes)


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


def _transfer_text(p: Printer, op: vector.TransferRead | vector.TransferWrite, value: Value) -> str:
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
    return f"{op.name} {place}{_transfer_text(p, op, op.result)} : {p.type(op.memref)}, {p.type(op.result)}"


def write_transfer_write(p: Printer, op: vector.TransferWrite) -> str:
    """`vector.transfer_write %v, %A[%i], %mask {in_bounds = [true]} : vector<...>, memref<...>`"""
    place = f"{p.names(op.value)}, {_at(p, op.memref, op.indices)}"
    return f"{op.name} {place}{_transfer_text(p, op, op.value)} : {p.type(op.value)}, {p.type(op.memref)}"


def write_contract(p: Printer, op: vector.Contract) -> str:
    """`vector.contract {indexing_maps = [...], iterator_types = [...], kind = ...} %a, %b, %c : ... into f32`"""
    maps = OpaqueAttr(f"[{', '.join([_map(p, m).text for m in op.maps])}]")
    kinds = OpaqueAttr("[" + ", ".join([string(kind) for kind in op.iterators]) + "]")
    kind = OpaqueAttr(f"#vector.kind<{op.combine}>")
    trait = dictionary_text((("indexing_maps", maps), ("iterator_types", kinds), (COMBINE.property, kind)))
    types = f"{p.types((op.left, op.right))} into {p.type(op.result)}"
    return f"{op.name} {trait} {p.list((op.left, op.right, op.acc))}{p.dictionary(op)} : {types}"


TABLE: Table = {
    vector.TransferRead: (read_transfer_read, write_transfer_read),
    vector.TransferWrite: (read_transfer_write, write_transfer_write),
    vector.Contract: (read_contract, write_contract),
}
