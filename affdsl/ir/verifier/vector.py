"""The rules of the vector dialect, one function for each class of operations, and the table of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import prod
from typing import Any

from affdsl.ir.core import Op
from affdsl.ir.dialects import vector
from affdsl.ir.dialects.vector import POISON, map_dims, mask_dims
from affdsl.ir.expr import Value
from affdsl.ir.layouts import strided
from affdsl.ir.messages import shown
from affdsl.ir.types import I1, INDEX, FloatType, IndexType, IntegerType, MemRefType, ScalarType, Type, VectorType
from affdsl.ir.verifier.context import Rules, needed, of_types
from affdsl.ir.verifier.types import element, must_be, must_be_known, must_have, power_of_two

Dims = tuple[tuple[int, bool], ...]
"""The sizes of a vector, each with whether it is scalable."""


def _dims(type: Type) -> Dims:
    """The dimensions of a vector; a scalar has none."""
    if not isinstance(type, VectorType):
        return ()
    return tuple(zip(type.shape, type.scalable or (False,) * type.rank, strict=True))


def _vector(dims: Dims, of: ScalarType) -> VectorType:
    scalable = tuple(s for _, s in dims)
    return VectorType(tuple(size for size, _ in dims), of, scalable if any(scalable) else ())


def _size(dim: tuple[int, bool]) -> str:
    return f"[{dim[0]}]" if dim[1] else str(dim[0])


def _is_vector(*values: Value, zero: bool = True) -> Iterator[str]:
    """Each of values is a vector of scalars whose sizes are positive; zero=False: of at least one dimension."""
    for value in values:
        if not isinstance(value.type, VectorType):
            yield f"{shown(value)} must be a vector, but has type {value.type}"
        elif any(size < 1 for size in value.type.shape):
            yield f"{shown(value)} has a size that is not positive: {value.type}"
        elif not zero and not value.type.shape:
            yield f"{shown(value)} must have at least one dimension, but has type {value.type}"


def _is_mask(value: Value) -> Iterator[str]:
    yield from _is_vector(value, zero=False)
    if isinstance(value.type, VectorType) and value.type.element != I1:
        yield f"{shown(value)} is a mask, which must be a vector of i1, but has type {value.type}"


def _same_element(first: Value, *others: Value) -> Iterator[str]:
    for value in others:
        if element(value.type) != element(first.type):
            found, wanted = element(value.type), element(first.type)
            yield f"{shown(value)} has elements of type {found}, but {shown(first)} of {wanted}"


def _combines(kind: str, type: Type) -> Iterator[str]:
    """A kind of KINDS exists for numbers of a type."""
    yield from must_be_known(kind, vector.KINDS)
    floats, integers = vector.KINDS.get(kind, ("", ""))
    if (floats if isinstance(type, FloatType) else integers) is None:
        yield f"there is no {kind} of values of type {type}"


def _base(buffer: Value, indices: Sequence[Value]) -> Iterator[str]:
    """A memref with an index for each dimension."""
    if not isinstance(buffer.type, MemRefType):
        yield f"{shown(buffer)} must be a memref, but has type {buffer.type}"
    elif len(indices) != buffer.type.rank:
        yield f"{shown(buffer)} has rank {buffer.type.rank}, but {len(indices)} indices are given"
    yield from must_have(INDEX, *indices)


def transfer(op: vector.TransferRead | vector.TransferWrite) -> Iterator[str]:
    """The map takes memref's dimensions to the vector's, each at most once; the mask has the shape that it says."""
    value = op.result if isinstance(op, vector.TransferRead) else op.value
    problems = [*_is_vector(value), *_base(op.memref, op.indices)]
    yield from problems
    if not isinstance(op.memref.type, MemRefType) or not isinstance(value.type, VectorType):
        return
    of = op.memref.type.element
    if isinstance(op, vector.TransferRead) and op.padding.type != of:
        yield f"{shown(op.padding)} is padding of type {op.padding.type}, but the elements have type {of}"
    inner = of.shape if isinstance(of, VectorType) else ()
    yield from _transfer_map(op, op.memref.type.rank, value.type.rank - len(inner))
    if not problems:
        yield from _transfer_bits(value.type, of)
    if len(op.in_bounds) != len(op.map.results):
        yield f"has {len(op.in_bounds)} flags in_bounds for {len(op.map.results)} results of the map"
    yield from _transfer_mask(op, value.type, of)


def _transfer_map(op: vector.TransferRead | vector.TransferWrite, rank: int, wanted: int) -> Iterator[str]:
    if op.map.symbols:
        yield f"the permutation map must have no symbols: {op.map}"
    if op.map.dims != rank:
        yield f"the permutation map has {op.map.dims} dimensions, but {shown(op.memref)} has {rank}: {op.map}"
    if len(op.map.results) != wanted:
        yield f"the permutation map has {len(op.map.results)} results for {wanted} dimensions of the vector: {op.map}"
    dims = map_dims(op.map)
    if dims is None:
        yield f"each result of the permutation map must be a dimension or 0: {op.map}"
        return
    known = [d for d in dims if d is not None]
    if len(set(known)) < len(known):
        yield f"the permutation map must not have a dimension twice: {op.map}"
    if isinstance(op, vector.TransferWrite) and None in dims:
        yield f"the permutation map of a write must have no 0: {op.map}"


def _transfer_bits(type: VectorType, of: Type) -> Iterator[str]:
    """The last dimension of the vector takes whole elements."""

    def bits(of: Type) -> int:
        one = element(of)
        width = one.width if isinstance(one, IntegerType | FloatType) else 64
        return width * (of.shape[-1] if isinstance(of, VectorType) and of.shape else 1)

    if bits(type) % bits(of):
        yield f"the last dimension of {type} has {bits(type)} bits, which is no multiple of the {bits(of)} of {of}"


def _transfer_mask(op: vector.TransferRead | vector.TransferWrite, type: VectorType, of: Type) -> Iterator[str]:
    if len(op.mask) > 1:
        yield f"has {len(op.mask)} masks; it takes one or none"
    for mask in op.mask[:1]:
        problems = list(_is_mask(mask))
        yield from problems
        if isinstance(of, VectorType):
            yield f"{shown(op.memref)} has elements of type {of}, which cannot be masked"
        elif not problems and map_dims(op.map) is not None and len(op.map.results) == type.rank:
            dims = _dims(type)
            yield from must_have(_vector(tuple(dims[k] for k in mask_dims(op.map)), I1), mask)


def access(op: vector.Load | vector.Store) -> Iterator[str]:
    """The vector has memref's elements and no more dimensions; the last one of memref is contiguous."""
    value = op.result if isinstance(op, vector.Load) else op.value
    yield from access_of(value, op.memref)
    yield from _base(op.memref, op.indices)
    yield from power_of_two(op.alignment)


