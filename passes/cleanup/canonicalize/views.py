"""Rules for views of buffers: known sizes and offsets become part of the type, and casts and views meet."""

from __future__ import annotations

from affdsl.ir import layouts
from affdsl.ir.dialects import memref
from affdsl.ir.expr import Value
from affdsl.ir.layouts import strided
from affdsl.ir.mixed import Mixed, Static, mixed, unmixed
from affdsl.ir.types import MemRefType, StridedLayout
from affdsl.passes.cleanup.canonicalize.buffers import is_forgetting
from affdsl.passes.cleanup.canonicalize.graph import Graph, OpNode
from affdsl.passes.cleanup.canonicalize.numbers import index_number
from affdsl.passes.cleanup.canonicalize.rules import Folded, Rules


def _known_numbers(graph: Graph, parts: Mixed, least: int | None) -> Mixed:
    """parts with constants as numbers, where they are not below the least one."""

    def known(part: int | Value) -> int | Value:
        number = index_number(graph, part) if isinstance(part, Value) else None
        return part if number is None or (least is not None and number < least) else number

    return tuple(map(known, parts))


def _with_parts(op: memref.Part, result: Value, source: Value, parts: tuple[Mixed, Mixed, Mixed]) -> memref.Part:
    (so, o), (ss, s), (st, t) = (unmixed(part) for part in parts)
    return type(op)(result, source, o, s, t, so, ss, st, location=op.location)


def _replaced(graph: Graph, node: OpNode, op: memref.Part, new: memref.Part) -> None:
    """Let a view of another type do what a view did, cast to its type."""
    graph.insert(new, node)
    if new.result.type == op.result.type:
        graph.replace(node, (new.result,))
    else:
        graph.update(node, memref.Cast(op.result, new.result, location=op.location))


def fold_subview(graph: Graph, op: memref.SubView) -> Folded:
    """A subview that is all of its source."""
    source, result = op.source.type, op.result.type
    if not isinstance(result, MemRefType) or source != result:
        return None
    if None not in result.shape:
        return op.source
    match graph.definition(op.source):
        case memref.SubView() as outer:
            offsets, sizes, strides = op.parts
            if all(k == 0 for k in offsets) and all(k == 1 for k in strides) and sizes == outer.parts[1]:
                return op.source
    return None


def _subview_type(op: memref.SubView, source: MemRefType, parts: tuple[Mixed, Mixed, Mixed]) -> MemRefType | None:
    """The type of a subview with these parts that leaves out the dimensions that op leaves out."""
    layout, result = strided(source), op.result.type
    if layout is None or not isinstance(result, MemRefType):
        return None
    offsets, sizes, strides = (unmixed(part)[0] for part in parts)
    made = layouts.subview(layout, offsets, strides)
    axes = _kept_axes(op, result)
    if axes is None:
        return None
    shape = tuple([sizes[k] for k in axes])
    kept = StridedLayout(tuple([made.strides[k] for k in axes]), made.offset)
    plain = kept == StridedLayout(layouts.row_major(shape)) and source.layout is None
    return MemRefType(shape, source.element, None if plain else kept, source.space)


def _kept_axes(op: memref.SubView, result: MemRefType) -> tuple[int, ...] | None:
    source = op.source.type
    if not isinstance(source, MemRefType):
        return None
    if source.rank == result.rank:
        return tuple(range(source.rank))
    before, wanted = strided(source), strided(result)
    if before is None or wanted is None:
        return None
    made = layouts.subview(before, op.static_offsets, op.static_strides)
    return layouts.kept(op.static_sizes, made, result.shape, wanted)


def constant_parts(graph: Graph, node: OpNode, op: memref.SubView) -> bool:
    """Offsets, sizes and strides that are constants become part of the operation and its type."""
    parts = tuple(_known_numbers(graph, part, least) for part, least in zip(op.parts, (0, 0, 1), strict=True))
    offsets, sizes, strides = parts
    source = op.source.type
    if (offsets, sizes, strides) == op.parts or not isinstance(source, MemRefType):
        return False
    type = _subview_type(op, source, (offsets, sizes, strides))
    if type is None:
        return False
    new = Value(type, op.result.hint, op.location)
    _replaced(graph, node, op, _with_parts(op, new, op.source, (offsets, sizes, strides)))
    return True


def subview_of_cast(graph: Graph, node: OpNode, op: memref.SubView) -> bool:
    """A part of what a buffer was before a cast that only forgets."""
    cast = graph.definition(op.source)
    if not isinstance(cast, memref.Cast) or not is_forgetting(cast):
        return False
    source = cast.source.type
    assert isinstance(source, MemRefType)
    type = _subview_type(op, source, op.parts)
    if type is None:
        return False
    new = Value(type, op.result.hint, op.location)
    _replaced(graph, node, op, _with_parts(op, new, cast.source, op.parts))
    return True


def whole_subview(graph: Graph, node: OpNode, op: memref.SubView) -> bool:
    """A subview of all elements is a cast."""
    source, result = op.source.type, op.result.type
    assert isinstance(source, MemRefType)
    assert isinstance(result, MemRefType)
    offsets, sizes, strides = op.parts
    is_whole = all(k == 0 for k in offsets) and all(k == 1 for k in strides) and sizes == source.shape
    if source.rank != result.rank or None in source.shape or not is_whole:
        return False
    if source == result:
        graph.replace(node, (op.source,))
    else:
        graph.update(node, memref.Cast(op.result, op.source, location=op.location))
    return True


