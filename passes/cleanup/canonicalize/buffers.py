"""Rules for buffers: casts that their users look through, sizes, allocations that nobody reads, copies."""

from __future__ import annotations

from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, func, memref, vector
from affdsl.ir.expr import Value
from affdsl.ir.layouts import strided
from affdsl.ir.types import ComplexType, MemRefType
from affdsl.passes.cleanup.canonicalize.graph import Graph, OpNode
from affdsl.passes.cleanup.canonicalize.numbers import index_number
from affdsl.passes.cleanup.canonicalize.rules import Folded, Known, Rule, Rules

_CAST_OPERANDS: dict[type[Op], tuple[str, ...]] = {
    memref.Load: ("memref",), memref.Store: ("memref",), memref.Prefetch: ("memref",), memref.AtomicRMW: ("memref",),
    memref.Dealloc: ("memref",), memref.DmaStart: ("source", "target", "tag"), memref.DmaWait: ("tag",),
    affine.Load: ("memref",), affine.Store: ("memref",), affine.VectorLoad: ("memref",),
    affine.VectorStore: ("memref",), affine.Prefetch: ("memref",), affine.DmaStart: ("source", "target", "tag"),
    affine.DmaWait: ("tag",), memref.Cast: ("source",),
    vector.Load: ("memref",), vector.Store: ("memref",), vector.MaskedLoad: ("memref",),
    vector.MaskedStore: ("memref",), vector.Gather: ("memref",), vector.Scatter: ("memref",),
    vector.ExpandLoad: ("memref",), vector.CompressStore: ("memref",), vector.TransferRead: ("memref",),
    vector.TransferWrite: ("memref",),
}  # fmt: skip
"""The buffers that each class of operations may as well take as they are before a memref.cast."""


def through_cast(graph: Graph, node: OpNode, op: Op) -> bool:
    """The source of a memref.cast in the place of its result, where both have a known rank."""
    new: dict[str, object] = {}
    for name in _CAST_OPERANDS[type(op)]:
        match graph.definition(getattr(op, name)):
            case memref.Cast(source=source) if isinstance(source.type, MemRefType):
                new[name] = source
    if not new or getattr(op, "value", None) in [getattr(op, name) for name in new]:
        return False
    graph.set(node, **new)
    return True


def fold_cast(graph: Graph, op: memref.Cast) -> Folded:
    """A cast that changes nothing."""
    return op.source if op.source.type == op.result.type else None


def is_forgetting(cast: memref.Cast) -> bool:
    """Whether the result of a cast has no size, stride or offset that its source leaves open."""
    source, result = cast.source.type, cast.result.type
    if not isinstance(source, MemRefType) or not isinstance(result, MemRefType) or source.rank != result.rank:
        return False
    before, after = strided(source), strided(result)
    if before is None or after is None:
        return False
    pairs = [*zip(source.shape, result.shape, strict=True), *zip(before.strides, after.strides, strict=True)]
    return all(a is not None or b is None for a, b in (*pairs, (before.offset, after.offset)))


def fold_dim(graph: Graph, op: memref.Dim) -> Folded:
    """A size that the type has, or that was given where the buffer was made."""
    axis, type = index_number(graph, op.index), op.memref.type
    if axis is None or not isinstance(type, MemRefType) or not 0 <= axis < type.rank:
        return None
    size = type.shape[axis]
    if size is not None:
        return Known(size)
    place = type.shape[:axis].count(None)
    match graph.definition(op.memref):
        case memref.Alloc(sizes=sizes) | memref.Alloca(sizes=sizes) | memref.View(sizes=sizes):
            return sizes[place]
        case memref.SubView(sizes=sizes):  # what a result leaves out has a known size
            return sizes[place]
    return None


def dim_of_cast(graph: Graph, node: OpNode, op: memref.Dim) -> bool:
    """The size of a buffer before a cast."""
    match graph.definition(op.memref):
        case memref.Cast(source=source) if isinstance(source.type, MemRefType) and _known_axis(graph, op, source):
            graph.set(node, memref=source)
            return True
    return False


def _known_axis(graph: Graph, op: memref.Dim, source: Value) -> bool:
    axis = index_number(graph, op.index)
    assert isinstance(source.type, MemRefType)
    return axis is not None and 0 <= axis < source.type.rank