def access_of(value: Value, buffer: Value) -> Iterator[str]:
    """What vector.load and vector.store ask of a vector and the memref that holds it."""
    yield from _is_vector(value)
    if not isinstance(buffer.type, MemRefType) or not isinstance(value.type, VectorType):
        return
    of = buffer.type.element
    if isinstance(of, VectorType):
        yield from must_have(of, value)
        return
    if value.type.element != of:
        yield f"{shown(value)} has type {value.type}, but the elements of {shown(buffer)} have type {of}"
    if value.type.rank > buffer.type.rank:
        yield f"{shown(value)} has {value.type.rank} dimensions, more than the {buffer.type.rank} of {shown(buffer)}"
    layout = strided(buffer.type)
    if value.type.shape and buffer.type.shape[-1:] != (1,) and (layout is None or layout.strides[-1:] != (1,)):
        yield f"{shown(buffer)} must be contiguous along its last dimension, but has type {buffer.type}"


def masked(
    op: vector.MaskedLoad | vector.MaskedStore | vector.Gather | vector.Scatter | vector.ExpandLoad
    | vector.CompressStore,
) -> Iterator[str]:  # fmt: skip
    """Vector, mask, offsets and pass_thru of one shape; the elements of memref."""
    reads = isinstance(op, vector.MaskedLoad | vector.Gather | vector.ExpandLoad)
    value = op.result if reads else op.value  # type: ignore[union-attr]
    problems = [*_is_vector(value), *_is_mask(op.mask)]
    if isinstance(op, vector.Gather | vector.Scatter):
        problems += [*_is_vector(op.offsets, zero=False), *must_be("integer or index", op.offsets)]
    yield from problems
    yield from _base(op.memref, op.indices)
    yield from power_of_two(op.alignment)
    if isinstance(op, vector.MaskedLoad | vector.Gather | vector.ExpandLoad):
        yield from must_have(value.type, op.pass_thru)
    if isinstance(op.memref.type, MemRefType) and not problems:
        of = op.memref.type.element
        if isinstance(of, VectorType):
            yield f"{shown(op.memref)} has elements of type {of}, which cannot be masked"
        elif element(value.type) != of:
            yield f"{shown(value)} has type {value.type}, but the elements of {shown(op.memref)} have type {of}"
        if isinstance(op, vector.MaskedLoad | vector.MaskedStore) and len(_dims(value.type)) > op.memref.type.rank > 0:
            yield f"{shown(value)} has more dimensions than {shown(op.memref)}, which has {op.memref.type.rank}"
    if not problems:
        offsets = (op.offsets,) if isinstance(op, vector.Gather | vector.Scatter) else ()
        for part in (op.mask, *offsets):
            if _dims(part.type) != _dims(value.type):
                yield f"{shown(part)} has type {part.type}, whose shape is not that of {shown(value)}: {value.type}"


