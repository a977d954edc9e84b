"""The rules of operations that load and store vectors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from affdsl.ir.dialects import vector
from affdsl.ir.dialects.vector import map_dims, mask_dims
from affdsl.ir.expr import Value
from affdsl.ir.layouts import strided
from affdsl.ir.messages import shown
from affdsl.ir.types import I1, INDEX, FloatType, IntegerType, MemRefType, Type, VectorType, element_of
from affdsl.ir.verifier.types import must_be, must_have, power_of_two
from affdsl.ir.verifier.vector_words import (
    are_vectors,
    dims_of,
    is_mask,
    vector_of,
)


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
    problems = [*are_vectors(value), *_base(op.memref, op.indices)]
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
        one = element_of(of)
        width = one.width if isinstance(one, IntegerType | FloatType) else 64
        return width * (of.shape[-1] if isinstance(of, VectorType) and of.shape else 1)

    if bits(type) % bits(of):
        yield f"the last dimension of {type} has {bits(type)} bits, which is no multiple of the {bits(of)} of {of}"


def _transfer_mask(op: vector.TransferRead | vector.TransferWrite, type: VectorType, of: Type) -> Iterator[str]:
    if len(op.mask) > 1:
        yield f"has {len(op.mask)} masks; it takes one or none"
    for mask in op.mask[:1]:
        problems = list(is_mask(mask))
        yield from problems
        if isinstance(of, VectorType):
            yield f"{shown(op.memref)} has elements of type {of}, which cannot be masked"
        elif not problems and map_dims(op.map) is not None and len(op.map.results) == type.rank:
            dims = dims_of(type)
            yield from must_have(vector_of(tuple(dims[k] for k in mask_dims(op.map)), I1), mask)


def access(op: vector.Load | vector.Store) -> Iterator[str]:
    """The vector has memref's elements and no more dimensions; the last one of memref is contiguous."""
    value = op.result if isinstance(op, vector.Load) else op.value
    yield from access_of(value, op.memref)
    yield from _base(op.memref, op.indices)
    yield from power_of_two(op.alignment)


def access_of(value: Value, buffer: Value) -> Iterator[str]:
    """What vector.load and vector.store ask of a vector and the memref that holds it."""
    yield from are_vectors(value)
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
    value = op.result if isinstance(op, vector.MaskedLoad | vector.Gather | vector.ExpandLoad) else op.value
    problems = [*are_vectors(value), *is_mask(op.mask)]
    if isinstance(op, vector.Gather | vector.Scatter):
        problems += [*are_vectors(op.offsets, zero=False), *must_be("integer or index", op.offsets)]
    yield from problems
    yield from _base(op.memref, op.indices)
    yield from power_of_two(op.alignment)
    if isinstance(op, vector.MaskedLoad | vector.Gather | vector.ExpandLoad):
        yield from must_have(value.type, op.pass_thru)
    if isinstance(op.memref.type, MemRefType) and not problems:
        of = op.memref.type.element
        if isinstance(of, VectorType):
            yield f"{shown(op.memref)} has elements of type {of}, which cannot be masked"
        elif element_of(value.type) != of:
            yield f"{shown(value)} has type {value.type}, but the elements of {shown(op.memref)} have type {of}"
        if (
            isinstance(op, vector.MaskedLoad | vector.MaskedStore)
            and len(dims_of(value.type)) > op.memref.type.rank > 0
        ):
            yield f"{shown(value)} has more dimensions than {shown(op.memref)}, which has {op.memref.type.rank}"
    if not problems:
        offsets = (op.offsets,) if isinstance(op, vector.Gather | vector.Scatter) else ()
        for part in (op.mask, *offsets):
            if dims_of(part.type) != dims_of(value.type):
                yield f"{shown(part)} has type {part.type}, whose shape is not that of {shown(value)}: {value.type}"
