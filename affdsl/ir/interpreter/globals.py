"""Global buffers: one for each run, with the elements that their definition says."""

from __future__ import annotations

import numpy as np

from affdsl.ir.core import Op
from affdsl.ir.dialects import memref
from affdsl.ir.interpreter.buffers import BufferView, allocate, writer
from affdsl.ir.interpreter.environment import error, number_type
from affdsl.ir.numeric import number_of
from affdsl.ir.types import StridedLayout


def global_buffer(definition: memref.Global, op: Op, *, tracked: bool) -> BufferView:
    """The buffer of a definition; `op` is what its errors name."""
    if definition.external:
        raise error(op, f"the global buffer @{definition.symbol} is defined elsewhere")
    type, element = definition.type, number_type(definition.type.element, op)
    shape = tuple(size for size in type.shape if size is not None)
    layout = type.layout if isinstance(type.layout, StridedLayout) else None
    buffer = allocate(shape, element, "memref.global", layout, tracked=tracked)
    value = definition.value
    if value is not None:
        write = writer(element)
        if not isinstance(value, tuple):
            write(buffer.array, ..., number_of(value, element))
        else:
            for index, number in zip(np.ndindex(*shape), value, strict=True):
                write(buffer.array, index, number_of(number, element))
        if buffer.written is not None:
            buffer.written[...] = True
    if definition.constant:
        buffer.cells.flags.writeable = False
        buffer = BufferView(
            buffer.storage, buffer.cells, buffer.marks, buffer.shape, buffer.strides, buffer.place, is_view=False
        )
    return buffer