def fma(op: vector.Fma) -> Iterator[str]:
    """Vectors of floats of one type."""
    yield from _is_vector(op.a)
    yield from must_be("float", op.a)
    yield from must_have(op.a.type, op.b, op.c, op.result)


def reduction(op: vector.Reduction) -> Iterator[str]:
    """A vector of at most one dimension, and scalars of its elements' type, for which the kind exists."""
    yield from needed(_is_vector(op.source))
    if len(_dims(op.source.type)) > 1:
        yield f"{shown(op.source)} must have one dimension, but has type {op.source.type}"
    for value in (op.result, *op.acc):
        if value.type != element(op.source.type):
            yield f"{shown(value)} has type {value.type}, which is not that of the lanes of {op.source.type}"
    yield from _combines(op.combine, element(op.source.type))
    if len(op.acc) > 1:
        yield f"has {len(op.acc)} accumulators; it takes one or none"


def multi_reduction(op: vector.MultiReduction) -> Iterator[str]:
    """Dimensions that source has; acc and result are what is left of it, a scalar if nothing is."""
    yield from needed(_is_vector(op.source, zero=False))
    dims = _dims(op.source.type)
    if len(set(op.dims)) < len(op.dims) or any(not 0 <= d < len(dims) for d in op.dims):
        yield f"reduces the dimensions {_list(op.dims)}, which must be among those of {op.source.type}, each once"
        return
    of = element(op.source.type)
    assert isinstance(of, ScalarType)
    left = tuple(d for k, d in enumerate(dims) if k not in op.dims)
    yield from must_have(_vector(left, of) if left else of, op.acc, op.result)
    yield from _combines(op.combine, of)


def contract(op: vector.Contract) -> Iterator[str]:
    """A map for each operand, a kind for each iterator, and one size for each dimension of the box."""
    problems = [*_is_vector(op.left, op.right)]
    problems += [*_same_element(op.left, op.right), *must_have(op.acc.type, op.result)]
    problems += [f"unknown iterator {kind!r}; known: {', '.join(vector.ITERATORS)}"
                 for kind in op.iterators if kind not in vector.ITERATORS]  # fmt: skip
    if len(op.maps) != 3:
        problems.append(f"has {len(op.maps)} maps, but needs one for each of its three operands")
    yield from problems
    yield from _combines(op.combine, element(op.acc.type))
    if not problems:
        yield from _contract_maps(op)
        left, acc = element(op.left.type), element(op.acc.type)
        if left != acc and not _extends(left, acc):
            yield f"{shown(op.left)} has elements of type {left}, which cannot become {acc}, those of {shown(op.acc)}"


