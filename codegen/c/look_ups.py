"""Elements that the lanes of one vector choose from an array, where an instruction set has that as one instruction."""

from __future__ import annotations

from math import prod

from affdsl.codegen.c.context import Context
from affdsl.codegen.c.expressions import Code, number
from affdsl.codegen.c.types import suffix
from affdsl.codegen.c.vector_helpers import has_row
from affdsl.codegen.c.vector_memory import pointer_to
from affdsl.codegen.c.vector_types import address, is_narrow, is_native, lane_kind, on_vectors
from affdsl.ir.core import Op
from affdsl.ir.dialects import memref, vector
from affdsl.ir.expr import Value
from affdsl.ir.types import MemRefType, VectorType


def looked_up(c: Context, op: vector.FromElements) -> Code | None:
    """A vector of elements `table[which[0]], table[which[1]], ...`; None for others, and where no target has more.

    The loads are written here, as they would be one by one: whatever may store before them has kept their values.
    """
    type = op.result.type
    kind, lanes = lane_kind(c, op.result), prod(type.shape) if isinstance(type, VectorType) else 0
    if c.is_checked or is_narrow(op.result) or not has_row("gathered", suffix(kind), lanes):
        return None
    if not c.values.pending.keys() >= {*op.elements}:
        return None
    loads = [c.definitions.get(v) for v in op.elements]
    which = [_lane(c, load, k) for k, load in enumerate(loads)]
    tables = {load.memref for load in loads if isinstance(load, memref.Load)}
    (source, *others) = {*which}
    if source is None or others or len(tables) != 1:
        return None
    if not isinstance(source.type, VectorType) or not is_native(c, source.type):
        return None
    (table,) = tables
    for value in op.elements:
        c.lines.drop(c.values.pending.pop(value))
    first = pointer_to(c, c.buffers[table], [number(0)])
    return on_vectors(c, "gathered", kind, lanes, first, address(c, "i64", source))


def _lane(c: Context, load: Op | None, k: int) -> Value | None:
    """The vector whose lane k says which element of an array of one dimension a load takes; None for another load."""
    if not isinstance(load, memref.Load) or not isinstance(load.memref.type, MemRefType) or load.memref.type.rank != 1:
        return None
    lane = c.definitions.get(load.indices[0])
    if load.memref.type.layout is not None or not isinstance(lane, vector.Extract) or lane.static_position != (k,):
        return None
    return lane.source
