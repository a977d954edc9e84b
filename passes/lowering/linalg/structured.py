"""What an operation of linalg does: its operands with a map for each, and what one iteration computes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod

from affdsl.frozen import FrozenValue
from affdsl.ir.attributes import ArrayAttr, Attribute, DenseArrayAttr, DenseAttr, IntegerAttr, MapAttr
from affdsl.ir.core import Block
from affdsl.ir.dialects.opaque import Opaque, OpaqueBlock, OpaqueRegion
from affdsl.ir.expr import Affine, Value
from affdsl.ir.maps import AffineMap, dim
from affdsl.ir.opaque_types import shaped
from affdsl.ir.types import FloatType, IndexType, IntegerType, MemRefType, Type
from affdsl.passes.lowering.linalg import bodies
from affdsl.passes.lowering.linalg.bodies import ELEMENTWISE, POOLING, Body, converted
from affdsl.passes.lowering.linalg.contractions import CONTRACTIONS, POOLED, maps_of


class Structured(FrozenValue):
    """An operation on numbers and buffers: `dims` loops around a body that has an argument for each operand.

    `maps` are over `maps.dim(k)`, empty for numbers; those that are written come last, as many as `yields`. `counters`
    says which values in the body are the number of the iteration along a dimension.
    """

    dims: int
    arrays: tuple[Value, ...]
    maps: tuple[tuple[Affine, ...], ...]
    args: tuple[Value, ...]
    body: Block
    yields: tuple[Value, ...]
    counters: Mapping[Value, int]


def structured(op: Opaque) -> Structured | None:
    """What an operation does; None where it works on tensors, or is none that is known."""
    if op.results or not all(_is_array_or_number(v.type) for v in op.operands):
        return None
    outs = _outputs(op)
    if not outs or not all(isinstance(v.type, MemRefType) for v in op.operands[-outs:]):
        return None
    of = {"linalg.generic": _generic, "linalg.map": _map, "linalg.reduce": _reduce}.get(op.kind, _named)
    found = of(op, outs)
    if found is None or not all(_fits(v, m) for v, m in zip(found.arrays, found.maps, strict=True)):
        return None
    return found


def _is_array_or_number(type: Type) -> bool:
    return isinstance(type, MemRefType | IndexType | IntegerType | FloatType)


def _fits(array: Value, map: tuple[Affine, ...]) -> bool:
    return len(map) == (array.type.rank if isinstance(array.type, MemRefType) else 0)


def _said(op: Opaque) -> dict[str, Attribute]:
    return dict((*op.properties, *op.attributes))


def _outputs(op: Opaque) -> int:
    """How many operands are written."""
    match _said(op).get("operandSegmentSizes"):
        case DenseArrayAttr(_, (_, outs)):
            return int(outs)
    return 1


def _generic(op: Opaque, outs: int) -> Structured | None:
    match _said(op).get("indexing_maps"):
        case ArrayAttr(items):
            given = [m.map for m in items if isinstance(m, MapAttr)]
            maps = [m for m in given if isinstance(m, AffineMap) and not m.symbols]
            if len(maps) == len(op.operands) == len(items):
                return _with_region(op, maps[0].dims, [m.results for m in maps], outs)
    return None


def _map(op: Opaque, outs: int) -> Structured | None:
    """Elements one by one; the body has no argument for the output, or, from MLIR 22 on, one."""
    rank = _rank(op.operands[-1])
    return _with_region(op, rank, [_identity(rank)] * len(op.operands), outs)


def _reduce(op: Opaque, _: int) -> Structured | None:
    """Along some dimensions all elements of a row become one."""
    rank, along = _rank(op.operands[0]), _numbers(_said(op).get("dimensions"))
    if along is None or len(op.operands) % 2:
        return None
    outs = len(op.operands) // 2
    kept = tuple(Affine.of(dim(k)) for k in range(rank) if k not in along)
    return _with_region(op, rank, [*[_identity(rank)] * outs, *[kept] * outs], outs)


def _with_region(op: Opaque, dims: int, maps: Sequence[tuple[Affine, ...]], outs: int) -> Structured | None:
    """An operation whose region says what one iteration computes."""
    match op.regions:
        case (OpaqueRegion(blocks_inside=(OpaqueBlock(args=args, body=(*body, Opaque() as last)),)),):
            if last.kind != "linalg.yield":
                return None
        case _:
            return None
    missing = op.operands[len(args) :]
    if len(args) > len(op.operands) or len(missing) > outs or len(last.operands) != outs:
        return None
    counters: dict[Value, int] = {}
    kept = []
    for inner in body:
        match inner:
            case Opaque(kind="linalg.index", results=(result,)):
                number = _said(inner).get("dim")
                if not isinstance(number, IntegerAttr) or not 0 <= number.value < dims:
                    return None
                counters[result] = number.value
            case Opaque() if inner.kind.startswith("linalg."):
                return None
            case _:
                kept.append(inner)
    unread = tuple(Value(v.type.element) for v in missing if isinstance(v.type, MemRefType))
    return Structured(dims, op.operands, tuple(maps), (*args, *unread), tuple(kept), last.operands, counters)


def _named(op: Opaque, outs: int) -> Structured | None:
    """An operation whose name says what it computes."""
    name, said = op.kind.removeprefix("linalg."), _said(op)
    if "indexing_maps" in said or outs != 1:
        return None
    *ins, out = op.operands
    rank = _rank(out)
    if name in CONTRACTIONS and len(ins) == 2:
        found = maps_of(CONTRACTIONS[name], _strides(said, "strides"), _strides(said, "dilations"))
        return None if found is None else _computed(op, found[0], found[1], bodies.multiply_add)
    if name in POOLED and len(ins) == 2:
        found = maps_of(POOLED[name], _strides(said, "strides"), _strides(said, "dilations"))
        kind = POOLING[name.rpartition("_")[2]]
        return None if found is None else _computed(op, found[0], found[1], lambda *v: bodies.pooling(kind, *v))
    if name == "fill" and len(ins) == 1:
        return _computed(op, rank, [(), _identity(rank)], lambda x, y: converted(x, y.type))
    if name == "copy" and len(ins) == 1:
        return _computed(op, rank, [_identity(rank)] * 2, lambda x, y: converted(x, y.type))
    if name in ELEMENTWISE:
        return _computed(op, rank, [_identity(rank)] * len(op.operands), lambda *v: bodies.elementwise(name, v[:-1]))
    places = _numbers(said.get("permutation" if name == "transpose" else "dimensions"))
    if name in ("transpose", "broadcast") and len(ins) == 1 and places is not None:
        if name == "transpose":
            source = tuple(Affine.of(dim(places.index(k))) for k in range(rank) if k in places)
        else:
            source = tuple(Affine.of(dim(k)) for k in range(rank) if k not in places)
        return _computed(op, rank, [source, _identity(rank)], lambda x, y: converted(x, y.type))
    return None


def _computed(
    op: Opaque, dims: int, maps: Sequence[tuple[Affine, ...]], body: Callable[..., Body | None]
) -> Structured | None:
    """An operation of which `body` says what it computes of one element of each operand."""
    if len(maps) != len(op.operands):
        return None
    args = tuple(Value(v.type.element if isinstance(v.type, MemRefType) else v.type) for v in op.operands)
    found = body(*args)
    return None if found is None else Structured(dims, op.operands, tuple(maps), args, found[0], (found[1],), {})


def _rank(value: Value) -> int:
    return value.type.rank if isinstance(value.type, MemRefType) else 0


def _identity(rank: int) -> tuple[Affine, ...]:
    return tuple(Affine.of(dim(k)) for k in range(rank))


def _strides(said: Mapping[str, Attribute], name: str) -> list[int] | None:
    """The steps of windows; the empty list where nothing is said, so that all are 1, and None for what is not known."""
    return [] if name not in said else _numbers(said[name])


def _numbers(attribute: Attribute | None) -> list[int] | None:
    match attribute:
        case DenseArrayAttr(_, items):
            return [int(item) for item in items]
        case DenseAttr(text, type):
            parts = text.strip("[] ").split(",")
            of = shaped(type)
            if "[" not in text and of is not None and of.shape is not None:  # one number for all
                parts *= prod([size or 0 for size in of.shape])
            return [int(part) for part in parts] if all(part.strip().isdigit() for part in parts) else None
    return None