def _contract_maps(op: vector.Contract) -> Iterator[str]:
    sizes: dict[int, tuple[int, bool]] = {}
    of_operand: list[tuple[int, ...]] = []
    for k, (map, value) in enumerate(zip(op.maps, (op.left, op.right, op.acc), strict=True)):
        dims = map_dims(map)
        if map.symbols:
            yield f"map {k} must have no symbols: {map}"
        elif map.dims != len(op.iterators):
            yield f"map {k} has {map.dims} dimensions for {len(op.iterators)} iterators: {map}"
        elif dims is None or None in dims or len(set(dims)) < len(dims):
            yield f"the results of map {k} must be dimensions, each at most once: {map}"
        elif len(dims) != len(_dims(value.type)) or (isinstance(value.type, VectorType) and not dims):
            yield f"map {k} must have a result for each dimension of {shown(value)}, of type {value.type}: {map}"
        else:
            known = tuple(d for d in dims if d is not None)
            of_operand.append(known)
            for d, size in zip(known, _dims(value.type), strict=True):
                if sizes.setdefault(d, size) != size:
                    text = f"dimension d{d} has size {_size(sizes[d])}, but {shown(value)} has {_size(size)} there"
                    yield text
    if len(of_operand) == 3:
        yield from _contract_dims(op, *of_operand)


def _contract_dims(
    op: vector.Contract, left: tuple[int, ...], right: tuple[int, ...], acc: tuple[int, ...]
) -> Iterator[str]:
    """Each dimension is one of both factors, or of one and the result; what is summed up is one of both factors."""
    for d, kind in enumerate(op.iterators):
        if d not in left and d not in right:
            yield f"dimension d{d} is none of {shown(op.left)} or {shown(op.right)}"
        elif kind == "reduction" and (d in acc or d not in left or d not in right):
            yield f"dimension d{d} is reduced, so it must be one of both factors, and none of {shown(op.acc)}"
        elif kind == "parallel" and d not in acc:
            yield f"dimension d{d} is parallel, so it must be one of {shown(op.acc)}"
    if "reduction" not in op.iterators:
        yield "needs at least one dimension that is reduced"


def _extends(source: Type, target: Type) -> bool:
    """Whether a number of one type can be made one of a wider type."""
    match source, target:
        case (IntegerType(), IntegerType()) | (FloatType(), FloatType()):
            widths = [type.width for type in (source, target) if isinstance(type, IntegerType | FloatType)]
            return widths[0] < widths[1]
    return False


def outer_product(op: vector.OuterProduct) -> Iterator[str]:
    """Vectors of one dimension, or a vector and a scalar; one type of elements, for which the kind exists."""
    problems = [*_is_vector(op.left, op.result, zero=False)]
    if len(_dims(op.left.type)) > 1 or len(_dims(op.right.type)) > 1:
        problems.append(f"{shown(op.left)} and {shown(op.right)} must have one dimension")
    problems += _same_element(op.left, op.right)
    yield from needed(problems)
    of = element(op.left.type)
    assert isinstance(of, ScalarType)
    yield from must_have(_vector(_dims(op.left.type) + _dims(op.right.type), of), op.result, *op.acc)
    yield from _combines(op.combine, of)
    if len(op.acc) > 1:
        yield f"has {len(op.acc)} accumulators; it takes one or none"


def broadcast(op: vector.Broadcast) -> Iterator[str]:
    """The last dimensions of result are those of source, or source has size 1 there."""
    yield from _is_vector(op.result)
    if isinstance(op.source.type, VectorType):
        yield from _is_vector(op.source)
    yield from _same_element(op.source, op.result)
    source, target = _dims(op.source.type), _dims(op.result.type)
    if len(source) > len(target):
        yield f"{shown(op.source)} has more dimensions than {shown(op.result)}, of type {op.result.type}"
        return
    for a, b in zip(source, target[len(target) - len(source) :], strict=True):
        if a != b and a != (1, False):
            one, other = f"{shown(op.source)} of type {op.source.type}", f"{shown(op.result)} of type {op.result.type}"
            yield f"{one} has size {_size(a)} where {other} has {_size(b)}"


