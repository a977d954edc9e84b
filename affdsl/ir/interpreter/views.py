"""The operations that give a buffer, or a part of it, another shape, as steps: all share its elements."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod

from affdsl.ir import layouts
from affdsl.ir.core import Op
from affdsl.ir.dialects import memref
from affdsl.ir.expr import Value
from affdsl.ir.interpreter.buffers import BufferView, Index, known_parts, layout_mismatch, stored
from affdsl.ir.interpreter.environment import Env, Step, error, held_type, listed, memref_type
from affdsl.ir.interpreter.memory import dead, load
from affdsl.ir.messages import shown
from affdsl.ir.mixed import Mixed, mixed
from affdsl.ir.types import INDEX, MemRefType


def numbers(parts: Mixed) -> Callable[[Env], Index]:
    """The numbers that some of known numbers and values are."""
    return lambda env: tuple(env[p] if isinstance(p, Value) else p for p in parts)


def subview(op: memref.SubView) -> Step:
    """result = every so many elements of source, from an offset on, along each dimension"""
    source, result = memref_type(op.source, op), memref_type(op.result, op)
    offsets, sizes, strides = map(numbers, op.parts)
    axes = _kept(op, source, result)

    def step(env: Env) -> None:
        buffer = _alive(env, op.source, op)
        first, counts, steps = offsets(env), sizes(env), strides(env)
        for axis, (size, offset, count, stride) in enumerate(zip(buffer.shape, first, counts, steps, strict=True)):
            if count < 0:
                raise error(op, f"{shown(op.result)} would have the negative size {count} along dimension {axis}")
            last = offset + (count - 1) * stride
            if count and not (0 <= offset < size and 0 <= last < size):
                text = f"the part of {shown(op.source)} from {offset} to {last} along dimension {axis} is out of bounds"
                raise error(op, f"{text}: its sizes are ({listed(buffer.shape)})")
        # A part without elements lies nowhere: no offset is out of bounds then.
        place = buffer.place + sum(o * s for o, s in zip(first, buffer.strides, strict=True))
        inner = [stride * s for stride, s in zip(steps, buffer.strides, strict=True)]
        view = buffer.view(tuple(counts[k] for k in axes), tuple(inner[k] for k in axes), place)
        env[op.result] = _checked(op, op.result, view, result)

    return step


def _kept(op: memref.SubView, source: MemRefType, result: MemRefType) -> Sequence[int]:
    """The dimensions of the source that the result has."""
    layout, wanted = layouts.strided(source), layouts.strided(result)
    if layout is not None and wanted is not None:
        inferred = layouts.subview(layout, op.static_offsets, op.static_strides)
        axes = layouts.kept(op.static_sizes, inferred, result.shape, wanted)
        if axes is not None:
            return axes
    raise error(op, f"{shown(op.result)} cannot have type {result}; the verifier refuses this")


def reinterpret_cast(op: memref.ReinterpretCast) -> Step:
    """result = elements of the whole buffer that source is a part of"""
    result = memref_type(op.result, op)
    offsets, sizes, strides = map(numbers, op.parts)

    def step(env: Env) -> None:
        buffer = _alive(env, op.source, op)
        (offset,), shape, steps = offsets(env), sizes(env), strides(env)
        if any(size < 0 for size in shape):
            raise error(op, f"{shown(op.result)} would have a negative size: {listed(shape)}")
        if buffer.start is None:
            raise error(op, f"where the buffer of {shown(op.source)} begins is not known: its offset is not")
        place = offset - buffer.start
        ends = [(size - 1) * stride for size, stride in zip(shape, steps, strict=True)]
        low, high = place + sum(e for e in ends if e < 0), place + sum(e for e in ends if e > 0)
        if 0 not in shape and not (low >= 0 and high < len(buffer.cells)):
            first, last = buffer.start, buffer.start + len(buffer.cells) - 1
            text = f"{shown(op.result)} would reach from element {low + first} to {high + first}"
            raise error(op, f"{text}, but the buffer of {shown(op.source)} has the elements {first} to {last}")
        env[op.result] = _checked(op, op.result, buffer.view(shape, steps, place), result)

    return step


def expand_shape(op: memref.ExpandShape) -> Step:
    """result = source with dimensions split up"""
    result, sizes = memref_type(op.result, op), numbers(mixed(op.static_sizes, op.sizes))

    def step(env: Env) -> None:
        buffer, shape = _alive(env, op.source, op), sizes(env)
        if any(size < 0 for size in shape):
            raise error(op, f"{shown(op.result)} would have a negative size: {listed(shape)}")
        strides = [1] * len(shape)
        for axis, (group, stride) in enumerate(zip(op.groups, buffer.strides, strict=True)):
            count = prod(shape[k] for k in group)
            if count != buffer.shape[axis]:
                text = f"dimension {axis} of {shown(op.source)} has size {buffer.shape[axis]}"
                raise error(op, f"{text}, which is not the product of ({listed(shape[k] for k in group)})")
            for k in reversed(group):
                strides[k] = stride
                stride *= shape[k]
        view = buffer.view(shape, tuple(strides), buffer.place)
        env[op.result] = _checked(op, op.result, view, result)

    return step


def collapse_shape(op: memref.CollapseShape) -> Step:
    """result = source with dimensions put together, which must be contiguous"""
    result = memref_type(op.result, op)

    def step(env: Env) -> None:
        buffer = _alive(env, op.source, op)
        shape = tuple(prod(buffer.shape[k] for k in group) for group in op.groups)
        strides = tuple(_together(op, buffer, group) for group in op.groups)
        env[op.result] = _checked(op, op.result, buffer.view(shape, strides, buffer.place), result)

    return step


def _together(op: memref.CollapseShape, buffer: BufferView, group: Sequence[int]) -> int:
    """The stride of a group of dimensions as one."""
    longer = [k for k in group if buffer.shape[k] != 1] or [group[-1]]
    stride = step = buffer.strides[longer[-1]]
    for k in reversed(longer):
        if buffer.strides[k] != step and 0 not in buffer.shape:
            names = listed(group)
            raise error(op, f"the dimensions {names} of {shown(op.source)} are not contiguous, and cannot become one")
        step *= buffer.shape[k]
    return stride


def view(op: memref.View) -> Step:
    """result = bytes from a position on as elements of another type"""
    result, element = memref_type(op.result, op), held_type(op.result, op)
    dynamic = numbers(op.sizes)

    def step(env: Env) -> None:
        buffer, shift = _alive(env, op.source, op), env[op.shift]
        given = iter(dynamic(env))
        shape = tuple(next(given) if size is None else size for size in result.shape)
        if any(size < 0 for size in shape):
            raise error(op, f"{shown(op.result)} would have a negative size: {listed(shape)}")
        if shift < 0:
            raise error(op, f"{shown(op.result)} would begin at byte {shift}")
        size = stored(element).itemsize
        if shift + prod(shape) * size > buffer.shape[0]:
            text = f"{shown(op.result)} of sizes ({listed(shape)}) does not fit into {shown(op.source)}"
            raise error(op, f"{text} from byte {shift} on: it has {buffer.shape[0]} bytes")
        if shift % size:
            text = f"{shown(op.result)} would begin at byte {shift}"
            raise error(op, f"{text}, which is no multiple of the {size} bytes of an element")
        env[op.result] = buffer.bytes_as(element, shape, shift)

    return step


def reshape(op: memref.Reshape) -> Step:
    """result = the elements of source in their order with other sizes"""
    result = op.result.type
    size, number = Value(INDEX, "k"), Value(INDEX, "size")
    read = load(memref.Load(number, op.shape, (size,), location=op.location))

    def step(env: Env) -> None:
        buffer, shape_of = _alive(env, op.source, op), env[op.shape]
        shape = []
        for k in range(shape_of.shape[0]):
            inner = {op.shape: shape_of, size: k}
            read(inner)
            shape.append(int(inner[number]))
        if any(n < 0 for n in shape) or prod(shape) != prod(buffer.shape):
            text = f"{shown(op.source)} has {prod(buffer.shape)} elements"
            raise error(op, f"{text}, which no buffer of sizes ({listed(shape)}) has")
        strides = layouts.row_major(tuple(shape))
        if known_parts(layouts.row_major(buffer.shape)) != buffer.strides and 0 not in shape:
            raise error(op, f"{shown(op.source)} is not contiguous")
        made = buffer.view(tuple(shape), known_parts(strides), buffer.place)
        env[op.result] = _checked(op, op.result, made, result) if isinstance(result, MemRefType) else made

    return step


def extract_strided_metadata(op: memref.ExtractStridedMetadata) -> Step:
    """base, offset, sizes, strides = source, taken apart"""

    def step(env: Env) -> None:
        buffer = _alive(env, op.source, op)
        if buffer.start is None or buffer.offset is None:
            raise error(op, f"where the buffer of {shown(op.source)} begins is not known: its offset is not")
        env[op.base] = buffer.view((), (), -buffer.start if len(buffer.cells) else 0)
        env[op.offset] = buffer.offset
        env.update(zip(op.sizes, buffer.shape, strict=True))
        env.update(zip(op.strides, buffer.strides, strict=True))

    return step


def _alive(env: Env, value: Value, op: Op) -> BufferView:
    buffer: BufferView = env[value]
    if buffer.dead:
        raise dead(op, value, buffer)
    return buffer


def _checked(op: Op, value: Value, buffer: BufferView, type: MemRefType) -> BufferView:
    """buffer, which must have what its type says of sizes and strides."""
    if mismatch := layout_mismatch(buffer, type):
        raise error(op, f"{shown(value)} would have {mismatch}")
    return buffer
