"""The vector dialect in generic form."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from affdsl.ir.attributes import (
    ArrayAttr,
    Attribute,
    DenseArrayAttr,
    IntegerAttr,
    MapAttr,
    OpaqueAttr,
    StringAttr,
)
from affdsl.ir.core import Op
from affdsl.ir.dialects import vector
from affdsl.ir.dialects.opaque import Opaque
from affdsl.ir.maps import AffineMap
from affdsl.ir.mixed import Static
from affdsl.ir.types import I1, I64, OpaqueType
from affdsl.mlir.attributes import attribute_text
from affdsl.mlir.generic.rows import (
    Property,
    Reading,
    Row,
    number_property,
)

T = TypeVar("T")
DYNAMIC = -(2**63)
"""What stands in a list of numbers for one that is a value."""


def _kind(attribute: Attribute | None) -> str:
    match attribute:
        case None:
            return "add"
        case OpaqueAttr(text) if text.startswith("#vector.kind<") and text[13:-1] in vector.KINDS:
            return text[13:-1]
    raise ValueError(f"must be #vector.kind<...> with one of {', '.join(vector.KINDS)}")


def _iterators(attribute: Attribute | None) -> tuple[str, ...]:
    names = {f"#vector.iterator_type<{kind}>": kind for kind in vector.ITERATORS}

    def name(item: Attribute) -> str:
        match item:
            case StringAttr(text) if text in vector.ITERATORS:
                return text
            case OpaqueAttr(text) if text in names:
                return names[text]
        raise ValueError(f"must be a list of {' and '.join(vector.ITERATORS)}, not of {attribute_text(item)}")

    return tuple([name(item) for item in _items(attribute)])


def _map(attribute: Attribute | None) -> AffineMap:
    match attribute:
        case MapAttr(AffineMap() as map):
            return map
    raise ValueError("must be an affine map")


def _integer(attribute: Attribute | None) -> int:
    if not isinstance(attribute, IntegerAttr):
        raise ValueError("must be a list of integers")
    return attribute.value


def _items(attribute: Attribute | None) -> tuple[Attribute, ...]:
    if not isinstance(attribute, ArrayAttr):
        raise ValueError("must be a list")
    return attribute.items


def _static(attribute: Attribute | None) -> Static:
    return tuple(None if n == DYNAMIC else n for n in _dense(attribute))


def _dense(attribute: Attribute | None) -> tuple[int, ...]:
    if not isinstance(attribute, DenseArrayAttr):
        raise ValueError("must be array<i64: ...>")
    return tuple(int(item) for item in attribute.items)


def _listed(name: str, write: Callable[[T], Attribute], read: Callable[[Attribute], T], property: str = "") -> Property:
    """A field that is a tuple, as a list of attributes."""
    return Property(
        name, property or name,
        lambda parts: ArrayAttr(tuple([write(part) for part in parts])),
        lambda attribute: tuple([read(item) for item in _items(attribute)]),
    )  # fmt: skip


def _array(name: str, property: str = "") -> Property:
    """A field that is a tuple of numbers, as array<i64: ...>."""
    return Property(
        name, property or name, lambda numbers: DenseArrayAttr(I64, tuple(str(n) for n in numbers)), _dense
    )  # fmt: skip


def _flag(attribute: Attribute | None) -> bool:
    return attribute is not None and bool(_integer(attribute))


COMBINE = Property("combine", "kind", lambda kind: OpaqueAttr(f"#vector.kind<{kind}>"), _kind)
MAP = Property("map", "permutation_map", MapAttr, _map)
IN_BOUNDS = _listed("in_bounds", lambda b: IntegerAttr(int(b), I1), lambda a: bool(_integer(a)))
NONTEMPORAL = Property("nontemporal", "nontemporal", lambda b: IntegerAttr(1, I1) if b else None, _flag)
ALIGNMENT = number_property("alignment", "alignment", I64)
MAPS = _listed("maps", MapAttr, _map, "indexing_maps")
ITERATORS = Property(
    "iterators", "iterator_types",
    lambda kinds: ArrayAttr(tuple(OpaqueAttr(f"#vector.iterator_type<{kind}>") for kind in kinds)), _iterators,
)  # fmt: skip
OFFSETS, SIZES, STRIDES = (
    _listed(name, lambda n: IntegerAttr(n, I64), _integer) for name in ("offsets", "sizes", "strides")
)
POSITION = Property(
    "static_position", "static_position",
    lambda parts: DenseArrayAttr(I64, tuple(str(DYNAMIC if n is None else n) for n in parts)), _static,
)  # fmt: skip


def _read_transfer(opaque: Opaque, reading: Reading) -> Op:
    """A transfer of a memref; one of a tensor has no class here."""
    if any(isinstance(v.type, OpaqueType) for v in opaque.operands):
        return opaque
    said = dict(opaque.properties or opaque.attributes)
    sizes = said.pop("operandSegmentSizes", None)
    counts = [int(n) for n in sizes.items] if isinstance(sizes, DenseArrayAttr) else []
    reads = opaque.kind == "vector.transfer_read"
    ones = (0, 2) if reads else (0, 1)
    if len(counts) != 4 or sum(counts) != len(opaque.operands) or min(counts) < 0 or any(counts[k] != 1 for k in ones):
        reading.refuse(
            opaque, f"operandSegmentSizes do not share out the {len(opaque.operands)} operands of {opaque.kind}"
        )
    if len(opaque.results) != reads:
        reading.refuse(opaque, f"{opaque.kind} of a memref has {int(reads)} results, got {len(opaque.results)}")
    rest = list(opaque.operands)
    parts = [tuple([rest.pop(0) for _ in range(count)]) for count in counts]
    try:
        map, in_bounds = (prop.from_attribute(said.pop(prop.property, None)) for prop in (MAP, IN_BOUNDS))
    except ValueError as problem:
        reading.refuse(opaque, f"a property of {opaque.kind} {problem}")
    others = opaque.attributes if opaque.properties else tuple(said.items())
    if opaque.properties and said:
        reading.refuse(opaque, f"{opaque.kind} has no property {next(iter(said))}")
    if reads:
        return vector.TransferRead(
            opaque.results[0], parts[0][0], parts[1], parts[2][0], map, in_bounds, parts[3],
            location=opaque.location, attributes=others,
        )  # fmt: skip
    return vector.TransferWrite(
        parts[0][0], parts[1][0], parts[2], map, in_bounds, parts[3], location=opaque.location, attributes=others
    )  # fmt: skip


ROWS = (
    Row(vector.TransferRead, (MAP, IN_BOUNDS), read=_read_transfer),
    Row(vector.TransferWrite, (MAP, IN_BOUNDS), read=_read_transfer),
    Row(vector.Load, (NONTEMPORAL, ALIGNMENT)),
    Row(vector.Store, (NONTEMPORAL, ALIGNMENT)),
    Row(vector.MaskedLoad, (ALIGNMENT,)),
    Row(vector.MaskedStore, (ALIGNMENT,)),
    Row(vector.Gather, (ALIGNMENT,)),
    Row(vector.Scatter, (ALIGNMENT,)),
    Row(vector.ExpandLoad, (ALIGNMENT,)),
    Row(vector.CompressStore, (ALIGNMENT,)),
    Row(vector.Fma),
    Row(vector.Reduction, (COMBINE,), inherent={"fastmath": OpaqueAttr("#arith.fastmath<none>")}),
    Row(vector.MultiReduction, (COMBINE, _array("dims", "reduction_dims"))),
    Row(vector.Contract, (MAPS, ITERATORS, COMBINE)),
    Row(vector.OuterProduct, (COMBINE,)),
    Row(vector.Broadcast),
    Row(vector.Extract, (POSITION,)),
    Row(vector.Insert, (POSITION,)),
    Row(vector.ExtractStridedSlice, (OFFSETS, SIZES, STRIDES)),
    Row(vector.InsertStridedSlice, (OFFSETS, STRIDES)),
    Row(vector.Shuffle, (_array("mask"),)),
    Row(vector.Transpose, (_array("permutation"),)),
    Row(vector.ShapeCast),
    Row(vector.BitCast),
    Row(vector.FromElements),
    Row(vector.ToElements),
    Row(vector.Step),
    Row(vector.CreateMask),
    Row(vector.ConstantMask, (_array("sizes", "mask_dim_sizes"),)),
)