def fold_rank(graph: Graph, op: memref.Rank) -> Folded:
    """The rank that the type says."""
    return Known(op.memref.type.rank) if isinstance(op.memref.type, MemRefType) else None


def static_sizes(graph: Graph, node: OpNode, op: memref.Allocation) -> bool:
    """Sizes that are constants become part of the type."""
    type = op.result.type
    assert isinstance(type, MemRefType)
    given, sizes, shape = iter(op.sizes), list[Value](), list[int | None]()
    for size in type.shape:
        if size is None:
            value = next(given)
            number = index_number(graph, value)
            if number is None or number < 0:
                sizes.append(value)
            else:
                size = number
        shape.append(size)
    if len(sizes) == len(op.sizes):
        return False
    new = Value(MemRefType(tuple(shape), type.element, type.layout, type.space), op.result.hint, op.location)
    made = op.__class__(new, tuple(sizes), op.alignment, op.symbols, location=op.location)
    graph.insert(made, node)
    graph.update(node, memref.Cast(op.result, new, location=op.location))
    return True


def never_read(graph: Graph, node: OpNode, op: memref.Allocation) -> bool:
    """A buffer that is only written by memref.store and freed: nobody misses it."""
    users = graph.users(op.result)
    for user in users:
        match user.op:
            case memref.Store(value=value) if value is not op.result:
                pass
            case memref.Dealloc():
                pass
            case _:
                return False
    for user in users:
        graph.erase(user)
    graph.erase(node)
    return True


def useless_copy(graph: Graph, node: OpNode, op: memref.Copy) -> bool:
    """A copy of a buffer to itself, or of no elements."""
    sizes = [v.type.shape for v in (op.source, op.target) if isinstance(v.type, MemRefType)]
    if op.source is op.target or any(0 in shape for shape in sizes):
        graph.erase(node)
        return True
    return False


def copy_through_cast(graph: Graph, node: OpNode, op: memref.Copy) -> bool:
    """A copy from and to buffers as they are before casts that only forget."""
    new: dict[str, Value] = {}
    for name in ("source", "target"):
        match graph.definition(getattr(op, name)):
            case memref.Cast(source=source) as cast if is_forgetting(cast):
                new[name] = source
    if not new:
        return False
    graph.set(node, **new)
    return True


def fold_load_of_global(graph: Graph, op: affine.Load) -> Folded:
    """An element of a constant buffer, where it is known which one, or where all are equal."""
    match graph.definition(op.memref):
        case memref.GetGlobal(symbol=symbol):
            found = _global(graph, symbol, op.memref)
            node = graph.node(op.result)
            if found is None or found.value is None or not found.constant or node is None:
                return None
            if isinstance(found.type.element, ComplexType):
                return None  # arith has no constants of that type
            if not isinstance(found.value, tuple):
                return Known(_real(found.value))
            index = node.maps["index"].constants
            if index is None:
                return None
            position = 0
            for k, size in zip(index, found.type.shape, strict=True):
                if size is None or not 0 <= k < size:
                    return None
                position = position * size + k
            return Known(_real(found.value[position]))
    return None


def _real(number: memref.Number) -> int | float:
    assert not isinstance(number, complex), "a complex number has a complex type"
    return number


def _global(graph: Graph, symbol: str, memory: Value) -> memref.Global | None:
    """The global buffer of a name, in the nearest module around."""
    node = graph.node(memory)
    while node is not None and node.body is not None and not isinstance(node.op, func.Module):
        node = node.body.owner
    if node is None or not isinstance(node.op, func.Module):
        return None
    for inner in node.region("body"):
        match inner.op:
            case memref.Global(symbol=name) as found if name == symbol:
                return found
    return None


_THROUGH: dict[type[Op], tuple[Rule, ...]] = dict.fromkeys(_CAST_OPERANDS, (through_cast,))

BUFFERS = Rules(
    folds={
        memref.Cast: fold_cast, memref.Dim: fold_dim, memref.Rank: fold_rank, affine.Load: fold_load_of_global,
    },
    rules=_THROUGH | {
        memref.Dim: (dim_of_cast,),
        memref.Alloc: (static_sizes, never_read),
        memref.Alloca: (static_sizes, never_read),
        memref.Copy: (copy_through_cast, useless_copy),
    },
)  # fmt: skip
