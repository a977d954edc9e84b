"""Buffers of the heap and of the stack as C."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from affdsl.codegen.c.buffers import Buffer
from affdsl.codegen.c.context import Context
from affdsl.codegen.c.expressions import Code
from affdsl.codegen.c.plan import is_small, root_of
from affdsl.codegen.c.strides import strides_of
from affdsl.codegen.c.types import element, stored_type
from affdsl.errors import UnsupportedError
from affdsl.ir.dialects import memref
from affdsl.ir.expr import Affine, Value
from affdsl.ir.types import MemRefType


def allocate(c: Context, op: memref.Alloc | memref.Alloca) -> None:
    """A buffer: of the caller where it is returned, small ones on the stack, others on the heap."""
    type = op.result.type
    assert isinstance(type, MemRefType)
    if type.layout is not None and strides_of(type, f"buffer {op.result.hint!r}")[0] is not None:
        raise UnsupportedError(f"buffer {op.result.hint!r} has the layout {type}; C output allocates row-major buffers")
    sizes = iter(op.sizes)
    shape = tuple(c.values.fixed(next(sizes)) if s is None else Affine.of(s) for s in type.shape)
    for size in shape:
        if size.value is not None:
            c.ranges.know(size.value, 0)
    own = op.result in c.buffers.results
    name = c.buffers.results[op.result] if own else c.lines.scope.declare(op.result.hint, "buffer")
    unsigned = any(r.value is op.result and r.unsigned for r in c.plan.results)
    c.buffers[op.result] = Buffer(name, type, shape, root_of(c.plan, op.result), unsigned)
    if own:
        return
    c_type = stored_type(element(type))
    if isinstance(op, memref.Alloca) and is_small(op):
        count = prod(s or 0 for s in type.shape)
        align = "" if op.alignment is None else f"_Alignas({op.alignment}) "
        c.lines.declaration(name, f"{align}{c_type} {name}[{count}];")
        return
    obtain(c, name, op.result, c_type, [c.values.expression(s) for s in shape], op.alignment)


def obtain(c: Context, name: str, value: Value, c_type: str, sizes: Sequence[Code], alignment: int | None) -> None:
    """Declare a buffer of the heap that this block owns."""
    listed = ", ".join(s.text for s in sizes) or "1"
    start = f"sizeof({c_type}), {len(sizes) or 1}, (const int64_t[]){{{listed}}}"
    if alignment is not None and alignment > 16:
        allocation = f"{c.unit.helper('new_aligned')}({alignment}, {start})"
    else:
        allocation = f"{c.unit.helper('new_buffer')}({start})"
    c.lines.declaration(name, f"{c_type} *{name} = {allocation};")
    with c.lines.block(f"if ({name} == NULL)"):
        c.fail()
    c.unit.header("stdlib.h")
    c.lines.read(name)
    c.heap.own(name, c.plan.roots[value])


def deallocate(c: Context, op: memref.Dealloc) -> None:
    """Free a buffer of the heap, which some block around owns."""
    c.values.name_readers((root_of(c.plan, op.memref),))
    if not c.heap.release(c.plan.roots[op.memref]):
        raise UnsupportedError(
            f"memref.dealloc of {op.memref.hint or 'a buffer'!r} in {c.plan.func.symbol!r}: "
            "C output frees only what the function allocated itself"
        )
