"""Rules for vectors that are computed, taken apart and put together."""

from __future__ import annotations

from math import prod

from affdsl.ir.dialects import arith, vector
from affdsl.ir.expr import Value
from affdsl.ir.mixed import Mixed, mixed, unmixed
from affdsl.ir.traverse import with_fields
from affdsl.ir.types import VectorType
from affdsl.passes.cleanup.canonicalize.graph import Graph, OpNode
from affdsl.passes.cleanup.canonicalize.numbers import index_number
from affdsl.passes.cleanup.canonicalize.rules import Folded, Known, Rules


def _shape(value: Value) -> tuple[int, ...]:
    """The sizes of a vector; a scalar has none."""
    return value.type.shape if isinstance(value.type, VectorType) else ()


def _is_scalable(value: Value) -> bool:
    return isinstance(value.type, VectorType) and any(value.type.scalable)


def fold_same_type(
    graph: Graph, op: vector.Broadcast | vector.ShapeCast | vector.BitCast | vector.ExtractStridedSlice
) -> Folded:
    """What changes no type here changes nothing; what takes itself back neither."""
    if op.source.type == op.result.type:
        return op.source
    before = graph.definition(op.source)
    if isinstance(op, vector.ShapeCast | vector.BitCast) and type(before) is type(op):
        assert isinstance(before, vector.ShapeCast | vector.BitCast)
        if before.source.type == op.result.type:
            return before.source
    payload = graph.payload(op.source)
    if payload is None or isinstance(op, vector.BitCast) or _is_scalable(op.result):
        return None
    if not isinstance(payload, tuple):
        return Known(payload)
    return Known(payload) if isinstance(op, vector.ShapeCast) else None


def chain(graph: Graph, node: OpNode, op: vector.Broadcast | vector.ShapeCast | vector.BitCast) -> bool:
    """Two operations of a kind, one after the other, are one."""
    before = graph.definition(op.source)
    if type(before) is not type(op):
        return False
    assert isinstance(before, vector.Broadcast | vector.ShapeCast | vector.BitCast)
    graph.set(node, source=before.source)
    return True


def constant_positions(graph: Graph, node: OpNode, op: vector.Extract | vector.Insert) -> bool:
    """Positions that are constants inside the vector become part of the operation."""
    shape = _shape(op.source if isinstance(op, vector.Extract) else op.target)

    def known_position(part: int | Value, size: int) -> int | Value:
        number = index_number(graph, part) if isinstance(part, Value) else None
        return number if number is not None and 0 <= number < size else part

    old: Mixed = mixed(op.static_position, op.position)
    new = tuple([known_position(p, n) for p, n in zip(old, shape, strict=False)])
    if new == old:
        return False
    static, values = unmixed(new)
    graph.update(node, with_fields(op, static_position=static, position=values))
    return True


def fold_extract(graph: Graph, op: vector.Extract) -> Folded:
    """A part of a vector that is known by how the vector was made."""
    if not op.static_position:
        return op.source if op.source.type == op.result.type else None
    if op.position:
        return None
    at = tuple([k for k in op.static_position if k is not None])
    payload = graph.payload(op.source)
    if payload is not None and not _is_scalable(op.source):
        if not isinstance(payload, tuple):
            return Known(payload)
        start, size = _place(at, _shape(op.source))
        return Known(payload[start : start + size] if isinstance(op.result.type, VectorType) else payload[start])
    match graph.definition(op.source):
        case vector.Broadcast(source=source) if source.type == op.result.type:
            return source
        case vector.FromElements(elements=elements) if not isinstance(op.result.type, VectorType):
            return elements[_place(at, _shape(op.source))[0]]
        case vector.Insert(value=value, static_position=position) if position == op.static_position:
            return value if value.type == op.result.type else None
    return None


def _place(position: tuple[int, ...], shape: tuple[int, ...]) -> tuple[int, int]:
    """The first lane at a position, and how many there are."""
    start = 0
    for k, size in zip(position, shape, strict=False):
        start = start * size + k
    size = prod(shape[len(position) :])
    return start * size, size


def extract_from(graph: Graph, node: OpNode, op: vector.Extract) -> bool:
    """A part of a vector as a part of what that was made of."""
    match graph.definition(op.source):
        case vector.Extract() as outer:
            static, values = unmixed((*outer.positions, *op.positions))
            graph.update(node, with_fields(op, source=outer.source, static_position=static, position=values))
            return True
        case vector.Insert(target=target, static_position=position, position=()) if not op.position:
            both = list(zip(position, op.static_position, strict=False))
            if any(a != b for a, b in both):
                graph.set(node, source=target)
                return True
        case vector.Broadcast(source=source) if not op.position and _extends(source, op.source):
            added = len(_shape(op.source)) - len(_shape(source))
            if 0 < added <= len(op.static_position) and isinstance(source.type, VectorType):
                graph.set(node, source=source, static_position=op.static_position[added:])
                return True
    return False


def _extends(source: Value, result: Value) -> bool:
    """Whether a broadcast only adds dimensions."""
    inner, outer = _shape(source), _shape(result)
    return outer[len(outer) - len(inner) :] == inner


def fold_transpose(graph: Graph, op: vector.Transpose) -> Folded:
    """A transposition that changes nothing, or that of equal lanes."""
    if op.permutation == tuple(range(len(op.permutation))):
        return op.source
    payload = graph.payload(op.source)
    return None if payload is None or isinstance(payload, tuple) or _is_scalable(op.source) else Known(payload)


