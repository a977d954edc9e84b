"""The vector dialect, printed in its custom form."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from affdsl.ir.attributes import Attribute, OpaqueAttr
from affdsl.ir.core import Block, Op
from affdsl.ir.dialects import vector
from affdsl.ir.expr import Value
from affdsl.ir.maps import AffineMap
from affdsl.ir.mixed import Mixed
from affdsl.ir.types import MemRefType, VectorType
from affdsl.mlir.attributes import dictionary_text
from affdsl.mlir.generic.rows import Property
from affdsl.mlir.generic.vector import (
    ALIGNMENT,
    COMBINE,
    IN_BOUNDS,
    NONTEMPORAL,
    OFFSETS,
    SIZES,
    STRIDES,
)
from affdsl.mlir.names import string
from affdsl.mlir.printer import Printer
from affdsl.mlir.writing.arith import flags


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


def _numbers(numbers: Sequence[int]) -> str:
    return f"[{', '.join(map(str, numbers))}]"


def _position(p: Printer, parts: Mixed) -> str:
    return f"[{', '.join([p.names(part) if isinstance(part, Value) else str(part) for part in parts])}]"


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


def write_load(p: Printer, op: vector.Load) -> str:
    """`vector.load %A[%i] : memref<...>, vector<...>`"""
    said = _said(op, NONTEMPORAL, ALIGNMENT)
    return f"{op.name} {_at(p, op.memref, op.indices)}{said} : {p.type(op.memref)}, {p.type(op.result)}"


def write_store(p: Printer, op: vector.Store) -> str:
    """`vector.store %v, %A[%i] : memref<...>, vector<...>`"""
    place = f"{p.names(op.value)}, {_at(p, op.memref, op.indices)}"
    return f"{op.name} {place}{_said(op, NONTEMPORAL, ALIGNMENT)} : {p.type(op.memref)}, {p.type(op.value)}"


def write_masked_load(p: Printer, op: vector.MaskedLoad | vector.ExpandLoad) -> str:
    """`vector.maskedload %A[%i], %mask, %v : memref<...>, vector<...>, vector<...> into vector<...>`"""
    operands = f"{_at(p, op.memref, op.indices)}, {p.list((op.mask, op.pass_thru))}"
    types = f"{p.types((op.memref, op.mask, op.pass_thru))} into {p.type(op.result)}"
    return f"{op.name} {operands}{_said(op, ALIGNMENT)} : {types}"


def write_masked_store(p: Printer, op: vector.MaskedStore | vector.CompressStore) -> str:
    """`vector.maskedstore %A[%i], %mask, %v : memref<...>, vector<...>, vector<...>`"""
    operands = f"{_at(p, op.memref, op.indices)}, {p.list((op.mask, op.value))}"
    return f"{op.name} {operands}{_said(op, ALIGNMENT)} : {p.types((op.memref, op.mask, op.value))}"


def write_gather(p: Printer, op: vector.Gather) -> str:
    """`vector.gather %A[%i] [%offsets], %mask, %v : memref<...>, ... into vector<...>`"""
    operands = f"{_at(p, op.memref, op.indices)} [{p.names(op.offsets)}], {p.list((op.mask, op.pass_thru))}"
    types = f"{p.types((op.memref, op.offsets, op.mask, op.pass_thru))} into {p.type(op.result)}"
    return f"{op.name} {operands}{_said(op, ALIGNMENT)} : {types}"


def write_scatter(p: Printer, op: vector.Scatter) -> str:
    """`vector.scatter %A[%i] [%offsets], %mask, %v : memref<...>, ...`"""
    operands = f"{_at(p, op.memref, op.indices)} [{p.names(op.offsets)}], {p.list((op.mask, op.value))}"
    return f"{op.name} {operands}{_said(op, ALIGNMENT)} : {p.types((op.memref, op.offsets, op.mask, op.value))}"


def write_fma(p: Printer, op: vector.Fma) -> str:
    """`vector.fma %a, %b, %c : vector<...>`"""
    return f"{op.name} {p.list((op.a, op.b, op.c))}{p.dictionary(op)} : {p.type(op.a)}"


def write_reduction(p: Printer, op: vector.Reduction) -> str:
    """`vector.reduction <add>, %v, %acc fastmath<reassoc> : vector<...> into f32`"""
    operands = p.list((op.source, *op.acc))
    return f"{op.name} <{op.combine}>, {operands}{flags(p, op)} : {p.type(op.source)} into {p.type(op.result)}"


def write_multi_reduction(p: Printer, op: vector.MultiReduction) -> str:
    """`vector.multi_reduction <add>, %v, %acc [0, 1] : vector<...> to f32`"""
    operands = f"<{op.combine}>, {p.list((op.source, op.acc))}{p.dictionary(op)} {_numbers(op.dims)}"
    return f"{op.name} {operands} : {p.type(op.source)} to {p.type(op.result)}"


def write_contract(p: Printer, op: vector.Contract) -> str:
    """`vector.contract {indexing_maps = [...], iterator_types = [...], kind = ...} %a, %b, %c : ... into f32`"""
    maps = OpaqueAttr(f"[{', '.join([_map(p, m).text for m in op.maps])}]")
    kinds = OpaqueAttr("[" + ", ".join([string(kind) for kind in op.iterators]) + "]")
    kind = OpaqueAttr(f"#vector.kind<{op.combine}>")
    trait = dictionary_text((("indexing_maps", maps), ("iterator_types", kinds), (COMBINE.property, kind)))
    types = f"{p.types((op.left, op.right))} into {p.type(op.result)}"
    return f"{op.name} {trait} {p.list((op.left, op.right, op.acc))}{p.dictionary(op)} : {types}"


def write_outer_product(p: Printer, op: vector.OuterProduct) -> str:
    """`vector.outerproduct %a, %b, %acc {kind = #vector.kind<add>} : vector<...>, vector<...>`"""
    said = _said(op, *(() if op.combine == "add" else (COMBINE,)))
    return f"{op.name} {p.list((op.left, op.right, *op.acc))}{said} : {p.types((op.left, op.right))}"


def write_cast(p: Printer, op: vector.Broadcast | vector.ShapeCast | vector.BitCast) -> str:
    """`vector.broadcast %x : f32 to vector<...>`"""
    return f"{op.name} {p.names(op.source)}{p.dictionary(op)} : {p.type(op.source)} to {p.type(op.result)}"


def write_extract(p: Printer, op: vector.Extract) -> str:
    """`vector.extract %v[1, %i] : f32 from vector<...>`"""
    place = f"{p.names(op.source)}{_position(p, op.positions)}"
    return f"{op.name} {place}{p.dictionary(op)} : {p.type(op.result)} from {p.type(op.source)}"


def write_insert(p: Printer, op: vector.Insert) -> str:
    """`vector.insert %x, %v [1, %i] : f32 into vector<...>`"""
    place = f"{p.list((op.value, op.target))} {_position(p, op.positions)}"
    return f"{op.name} {place}{p.dictionary(op)} : {p.type(op.value)} into {p.type(op.result)}"


def write_extract_slice(p: Printer, op: vector.ExtractStridedSlice) -> str:
    """`vector.extract_strided_slice %v {offsets = [1], sizes = [2], strides = [1]} : vector<...> to vector<...>`"""
    said = f"{p.names(op.source)}{_listed(op, OFFSETS, SIZES, STRIDES)}"
    return f"{op.name} {said} : {p.type(op.source)} to {p.type(op.result)}"


def write_insert_slice(p: Printer, op: vector.InsertStridedSlice) -> str:
    """`vector.insert_strided_slice %x, %v {offsets = [1], strides = [1]} : vector<...> into vector<...>`"""
    said = f"{p.list((op.value, op.target))}{_listed(op, OFFSETS, STRIDES)}"
    return f"{op.name} {said} : {p.type(op.value)} into {p.type(op.result)}"


def _listed(op: Op, *properties: Property) -> str:
    """Fields that are lists of numbers, in a dictionary, where mlir-opt leaves out the type of each."""
    lists = [(prop.property, OpaqueAttr(_numbers(getattr(op, prop.name)))) for prop in properties]
    return _said(op, more=lists)


def write_shuffle(p: Printer, op: vector.Shuffle) -> str:
    """`vector.shuffle %a, %b [0, 3, 1] : vector<...>, vector<...>`"""
    operands = f"{p.list((op.left, op.right))} {_numbers(op.mask)}"
    return f"{op.name} {operands}{p.dictionary(op)} : {p.types((op.left, op.right))}"


def write_transpose(p: Printer, op: vector.Transpose) -> str:
    """`vector.transpose %v, [1, 0] : vector<...> to vector<...>`"""
    operands = f"{p.names(op.source)}, {_numbers(op.permutation)}{p.dictionary(op)}"
    return f"{op.name} {operands} : {p.type(op.source)} to {p.type(op.result)}"


def write_elements(p: Printer, op: vector.FromElements | vector.ToElements | vector.Step | vector.CreateMask) -> str:
    """`vector.from_elements %x, %y : vector<2xf32>`; to_elements, step and create_mask"""
    operands = p.list(tuple(op.reads()))
    type = p.type(op.source if isinstance(op, vector.ToElements) else op.result)
    return f"{op.name}{f' {operands}' if operands else ''}{p.dictionary(op)} : {type}"


def write_constant_mask(p: Printer, op: vector.ConstantMask) -> str:
    """`vector.constant_mask [3, 4] : vector<4x8xi1>`"""
    return f"{op.name} {_numbers(op.sizes)}{p.dictionary(op)} : {p.type(op.result)}"


WRITERS: dict[type[Op], Callable[..., str | Iterator[Block]]] = {
    vector.TransferRead: write_transfer_read,
    vector.TransferWrite: write_transfer_write,
    vector.Load: write_load,
    vector.Store: write_store,
    vector.MaskedLoad: write_masked_load,
    vector.MaskedStore: write_masked_store,
    vector.Gather: write_gather,
    vector.Scatter: write_scatter,
    vector.ExpandLoad: write_masked_load,
    vector.CompressStore: write_masked_store,
    vector.Fma: write_fma,
    vector.Reduction: write_reduction,
    vector.MultiReduction: write_multi_reduction,
    vector.Contract: write_contract,
    vector.OuterProduct: write_outer_product,
    vector.Broadcast: write_cast,
    vector.ShapeCast: write_cast,
    vector.BitCast: write_cast,
    vector.Extract: write_extract,
    vector.Insert: write_insert,
    vector.ExtractStridedSlice: write_extract_slice,
    vector.InsertStridedSlice: write_insert_slice,
    vector.Shuffle: write_shuffle,
    vector.Transpose: write_transpose,
    vector.FromElements: write_elements,
    vector.ToElements: write_elements,
    vector.Step: write_elements,
    vector.CreateMask: write_elements,
    vector.ConstantMask: write_constant_mask,
}
