"""Where an element of a view lies in the buffer below it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import prod

from affdsl.ir.core import Op
from affdsl.ir.dialects import memref
from affdsl.ir.expr import Affine, Value
from affdsl.ir.layouts import kept, row_major, strided, subview
from affdsl.ir.mixed import mixed
from affdsl.ir.types import MemRefType

Index = tuple[Affine, ...]

VIEWS = (
    memref.Cast, memref.SubView, memref.ExpandShape, memref.CollapseShape, memref.ReinterpretCast, memref.View,
    memref.Reshape, memref.ExtractStridedMetadata,
)  # fmt: skip
"""Operations whose result is a part, or all, of their source."""


def below(view: Op | None, index: Sequence[Affine]) -> tuple[Value, Index] | None:
    """The buffer that a view is a view of, and where the element at index lies there; None if that cannot be said.

    It says so of memref.cast, subview, expand_shape and collapse_shape. The index may be semi-affine where a size is
    known only at run time.
    """
    match view:
        case memref.Cast(source=source) if isinstance(source.type, MemRefType):
            return source, tuple(index)
        case memref.SubView():
            found = _in_subview(view, index)
            return None if found is None else (view.source, found)
        case memref.ExpandShape():
            shape = mixed(view.static_sizes, view.sizes)
            if not view.groups:
                return view.source, ()
            return view.source, tuple(joined([index[k] for k in g], [shape[k] for k in g]) for g in view.groups)
        case memref.CollapseShape():
            found = _in_collapsed(view, index)
            return None if found is None else (view.source, found)
    return None


def joined(index: Sequence[Affine], sizes: Sequence[int | Value]) -> Affine:
    """The number whose digits are index, the most significant one first."""
    if not index:
        return Affine()
    result = index[0]
    for digit, size in zip(index[1:], sizes[1:], strict=True):
        result = result * size + digit
    return result


def digits(number: Affine, sizes: Sequence[int | None]) -> Index | None:
    """The digits of a number, as many as sizes; the first is not bounded. None where a size but the first is unknown.

    >>> from affdsl.ir.types import INDEX
    >>> i = Value(INDEX, "i")
    >>> digits(i * 8 + 3, (None, 8)) == (Affine.of(i), Affine.of(3))
    True
    """
    inner = [size for size in sizes[1:] if size is not None]
    if len(inner) < len(sizes) - 1 or 0 in inner:
        return None
    strides = [prod(inner[k:]) for k in range(len(sizes))]
    if not strides:
        return ()
    return (number // strides[0], *((number % period) // stride for period, stride in pairwise(strides)))


def linear(index: Sequence[Affine], shape: Sequence[int | None]) -> Affine | None:
    """The position of an element in a row-major buffer; None where a stride is known only at run time."""
    strides = row_major(tuple(shape))
    if any(s is None for s in strides):
        return None
    return sum((i * s for i, s in zip(index, strides, strict=True) if s is not None), Affine())


def axes_of(view: memref.SubView) -> tuple[int, ...] | None:
    """Which dimension of the source each dimension of a view is."""
    source, result = view.source.type, view.result.type
    assert isinstance(source, MemRefType)
    assert isinstance(result, MemRefType)
    layout, wanted = strided(source), strided(result)
    if layout is None or wanted is None:
        return None
    inferred = subview(layout, view.static_offsets, view.static_strides)
    return kept(view.static_sizes, inferred, result.shape, wanted)


def _in_subview(view: memref.SubView, index: Sequence[Affine]) -> Index | None:
    axes = axes_of(view)
    if axes is None:
        return None
    inside = dict(zip(axes, index, strict=True))
    offsets, _, strides = view.parts
    return tuple(
        Affine.of(offset) + (inside.get(axis, Affine()) * stride)
        for axis, (offset, stride) in enumerate(zip(offsets, strides, strict=True))
    )


def _in_collapsed(view: memref.CollapseShape, index: Sequence[Affine]) -> Index | None:
    source = view.source.type
    assert isinstance(source, MemRefType)
    if not view.groups:
        return (Affine(),) * source.rank
    found: list[Affine] = []
    for group, number in zip(view.groups, index, strict=True):
        inside = digits(number, [source.shape[k] for k in group])
        if inside is None:
            return None
        found += inside
    return tuple(found)