def constant_reinterpretation(graph: Graph, node: OpNode, op: memref.ReinterpretCast) -> bool:
    """Offset, sizes and strides that are constants become part of the operation and its type."""
    parts = tuple(_known_numbers(graph, part, least) for part, least in zip(op.parts, (0, 0, None), strict=True))
    offsets, sizes, strides = parts
    old = op.result.type
    if (offsets, sizes, strides) == op.parts or not isinstance(old, MemRefType):
        return False
    (static_offset,), shape, steps = (unmixed(part)[0] for part in (offsets, sizes, strides))
    layout = StridedLayout(steps, static_offset)
    type = MemRefType(shape, old.element, layout, old.space)
    new = Value(type, op.result.hint, op.location)
    _replaced(graph, node, op, _with_parts(op, new, op.source, (offsets, sizes, strides)))
    return True


def reinterpreted_source(graph: Graph, node: OpNode, op: memref.ReinterpretCast) -> bool:
    """What a buffer is a part of does not depend on the casts and views in between."""
    match graph.definition(op.source):
        case memref.ReinterpretCast(source=source) | memref.Cast(source=source):
            graph.set(node, source=source)
            return True
        case memref.SubView(source=source) as part if all(k == 0 for k in part.parts[0]):
            graph.set(node, source=source)
            return True
    return False


def fold_reinterpretation(graph: Graph, op: memref.ReinterpretCast) -> Folded:
    """One that changes nothing."""
    type = op.result.type
    if isinstance(type, MemRefType) and None not in type.shape and op.source.type == type:
        return op.source if op.static_offsets == (0,) and _is_plain(type) else None
    return None


def _is_plain(type: MemRefType) -> bool:
    layout = strided(type)
    return layout is not None and layout.offset == 0 and None not in layout.strides


def constant_view(graph: Graph, node: OpNode, op: memref.View) -> bool:
    """Sizes that are constants become part of the type."""
    type = op.result.type
    if not isinstance(type, MemRefType):
        return False
    sizes = _known_numbers(graph, mixed(type.shape, op.sizes), 0)
    shape, values = unmixed(sizes)
    if len(values) == len(op.sizes):
        return False
    new = Value(MemRefType(shape, type.element, type.layout, type.space), op.result.hint, op.location)
    graph.insert(memref.View(new, op.source, op.shift, values, location=op.location), node)
    graph.update(node, memref.Cast(op.result, new, location=op.location))
    return True


def view_of_cast(graph: Graph, node: OpNode, op: memref.View) -> bool:
    """Bytes of what a buffer was before a cast."""
    match graph.definition(op.source):
        case memref.Cast(source=source) if isinstance(source.type, MemRefType):
            graph.set(node, source=source)
            return True
    return False


def fold_reshape(graph: Graph, op: memref.ExpandShape | memref.CollapseShape) -> Folded:
    """A change of shape that changes nothing, or takes another one back."""
    if op.source.type == op.result.type:
        return op.source
    inverse = memref.CollapseShape if isinstance(op, memref.ExpandShape) else memref.ExpandShape
    before = graph.definition(op.source)
    if isinstance(before, inverse) and before.source.type == op.result.type and before.groups == op.groups:
        return before.source if _is_static(op.result) or isinstance(op, memref.CollapseShape) else None
    return None


def _is_static(value: Value) -> bool:
    return isinstance(value.type, MemRefType) and None not in value.type.shape


def collapse_twice(graph: Graph, node: OpNode, op: memref.CollapseShape) -> bool:
    """Dimensions put together in two steps are put together in one."""
    before = graph.definition(op.source)
    if not isinstance(before, memref.CollapseShape) or not op.groups:
        return False
    groups = tuple([tuple([axis for k in group for axis in before.groups[k]]) for group in op.groups])
    graph.update(node, memref.CollapseShape(op.result, before.source, groups, location=op.location))
    return True


def expand_twice(graph: Graph, node: OpNode, op: memref.ExpandShape) -> bool:
    """Dimensions taken apart in two steps are taken apart in one."""
    before = graph.definition(op.source)
    if not isinstance(before, memref.ExpandShape) or not before.groups:
        return False
    groups = tuple([tuple([axis for k in group for axis in op.groups[k]]) for group in before.groups])
    new = memref.ExpandShape(op.result, before.source, groups, op.sizes, op.static_sizes, location=op.location)
    graph.update(node, new)
    return True


def constant_metadata(graph: Graph, node: OpNode, op: memref.ExtractStridedMetadata) -> bool:
    """The offset, sizes and strides that the type of a buffer says; and those before a cast."""
    type, changed = op.source.type, False
    if isinstance(type, MemRefType) and (layout := strided(type)) is not None:
        known: Static = (layout.offset, *type.shape, *layout.strides)
        for value, number in zip((op.offset, *op.sizes, *op.strides), known, strict=True):
            if number is not None and graph.uses(value):
                graph.rename(value, graph.constant(number, value.type, node))
                changed = True
    match graph.definition(op.source):
        case memref.Cast(source=source) if isinstance(source.type, MemRefType):
            graph.set(node, source=source)
            return True
    return changed


VIEWS = Rules(
    folds={
        memref.SubView: fold_subview, memref.ReinterpretCast: fold_reinterpretation,
        memref.ExpandShape: fold_reshape, memref.CollapseShape: fold_reshape,
    },
    rules={
        memref.SubView: (constant_parts, subview_of_cast, whole_subview),
        memref.ReinterpretCast: (reinterpreted_source, constant_reinterpretation),
        memref.View: (constant_view, view_of_cast),
        memref.CollapseShape: (collapse_twice,), memref.ExpandShape: (expand_twice,),
        memref.ExtractStridedMetadata: (constant_metadata,),
    },
)  # fmt: skip