def transpose_again(graph: Graph, node: OpNode, op: vector.Transpose) -> bool:
    """Two transpositions are one; that of a broadcast scalar is a broadcast."""
    match graph.definition(op.source):
        case vector.Transpose(source=source, permutation=first):
            permutation = tuple([first[k] for k in op.permutation])
            graph.set(node, source=source, permutation=permutation)
            return True
        case vector.Broadcast(source=source) if not isinstance(source.type, VectorType):
            graph.update(node, vector.Broadcast(op.result, source, location=op.location))
            return True
    return False


def fold_shuffle(graph: Graph, op: vector.Shuffle) -> Folded:
    """All rows of one operand, in order."""
    for operand, first in ((op.left, 0), (op.right, (_shape(op.left) or (1,))[0])):
        if operand.type == op.result.type and op.mask == tuple(range(first, first + len(op.mask))):
            return operand
    return None


def same_elements(graph: Graph, node: OpNode, op: vector.ToElements) -> bool:
    """The lanes of a vector that was made of scalars."""
    match graph.definition(op.source):
        case vector.FromElements(elements=elements):
            graph.replace(node, elements)
            return True
        case vector.Broadcast(source=source) if not isinstance(source.type, VectorType):
            graph.replace(node, (source,) * len(op.results))
            return True
    return False


def fold_elements(graph: Graph, op: vector.FromElements) -> Folded:
    """A vector of the lanes of a vector, or of constants."""
    before = graph.definition(op.elements[0]) if op.elements else None
    if isinstance(before, vector.ToElements) and before.results == op.elements and before.source.type == op.result.type:
        return before.source
    found = [graph.payload(v) for v in op.elements]
    scalars = [x for x in found if x is not None and not isinstance(x, tuple)]
    return Known(tuple(scalars)) if scalars and len(scalars) == len(found) else None


def fold_slice(graph: Graph, op: vector.ExtractStridedSlice) -> Folded:
    """All of a vector, what was just put in, or equal lanes."""
    found = fold_same_type(graph, op)
    if found is not None:
        return found
    match graph.definition(op.source):
        case vector.InsertStridedSlice(value=value, offsets=offsets) if value.type == op.result.type:
            wanted = (*op.offsets, *[0] * (len(offsets) - len(op.offsets)))
            return value if offsets == wanted else None
    return None


def reduction_of_one(graph: Graph, node: OpNode, op: vector.Reduction) -> bool:
    """The only lane of a vector, combined with what the reduction starts from."""
    if _shape(op.source) not in ((1,), ()) or _is_scalable(op.source):
        return False
    position = (0,) if _shape(op.source) else ()
    lane = Value(op.result.type, "" if op.acc else op.result.hint, op.location)
    graph.insert(vector.Extract(lane, op.source, (), position, location=op.location), node)
    if not op.acc:
        graph.replace(node, (lane,))
        return True
    on_floats, on_integers = vector.KINDS[op.combine]
    kind = on_integers if on_floats is None else on_floats if op.combine.endswith("f") else None
    if kind is None:
        kind = on_floats if _is_float(op.result) else on_integers
    assert kind is not None
    graph.update(node, arith.Binary(op.result, kind, lane, op.acc[0], location=op.location, attributes=op.attributes))
    return True


def _is_float(value: Value) -> bool:
    return str(value.type)[0] in "fb"


def constant_mask(graph: Graph, node: OpNode, op: vector.CreateMask) -> bool:
    """A mask below known bounds."""
    if _is_scalable(op.result):
        return False
    bounds = [index_number(graph, v) for v in op.bounds]
    shape = _shape(op.result)
    found = [b for b in bounds if b is not None]
    if len(found) < len(bounds) or len(shape) != len(found):
        return False
    sizes = tuple([max(0, min(b, n)) for b, n in zip(found, shape, strict=True)])
    if 0 in sizes:
        sizes = (0,) * len(sizes)
    graph.update(node, vector.ConstantMask(op.result, sizes, location=op.location))
    return True


def fold_mask(graph: Graph, op: vector.ConstantMask) -> Folded:
    """A mask that is set everywhere, or nowhere."""
    if _is_scalable(op.result):
        return None
    if op.sizes == _shape(op.result):
        return Known(True)
    return Known(False) if op.sizes and 0 in op.sizes else None


VECTOR_VALUES = Rules(
    folds={
        vector.Broadcast: fold_same_type, vector.ShapeCast: fold_same_type, vector.BitCast: fold_same_type,
        vector.Extract: fold_extract, vector.Transpose: fold_transpose, vector.Shuffle: fold_shuffle,
        vector.FromElements: fold_elements, vector.ExtractStridedSlice: fold_slice, vector.ConstantMask: fold_mask,
    },
    rules={
        vector.Broadcast: (chain,), vector.ShapeCast: (chain,), vector.BitCast: (chain,),
        vector.Extract: (constant_positions, extract_from), vector.Insert: (constant_positions,),
        vector.Transpose: (transpose_again,), vector.ToElements: (same_elements,),
        vector.Reduction: (reduction_of_one,), vector.CreateMask: (constant_mask,),
    },
)  # fmt: skip
