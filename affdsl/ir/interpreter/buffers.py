"""Buffers: what a memref is while the interpreter runs, an array that knows which of its elements were written."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from affdsl.ir.interpreter.lanes import vector_of
from affdsl.ir.layouts import row_major
from affdsl.ir.numeric import Number, dtype, from_bits, number_of, to_bits, wrap
from affdsl.ir.types import ComplexType, FloatType, IntegerType, MemRefType, NumberType, StridedLayout, VectorType

Index = tuple[int, ...]
Array = NDArray[np.generic]
Marks = NDArray[np.bool_]


@dataclass(eq=False, slots=True)
class Transfer:
    """A copy that has begun and was not waited for: how many elements, and the bytes that it reads and writes."""

    elements: int
    reads: NDArray[np.int64]
    writes: NDArray[np.int64]
    size: int
    """Bytes of an element; `reads` and `writes` have the address of the first of them, for each element."""
    storages: tuple[Allocation, ...]


@dataclass(eq=False, slots=True)
class Allocation:
    """What all views of one buffer share.

    `origin` is "an argument", "memref.alloc", "memref.alloca" or "memref.global"; `dead` says why it must not be used
    any more, or is empty; `transfers` are the copies that are under way in it, and `tags` those by the address of their
    tag in it.
    """

    origin: str
    dead: str = ""
    transfers: list[Transfer] = field(default_factory=list)
    tags: dict[int, Transfer] = field(default_factory=dict)


class BufferView:
    """The elements that one memref, a view perhaps, gives access to.

    `array` holds them as they are stored: integers signed, i1 as bytes, bf16 as bits, vectors as records of `lanes`.
    `written` has True for each element that holds something (for each of its bytes in a view of bytes), or
    is None where all do. Element (i, j, ...) is `cells[place + i * strides[0] + ...]`; the first cell stands at the
    number `start` of the whole buffer, None where that is not known.
    """

    __slots__ = (
        "array", "cells", "is_view", "marks", "per", "place", "shape", "start", "storage", "strides", "writeable",
        "written",
    )  # fmt: skip

    def __init__(
        self,
        storage: Allocation,
        cells: Array,
        marks: Marks | None,
        shape: Index,
        strides: Index,
        place: int,
        *,
        start: int | None = 0,
        per: int = 1,
        is_view: bool = True,
    ) -> None:
        self.storage = storage
        self.cells, self.marks, self.per = cells, marks, per
        self.shape, self.strides, self.place, self.start = shape, strides, place, start
        self.writeable = cells.flags.writeable
        self.is_view = is_view
        self.array: Array = _part(cells, shape, strides, place)
        self.written: Marks | None = None
        if marks is not None:
            inner, step = ((per,), (1,)) if per > 1 else ((), ())
            self.written = _part(marks, (*shape, *inner), (*(s * per for s in strides), *step), place * per)

    @property
    def dead(self) -> str:
        """Why the buffer must not be used any more, or an empty text."""
        return self.storage.dead

    @property
    def offset(self) -> int | None:
        """Where in the whole buffer the first element stands."""
        return None if self.start is None else self.start + self.place

    def view(self, shape: Index, strides: Index, place: int) -> BufferView:
        """Other elements of the same cells."""
        return BufferView(self.storage, self.cells, self.marks, shape, strides, place, start=self.start, per=self.per)

    def bytes_as(self, element: NumberType | VectorType, shape: Index, shift: int) -> BufferView:
        """The bytes from number `shift` on as elements of another type, contiguous; the buffer is one of i8."""
        size = stored(element).itemsize
        first, count = self.place + shift, prod(shape)
        cells = self.cells[first : first + count * size].view(stored(element))
        marks = None if self.marks is None else self.marks[first : first + count * size]
        return BufferView(self.storage, cells, marks, shape, known_parts(row_major(shape)), 0, per=size)

    def holds(self, index: Index) -> bool:
        """Whether something was stored in an element."""
        if self.written is None:
            return True
        return bool(self.written[index] if self.per == 1 else self.written[index].all())

    def filled(self) -> Marks | None:
        """Which elements hold something; None if all do."""
        if self.written is None or self.per == 1:
            return self.written
        return np.asarray(self.written.all(axis=-1))

    def positions(self) -> NDArray[np.int64]:
        """The cell of each element, in row-major order."""
        found = np.array([self.place], np.int64)
        for size, stride in zip(self.shape, self.strides, strict=True):
            found = (found[:, None] + np.arange(size, dtype=np.int64) * stride).reshape(-1)
        return found

    def position(self, index: Index) -> int:
        """The cell of an element."""
        return self.place + sum(i * stride for i, stride in zip(index, self.strides, strict=True))

    @property
    def is_dense(self) -> bool:
        """Whether the elements are all cells from the first to the last, in row-major order."""
        return self.strides == known_parts(row_major(self.shape))

    def address(self, cell: int) -> int:
        """The address of the first byte of a cell."""
        base: int = self.cells.__array_interface__["data"][0]
        return base + cell * self.cells.itemsize

    def addresses(self, positions: NDArray[np.int64]) -> NDArray[np.int64]:
        """The address of the first byte of each of some cells."""
        return self.address(0) + positions * self.cells.itemsize


def wrap_array(array: Array, type: NumberType, offset: int | None) -> BufferView | None:
    """A caller's array as a buffer: a view, so that what is stored is seen in it. None if no strides describe it."""
    held = array.view(stored(type))
    if held.flags.c_contiguous:
        strides = known_parts(row_major(held.shape))
        return BufferView(
            Allocation("an argument"), held.reshape(-1), None, held.shape, strides, 0, start=offset, is_view=False
        )
    size = held.itemsize
    steps = [step if count > 1 else 0 for count, step in zip(held.shape, held.strides, strict=True)]
    if any(step % size for step in steps):
        return None
    strides = tuple(
        step // size if count > 1 else default
        for count, step, default in zip(held.shape, steps, known_parts(row_major(held.shape)), strict=True)
    )
    ends = [(count - 1) * stride for count, stride in zip(held.shape, strides, strict=True)]
    low, high = sum(e for e in ends if e < 0), sum(e for e in ends if e > 0)
    if 0 in held.shape:
        low, high = 0, -1
    ends_at = tuple(slice(n - 1, n) if step < 0 else slice(0, 1) for n, step in zip(held.shape, steps, strict=True))
    corner = held[ends_at] if ends_at else held
    cells = np.lib.stride_tricks.as_strided(corner, (high - low + 1,), (size,), writeable=held.flags.writeable)
    start = None if offset is None else offset + low
    return BufferView(Allocation("an argument"), cells, None, held.shape, strides, -low, start=start, is_view=False)


