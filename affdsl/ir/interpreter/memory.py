"""The operations on memrefs, as steps."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, memref
from affdsl.ir.expr import Value
from affdsl.ir.interpreter.bounds import evaluator_of
from affdsl.ir.interpreter.buffers import Buffer, Index, allocate, layout_mismatch, reader, writer
from affdsl.ir.interpreter.environment import (
    Env,
    InterpreterError,
    Step,
    element_type,
    error,
    listed,
    memref_type,
    taker,
)
from affdsl.ir.interpreter.evaluation import tuple_of
from affdsl.ir.messages import shown
from affdsl.ir.types import StridedLayout


def _subscripts(op: affine.Load | affine.Store | memref.Load | memref.Store) -> Callable[[Env], Index]:
    if isinstance(op, memref.Load | memref.Store):
        return taker(op.indices)
    if len(op.index) > 1 and all(e.value is not None for e in op.index):
        return taker(tuple(e.value for e in op.index if e.value is not None))
    return tuple_of([evaluator_of(e, op) for e in op.index])


def load(op: affine.Load | memref.Load) -> Step:
    """result = memref[index]"""
    source, result, subscripts, read = op.memref, op.result, _subscripts(op), reader(element_type(op.memref, op))

    def step(env: Env) -> None:
        buffer: Buffer = env[source]
        index = subscripts(env)
        for i, size in zip(index, buffer.shape, strict=True):
            if not 0 <= i < size:
                raise _out_of_bounds(op, index, buffer)
        if buffer.dead:
            raise _dead(op, source, buffer)
        if buffer.written is not None and not buffer.written[index]:
            raise error(op, f"{shown(source)}[{listed(index)}] is read before anything was stored there")
        env[result] = read(buffer.array, index)

    return step


def store(op: affine.Store | memref.Store) -> Step:
    """memref[index] = value"""
    target, value, subscripts, write = op.memref, op.value, _subscripts(op), writer(element_type(op.memref, op))

    def step(env: Env) -> None:
        buffer: Buffer = env[target]
        index = subscripts(env)
        for i, size in zip(index, buffer.shape, strict=True):
            if not 0 <= i < size:
                raise _out_of_bounds(op, index, buffer)
        if buffer.dead:
            raise _dead(op, target, buffer)
        if not buffer.writeable:
            raise error(op, f"{shown(target)} is written, but its array is read-only")
        write(buffer.array, index, env[value])
        if buffer.written is not None:
            buffer.written[index] = True

    return step


def alloc(op: memref.Alloc | memref.Alloca, *, tracked: bool) -> Step:
    """result = a new buffer"""
    type, element, sizes = memref_type(op.result, op), element_type(op.result, op), taker(op.sizes)
    layout = type.layout if isinstance(type.layout, StridedLayout) else None

    def step(env: Env) -> None:
        dynamic = iter(sizes(env))
        shape = tuple(next(dynamic) if size is None else size for size in type.shape)
        if any(size < 0 for size in shape):
            raise error(op, f"{shown(op.result)} would have a negative size: {listed(shape)}")
        try:
            env[op.result] = allocate(shape, element, op.name, layout, tracked=tracked)
        except (MemoryError, ValueError) as problem:
            raise error(op, f"{shown(op.result)} of sizes {listed(shape)} does not fit into memory") from problem

    return step


def end_of_life(values: Sequence[Value]) -> Step:
    """The end of the block of some alloca: they are dead."""

    def step(env: Env) -> None:
        for v in values:
            env[v].dead = "its block has ended"

    return step


def dealloc(op: memref.Dealloc) -> Step:
    """Give a buffer back."""

    def step(env: Env) -> None:
        buffer: Buffer = env[op.memref]
        if buffer.dead:
            raise _dead(op, op.memref, buffer)
        if buffer.origin != "memref.alloc":
            raise error(
                op, f"{shown(op.memref)} comes from {buffer.origin}, and only what memref.alloc gives is given back"
            )
        buffer.dead = "it was deallocated"

    return step


def dim(op: memref.Dim) -> Step:
    """result = the size along one dimension"""

    def step(env: Env) -> None:
        shape, axis = env[op.memref].shape, env[op.index]
        if not 0 <= axis < len(shape):
            raise error(op, f"{shown(op.memref)} has {len(shape)} dimensions, and none with the number {axis}")
        env[op.result] = shape[axis]

    return step


def copy(op: memref.Copy) -> Step:
    """target[...] = source[...]"""

    def step(env: Env) -> None:
        source: Buffer = env[op.source]
        target: Buffer = env[op.target]
        names = f"{shown(op.source)} and {shown(op.target)}"
        for value, buffer in ((op.source, source), (op.target, target)):
            if buffer.dead:
                raise _dead(op, value, buffer)
        if source.shape != target.shape:
            raise error(op, f"{names} differ in shape: ({listed(source.shape)}) and ({listed(target.shape)})")
        if np.shares_memory(source.array, target.array):
            raise error(op, f"{names} overlap in memory")
        if not target.writeable:
            raise error(op, f"{shown(op.target)} is written, but its array is read-only")
        if target.written is not None:
            target.written[...] = True if source.written is None else source.written
        elif source.written is not None and not source.written.all():
            raise error(op, f"{shown(op.source)} has elements in which nothing was stored")
        np.copyto(target.array, source.array)

    return step


def cast(op: memref.Cast) -> Step:
    """result = the same buffer, checked against the new type"""
    type = memref_type(op.result, op)

    def step(env: Env) -> None:
        buffer: Buffer = env[op.source]
        if len(buffer.shape) != type.rank:
            raise error(op, f"{shown(op.source)} has rank {len(buffer.shape)}, which is no {type}")
        if mismatch := layout_mismatch(buffer, type):
            raise error(op, f"{shown(op.source)} has {mismatch}")
        env[op.result] = buffer

    return step


def _out_of_bounds(
    op: affine.Load | affine.Store | memref.Load | memref.Store, index: Index, buffer: Buffer
) -> Exception:
    name = shown(op.memref)
    return error(op, f"{name}[{listed(index)}] is out of bounds: {name} has sizes ({listed(buffer.shape)})")


def _dead(op: Op, value: Value, buffer: Buffer) -> InterpreterError:
    return error(op, f"{shown(value)} must not be used any more: {buffer.dead}")
