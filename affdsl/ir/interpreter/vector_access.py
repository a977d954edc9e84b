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


Lane: TypeAlias = "tuple[Index, Index | None]"
"""A lane, and the index of its element; None where it has none."""
LanesOf: TypeAlias = Callable[[Env, BufferView], Iterator[Lane]]


def _reading(op: Op, result: Value, memref: Value, lanes: LanesOf, otherwise: Callable[[Env, Index], Item]) -> Step:
    """result = the elements of lanes, and something else for those that have none."""
    elements, shape = Elements(op, memref), vector_type(result, op).shape

    def step(env: Env) -> None:
        buffer, found = env[memref], np.empty(shape, object)
        for lane, index in lanes(env, buffer):
            put(found, lane, otherwise(env, lane) if index is None else elements.read(buffer, index, lane))
        env[result] = found

    return step


def _passed(value: Value) -> Callable[[Env, Index], Item]:
    return lambda env, lane: env[value][lane]


def _writing(op: Op, value: Value, memref: Value, lanes: LanesOf) -> Step:
    """The elements of lanes = value"""
    elements = Elements(op, memref)

    def step(env: Env) -> None:
        buffer = env[memref]
        for lane, index in lanes(env, buffer):
            if index is not None:
                elements.write(buffer, index, lane, env[value][lane])

    return step


def load(op: Op, result: Value, memref: Value, subscripts: Subscripts, mask: Value | None = None) -> Step:
    """result = the elements of memref from subscripts on, along its last dimensions

    With a mask, `op` is a vector.maskedload: where it is not set, its pass_thru stands and nothing is read.
    """
    passed = _passed(op.pass_thru if isinstance(op, vector.MaskedLoad) else result)
    return _reading(op, result, memref, _dense(_reach(op, result, memref), subscripts, mask), passed)


def store(op: Op, value: Value, memref: Value, subscripts: Subscripts, mask: Value | None = None) -> Step:
    """The elements of memref from subscripts on, along its last dimensions, = value, where a mask is set"""
    return _writing(op, value, memref, _dense(_reach(op, value, memref), subscripts, mask))


def _dense(reach: Index, subscripts: Subscripts, mask: Value | None) -> LanesOf:
    def lanes(env: Env, buffer: BufferView) -> Iterator[Lane]:
        start = subscripts(env)
        for lane in np.ndindex(*reach):
            yield lane, _shifted(start, lane) if mask is None or env[mask][lane] else None

    return lanes


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
    return _reading(op, op.result, op.memref, _places(op, op.result), lambda env, lane: env[op.padding])


def transfer_write(op: vector.TransferWrite) -> Step:
    """elements along mapped dimensions = value"""
    return _writing(op, op.value, op.memref, _places(op, op.value))


def _places(op: vector.TransferRead | vector.TransferWrite, value: Value) -> LanesOf:
    """Each lane with the index of its element, where that is inside, and no mask leaves it out."""
    _same_elements(op, value, op.memref)
    shape = vector_type(value, op).shape[: len(op.map.results)]
    dims = vector.map_dims(op.map)
    assert dims is not None, "the verifier refuses other maps"
    moves = [(k, d) for k, d in enumerate(dims) if d is not None]
    may_leave = [d for (k, d) in moves if not op.in_bounds[k]]
    stay = [d for d in range(memref_type(op.memref, op).rank) if d not in dims]
    of_mask, indices = vector.mask_dims(op.map), taker(op.indices)

    def places(env: Env, buffer: BufferView) -> Iterator[Lane]:
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
            yield lane, tuple(index) if inside and set_ else None

    return places


def gather(op: vector.Gather) -> Step:
    """result = elements that lie offsets behind indices, where mask is set"""
    return _reading(op, op.result, op.memref, _apart(op), _passed(op.pass_thru))


def scatter(op: vector.Scatter) -> Step:
    """elements that lie offsets behind indices = value, where mask is set"""
    return _writing(op, op.value, op.memref, _apart(op))


def _apart(op: vector.Gather | vector.Scatter) -> LanesOf:
    elements, indices, distance = Elements(op, op.memref), taker(op.indices), _distance(op.offsets, op)

    def lanes(env: Env, buffer: BufferView) -> Iterator[Lane]:
        start = indices(env)
        for lane in np.ndindex(*env[op.mask].shape):
            offset = distance(env[op.offsets][lane]) if env[op.mask][lane] else None
            yield lane, None if offset is None else elements.linear(buffer, start, offset, lane)

    return lanes


def expand_load(op: vector.ExpandLoad) -> Step:
    """result = the next element, where mask is set"""
    return _reading(op, op.result, op.memref, _in_a_row(op), _passed(op.pass_thru))


def compress_store(op: vector.CompressStore) -> Step:
    """the next element = value, where mask is set"""
    return _writing(op, op.value, op.memref, _in_a_row(op))


def _in_a_row(op: vector.ExpandLoad | vector.CompressStore) -> LanesOf:
    elements, indices = Elements(op, op.memref), taker(op.indices)

    def lanes(env: Env, buffer: BufferView) -> Iterator[Lane]:
        start, offset = indices(env), 0
        for lane in np.ndindex(*env[op.mask].shape):
            is_set = bool(env[op.mask][lane])
            yield lane, elements.linear(buffer, start, offset, lane) if is_set else None
            offset += is_set

    return lanes


def _distance(offsets: Value, op: Op) -> Callable[[int], int]:
    """An offset as the signed number that it stands for."""
    type: ScalarType = vector_type(offsets, op).element
    assert not isinstance(type, FloatType), "the verifier refuses other offsets"
    bits = width(type)
    return lambda number: signed(number, bits)