def unwrap_array(buffer: BufferView, type: NumberType, *, unsigned: bool) -> Array:
    """The array of a buffer as the caller sees it."""
    return buffer.array.view(dtype(type, unsigned=unsigned))


def allocate(
    shape: Index, type: NumberType | VectorType, origin: str, layout: StridedLayout | None, *, tracked: bool
) -> BufferView:
    """A new buffer full of poison: NaN, or integers with the bit pattern 0xA5A5...

    Raises ValueError if an element would lie before its start, and MemoryError if there is no room.
    """
    strides, place = (
        (known_parts(row_major(shape)), 0) if layout is None else (known_parts(layout.strides), layout.offset or 0)
    )
    ends = [] if 0 in shape else [(size - 1) * stride for size, stride in zip(shape, strides, strict=True)]
    if place + sum(e for e in ends if e < 0) < 0:
        raise ValueError("an element would lie before the start of the buffer")
    span = 0 if 0 in shape else place + sum(e for e in ends if e > 0) + 1
    cells: NDArray[Any] = np.empty(span, stored(type))
    scalar = type.element if isinstance(type, VectorType) else type
    poison = number_of(np.nan if isinstance(scalar, FloatType | ComplexType) else 0xA5A5A5A5A5A5A5A5, scalar)
    numbers = cells["lanes"] if isinstance(type, VectorType) else cells
    numbers[...] = to_bits(poison, scalar) if _is_bf16(scalar) else poison
    marks = np.zeros(span, np.bool_) if tracked else None
    return BufferView(Allocation(origin), cells, marks, shape, strides, place, is_view=False)