def extract(op: vector.Extract) -> Iterator[str]:
    """A position inside of source; the result is what is there, a scalar or vector."""
    yield from _is_vector(op.source)
    yield from _position(op, op.source)
    rest = _dims(op.source.type)[len(op.static_position) :]
    of = element(op.source.type)
    if not isinstance(of, ScalarType) or len(op.static_position) > len(_dims(op.source.type)):
        return
    if rest or op.result.type != VectorType((1,), of):  # MLIR lets a vector of one lane stand for a scalar
        yield from must_have(_vector(rest, of) if rest else of, op.result)


def insert(op: vector.Insert) -> Iterator[str]:
    """A position inside of target, where there is what is inserted; target and result have one type."""
    yield from _is_vector(op.target)
    yield from _position(op, op.target)
    yield from must_have(op.target.type, op.result)
    rest = _dims(op.target.type)[len(op.static_position) :]
    of = element(op.target.type)
    if isinstance(of, ScalarType) and len(op.static_position) <= len(_dims(op.target.type)):
        yield from must_have(_vector(rest, of) if rest else of, op.value)


def _position(op: vector.Extract | vector.Insert, value: Value) -> Iterator[str]:
    yield from must_have(INDEX, *op.position)
    if op.static_position.count(None) != len(op.position):
        yield f"leaves {op.static_position.count(None)} positions open, but has {len(op.position)} values for them"
    dims = _dims(value.type)
    if len(op.static_position) > len(dims):
        yield f"has {len(op.static_position)} positions, but {shown(value)} has {len(dims)} dimensions: {value.type}"
        return
    for k, (position, (size, _)) in enumerate(zip(op.static_position, dims, strict=False)):
        if position is not None and position != POISON and not 0 <= position < size:
            yield f"position {position} along dimension {k} lies outside of {shown(value)}: {value.type}"


def extract_slice(op: vector.ExtractStridedSlice) -> Iterator[str]:
    """A part of source along its first dimensions; the result has its sizes."""
    problems = [*_is_vector(op.source, zero=False)]
    dims, parts = _dims(op.source.type), (op.offsets, op.sizes, op.strides)
    if len({len(part) for part in parts}) > 1 or len(op.offsets) > len(dims):
        lengths = " and ".join(str(len(part)) for part in parts)
        problems.append(f"has {lengths} offsets, sizes and strides, which must be equally many, at most {len(dims)}")
    yield from needed(problems)
    yield from _inside(op.source, op.offsets, op.sizes, dims)
    yield from _unit(op.strides)
    for k, (size, (full, scalable)) in enumerate(zip(op.sizes, dims, strict=False)):
        if scalable and size != full:
            yield f"takes {size} along dimension {k}, which is scalable and can only be taken whole: {op.source.type}"
    of = element(op.source.type)
    assert isinstance(of, ScalarType)
    taken = tuple((size, scalable) for size, (_, scalable) in zip(op.sizes, dims, strict=False))
    yield from must_have(_vector(taken + dims[len(taken) :], of), op.result)


def insert_slice(op: vector.InsertStridedSlice) -> Iterator[str]:
    """A vector that fits into target from offsets on, along its last dimensions."""
    problems = [*_is_vector(op.value, op.target, zero=False), *_same_element(op.target, op.value)]
    source, target = _dims(op.value.type), _dims(op.target.type)
    if len(source) > len(target):
        problems.append(f"{shown(op.value)} has more dimensions than {shown(op.target)}, of type {op.target.type}")
    if len(op.offsets) != len(target):
        problems.append(f"has {len(op.offsets)} offsets for the {len(target)} dimensions of {shown(op.target)}")
    if len(op.strides) != len(source):
        problems.append(f"has {len(op.strides)} strides for the {len(source)} dimensions of {shown(op.value)}")
    if [s for _, s in source] != [s for _, s in target[len(target) - len(source) :]]:
        problems.append(f"{shown(op.value)} and {shown(op.target)} differ in what is scalable")
    yield from problems
    yield from must_have(op.target.type, op.result)
    if not problems:
        sizes = (1,) * (len(target) - len(source)) + tuple(size for size, _ in source)
        yield from _inside(op.target, op.offsets, sizes, target)
        yield from _unit(op.strides)


