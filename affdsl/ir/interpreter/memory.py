"""The operations on memrefs, as steps."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from affdsl.ir import semantics
from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, memref
from affdsl.ir.expr import Value
from affdsl.ir.interpreter.bounds import evaluator_of
from affdsl.ir.interpreter.buffers import BufferView, Index, allocate, layout_mismatch, reader, writer
from affdsl.ir.interpreter.environment import (
    Env,
    InterpreterError,
    Step,
    Take,
    error,
    held_type,
    listed,
    memref_type,
    scalar_type,
    taker,
)
from affdsl.ir.interpreter.evaluation import tuple_of
from affdsl.ir.messages import shown
from affdsl.ir.numeric import Number
from affdsl.ir.types import MemRefType, ScalarType, StridedLayout


def subscripts(
    op: affine.Access | memref.Load | memref.Store,
) -> Callable[[Env], Index]:
    """The index of an access as a function of the environment."""
    if isinstance(op, memref.Load | memref.Store):
        return taker(op.indices)
    if len(op.index) > 1 and all(e.value is not None for e in op.index):
        return taker(tuple(e.value for e in op.index if e.value is not None))
    return tuple_of([evaluator_of(e, op) for e in op.index])


def load(op: affine.Load | memref.Load) -> Step:
    """result = memref[index]"""
    source, result, index_of, read = op.memref, op.result, subscripts(op), reader(held_type(op.memref, op))

    def step(env: Env) -> None:
        buffer: BufferView = env[source]
        index = index_of(env)
        for i, size in zip(index, buffer.shape, strict=True):
            if not 0 <= i < size:
                raise _out_of_bounds(op, index, buffer)
        if buffer.storage.dead or buffer.storage.transfers:
            must_be_usable(op, source, buffer, index)
        if buffer.written is not None and not buffer.holds(index):
            raise error(op, f"{shown(source)}[{listed(index)}] is read before anything was stored there")
        env[result] = read(buffer.array, index)

    return step


def store(op: affine.Store | memref.Store) -> Step:
    """memref[index] = value"""
    target, value, index_of, write = op.memref, op.value, subscripts(op), writer(held_type(op.memref, op))

    def step(env: Env) -> None:
        buffer: BufferView = env[target]
        index = index_of(env)
        for i, size in zip(index, buffer.shape, strict=True):
            if not 0 <= i < size:
                raise _out_of_bounds(op, index, buffer)
        if buffer.storage.dead or buffer.storage.transfers:
            must_be_usable(op, target, buffer, index, written=True)
        if not buffer.writeable:
            raise error(op, read_only(target, buffer))
        write(buffer.array, index, env[value])
        if buffer.written is not None:
            buffer.written[index] = True

    return step


def atomic_rmw(op: memref.AtomicRMW) -> Step:
    """result = memref[indices], which becomes memref[indices] <combine> value"""
    type = scalar_type(op.result.type, op)
    combine = _atomic(op.combine, type)
    new = Value(op.result.type)
    before = load(memref.Load(op.result, op.memref, op.indices, location=op.location))
    after = store(memref.Store(new, op.memref, op.indices, location=op.location))

    def step(env: Env) -> None:
        before(env)
        env[new] = combine(env[op.result], env[op.value])
        after(env)

    return step


def _atomic(kind: str, type: ScalarType) -> Callable[..., Number]:
    """How a kind of ATOMIC puts the old number and a new one together."""
    plain = {"ori": "ori", "xori": "xori", "maxnumf": "maxnumf", "minnumf": "minnumf"}
    return semantics.binary(plain[kind], type) if kind in plain else semantics.combine(kind, type)


def alloc(op: memref.Allocation, *, tracked: bool) -> Step:
    """result = a new buffer"""
    type, element, sizes, symbols = memref_type(op.result, op), held_type(op.result, op), taker(op.sizes), op.symbols
    layout = _new_layout(type, taker(symbols))

    def step(env: Env) -> None:
        dynamic = iter(sizes(env))
        shape = tuple(next(dynamic) if size is None else size for size in type.shape)
        if any(size < 0 for size in shape):
            raise error(op, f"{shown(op.result)} would have a negative size: {listed(shape)}")
        try:
            env[op.result] = allocate(shape, element, op.name, layout(env), tracked=tracked)
        except (MemoryError, ValueError) as problem:
            raise error(op, f"{shown(op.result)} of sizes {listed(shape)} does not fit into memory") from problem

    return step


def _new_layout(type: MemRefType, symbols: Take) -> Callable[[Env], StridedLayout | None]:
    """The layout of a new buffer by strides, with the numbers that its type leaves open."""
    if not isinstance(type.layout, StridedLayout):
        return lambda env: None
    strides, offset = type.layout.strides, type.layout.offset

    def layout(env: Env) -> StridedLayout:
        given = iter(symbols(env))
        known = tuple(next(given) if stride is None else stride for stride in strides)
        return StridedLayout(known, next(given) if offset is None else offset)

    return layout


def end_of_life(values: Sequence[Value]) -> Step:
    """The end of the block of some alloca: they are dead."""

    def step(env: Env) -> None:
        for v in values:
            env[v].storage.dead = "its block has ended"

    return step


def dealloc(op: memref.Dealloc) -> Step:
    """Give a buffer back."""

    def step(env: Env) -> None:
        buffer: BufferView = env[op.memref]
        if buffer.dead:
            raise dead(op, op.memref, buffer)
        origin = buffer.storage.origin
        if origin != "memref.alloc":
            text = f"{shown(op.memref)} comes from {origin}, and only what memref.alloc gives is given back"
            raise error(op, text)
        if buffer.is_view:
            raise error(op, f"{shown(op.memref)} is a view, and only what memref.alloc gives is given back")
        if buffer.storage.transfers:
            raise error(op, f"{shown(op.memref)} is given back while a copy that was begun in it is under way")
        buffer.storage.dead = "it was deallocated"

    return step


def dim(op: memref.Dim) -> Step:
    """result = the size along one dimension"""

    def step(env: Env) -> None:
        shape, axis = env[op.memref].shape, env[op.index]
        if not 0 <= axis < len(shape):
            raise error(op, f"{shown(op.memref)} has {len(shape)} dimensions, and none with the number {axis}")
        env[op.result] = shape[axis]

    return step


def rank(op: memref.Rank) -> Step:
    """result = the number of dimensions"""
    return lambda env: env.__setitem__(op.result, len(env[op.memref].shape))


def address(op: memref.ExtractAlignedPointerAsIndex) -> Step:
    """result = where the buffer begins in the memory of this process"""

    def step(env: Env) -> None:
        buffer: BufferView = env[op.source]
        must_be_usable(op, op.source, buffer, written=False)
        env[op.result] = buffer.cells.ctypes.data

    return step


def copy(op: memref.Copy) -> Step:
    """target[...] = source[...]"""

    def step(env: Env) -> None:
        source: BufferView = env[op.source]
        target: BufferView = env[op.target]
        names = f"{shown(op.source)} and {shown(op.target)}"
        for value, buffer in ((op.source, source), (op.target, target)):
            must_be_usable(op, value, buffer, written=buffer is target)
        if source.shape != target.shape:
            raise error(op, f"{names} differ in shape: ({listed(source.shape)}) and ({listed(target.shape)})")
        if np.shares_memory(source.array, target.array):
            raise error(op, f"{names} overlap in memory")
        if not target.writeable:
            raise error(op, read_only(op.target, target))
        filled = source.filled()
        if target.written is not None:
            mark = True if filled is None else filled if target.per == 1 else filled[..., None]
            target.written[...] = mark
        elif filled is not None and not filled.all():
            raise error(op, f"{shown(op.source)} has elements in which nothing was stored")
        np.copyto(target.array, source.array)

    return step


def cast(op: memref.Cast) -> Step:
    """result = the same buffer, checked against the new type"""
    type = op.result.type

    def step(env: Env) -> None:
        buffer: BufferView = env[op.source]
        if isinstance(type, MemRefType):
            if len(buffer.shape) != type.rank:
                raise error(op, f"{shown(op.source)} has rank {len(buffer.shape)}, which is no {type}")
            if mismatch := layout_mismatch(buffer, type):
                raise error(op, f"{shown(op.source)} has {mismatch}")
        env[op.result] = buffer

    return step


def must_be_usable(
    op: Op, value: Value, buffer: BufferView, index: Index | None = None, *, written: bool = False
) -> None:
    """Raise an error if an element, or all, of a buffer must not be used: it is gone, or being copied at the moment."""
    if buffer.storage.dead:
        raise dead(op, value, buffer)
    if not buffer.storage.transfers:
        return
    positions = buffer.positions() if index is None else np.array([buffer.position(index)], np.int64)
    must_be_free(op, value, buffer, positions, written=written)


def must_be_free(op: Op, value: Value, buffer: BufferView, positions: NDArray[np.int64], *, written: bool) -> None:
    """Raise an error if one of some cells is the target of a copy under way, or its source and would be written."""
    first = buffer.addresses(positions)
    for transfer in buffer.storage.transfers:
        if _overlap(first, buffer.cells.itemsize, transfer.writes, transfer.size):
            verb = "written" if written else "read"
            raise error(op, f"{shown(value)} is {verb} where a copy that was begun and not waited for writes")
        if written and _overlap(first, buffer.cells.itemsize, transfer.reads, transfer.size):
            raise error(op, f"{shown(value)} is written where a copy that was begun and not waited for reads")


def _overlap(some: NDArray[np.int64], size: int, others: NDArray[np.int64], other_size: int) -> bool:
    """Whether an element of the one kind shares a byte with one of the other; `others` are in order."""
    at = np.searchsorted(others, some - other_size, side="right")
    inside = at < len(others)
    return bool(np.any(others[at[inside]] < some[inside] + size))


def read_only(value: Value, buffer: BufferView) -> str:
    """What is wrong with writing to a buffer that is only read."""
    if buffer.storage.origin == "memref.global":
        return f"{shown(value)} is written, but is a constant"
    return f"{shown(value)} is written, but its array is read-only"


def _out_of_bounds(
    op: affine.Load | affine.Store | memref.Load | memref.Store, index: Index, buffer: BufferView
) -> Exception:
    name = shown(op.memref)
    return error(op, f"{name}[{listed(index)}] is out of bounds: {name} has sizes ({listed(buffer.shape)})")


def dead(op: Op, value: Value, buffer: BufferView) -> InterpreterError:
    """What is raised where a buffer is used that is gone."""
    return error(op, f"{shown(value)} must not be used any more: {buffer.dead}")
