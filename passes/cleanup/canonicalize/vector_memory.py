"""Rules for vectors that are loaded and stored: masks that are known, and transfers that stay inside."""

from __future__ import annotations

from affdsl.ir.dialects import vector
from affdsl.ir.expr import Value
from affdsl.ir.types import MemRefType, VectorType
from affdsl.passes.cleanup.canonicalize.graph import Graph, OpNode
from affdsl.passes.cleanup.canonicalize.numbers import index_number, integer
from affdsl.passes.cleanup.canonicalize.rules import Rules


def _mask(graph: Graph, value: Value) -> bool | None:
    """Whether a mask is set everywhere, or nowhere; None if that is not known."""
    found = integer(graph, value)
    return None if found is None else bool(found)


def load_by_mask(graph: Graph, node: OpNode, op: vector.MaskedLoad) -> bool:
    """A masked load as a load, or as what stands in for it."""
    match _mask(graph, op.mask):
        case True:
            new = vector.Load(op.result, op.memref, op.indices, alignment=op.alignment, location=op.location)
            graph.update(node, new)
        case False:
            graph.replace(node, (op.pass_thru,))
        case None:
            return False
    return True


def store_by_mask(graph: Graph, node: OpNode, op: vector.MaskedStore) -> bool:
    """A masked store as a store, or as nothing."""
    match _mask(graph, op.mask):
        case True:
            new = vector.Store(op.value, op.memref, op.indices, alignment=op.alignment, location=op.location)
            graph.update(node, new)
        case False:
            graph.erase(node)
        case None:
            return False
    return True


def gather_by_mask(graph: Graph, node: OpNode, op: vector.Gather | vector.ExpandLoad) -> bool:
    """A load of no lane at all."""
    if _mask(graph, op.mask) is not False:
        return False
    graph.replace(node, (op.pass_thru,))
    return True


def scatter_by_mask(graph: Graph, node: OpNode, op: vector.Scatter | vector.CompressStore) -> bool:
    """A store of no lane at all."""
    if _mask(graph, op.mask) is not False:
        return False
    graph.erase(node)
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
        vector.MaskedLoad: (load_by_mask,), vector.MaskedStore: (store_by_mask,),
        vector.Gather: (gather_by_mask,), vector.ExpandLoad: (gather_by_mask,),
        vector.Scatter: (scatter_by_mask,), vector.CompressStore: (scatter_by_mask,),
        vector.TransferRead: (inside,), vector.TransferWrite: (inside,),
    },
)  # fmt: skip