def _inside(value: Value, offsets: Sequence[int], sizes: Sequence[int], dims: Dims) -> Iterator[str]:
    for k, (offset, size, (full, _)) in enumerate(zip(offsets, sizes, dims, strict=False)):
        if offset < 0 or size < 1 or offset + size > full:
            part = f"[{offset}, {offset + size}) along dimension {k}"
            yield f"{part} is no part of {shown(value)}: {value.type}"


def _unit(strides: Sequence[int]) -> Iterator[str]:
    if any(stride != 1 for stride in strides):
        yield f"the strides must be 1, but are {_list(strides)}"


def shuffle(op: vector.Shuffle) -> Iterator[str]:
    """Two vectors that differ in their first dimension only; numbers of their rows."""
    problems = [*_is_vector(op.left, op.right), *_same_element(op.left, op.right, op.result)]
    left, right = _dims(op.left.type), _dims(op.right.type)
    if len(left) != len(right) or left[1:] != right[1:]:
        both = f"{shown(op.left)} of type {op.left.type} and {shown(op.right)} of type {op.right.type}"
        problems.append(f"{both} differ in more than their first dimension")
    if any(scalable for _, scalable in left + right):
        problems.append(f"{shown(op.left)} is scalable: its rows cannot be counted")
    yield from needed(problems)
    rows = left[0][0] + right[0][0] if left else 2
    for row in op.mask:
        if row != POISON and not 0 <= row < rows:
            yield f"there is no row {row} among the {rows} of {shown(op.left)} and {shown(op.right)}"
    of = element(op.left.type)
    assert isinstance(of, ScalarType)
    yield from must_have(_vector(((len(op.mask), False), *left[1:]), of), op.result)
    yield from _is_vector(op.result)


def transpose(op: vector.Transpose) -> Iterator[str]:
    """A permutation of source's dimensions; the result has their sizes."""
    problems = [*_is_vector(op.source)]
    dims = _dims(op.source.type)
    if sorted(op.permutation) != list(range(len(dims))):
        given = f"{_list(op.permutation)}, of {len(op.permutation)} numbers,"
        problems.append(f"{given} is no permutation of the {len(dims)} dimensions of {op.source.type}")
    yield from needed(problems)
    of = element(op.source.type)
    if isinstance(of, ScalarType):
        yield from must_have(_vector(tuple(dims[k] for k in op.permutation), of), op.result)


def shape_cast(op: vector.ShapeCast) -> Iterator[str]:
    """As many lanes of the same type."""
    problems = [*_is_vector(op.source, op.result)]
    yield from problems
    yield from _same_element(op.source, op.result)
    source, target = _dims(op.source.type), _dims(op.result.type)
    lanes = [(prod(size for size, _ in dims), sum(s for _, s in dims)) for dims in (source, target)]
    if not problems and lanes[0] != lanes[1]:
        yield f"{op.source.type} and {op.result.type} differ in their numbers of lanes"


def bit_cast(op: vector.BitCast) -> Iterator[str]:
    """Vectors that differ in their last dimension only, and have as many bits along it."""
    yield from needed(_is_vector(op.source, op.result))
    source, target = _dims(op.source.type), _dims(op.result.type)
    if (
        len(source) != len(target)
        or source[:-1] != target[:-1]
        or [s for _, s in source] != [s for _, s in target]
        or _row_bits(op.source.type) != _row_bits(op.result.type)
    ):
        yield f"there is no bitcast from {op.source.type} to {op.result.type}"


def _row_bits(type: Type) -> int:
    """The bits of a vector along its last dimension."""
    of, dims = element(type), _dims(type)
    width = 64 if isinstance(of, IndexType) else of.width if isinstance(of, IntegerType | FloatType) else 0
    return width * (dims[-1][0] if dims else 1)


def from_elements(op: vector.FromElements) -> Iterator[str]:
    """A scalar for each lane."""
    yield from _is_vector(op.result)
    yield from _lanes(op.result, op.elements)


