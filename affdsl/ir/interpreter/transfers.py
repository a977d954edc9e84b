"""DMA as steps: a copy is made where it begins; until it is waited for, what it touches must be left alone."""

from __future__ import annotations

from collections.abc import Callable
from math import prod

import numpy as np
from numpy.typing import NDArray

from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, memref
from affdsl.ir.expr import Affine, Value
from affdsl.ir.interpreter.bounds import evaluator_of
from affdsl.ir.interpreter.buffers import BufferView, Index, Transfer
from affdsl.ir.interpreter.environment import Env, Step, error, listed, memref_type, taker
from affdsl.ir.interpreter.evaluation import tuple_of
from affdsl.ir.interpreter.memory import must_be_free, must_be_usable, read_only
from affdsl.ir.messages import shown

Subscripts = Callable[[Env], Index]


def dma_start(op: affine.DmaStart | memref.DmaStart) -> Step:
    """Copy, and leave a note of what was copied under the address of the tag."""
    if isinstance(op, affine.DmaStart):
        ends = _affine(op.source_index, op), _affine(op.target_index, op), _affine(op.tag_index, op)
    else:
        ends = taker(op.source_indices), taker(op.target_indices), taker(op.tag_indices)
    from_, to, at = ends
    strided = _strided_end(op)
    stride = taker(op.stride)

    def step(env: Env) -> None:
        source, target = _ready(op, op.source, env), _ready(op, op.target, env)
        elements = env[op.elements]
        if elements < 0:
            raise error(op, f"the number of elements {shown(op.elements)} = {elements} is negative")
        steps = np.arange(elements, dtype=np.int64)
        jumps = _jumps(op, elements, stride(env)) if op.stride else steps
        reads = _cells(op, op.source, source, from_(env), jumps if strided == "source" else steps)
        writes = _cells(op, op.target, target, to(env), jumps if strided == "target" else steps)
        if not target.writeable:
            raise error(op, read_only(op.target, target))
        must_be_free(op, op.source, source, reads, written=False)
        must_be_free(op, op.target, target, writes, written=True)
        _copy(op, source, reads, target, writes)
        tag, key = _tag(op, op.tag, at, env)
        if key in tag.storage.tags:
            raise error(op, f"{shown(op.tag)}[{listed(at(env))}] is busy with a copy that was not waited for")
        transfer = Transfer(
            elements, np.sort(source.addresses(reads)), np.sort(target.addresses(writes)), source.cells.itemsize,
            (source.storage, target.storage),
        )  # fmt: skip
        tag.storage.tags[key] = transfer
        for storage in dict.fromkeys(transfer.storages):
            storage.transfers.append(transfer)

    return step


def dma_wait(op: affine.DmaWait | memref.DmaWait) -> Step:
    """The copy that made a tag busy is complete."""
    at = _affine(op.tag_index, op) if isinstance(op, affine.DmaWait) else taker(op.tag_indices)

    def step(env: Env) -> None:
        tag, key = _tag(op, op.tag, at, env)
        transfer = tag.storage.tags.pop(key, None)
        place = f"{shown(op.tag)}[{listed(at(env))}]"
        if transfer is None:
            raise error(op, f"no copy was begun with the tag {place}, or it was waited for already")
        if transfer.elements != env[op.elements]:
            text = f"the copy with the tag {place} has {transfer.elements} elements"
            raise error(op, f"{text}, but {env[op.elements]} are waited for")
        for storage in dict.fromkeys(transfer.storages):
            storage.transfers.remove(transfer)

    return step


def _strided_end(op: affine.DmaStart | memref.DmaStart) -> str:
    """Which end of a copy has a stride: the one in the memory space of the lower number."""
    if not op.stride:
        return ""
    source, target = memref_type(op.source, op).space, memref_type(op.target, op).space
    if not isinstance(source, int) or not isinstance(target, int) or source == target:
        text = f"{shown(op.source)} and {shown(op.target)} lie in the memory spaces {source} and {target}"
        raise error(op, f"{text}: a stride is that of the one whose number is lower")
    return "source" if source < target else "target"


def _jumps(op: Op, elements: int, stride: Index) -> NDArray[np.int64]:
    distance, count = stride
    if count <= 0 or elements % count:
        raise error(op, f"{elements} elements cannot be copied in chunks of {count}")
    steps = np.arange(elements, dtype=np.int64)
    return steps // count * distance + steps % count


def _cells(op: Op, value: Value, buffer: BufferView, start: Index, steps: NDArray[np.int64]) -> NDArray[np.int64]:
    """The cells that lie some steps behind an element, all of which must be elements of the buffer."""
    if len(steps) == 0:
        return steps
    cells = _cell(op, value, buffer, start) + steps
    if buffer.is_dense:
        outside = (cells < buffer.place) | (cells >= buffer.place + prod(buffer.shape))
    else:
        outside = ~np.isin(cells, buffer.positions())
    if outside.any():
        text = f"element {int(np.argmax(outside))} of the copy, {int(steps[np.argmax(outside)])} behind "
        text += f"{shown(value)}[{listed(start)}], is out of bounds"
        raise error(op, f"{text}: {shown(value)} has sizes ({listed(buffer.shape)})")
    return cells


def _cell(op: Op, value: Value, buffer: BufferView, index: Index) -> int:
    """The cell of an element of the buffer."""
    for i, size in zip(index, buffer.shape, strict=True):
        if not 0 <= i < size:
            text = f"{shown(value)}[{listed(index)}] is out of bounds"
            raise error(op, f"{text}: {shown(value)} has sizes ({listed(buffer.shape)})")
    return buffer.position(index)


def _copy(
    op: affine.DmaStart | memref.DmaStart,
    source: BufferView,
    reads: NDArray[np.int64],
    target: BufferView,
    writes: NDArray[np.int64],
) -> None:
    if len(np.unique(writes)) < len(writes):
        raise error(op, f"{shown(op.target)} has elements that the copy writes more than once")
    both = np.isin(source.addresses(reads), target.addresses(writes))
    if both.any():
        raise error(op, f"{shown(op.source)} and {shown(op.target)} overlap in memory")
    filled = None if source.marks is None else np.asarray(source.marks.reshape(-1, source.per)[reads].all(axis=1))
    if target.marks is not None:
        target.marks.reshape(-1, target.per)[writes] = True if filled is None else filled[:, None]
    elif filled is not None and not filled.all():
        raise error(op, f"{shown(op.source)} has elements in which nothing was stored")
    target.cells[writes] = source.cells[reads]


def _ready(op: Op, value: Value, env: Env) -> BufferView:
    buffer: BufferView = env[value]
    if buffer.dead:
        must_be_usable(op, value, buffer)
    return buffer


def _tag(op: Op, value: Value, at: Subscripts, env: Env) -> tuple[BufferView, int]:
    buffer, index = _ready(op, value, env), at(env)
    return buffer, buffer.address(_cell(op, value, buffer, index))


def _affine(index: tuple[Affine, ...], op: Op) -> Subscripts:
    return tuple_of([evaluator_of(e, op) for e in index])
