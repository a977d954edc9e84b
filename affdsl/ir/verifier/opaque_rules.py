"""The rules of the operations of memref, cf and vector that the IR has no class for, one function for each."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from affdsl.ir.attributes import IntegerAttr, MapAttr
from affdsl.ir.core import Op
from affdsl.ir.dialects.opaque import Opaque, OpaqueBlock
from affdsl.ir.layouts import row_major, strided
from affdsl.ir.maps import AffineMap
from affdsl.ir.messages import shown
from affdsl.ir.types import I1, IndexType, MemRefType, StridedLayout, Type, UnrankedMemRefType, VectorType


def _memory_space_cast(op: Opaque) -> Iterator[str]:
    source, target = op.operands[0].type, op.results[0].type
    match source, target:
        case MemRefType(), MemRefType():
            same = (source.shape, source.element, source.layout) == (target.shape, target.element, target.layout)
        case UnrankedMemRefType(), UnrankedMemRefType():
            same = source.element == target.element
        case _:
            same = False
    if not same:
        yield f"changes nothing but the memory space, and so makes no {target} of {source}"


def _realloc(op: Opaque) -> Iterator[str]:
    source, target = op.operands[0].type, op.results[0].type
    yield from _power_of_two(op)
    if not isinstance(source, MemRefType) or not isinstance(target, MemRefType) or (source.rank, target.rank) != (1, 1):
        yield f"takes a buffer of one dimension and gives one, not {source} and {target}"
        return
    if (source.element, source.space) != (target.element, target.space):
        yield f"keeps elements and memory space, and so cannot make {target} of {source}"
    dynamic = target.shape.count(None)
    if len(op.operands) - 1 != dynamic:
        yield f"takes {dynamic} sizes for {target}, but has {len(op.operands) - 1}"
    for size in op.operands[1:]:
        if not isinstance(size.type, IndexType):
            yield f"{shown(size)} must have type index, but has type {size.type}"


def _transpose(op: Opaque) -> Iterator[str]:
    source, target = op.operands[0].type, op.results[0].type
    match dict(op.properties or op.attributes).get("permutation"), source, target:
        case MapAttr(AffineMap() as map), MemRefType(), MemRefType():
            order = [int(tree[1:]) for tree in map.written if isinstance(tree, str)]
        case _:
            yield f"takes a buffer and a permutation and gives a buffer, not {source} and {target}"
            return
    if map.symbols or sorted(order) != list(range(source.rank)) or len(order) != len(map.written):
        yield f"the permutation must name each of the {source.rank} dimensions of {source} once: {map}"
        return
    layout = strided(source)
    if layout is None:
        yield f"{shown(op.operands[0])} has the layout of {source}, of which strides say nothing"
        return
    shape = tuple(source.shape[axis] for axis in order)
    strides = StridedLayout(tuple(layout.strides[axis] for axis in order), layout.offset)
    wanted = MemRefType(shape, source.element, strides, source.space)
    plain = (target.shape, target.element, target.space) == (shape, source.element, source.space)
    if not plain or strided(target) != strides:
        yield f"{shown(op.results[0])} must have type {wanted}, but has {target}"


def _power_of_two(op: Opaque) -> Iterator[str]:
    alignment = dict((*op.properties, *op.attributes)).get("alignment", IntegerAttr(1, I1))
    if not isinstance(alignment, IntegerAttr) or alignment.value <= 0 or alignment.value & (alignment.value - 1):
        given = alignment.value if isinstance(alignment, IntegerAttr) else "no number"
        yield f"the alignment must be a power of two, but is {given}"


def _assume_alignment(op: Opaque) -> Iterator[str]:
    yield from _power_of_two(op)
    if op.operands[0].type != op.results[0].type:
        yield f"gives the buffer that it takes, of type {op.operands[0].type}, not {op.results[0].type}"


def _conditional(op: Opaque) -> Iterator[str]:
    condition = op.operands[0]
    if condition.type != I1:
        yield f"{shown(condition)} must have type i1, but has type {condition.type}"


def _interleave(op: Opaque) -> Iterator[str]:
    first, second, result = op.operands[0].type, op.operands[1].type, op.results[0].type
    if first != second or _doubled(first) != result:
        yield f"makes of two vectors of one type one with twice as many elements in each row, not {result} of {first}"


def _deinterleave(op: Opaque) -> Iterator[str]:
    source, first, second = op.operands[0].type, op.results[0].type, op.results[1].type
    if first != second or _doubled(first) != source:
        yield f"makes of a vector two with half as many elements in each row, not {first} of {source}"


def _doubled(type: Type) -> VectorType | None:
    """A vector with twice as many elements along its last dimension; one of none for no dimension."""
    if not isinstance(type, VectorType):
        return None
    shape = (*type.shape[:-1], 2 * type.shape[-1]) if type.shape else (2,)
    return VectorType(shape, type.element, type.scalable)


def _mask(op: Opaque) -> Iterator[str]:
    """One operation at most, whose results are those of the mask; the values for what is masked have their type."""
    mask = op.operands[0].type
    if not isinstance(mask, VectorType) or mask.element != I1:
        yield f"{shown(op.operands[0])} is a mask, which must be a vector of i1, but has type {mask}"
    body = [o for region in op.regions for inner in region.blocks() for b in inner for o in _body(b)][:-1]
    if len(body) > 1:
        yield f"is around {len(body)} operations, but takes one"
    results = [v.type for v in op.results]
    inside = [v.type for o in body for v in o.defines()]
    if body and results != inside:
        yield f"gives ({', '.join(map(str, results))}), but the operation inside ({', '.join(map(str, inside))})"
    if not body and (results or len(op.operands) > 1):
        yield "is around no operation, and so has neither results nor values for them"
    for value in op.operands[1:]:
        if [value.type] != results:
            yield f"{shown(value)} has type {value.type}, which is not that of the result"


def _body(block: Op) -> tuple[Op, ...]:
    return block.body if isinstance(block, OpaqueBlock) else ()


def _scan(op: Opaque) -> Iterator[str]:
    source, initial = op.operands[0].type, op.operands[1].type
    axis = dict(op.properties or op.attributes).get("reduction_dim")
    if [v.type for v in op.results] != [source, initial]:
        yield f"gives values of the types of its operands, {source} and {initial}"
    if not isinstance(source, VectorType) or not isinstance(initial, VectorType) or not isinstance(axis, IntegerAttr):
        yield "takes two vectors, and reduction_dim, a number"
    elif not 0 <= axis.value < source.rank:
        yield f"reduction_dim must be from 0 to {source.rank - 1}, but is {axis.value}"
    elif source.shape[: axis.value] + source.shape[axis.value + 1 :] != initial.shape:
        yield f"{shown(op.operands[1])} has type {initial}, but {source} less dimension {axis.value} is needed"


def _scalable(op: Opaque) -> Iterator[str]:
    """A part of a scalable vector, which begins at a multiple of its own size."""
    inserts = op.kind == "vector.scalable.insert"
    part = (op.operands if inserts else op.results)[0].type
    whole = op.operands[-1].type
    position = dict(op.properties or op.attributes).get("pos")
    if inserts and op.results[0].type != whole:
        yield f"gives a vector of type {whole}, not {op.results[0].type}"
    if not isinstance(part, VectorType) or not isinstance(whole, VectorType) or (part.rank, whole.rank) != (1, 1):
        yield f"takes vectors of one dimension, not {part} and {whole}"
    elif part.element != whole.element or not any(whole.scalable):
        yield f"takes a part of a scalable vector of the same elements, not {part} of {whole}"
    elif not isinstance(position, IntegerAttr) or position.value < 0 or position.value % part.shape[0]:
        given = position.value if isinstance(position, IntegerAttr) else "no number"
        yield f"the position must be a multiple of the {part.shape[0]} elements of {part}, but is {given}"


def _type_cast(op: Opaque) -> Iterator[str]:
    """A buffer of numbers or vectors as one with more of its dimensions in the vectors, or fewer."""
    source, target = op.operands[0].type, op.results[0].type
    match source, target:
        case MemRefType(), MemRefType() if None not in source.shape and source.space == target.space:
            is_plain = all(strided(type) == StridedLayout(row_major(type.shape)) for type in (source, target))
            if is_plain and _numbers(source) == _numbers(target):
                return
    yield f"must keep the numbers, the sizes of buffer and vector together, and the space, unlike {target} of {source}"


def _numbers(type: MemRefType) -> tuple[str, tuple[int | None, ...]]:
    """Of which type the numbers in a buffer are, and all sizes of buffer and vector."""
    if isinstance(vector := type.element, VectorType):
        return str(vector.element), (*type.shape, *vector.shape)
    return str(type.element), type.shape


RULES: dict[str, Callable[[Opaque], Iterator[str]]] = {
    "cf.assert": _conditional,
    "cf.cond_br": _conditional,
    "memref.assume_alignment": _assume_alignment,
    "memref.memory_space_cast": _memory_space_cast,
    "memref.realloc": _realloc,
    "memref.transpose": _transpose,
    "vector.deinterleave": _deinterleave,
    "vector.interleave": _interleave,
    "vector.mask": _mask,
    "vector.scalable.extract": _scalable,
    "vector.scalable.insert": _scalable,
    "vector.scan": _scan,
    "vector.type_cast": _type_cast,
}
"""What each kind of these operations must keep, beside the numbers of what it takes and gives."""
