"""The rules of views: operations that give a buffer, or a part of it, another shape."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from itertools import islice

from affdsl.ir import layouts
from affdsl.ir.dialects import memref
from affdsl.ir.expr import Value
from affdsl.ir.messages import shown
from affdsl.ir.mixed import Static
from affdsl.ir.types import INDEX, IndexType, IntegerType, MemRefType, UnrankedMemRefType
from affdsl.ir.verifier import types
from affdsl.ir.verifier.context import Context, Rules, needed
from affdsl.ir.verifier.types import must_have


def subview(op: memref.SubView, context: Context) -> Iterator[str]:
    """One offset, size and stride for each dimension, in bounds where known; the type that follows from them."""
    source, result = yield from _both(op.source, op.result)
    problems = [*_parts(op), *_same_storage(source, result)]
    yield from problems
    counts = len(op.static_offsets), len(op.static_sizes), len(op.static_strides)
    if counts != (source.rank,) * 3:
        text = "{} has {} dimensions, but {} offsets, {} sizes and {} strides are given"
        yield text.format(shown(op.source), source.rank, *counts)
        return
    layout, wanted = layouts.strided(source), layouts.strided(result)
    if layout is None:
        yield f"{shown(op.source)} has the layout of {source}, of which strides say nothing"
        return
    bounds = zip(source.shape, op.static_offsets, op.static_sizes, op.static_strides, strict=True)
    for axis, (size, offset, count, stride) in enumerate(bounds):
        yield from _in_bounds(axis, size, offset, count, stride)
    inferred = layouts.subview(layout, op.static_offsets, op.static_strides)
    if problems:
        return
    if wanted is None or layouts.kept(op.static_sizes, inferred, result.shape, wanted) is None:
        whole = MemRefType(op.static_sizes, source.element, inferred, source.space)
        yield f"{shown(op.result)} must have type {whole}, or that without dimensions of size 1, but has {result}"


def _in_bounds(axis: int, size: int | None, offset: int | None, count: int | None, stride: int | None) -> Iterator[str]:
    if size is None or offset is None or offset < 0:
        return
    if offset >= size:
        yield f"the offset {offset} along dimension {axis} is out of bounds: its size is {size}"
    elif count and stride is not None and offset + (count - 1) * stride >= size:
        last = offset + (count - 1) * stride
        yield f"the part along dimension {axis} ends at {last}, which is out of bounds: its size is {size}"


def reinterpret_cast(op: memref.ReinterpretCast, context: Context) -> Iterator[str]:
    """An offset, a size and a stride for each dimension of the result, as its type says."""
    yield from types.any_memref(op.source)
    yield from types.memref_type(op.result)
    source, result = op.source.type, op.result.type
    if not isinstance(source, MemRefType | UnrankedMemRefType) or not isinstance(result, MemRefType):
        return
    yield from _parts(op)
    yield from _same_storage(source, result)
    counts = len(op.static_offsets), len(op.static_sizes), len(op.static_strides)
    if counts != (1, result.rank, result.rank):
        text = "{} has {} dimensions, but {} offsets (1 is needed), {} sizes and {} strides are given"
        yield text.format(shown(op.result), result.rank, *counts)
        return
    layout = layouts.strided(result)
    if layout is None:
        yield f"{shown(op.result)} has the layout of {result}, which no strides make"
        return
    (offset,) = op.static_offsets
    yield from _must_know("offset", (layout.offset,), (offset,))
    yield from _must_know("size", result.shape, op.static_sizes)
    yield from _must_know("stride", layout.strides, op.static_strides)


def _must_know(what: str, wanted: Static, given: Static) -> Iterator[str]:
    for axis, (says, is_given) in enumerate(zip(wanted, given, strict=True)):
        if says is not None and says != is_given:
            where = "" if what == "offset" else f" along dimension {axis}"
            known = "one known only at run time" if is_given is None else str(is_given)
            yield f"the type of the result says {what} {says}{where}, but {known} is given"


def _parts(op: memref.Part) -> Iterator[str]:
    """As many values as numbers are left open, all of them index; known offsets and sizes are not negative."""
    for what, static, values in (
        ("offset", op.static_offsets, op.offsets),
        ("size", op.static_sizes, op.sizes),
        ("stride", op.static_strides, op.strides),
    ):
        yield from must_have(INDEX, *values)
        if static.count(None) != len(values):
            yield f"{static.count(None)} {what}s are left open, but {len(values)} values are given"
        if what != "stride":
            for number in static:
                if number is not None and number < 0:
                    yield f"the {what} {number} is negative"


def expand_shape(op: memref.ExpandShape, context: Context) -> Iterator[str]:
    """Groups of dimensions in order, whose sizes multiply to those of the source; the layout that follows."""
    source, result = yield from _both(op.source, op.result)
    yield from must_have(INDEX, *op.sizes)
    if op.static_sizes.count(None) != len(op.sizes):
        yield f"{op.static_sizes.count(None)} sizes are left open, but {len(op.sizes)} values are given"
    problems = list(layouts.group_problems(op.groups, source.shape, result.shape))
    if len(op.static_sizes) != result.rank:
        problems.append(f"has {len(op.static_sizes)} sizes for {result.rank} dimensions")
    else:
        problems += _must_know("size", result.shape, op.static_sizes)
    if layouts.strided(source) is None:
        problems.append(f"{shown(op.source)} has the layout of {source}, of which strides say nothing")
    yield from needed(problems)
    if (wanted := layouts.expanded(source, result.shape, op.groups)) != result:
        yield f"{shown(op.result)} must have type {wanted}, but has {result}"


def collapse_shape(op: memref.CollapseShape, context: Context) -> Iterator[str]:
    """Groups of dimensions in order, contiguous in memory, whose sizes multiply to those of the result."""
    source, result = yield from _both(op.source, op.result)
    problems = list(layouts.group_problems(op.groups, result.shape, source.shape))
    if layouts.strided(source) is None:
        problems.append(f"{shown(op.source)} has the layout of {source}, of which strides say nothing")
    yield from needed(problems)
    wanted = layouts.collapsed(source, result.shape, op.groups)
    if wanted is None:
        yield f"{shown(op.source)} has dimensions in one group that are not contiguous: {source}"
    elif wanted != result:
        yield f"{shown(op.result)} must have type {wanted}, but has {result}"


def view(op: memref.View, context: Context) -> Iterator[str]:
    """A contiguous buffer of bytes; a result without layout, with a size for each dynamic dimension."""
    source, result = yield from _both(op.source, op.result)
    yield from must_have(INDEX, op.shift, *op.sizes)
    if source.rank != 1 or source.element != IntegerType(8):
        yield f"{shown(op.source)} must have one dimension and elements of type i8, but has type {source}"
    elif (layout := layouts.strided(source)) is None or (layout.strides, layout.offset) != ((1,), 0):
        yield f"{shown(op.source)} must be contiguous from its start on, but has type {source}"
    if result.layout is not None:
        yield f"{shown(op.result)} must have no layout, but has type {result}"
    if source.space != result.space:
        yield f"{shown(op.result)} must be in the memory space {source.space}, but has type {result}"
    dynamic = result.shape.count(None)
    if len(op.sizes) != dynamic:
        yield f"{shown(op.result)} has {dynamic} dynamic dimensions, but {len(op.sizes)} sizes are given"


def reshape(op: memref.Reshape, context: Context) -> Iterator[str]:
    """Buffers without layout; a shape with an integer for each dimension of the result."""
    yield from types.any_memref(op.source)
    yield from types.any_memref(op.result)
    yield from types.memref_type(op.shape)
    result, shape = op.result.type, op.shape.type
    for value in (op.source, op.result):
        if isinstance(value.type, MemRefType) and value.type.layout is not None:
            yield f"{shown(value)} must have no layout, but has type {value.type}"
    yield from types.same_elements(op.source, op.result)
    if not isinstance(shape, MemRefType):
        return
    is_integer = isinstance(shape.element, IndexType) or (
        isinstance(shape.element, IntegerType) and not shape.element.sign
    )
    if shape.rank != 1 or not is_integer:
        yield f"{shown(op.shape)} must have one dimension and elements of an integer type, but has type {shape}"
    elif isinstance(result, MemRefType) and shape.shape != (result.rank,):
        yield f"{shown(op.shape)} must have a size for each of the {result.rank} dimensions of {shown(op.result)}"


def extract_strided_metadata(op: memref.ExtractStridedMetadata, context: Context) -> Iterator[str]:
    """A strided buffer; its base has no dimensions; a size and a stride for each dimension."""
    yield from types.memref_type(op.source)
    yield from must_have(INDEX, op.offset, *op.sizes, *op.strides)
    source, base = op.source.type, op.base.type
    if not isinstance(source, MemRefType):
        return
    if layouts.strided(source) is None:
        yield f"{shown(op.source)} has the layout of {source}, of which strides say nothing"
    if not isinstance(base, MemRefType) or base.rank or (base.element, base.space) != (source.element, source.space):
        wanted = MemRefType((), source.element, None, source.space)
        yield f"{shown(op.base)} must have type {wanted}, but has {base}"
    if (len(op.sizes), len(op.strides)) != (source.rank, source.rank):
        yield f"gives {len(op.sizes)} sizes and {len(op.strides)} strides for {source.rank} dimensions"


def _both(source: Value, result: Value) -> Generator[str, None, tuple[MemRefType, MemRefType]]:
    """The types of a view and its source, unless something is wrong with them."""
    for value in (source, result):
        yield from needed(islice(types.memref_type(value), 1))
    assert isinstance(source.type, MemRefType)
    assert isinstance(result.type, MemRefType)
    return source.type, result.type


def _same_storage(source: MemRefType | UnrankedMemRefType, result: MemRefType) -> Iterator[str]:
    if source.element != result.element:
        yield f"a view of elements of type {source.element} cannot have elements of type {result.element}"
    if source.space != result.space:
        yield f"a view of a buffer in memory space {source.space} cannot be in memory space {result.space}"


RULES: Rules = {
    memref.SubView: subview,
    memref.ReinterpretCast: reinterpret_cast,
    memref.ExpandShape: expand_shape,
    memref.CollapseShape: collapse_shape,
    memref.View: view,
    memref.Reshape: reshape,
    memref.ExtractStridedMetadata: extract_strided_metadata,
}
"""What each class of views must keep."""