def reader(type: NumberType | VectorType) -> Callable[..., Any]:
    """What reads an element of an array of buffers of a type."""
    if isinstance(type, VectorType):
        read_lane, places = reader(type.element), list(np.ndindex(*type.shape))
        return lambda array, index: vector_of(type.shape, [read_lane(array["lanes"], (*index, *p)) for p in places])
    if isinstance(type, FloatType) and _is_bf16(type):
        return lambda array, index: from_bits(int(array.item(index)), type)
    if isinstance(type, FloatType | ComplexType):
        return operator.getitem
    if type == IntegerType(1):  # an array from elsewhere may hold any byte
        return lambda array, index: int(array.item(index) != 0)
    if isinstance(type, IntegerType) and type.width != 8 * stored(type).itemsize:
        return lambda array, index: wrap(array.item(index), type.width)
    read: Callable[..., Number] = np.ndarray.item
    return read


def writer(type: NumberType | VectorType) -> Callable[..., None]:
    """What writes an element of an array of buffers of a type."""
    if isinstance(type, VectorType):
        write_lane, places = writer(type.element), list(np.ndindex(*type.shape))

        def write(array: NDArray[Any], index: Index, vector: NDArray[Any]) -> None:
            for place in places:
                write_lane(array["lanes"], (*index, *place), vector[place])

        return write
    if isinstance(type, FloatType) and _is_bf16(type):
        return lambda array, index, number: array.__setitem__(index, to_bits(number, type))
    return operator.setitem


def layout_mismatch(buffer: BufferView, type: MemRefType) -> str:
    """How the shape, strides or offset of a buffer break what a type says of them; empty if they do not."""
    for axis, (size, wanted) in enumerate(zip(buffer.shape, type.shape, strict=True)):
        if wanted is not None and size != wanted:
            return f"size {size} along dimension {axis}, where {type} has {wanted}"
    layout = StridedLayout(row_major(buffer.shape)) if type.layout is None else type.layout
    if not isinstance(layout, StridedLayout):
        return ""  # an affine layout says where elements lie, which nothing can observe
    for axis, wanted in enumerate(layout.strides):
        stride = buffer.strides[axis]
        if wanted is not None and stride != wanted and buffer.shape[axis] > 1 and 0 not in buffer.shape:
            return f"stride {stride} along dimension {axis}, where {type} has {wanted}"
    if layout.offset is not None and layout.offset != buffer.offset:
        return f"offset {buffer.offset}, where {type} has {layout.offset}"
    return ""


def stored(type: NumberType | VectorType) -> np.dtype[Any]:
    """The dtype in which the elements of a buffer are held: of vectors, a record of their lanes in row-major order."""
    if isinstance(type, VectorType):
        return np.dtype([("lanes", stored(type.element), type.shape)])
    return np.dtype(np.uint8) if type == IntegerType(1) else dtype(type)


def _part(cells: NDArray[Any], shape: Index, strides: Sequence[int], place: int) -> NDArray[Any]:
    """Some of the cells as an array that shares them."""
    if 0 in shape:
        empty = np.empty(shape, cells.dtype)
        empty.flags.writeable = cells.flags.writeable
        return empty
    size = cells.itemsize
    return np.ndarray(shape, cells.dtype, cells, place * size, [s * size for s in strides])


def known_parts(parts: Sequence[int | None]) -> Index:
    """The numbers among parts of a layout."""
    return tuple(p for p in parts if p is not None)


def _is_bf16(type: NumberType) -> bool:
    return isinstance(type, FloatType) and type.name == "bf16"
