"""Buffers: what a memref is while the interpreter runs, an array that knows which of its elements were written."""

from __future__ import annotations

import operator
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from affdsl.ir.numeric import Number, dtype, from_bits, number_of, to_bits
from affdsl.ir.types import FloatType, IntegerType, MemRefType, ScalarType, StridedLayout

Index = tuple[int, ...]
Array = NDArray[np.generic]


class Buffer:
    """The elements of one memref and of all casts of it.

    `array` holds them as they are stored: integers signed, i1 as bytes, bf16 as bits. `written` has True for each
    element that holds something, or is None where all do. `origin` is "an argument", "memref.alloc" or "memref.alloca";
    `dead` says why the buffer must not be used any more, or is empty.
    """

    __slots__ = ("array", "dead", "offset", "origin", "shape", "writeable", "written")

    def __init__(
        self, array: Array, origin: str, written: NDArray[np.bool_] | None = None, offset: int | None = 0
    ) -> None:
        self.array = array
        self.shape: Index = array.shape
        self.origin = origin
        self.writeable = array.flags.writeable
        self.written = written
        self.offset = offset
        self.dead = ""


def wrap_array(array: Array, type: ScalarType, offset: int | None) -> Buffer:
    """A caller's array as a buffer: a view, so that what is stored is seen in it."""
    return Buffer(array.view(_stored(type)), "an argument", offset=offset)


def unwrap_array(buffer: Buffer, type: ScalarType, *, unsigned: bool) -> Array:
    """The array of a buffer as the caller sees it."""
    return buffer.array.view(dtype(type, unsigned=unsigned))


def allocate(shape: Index, type: ScalarType, origin: str, layout: StridedLayout | None, *, tracked: bool) -> Buffer:
    """A new buffer full of poison: NaN, or integers with the bit pattern 0xA5A5..."""
    stored = _stored(type)
    array: Array
    offset = 0
    if layout is None:
        array = np.empty(shape, stored)
    else:
        strides, offset = [s or 0 for s in layout.strides], layout.offset or 0
        span = offset + sum((size - 1) * stride for size, stride in zip(shape, strides, strict=True)) + 1
        base = np.empty(span if 0 not in shape else offset, stored)[offset:]
        array = np.lib.stride_tricks.as_strided(base, shape, [s * stored.itemsize for s in strides])
    poison = number_of(np.nan if isinstance(type, FloatType) else 0xA5A5A5A5A5A5A5A5, type)
    array.fill(to_bits(poison, type) if _is_bf16(type) else poison)
    return Buffer(array, origin, written=np.zeros(shape, np.bool_) if tracked else None, offset=offset)


def reader(type: ScalarType) -> Callable[..., Number]:
    """What reads an element of an array of buffers of a type."""
    if _is_bf16(type):
        return lambda array, index: from_bits(int(array.item(index)), type)
    if isinstance(type, FloatType):
        return operator.getitem
    read: Callable[..., Number] = np.ndarray.item
    return read


def writer(type: ScalarType) -> Callable[..., None]:
    """What writes an element of an array of buffers of a type."""
    if _is_bf16(type):
        return lambda array, index, number: array.__setitem__(index, to_bits(number, type))
    return operator.setitem


def layout_mismatch(buffer: Buffer, type: MemRefType) -> str:
    """How the shape, strides or offset of a buffer break what a type says of them; empty if they do not."""
    for axis, (size, wanted) in enumerate(zip(buffer.shape, type.shape, strict=True)):
        if wanted is not None and size != wanted:
            return f"size {size} along dimension {axis}, where {type} has {wanted}"
    layout = StridedLayout(_row_major(buffer.shape)) if type.layout is None else type.layout
    if not isinstance(layout, StridedLayout):
        return ""  # an affine layout says where elements lie, which nothing can observe
    array = buffer.array
    for axis, wanted in enumerate(layout.strides):
        stride = array.strides[axis] // array.itemsize
        if wanted is not None and stride != wanted and array.shape[axis] > 1 and array.size:
            return f"stride {stride} along dimension {axis}, where {type} has {wanted}"
    if layout.offset is not None and layout.offset != buffer.offset:
        return f"offset {buffer.offset}, where {type} has {layout.offset}"
    return ""


def _row_major(shape: Index) -> Index:
    strides, step = [], 1
    for size in reversed(shape):
        strides.append(step)
        step *= size
    return tuple(reversed(strides))


def _stored(type: ScalarType) -> np.dtype[np.generic]:
    return np.dtype(np.uint8) if type == IntegerType(1) else dtype(type)


def _is_bf16(type: ScalarType) -> bool:
    return isinstance(type, FloatType) and type.name == "bf16"
