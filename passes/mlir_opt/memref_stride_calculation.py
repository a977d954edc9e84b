"""The strides and the offset of each buffer that a function allocates, in the words of mlir-opt's test pass."""

from __future__ import annotations

from collections.abc import Iterator

from affdsl.ir.dialects import func, memref
from affdsl.ir.layouts import strided
from affdsl.ir.traverse import walk
from affdsl.ir.types import MemRefType


def memref_stride_calculation(module: func.Module) -> Iterator[str]:
    """A line for each memref.alloc: how far apart the elements are that its subscripts count, in elements.

    `?` is known only at run time; a layout that no strides describe is named.

    >>> from affdsl.mlir.readers import parse
    >>> module = parse('''func.func @f(%n: index) {
    ...     %a = memref.alloc(%n) : memref<3x?x5xf32>
    ...     %b = memref.alloc()[%n] : memref<4x4xf32, affine_map<(d0, d1)[s0] -> (d0 * s0 + d1 + 7)>>
    ...     return
    ... }''')
    >>> for line in memref_stride_calculation(module):
    ...     print(line)
    Testing: f
    MemRefType offset: 0 strides: ?, 5, 1
    MemRefType offset: 7 strides: ?, 1
    """
    for function in walk(module):
        if not isinstance(function, func.Func) or function.external:
            continue
        yield f"Testing: {function.symbol}"
        for op in walk(function):
            if isinstance(op, memref.Alloc) and isinstance(op.result.type, MemRefType):
                yield f"MemRefType {_described(op.result.type)}"


def _described(type: MemRefType) -> str:
    layout = strided(type)
    if layout is None:
        return f"{type} cannot be converted to strided form"
    offset, *strides = ["?" if number is None else str(number) for number in (layout.offset, *layout.strides)]
    return f"offset: {offset} strides: {', '.join(strides)}"
