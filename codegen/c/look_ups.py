"""Elements that the lanes of one vector choose from an array, where an instruction set has that as one instruction."""

from __future__ import annotations

from functools import reduce
from math import prod

from affdsl.codegen.c.context import Context
from affdsl.codegen.c.expressions import Code, call, cast, number, plus, times
from affdsl.codegen.c.memory import strides_in
from affdsl.codegen.c.types import suffix
from affdsl.codegen.c.vector_helpers import has_row
from affdsl.codegen.c.vector_memory import pointer_to
from affdsl.codegen.c.vector_types import (
    address,
    address_of,
    integers,
    is_narrow,
    is_native,
    lane_kind,
    on_vectors,
    whole,
)
from affdsl.ir.core import Op
from affdsl.ir.dialects import memref, vector
from affdsl.ir.expr import Affine, Value
from affdsl.ir.types import MemRefType, VectorType


def looked_up(c: Context, op: vector.FromElements) -> Code | None:
    """A vector of elements `table[rows[0], columns[0]], table[rows[1], columns[1]], ...`, of any rank.

    None for others, and where no target has more. The loads are written here, as they would be one by one: whatever may
    store before them has kept their values.
    """
    type = op.result.type
    kind, lanes = lane_kind(c, op.result), prod(type.shape) if isinstance(type, VectorType) else 0
    if c.is_checked or is_narrow(op.result) or not has_row("gathered", suffix(kind), lanes):
        return None
    if not c.values.pending.keys() >= {*op.elements}:
        return None
    loads = [c.definitions.get(v) for v in op.elements]
    tables = {load.memref for load in loads if isinstance(load, memref.Load)}
    ((indices, *others), *more) = ({_indices(c, load, k) for k, load in enumerate(loads)}, *tables)
    if indices is None or others or len(more) != 1:
        return None
    which = [v for v in indices if isinstance(v.type, VectorType)]
    if not which or not all(is_native(c, v.type) for v in which if isinstance(v.type, VectorType)):
        return None
    buffer = c.buffers[more[0]]
    for value in op.elements:
        c.lines.drop(c.values.pending.pop(value))
    first = pointer_to(c, buffer, [number(0) if v in which else c.values.of(v) for v in indices])
    if len(which) == 1 and strides_in(c, buffer)[indices.index(which[0])] == Affine.of(1):
        return on_vectors(c, "gathered", kind, lanes, first, address(c, "i64", which[0]))
    signed, long = (integers(c, each, lanes) for each in ("i64", "u64"))
    apart: list[Code] = []
    for v, stride in zip(indices, strides_in(c, buffer), strict=True):
        if v in which:
            steps = call(c.unit.vector_helper("all", "i64", lanes), c.values.expression(stride))
            apart.append(times(cast(long, whole(c, v)), number(1) if stride == Affine.of(1) else cast(long, steps)))
    return on_vectors(c, "gathered", kind, lanes, first, address_of(c, signed, cast(signed, reduce(plus, apart))))


def _indices(c: Context, load: Op | None, k: int) -> tuple[Value, ...] | None:
    """What chooses the element that a load takes: the vectors of whose lanes k they are, or numbers."""
    if not isinstance(load, memref.Load) or not isinstance(load.memref.type, MemRefType):
        return None
    lanes = [c.definitions.get(v) for v in load.indices]
    return tuple(
        lane.source if isinstance(lane, vector.Extract) and lane.static_position == (k,) else v
        for lane, v in zip(lanes, load.indices, strict=True)
    )
