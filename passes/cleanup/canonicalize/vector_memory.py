"""Rules for vectors that are loaded and stored: masks that are known, and transfers that stay inside."""

from __future__ import annotations

from typing import TypeAlias, get_args

from affdsl.ir.dialects import vector
from affdsl.ir.types import MemRefType, VectorType
from affdsl.passes.cleanup.canonicalize.graph import Graph, OpNode
from affdsl.passes.cleanup.canonicalize.numbers import index_number, integer
from affdsl.passes.cleanup.canonicalize.rules import Rules

_Masked: TypeAlias = (
    vector.MaskedLoad | vector.MaskedStore | vector.Gather | vector.ExpandLoad | vector.Scatter | vector.CompressStore
)


def by_mask(graph: Graph, node: OpNode, op: _Masked) -> bool:
    """An access of no lane is what stands in for it, or nothing; a masked load or store of all is one without mask."""
    is_set = integer(graph, op.mask)
    if is_set is None:
        return False
    if not is_set:
        if isinstance(op, vector.MaskedLoad | vector.Gather | vector.ExpandLoad):
            graph.replace(node, (op.pass_thru,))
        else:
            graph.erase(node)
        return True
    if not isinstance(op, vector.MaskedLoad | vector.MaskedStore):
        return False
    cls, value = (vector.Load, op.result) if isinstance(op, vector.MaskedLoad) else (vector.Store, op.value)
    graph.update(node, cls(value, op.memref, op.indices, alignment=op.alignment, location=op.location))
    return True


def inside(graph: Graph, node: OpNode, op: vector.TransferRead | vector.TransferWrite) -> bool:
    """A transfer stays inside along the dimensions where it starts at a known place and does not reach the end."""
    vector_type = (op.result if isinstance(op, vector.TransferRead) else op.value).type
    memory, axes = op.memref.type, vector.map_dims(op.map)
    if not isinstance(memory, MemRefType) or not isinstance(vector_type, VectorType) or axes is None:
        return False
    if len(axes) != vector_type.rank:  # the elements are vectors themselves
        return False
    scalable = vector_type.scalable or (False,) * vector_type.rank
    found = list(op.in_bounds)
    for k, (axis, size) in enumerate(zip(axes, vector_type.shape, strict=True)):
        if found[k] or axis is None or scalable[k]:
            continue
        start, end = index_number(graph, op.indices[axis]), memory.shape[axis]
        found[k] = start is not None and end is not None and start >= 0 and start + size <= end
    if tuple(found) == op.in_bounds:
        return False
    graph.set(node, in_bounds=tuple(found))
    return True


VECTOR_MEMORY = Rules(
    rules={
        **dict.fromkeys(get_args(_Masked), (by_mask,)),
        vector.TransferRead: (inside,), vector.TransferWrite: (inside,),
    },
)  # fmt: skip
