"""Loads and stores of vectors, as steps: each lane by itself, checked like a scalar access."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from math import prod
from typing import TypeAlias

import numpy as np

from affdsl.ir.core import Op
from affdsl.ir.dialects import vector
from affdsl.ir.expr import Value
from affdsl.ir.interpreter.buffers import BufferView, Index, reader, writer
from affdsl.ir.interpreter.environment import Env, Step, error, listed, memref_type, scalar_type, taker
from affdsl.ir.interpreter.lanes import Item, Lanes, known_lanes, put, vector_type
from affdsl.ir.interpreter.memory import must_be_usable, read_only
from affdsl.ir.layouts import row_major
from affdsl.ir.messages import shown
from affdsl.ir.numeric import signed, width
from affdsl.ir.types import FloatType, ScalarType, VectorType

Subscripts: TypeAlias = Callable[[Env], Index]


class Elements:
    """Reads and writes single elements of a memref, which may be vectors, and refuses what has no meaning."""

    def __init__(self, op: Op, memref: Value) -> None:
        self.op, self.memref = op, memref
        self.type = memref_type(memref, op).element
        if isinstance(self.type, VectorType):
            self.inner = known_lanes(self.type, op, f"an element of {shown(memref)}").shape
            self._read, self._write = reader(self.type), writer(self.type)
        else:
            self.inner = ()
            self._read, self._write = reader(scalar_type(self.type, op)), writer(scalar_type(self.type, op))

    def read(self, buffer: BufferView, index: Index, lane: Index) -> Item:
        """The element at index, for a lane."""
        self._check(buffer, index, lane)
        if buffer.storage.dead or buffer.storage.transfers:
            must_be_usable(self.op, self.memref, buffer, index)
        if not buffer.holds(index):
            raise error(self.op, f"{self._place(index, lane)} is read before anything was stored there")
        item: Item = self._read(buffer.array, index)
        return item

    def write(self, buffer: BufferView, index: Index, lane: Index, item: Item) -> None:
        """The element at index = item, for a lane."""
        self._check(buffer, index, lane)
        if buffer.storage.dead or buffer.storage.transfers:
            must_be_usable(self.op, self.memref, buffer, index, written=True)
        if not buffer.writeable:
            raise error(self.op, read_only(self.memref, buffer))
        self._write(buffer.array, index, item)
        if buffer.written is not None:
            buffer.written[index] = True

    def linear(self, buffer: BufferView, start: Index, offset: int, lane: Index) -> Index:
        """The element `offset` behind start, along the last dimension or, where memory is contiguous, beyond it."""
        if start and 0 <= start[-1] + offset < buffer.shape[-1]:
            return (*start[:-1], start[-1] + offset)
        position = 0
        for i, size in zip(start, buffer.shape, strict=True):
            position = position * size + i
        position += offset
        if not 0 <= position < prod(buffer.shape):
            text = f"{offset} elements behind {self._place(start, lane)} is out of bounds"
            raise error(self.op, f"{text}: {shown(self.memref)} has sizes ({listed(buffer.shape)})")
        if row_major(buffer.shape) != buffer.strides:
            text = f"lane ({listed(lane)}) leaves the last dimension of {shown(self.memref)}, which is not contiguous"
            raise error(self.op, text)
        return tuple(int(i) for i in np.unravel_index(position, buffer.shape))

    def _check(self, buffer: BufferView, index: Index, lane: Index) -> None:
        for i, size in zip(index, buffer.shape, strict=True):
            if not 0 <= i < size:
                text = f"{self._place(index, lane)} is out of bounds"
                raise error(self.op, f"{text}: {shown(self.memref)} has sizes ({listed(buffer.shape)})")

    def _place(self, index: Index, lane: Index) -> str:
        place = f"{shown(self.memref)}[{listed(index)}]"
        return f"lane ({listed(lane)}): {place}" if lane else place


def load(op: Op, result: Value, memref: Value, subscripts: Subscripts, mask: Value | None = None) -> Step:
    """result = the elements of memref from subscripts on, along its last dimensions

    With a mask, `op` is a vector.maskedload: where it is not set, its pass_thru stands and nothing is read.
    """
    elements, shape, reach = Elements(op, memref), vector_type(result, op).shape, _reach(op, result, memref)
    pass_thru = op.pass_thru if isinstance(op, vector.MaskedLoad) else None

    def step(env: Env) -> None:
        buffer: BufferView = env[memref]
        start = subscripts(env)
        found = np.empty(shape, object)
        for lane in np.ndindex(*reach):
            if mask is None or env[mask][lane]:
                put(found, lane, elements.read(buffer, _shifted(start, lane), lane))
            elif pass_thru is not None:
                put(found, lane, env[pass_thru][lane])
        env[result] = found

    return step


def store(op: Op, value: Value, memref: Value, subscripts: Subscripts, mask: Value | None = None) -> Step:
    """The elements of memref from subscripts on, along its last dimensions, = value, where a mask is set"""
    elements, reach = Elements(op, memref), _reach(op, value, memref)

    def step(env: Env) -> None:
        buffer: BufferView = env[memref]
        start = subscripts(env)
        for lane in np.ndindex(*reach):
            if mask is None or env[mask][lane]:
                elements.write(buffer, _shifted(start, lane), lane, env[value][lane])

    return step


def _reach(op: Op, value: Value, memref: Value) -> Index:
    """How far a vector reaches along the last dimensions of a memref; what is left of its shape is in each element."""
    elements = Elements(op, memref)
    shape = vector_type(value, op).shape
    reach = shape[: len(shape) - len(elements.inner)]
    if len(reach) > memref_type(memref, op).rank:
        raise error(op, f"{shown(value)} has more dimensions than {shown(memref)}: {value.type} and {memref.type}")
    _same_elements(op, value, memref)
    return reach


def _same_elements(op: Op, value: Value, memref: Value) -> None:
    """The lanes of a vector are the elements of a memref, or those of its elements."""
    type, of = vector_type(value, op), memref_type(memref, op).element
    inner = of.shape if isinstance(of, VectorType) else ()
    scalar = of.element if isinstance(of, VectorType) else of
    if type.element != scalar or type.shape[len(type.shape) - len(inner) :] != inner:
        raise error(op, f"{shown(value)} of type {type} is not made of elements of {shown(memref)}: {memref.type}")


def _shifted(start: Index, lane: Index) -> Index:
    """start with the numbers of lane added to its last dimensions."""
    if not lane:
        return start
    return (*start[: -len(lane)], *(i + k for i, k in zip(start[-len(lane) :], lane, strict=True)))


def transfer_read(op: vector.TransferRead) -> Step:
    """result = elements along mapped dimensions, or padding"""
    elements, shape = Elements(op, op.memref), vector_type(op.result, op).shape
    _same_elements(op, op.result, op.memref)
    places = _places(op, shape[: len(op.map.results)])

    def step(env: Env) -> None:
        buffer: BufferView = env[op.memref]
        found = np.empty(shape, object)
        for lane, index, inside in places(env, buffer):
            put(found, lane, elements.read(buffer, index, lane) if inside else env[op.padding])
        env[op.result] = found

    return step


def transfer_write(op: vector.TransferWrite) -> Step:
    """elements along mapped dimensions = value"""
    elements, shape = Elements(op, op.memref), vector_type(op.value, op).shape
    _same_elements(op, op.value, op.memref)
    places = _places(op, shape[: len(op.map.results)])

    def step(env: Env) -> None:
        buffer: BufferView = env[op.memref]
        for lane, index, inside in places(env, buffer):
            if inside:
                elements.write(buffer, index, lane, env[op.value][lane])

    return step


def _places(
    op: vector.TransferRead | vector.TransferWrite, shape: Index
) -> Callable[[Env, BufferView], Iterator[tuple[Index, Index, bool]]]:
    """Each lane with the index of its element, and whether there is one: it is inside, and no mask leaves it out."""
    dims = vector.map_dims(op.map)
    assert dims is not None, "the verifier refuses other maps"
    moves = [(k, d) for k, d in enumerate(dims) if d is not None]
    may_leave = [d for (k, d) in moves if not op.in_bounds[k]]
    stay = [d for d in range(memref_type(op.memref, op).rank) if d not in dims]
    of_mask, indices = vector.mask_dims(op.map), taker(op.indices)

    def places(env: Env, buffer: BufferView) -> Iterator[tuple[Index, Index, bool]]:
        start = indices(env)
        mask: Lanes | None = env[op.mask[0]] if op.mask else None
        if not all(0 <= start[d] < buffer.shape[d] for d in stay):
            text = (
                f"{shown(op.memref)}[{listed(start)}] is out of bounds along a dimension that the vector does not have"
            )
            raise error(op, f"{text}: {shown(op.memref)} has sizes ({listed(buffer.shape)})")
        for lane in product(*map(range, shape)):
            index = list(start)
            for k, d in moves:
                index[d] += lane[k]
            inside = all(0 <= index[d] < buffer.shape[d] for d in may_leave)
            set_ = mask is None or bool(mask[tuple(lane[k] for k in of_mask)])
            yield lane, tuple(index), inside and set_

    return places


def gather(op: vector.Gather) -> Step:
    """result = elements that lie offsets behind indices, where mask is set"""
    elements, shape = Elements(op, op.memref), vector_type(op.result, op).shape
    indices, distance = taker(op.indices), _distance(op.offsets, op)

    def step(env: Env) -> None:
        buffer: BufferView = env[op.memref]
        start, found = indices(env), np.empty(shape, object)
        for lane in np.ndindex(*shape):
            if env[op.mask][lane]:
                index = elements.linear(buffer, start, distance(env[op.offsets][lane]), lane)
                put(found, lane, elements.read(buffer, index, lane))
            else:
                put(found, lane, env[op.pass_thru][lane])
        env[op.result] = found

    return step


def scatter(op: vector.Scatter) -> Step:
    """elements that lie offsets behind indices = value, where mask is set"""
    elements, shape = Elements(op, op.memref), vector_type(op.value, op).shape
    indices, distance = taker(op.indices), _distance(op.offsets, op)

    def step(env: Env) -> None:
        buffer: BufferView = env[op.memref]
        start = indices(env)
        for lane in np.ndindex(*shape):
            if env[op.mask][lane]:
                index = elements.linear(buffer, start, distance(env[op.offsets][lane]), lane)
                elements.write(buffer, index, lane, env[op.value][lane])

    return step


def expand_load(op: vector.ExpandLoad) -> Step:
    """result = the next element, where mask is set"""
    elements, shape, indices = Elements(op, op.memref), vector_type(op.result, op).shape, taker(op.indices)

    def step(env: Env) -> None:
        buffer: BufferView = env[op.memref]
        start, found, offset = indices(env), np.empty(shape, object), 0
        for lane in np.ndindex(*shape):
            if env[op.mask][lane]:
                put(found, lane, elements.read(buffer, elements.linear(buffer, start, offset, lane), lane))
                offset += 1
            else:
                put(found, lane, env[op.pass_thru][lane])
        env[op.result] = found

    return step


def compress_store(op: vector.CompressStore) -> Step:
    """the next element = value, where mask is set"""
    elements, shape, indices = Elements(op, op.memref), vector_type(op.value, op).shape, taker(op.indices)

    def step(env: Env) -> None:
        buffer: BufferView = env[op.memref]
        start, offset = indices(env), 0
        for lane in np.ndindex(*shape):
            if env[op.mask][lane]:
                elements.write(buffer, elements.linear(buffer, start, offset, lane), lane, env[op.value][lane])
                offset += 1

    return step


def _distance(offsets: Value, op: Op) -> Callable[[int], int]:
    """An offset as the signed number that it stands for."""
    type: ScalarType = vector_type(offsets, op).element
    assert not isinstance(type, FloatType), "the verifier refuses other offsets"
    bits = width(type)
    return lambda number: signed(number, bits)