def to_elements(op: vector.ToElements) -> Iterator[str]:
    """A scalar for each lane."""
    yield from _is_vector(op.source)
    yield from _lanes(op.source, op.results)


def _lanes(value: Value, scalars: Sequence[Value]) -> Iterator[str]:
    if isinstance(value.type, VectorType):
        if value.type.scalable:
            yield f"{shown(value)} is scalable: its lanes cannot be listed"
        elif len(scalars) != prod(value.type.shape):
            yield f"{shown(value)} has {prod(value.type.shape)} lanes, but {len(scalars)} scalars are given"
        yield from must_have(value.type.element, *scalars)


def step(op: vector.Step) -> Iterator[str]:
    """A vector of index of one dimension."""
    yield from _is_vector(op.result)
    if element(op.result.type) != INDEX or len(_dims(op.result.type)) != 1:
        yield f"{shown(op.result)} must be a vector of index of one dimension, but has type {op.result.type}"


def create_mask(op: vector.CreateMask) -> Iterator[str]:
    """A bound for each dimension."""
    yield from _is_vector(op.result)
    yield from _mask_sizes(op.result, len(op.bounds))
    yield from must_have(INDEX, *op.bounds)


def constant_mask(op: vector.ConstantMask) -> Iterator[str]:
    """A number for each dimension, at most its size; if one is zero, all are. What is scalable is set as a whole."""
    yield from _is_vector(op.result)
    yield from _mask_sizes(op.result, len(op.sizes))
    for size, (full, scalable) in zip(op.sizes, _dims(op.result.type) or ((1, False),), strict=False):
        if not 0 <= size <= full or (scalable and size not in (0, full)):
            yield f"{size} lanes of a dimension cannot be set in {op.result.type}"
    if 0 in op.sizes and any(op.sizes):
        yield f"if no lane is set along one dimension, none is along the others: {_list(op.sizes)}"


def _mask_sizes(mask: Value, given: int) -> Iterator[str]:
    if element(mask.type) != I1:
        yield f"{shown(mask)} is a mask, which must be a vector of i1, but has type {mask.type}"
    if given != max(len(_dims(mask.type)), 1):
        yield f"{shown(mask)} needs a number of lanes for each dimension, but {given} are given for {mask.type}"


def _list(numbers: Sequence[int]) -> str:
    return f"[{', '.join(map(str, numbers))}]"


_RULES: dict[type[Op], Callable[[Any], Iterator[str]]] = {
    vector.TransferRead: transfer,
    vector.TransferWrite: transfer,
    vector.Load: access,
    vector.Store: access,
    vector.MaskedLoad: masked,
    vector.MaskedStore: masked,
    vector.Gather: masked,
    vector.Scatter: masked,
    vector.ExpandLoad: masked,
    vector.CompressStore: masked,
    vector.Fma: fma,
    vector.Reduction: reduction,
    vector.MultiReduction: multi_reduction,
    vector.Contract: contract,
    vector.OuterProduct: outer_product,
    vector.Broadcast: broadcast,
    vector.Extract: extract,
    vector.Insert: insert,
    vector.ExtractStridedSlice: extract_slice,
    vector.InsertStridedSlice: insert_slice,
    vector.Shuffle: shuffle,
    vector.Transpose: transpose,
    vector.ShapeCast: shape_cast,
    vector.BitCast: bit_cast,
    vector.FromElements: from_elements,
    vector.ToElements: to_elements,
    vector.Step: step,
    vector.CreateMask: create_mask,
    vector.ConstantMask: constant_mask,
}


RULES: Rules = {cls: of_types(rule) for cls, rule in _RULES.items()}
"""What each class of vector operations must keep."""


# Where this differs from mlir-opt 22.
#
# Stricter: the dimensions of a multi_reduction exist and stand once, and its kind exists for its type; a vector that is
# inserted has the shape of what it replaces; the vector of maskedload and maskedstore has no more dimensions than
# memref; the factors of a contract can be extended to the type of acc; a transposition and a bitcast keep what is
# scalable.
