"""Arrays as MLIR hands them over: a structure with pointers, an offset, sizes and strides, called a descriptor.

struct { float *allocated, *aligned; int64_t offset, sizes[2], strides[2]; }    memref<?x?xf32>
struct { int64_t rank; void *descriptor; }                                      memref<*xf32>
"""

from __future__ import annotations

from affdsl.codegen.c.context import Context
from affdsl.codegen.c.memory import strides_in
from affdsl.codegen.c.types import element, stored_type
from affdsl.ir.expr import Value
from affdsl.ir.types import MemRefType, Type


def descriptor(c: Context, value: Value, type: Type) -> str:
    """Declare the descriptor of an array that is handed over as `type`; returns its name."""
    name = ranked_descriptor(c, value)
    if isinstance(type, MemRefType):
        return name
    whole = c.lines.scope.declare(f"{name}_any")
    c.lines.add(f"struct {{ int64_t rank; void *descriptor; }} {whole} = {{ {c.buffers[value].type.rank}, &{name} }};")
    return whole


def ranked_descriptor(c: Context, value: Value) -> str:
    """Declare the descriptor of an array of the rank that it has here; returns its name."""
    buffer = c.buffers[value]
    kind = stored_type(element(buffer.type), buffer.unsigned)
    pointer = f"({kind} *){c.lines.read(buffer.name)}"
    fields, values = f"{kind} *allocated, *aligned; int64_t offset", f"{pointer}, {pointer}, {buffer.offset}"
    rank = buffer.type.rank
    if rank:
        lists = (c.buffers.sizes(buffer), strides_in(c, buffer))
        shown = [", ".join(c.values.expression(each).text for each in numbers) for numbers in lists]
        fields, values = f"{fields}, sizes[{rank}], strides[{rank}]", f"{values}, {{ {shown[0]} }}, {{ {shown[1]} }}"
    name = c.lines.scope.declare(f"{value.hint or 'array'}_described")
    c.lines.add(f"struct {{ {fields}; }} {name} = {{ {values} }};")
    return name
