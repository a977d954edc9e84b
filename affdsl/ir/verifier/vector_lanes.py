"""The rules of operations that take vectors apart, put them together and move their lanes, and of masks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod

from affdsl.ir.dialects import vector
from affdsl.ir.dialects.vector import POISON
from affdsl.ir.expr import Value
from affdsl.ir.messages import shown
from affdsl.ir.types import I1, INDEX, FloatType, IndexType, IntegerType, ScalarType, Type, VectorType, element_of
from affdsl.ir.verifier.context import needed
from affdsl.ir.verifier.types import must_have
from affdsl.ir.verifier.vector_words import (
    Dims,
    are_vectors,
    dims_of,
    have_same_element,
    in_words,
    vector_of,
)


def extract(op: vector.Extract) -> Iterator[str]:
    """A position inside of source; the result is what is there, a scalar or vector."""
    yield from are_vectors(op.source)
    yield from _position(op, op.source)
    rest = dims_of(op.source.type)[len(op.static_position) :]
    of = element_of(op.source.type)
    if not isinstance(of, ScalarType) or len(op.static_position) > len(dims_of(op.source.type)):
        return
    if rest or op.result.type != VectorType((1,), of):  # MLIR lets a vector of one lane stand for a scalar
        yield from must_have(vector_of(rest, of) if rest else of, op.result)


def insert(op: vector.Insert) -> Iterator[str]:
    """A position inside of target, where there is what is inserted; target and result have one type."""
    yield from are_vectors(op.target)
    yield from _position(op, op.target)
    yield from must_have(op.target.type, op.result)
    rest = dims_of(op.target.type)[len(op.static_position) :]
    of = element_of(op.target.type)
    if isinstance(of, ScalarType) and len(op.static_position) <= len(dims_of(op.target.type)):
        yield from must_have(vector_of(rest, of) if rest else of, op.value)


def _position(op: vector.Extract | vector.Insert, value: Value) -> Iterator[str]:
    yield from must_have(INDEX, *op.position)
    if op.static_position.count(None) != len(op.position):
        yield f"leaves {op.static_position.count(None)} positions open, but has {len(op.position)} values for them"
    dims = dims_of(value.type)
    if len(op.static_position) > len(dims):
        yield f"has {len(op.static_position)} positions, but {shown(value)} has {len(dims)} dimensions: {value.type}"
        return
    for k, (position, (size, _)) in enumerate(zip(op.static_position, dims, strict=False)):
        if position is not None and position != POISON and not 0 <= position < size:
            yield f"position {position} along dimension {k} lies outside of {shown(value)}: {value.type}"


def extract_slice(op: vector.ExtractStridedSlice) -> Iterator[str]:
    """A part of source along its first dimensions; the result has its sizes."""
    problems = [*are_vectors(op.source, zero=False)]
    dims, parts = dims_of(op.source.type), (op.offsets, op.sizes, op.strides)
    if len({len(part) for part in parts}) > 1 or len(op.offsets) > len(dims):
        lengths = " and ".join(str(len(part)) for part in parts)
        problems.append(f"has {lengths} offsets, sizes and strides, which must be equally many, at most {len(dims)}")
    yield from needed(problems)
    yield from _inside(op.source, op.offsets, op.sizes, dims)
    yield from _unit(op.strides)
    for k, (size, (full, scalable)) in enumerate(zip(op.sizes, dims, strict=False)):
        if scalable and size != full:
            yield f"takes {size} along dimension {k}, which is scalable and can only be taken whole: {op.source.type}"
    of = element_of(op.source.type)
    assert isinstance(of, ScalarType)
    taken = tuple((size, scalable) for size, (_, scalable) in zip(op.sizes, dims, strict=False))
    yield from must_have(vector_of(taken + dims[len(taken) :], of), op.result)


def insert_slice(op: vector.InsertStridedSlice) -> Iterator[str]:
    """A vector that fits into target from offsets on, along its last dimensions."""
    problems = [*are_vectors(op.value, op.target, zero=False), *have_same_element(op.target, op.value)]
    source, target = dims_of(op.value.type), dims_of(op.target.type)
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
        yield f"the strides must be 1, but are {in_words(strides)}"


def shuffle(op: vector.Shuffle) -> Iterator[str]:
    """Two vectors that differ in their first dimension only; numbers of their rows."""
    problems = [*are_vectors(op.left, op.right), *have_same_element(op.left, op.right, op.result)]
    left, right = dims_of(op.left.type), dims_of(op.right.type)
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
    of = element_of(op.left.type)
    assert isinstance(of, ScalarType)
    yield from must_have(vector_of(((len(op.mask), False), *left[1:]), of), op.result)
    yield from are_vectors(op.result)


def transpose(op: vector.Transpose) -> Iterator[str]:
    """A permutation of source's dimensions; the result has their sizes."""
    problems = [*are_vectors(op.source)]
    dims = dims_of(op.source.type)
    if sorted(op.permutation) != list(range(len(dims))):
        given = f"{in_words(op.permutation)}, of {len(op.permutation)} numbers,"
        problems.append(f"{given} is no permutation of the {len(dims)} dimensions of {op.source.type}")
    yield from needed(problems)
    of = element_of(op.source.type)
    if isinstance(of, ScalarType):
        yield from must_have(vector_of(tuple(dims[k] for k in op.permutation), of), op.result)


