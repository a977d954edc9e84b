"""The rules of arithmetic on vectors, and the table of the rules of all operations of the dialect."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from affdsl.ir.core import Op
from affdsl.ir.dialects import vector
from affdsl.ir.dialects.vector import map_dims
from affdsl.ir.messages import shown
from affdsl.ir.types import FloatType, IntegerType, ScalarType, Type, VectorType, element_of
from affdsl.ir.verifier import vector_lanes as lanes
from affdsl.ir.verifier.context import Rules, needed, of_types
from affdsl.ir.verifier.types import must_be, must_be_known, must_have
from affdsl.ir.verifier.vector_memory import access, masked, transfer
from affdsl.ir.verifier.vector_words import (
    are_vectors,
    dims_of,
    have_same_element,
    in_words,
    size_in_words,
    vector_of,
)


def _combines(kind: str, type: Type) -> Iterator[str]:
    """A kind of KINDS exists for numbers of a type."""
    yield from must_be_known(kind, vector.KINDS)
    floats, integers = vector.KINDS.get(kind, ("", ""))
    if (floats if isinstance(type, FloatType) else integers) is None:
        yield f"there is no {kind} of values of type {type}"


def fma(op: vector.Fma) -> Iterator[str]:
    """Vectors of floats of one type."""
    yield from are_vectors(op.a)
    yield from must_be("float", op.a)
    yield from must_have(op.a.type, op.b, op.c, op.result)


def reduction(op: vector.Reduction) -> Iterator[str]:
    """A vector of at most one dimension, and scalars of its elements' type, for which the kind exists."""
    yield from needed(are_vectors(op.source))
    if len(dims_of(op.source.type)) > 1:
        yield f"{shown(op.source)} must have one dimension, but has type {op.source.type}"
    for value in (op.result, *op.acc):
        if value.type != element_of(op.source.type):
            yield f"{shown(value)} has type {value.type}, which is not that of the lanes of {op.source.type}"
    yield from _combines(op.combine, element_of(op.source.type))
    if len(op.acc) > 1:
        yield f"has {len(op.acc)} accumulators; it takes one or none"


def multi_reduction(op: vector.MultiReduction) -> Iterator[str]:
    """Dimensions that source has; acc and result are what is left of it, a scalar if nothing is."""
    yield from needed(are_vectors(op.source, zero=False))
    dims = dims_of(op.source.type)
    if len(set(op.dims)) < len(op.dims) or any(not 0 <= d < len(dims) for d in op.dims):
        yield f"reduces the dimensions {in_words(op.dims)}, which must be among those of {op.source.type}, each once"
        return
    of = element_of(op.source.type)
    assert isinstance(of, ScalarType)
    left = tuple(d for k, d in enumerate(dims) if k not in op.dims)
    yield from must_have(vector_of(left, of) if left else of, op.acc, op.result)
    yield from _combines(op.combine, of)


def contract(op: vector.Contract) -> Iterator[str]:
    """A map for each operand, a kind for each iterator, and one size for each dimension of the box."""
    problems = [*are_vectors(op.left, op.right)]
    problems += [*have_same_element(op.left, op.right), *must_have(op.acc.type, op.result)]
    problems += [f"unknown iterator {kind!r}; known: {', '.join(vector.ITERATORS)}"
                 for kind in op.iterators if kind not in vector.ITERATORS]  # fmt: skip
    if len(op.maps) != 3:
        problems.append(f"has {len(op.maps)} maps, but needs one for each of its three operands")
    yield from problems
    yield from _combines(op.combine, element_of(op.acc.type))
    if not problems:
        yield from _contract_maps(op)
        left, acc = element_of(op.left.type), element_of(op.acc.type)
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
        elif len(dims) != len(dims_of(value.type)) or (isinstance(value.type, VectorType) and not dims):
            yield f"map {k} must have a result for each dimension of {shown(value)}, of type {value.type}: {map}"
        else:
            known = tuple(d for d in dims if d is not None)
            of_operand.append(known)
            for d, size in zip(known, dims_of(value.type), strict=True):
                if sizes.setdefault(d, size) != size:
                    known_size, other = size_in_words(sizes[d]), size_in_words(size)
                    yield f"dimension d{d} has size {known_size}, but {shown(value)} has {other} there"
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
    problems = [*are_vectors(op.left, op.result, zero=False)]
    if len(dims_of(op.left.type)) > 1 or len(dims_of(op.right.type)) > 1:
        problems.append(f"{shown(op.left)} and {shown(op.right)} must have one dimension")
    problems += have_same_element(op.left, op.right)
    yield from needed(problems)
    of = element_of(op.left.type)
    assert isinstance(of, ScalarType)
    yield from must_have(vector_of(dims_of(op.left.type) + dims_of(op.right.type), of), op.result, *op.acc)
    yield from _combines(op.combine, of)
    if len(op.acc) > 1:
        yield f"has {len(op.acc)} accumulators; it takes one or none"


def broadcast(op: vector.Broadcast) -> Iterator[str]:
    """The last dimensions of result are those of source, or source has size 1 there."""
    yield from are_vectors(op.result)
    if isinstance(op.source.type, VectorType):
        yield from are_vectors(op.source)
    yield from have_same_element(op.source, op.result)
    source, target = dims_of(op.source.type), dims_of(op.result.type)
    if len(source) > len(target):
        yield f"{shown(op.source)} has more dimensions than {shown(op.result)}, of type {op.result.type}"
        return
    for a, b in zip(source, target[len(target) - len(source) :], strict=True):
        if a != b and a != (1, False):
            one, other = f"{shown(op.source)} of type {op.source.type}", f"{shown(op.result)} of type {op.result.type}"
            yield f"{one} has size {size_in_words(a)} where {other} has {size_in_words(b)}"


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
    vector.Extract: lanes.extract,
    vector.Insert: lanes.insert,
    vector.ExtractStridedSlice: lanes.extract_slice,
    vector.InsertStridedSlice: lanes.insert_slice,
    vector.Shuffle: lanes.shuffle,
    vector.Transpose: lanes.transpose,
    vector.ShapeCast: lanes.shape_cast,
    vector.BitCast: lanes.bit_cast,
    vector.FromElements: lanes.from_elements,
    vector.ToElements: lanes.to_elements,
    vector.Step: lanes.step,
    vector.CreateMask: lanes.create_mask,
    vector.ConstantMask: lanes.constant_mask,
}


RULES: Rules = {cls: of_types(rule) for cls, rule in _RULES.items()}
"""What each class of vector operations must keep."""


# Where this differs from mlir-opt 22.
#
# Stricter: the dimensions of a multi_reduction exist and stand once, and its kind exists for its type; a vector that is
# inserted has the shape of what it replaces; the vector of maskedload and maskedstore has no more dimensions than
# memref; the factors of a contract can be extended to the type of acc; a transposition and a bitcast keep what is
# scalable.
