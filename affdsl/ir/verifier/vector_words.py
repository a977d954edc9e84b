"""What rules of the vector dialect ask of values, and the words of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from affdsl.ir.expr import Value
from affdsl.ir.messages import shown
from affdsl.ir.types import I1, ScalarType, Type, VectorType, element_of

Dims = tuple[tuple[int, bool], ...]
"""The sizes of a vector, each with whether it is scalable."""


def dims_of(type: Type) -> Dims:
    """The dimensions of a vector; a scalar has none."""
    if not isinstance(type, VectorType):
        return ()
    return tuple(zip(type.shape, type.scalable or (False,) * type.rank, strict=True))


def vector_of(dims: Dims, of: ScalarType) -> VectorType:
    """The vector of some dimensions."""
    scalable = tuple(s for _, s in dims)
    return VectorType(tuple(size for size, _ in dims), of, scalable if any(scalable) else ())


def size_in_words(dim: tuple[int, bool]) -> str:
    """A size as types have it."""
    return f"[{dim[0]}]" if dim[1] else str(dim[0])


def are_vectors(*values: Value, zero: bool = True) -> Iterator[str]:
    """Each of values is a vector of scalars whose sizes are positive; zero=False: of at least one dimension."""
    for value in values:
        if not isinstance(value.type, VectorType):
            yield f"{shown(value)} must be a vector, but has type {value.type}"
        elif any(size < 1 for size in value.type.shape):
            yield f"{shown(value)} has a size that is not positive: {value.type}"
        elif not zero and not value.type.shape:
            yield f"{shown(value)} must have at least one dimension, but has type {value.type}"


def is_mask(value: Value) -> Iterator[str]:
    """A value is a vector of i1 of at least one dimension."""
    yield from are_vectors(value, zero=False)
    if isinstance(value.type, VectorType) and value.type.element != I1:
        yield f"{shown(value)} is a mask, which must be a vector of i1, but has type {value.type}"


def have_same_element(first: Value, *others: Value) -> Iterator[str]:
    """Values are, or have elements, of one type."""
    for value in others:
        if element_of(value.type) != element_of(first.type):
            found, wanted = element_of(value.type), element_of(first.type)
            yield f"{shown(value)} has elements of type {found}, but {shown(first)} of {wanted}"


def in_words(numbers: Sequence[int]) -> str:
    """Numbers as attributes have them."""
    return f"[{', '.join(map(str, numbers))}]"