def shape_cast(op: vector.ShapeCast) -> Iterator[str]:
    """As many lanes of the same type."""
    problems = [*are_vectors(op.source, op.result)]
    yield from problems
    yield from have_same_element(op.source, op.result)
    source, target = dims_of(op.source.type), dims_of(op.result.type)
    lanes = [(prod(size for size, _ in dims), sum(s for _, s in dims)) for dims in (source, target)]
    if not problems and lanes[0] != lanes[1]:
        yield f"{op.source.type} and {op.result.type} differ in their numbers of lanes"


def bit_cast(op: vector.BitCast) -> Iterator[str]:
    """Vectors that differ in their last dimension only, and have as many bits along it."""
    yield from needed(are_vectors(op.source, op.result))
    source, target = dims_of(op.source.type), dims_of(op.result.type)
    if (
        len(source) != len(target)
        or source[:-1] != target[:-1]
        or [s for _, s in source] != [s for _, s in target]
        or _row_bits(op.source.type) != _row_bits(op.result.type)
    ):
        yield f"there is no bitcast from {op.source.type} to {op.result.type}"


def _row_bits(type: Type) -> int:
    """The bits of a vector along its last dimension."""
    of, dims = element_of(type), dims_of(type)
    width = 64 if isinstance(of, IndexType) else of.width if isinstance(of, IntegerType | FloatType) else 0
    return width * (dims[-1][0] if dims else 1)


def from_elements(op: vector.FromElements) -> Iterator[str]:
    """A scalar for each lane."""
    yield from are_vectors(op.result)
    yield from _lanes(op.result, op.elements)


def to_elements(op: vector.ToElements) -> Iterator[str]:
    """A scalar for each lane."""
    yield from are_vectors(op.source)
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
    yield from are_vectors(op.result)
    if element_of(op.result.type) != INDEX or len(dims_of(op.result.type)) != 1:
        yield f"{shown(op.result)} must be a vector of index of one dimension, but has type {op.result.type}"


def create_mask(op: vector.CreateMask) -> Iterator[str]:
    """A bound for each dimension."""
    yield from are_vectors(op.result)
    yield from _mask_sizes(op.result, len(op.bounds))
    yield from must_have(INDEX, *op.bounds)


def constant_mask(op: vector.ConstantMask) -> Iterator[str]:
    """A number for each dimension, at most its size; if one is zero, all are. What is scalable is set as a whole."""
    yield from are_vectors(op.result)
    yield from _mask_sizes(op.result, len(op.sizes))
    for size, (full, scalable) in zip(op.sizes, dims_of(op.result.type) or ((1, False),), strict=False):
        if not 0 <= size <= full or (scalable and size not in (0, full)):
            yield f"{size} lanes of a dimension cannot be set in {op.result.type}"
    if 0 in op.sizes and any(op.sizes):
        yield f"if no lane is set along one dimension, none is along the others: {in_words(op.sizes)}"


def _mask_sizes(mask: Value, given: int) -> Iterator[str]:
    if element_of(mask.type) != I1:
        yield f"{shown(mask)} is a mask, which must be a vector of i1, but has type {mask.type}"
    if given != max(len(dims_of(mask.type)), 1):
        yield f"{shown(mask)} needs a number of lanes for each dimension, but {given} are given for {mask.type}"
