"""Views of buffers and global buffers as C: pointers and strides."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial, reduce

from affdsl.codegen.c import tables
from affdsl.codegen.c.affine_values import product
from affdsl.codegen.c.buffers import Buffer
from affdsl.codegen.c.checks import called, checked, same_size
from affdsl.codegen.c.context import Context
from affdsl.codegen.c.expressions import Code, cast, infix, number
from affdsl.codegen.c.memory import place_in, strides_in
from affdsl.codegen.c.plan import root_of
from affdsl.codegen.c.strides import strides_of
from affdsl.codegen.c.types import element, stored_type
from affdsl.codegen.c.view_checks import (
    check_bytes,
    check_contiguous,
    check_part,
    check_product,
    check_reach,
    whole_shape,
)
from affdsl.errors import UnsupportedError
from affdsl.ir.dialects import memref
from affdsl.ir.expr import Affine, Value
from affdsl.ir.mixed import Mixed, mixed
from affdsl.ir.types import INDEX, IntegerType, MemRefType


def cast_memref(c: Context, op: memref.Cast) -> None:
    """The same buffer with a size known or not."""
    known = c.buffers[op.source]
    if isinstance(op.result.type, MemRefType):
        if len(known.shape) != op.result.type.rank:
            raise UnsupportedError(f"a cast of {known.name!r} to {op.result.type}, which has another rank")
        for k, size in enumerate(op.result.type.shape):
            if c.is_checked and size is not None:
                words = f"the cast of {called(c, op.source)}: dimension {k} has size {{0}}, and must have {{1}}"
                same_size(c, op, op.source, c.buffers.size(known, k), Affine.of(size), words)
        sizes = zip(known.shape, op.result.type.shape, strict=True)
        known = replace(known, shape=tuple(Affine.of(size) if size is not None else s for s, size in sizes))
    c.buffers[op.result] = known


def get_global(c: Context, op: memref.GetGlobal) -> None:
    """A global buffer."""
    assert isinstance(op.result.type, MemRefType)
    found = c.plan.buffers[op.symbol]
    shape = tuple(Affine.of(size or 0) for size in op.result.type.shape)
    root = root_of(c.plan, op.result)
    c.buffers[op.result] = Buffer(found.name, op.result.type, shape, root, constant=found.definition.constant)


def subview(c: Context, op: memref.SubView) -> None:
    """Every so many elements of a buffer."""
    source = c.buffers[op.source]
    assert isinstance(op.result.type, MemRefType)
    offsets, sizes, strides = (_numbers_of(c, part) for part in op.parts)
    check_part(c, op, offsets, sizes, strides)
    place = place_in(c, source, [c.values.expression(o) for o in offsets])
    axes = list(range(source.type.rank))
    missing = len(axes) - op.result.type.rank
    for axis in [k for k, size in enumerate(op.static_sizes) if size == 1]:
        if missing and _may_drop(op, axes, axis):
            axes.remove(axis)
            missing -= 1
    shape, first = tuple(sizes[k] for k in axes), min(axes, default=source.type.rank)
    apart = strides_in(c, source, first)
    _view_at(c, op.result, source, place, shape, tuple(product(c, strides[k], apart[k - first]) for k in axes))


def _may_drop(op: memref.SubView, axes: Sequence[int], axis: int) -> bool:
    """Whether the result can do without a dimension: what is left has its sizes still in order."""
    assert isinstance(op.result.type, MemRefType)
    left = [op.static_sizes[k] for k in axes if k != axis]
    wanted = iter(left)
    return all(any(size == found for found in wanted) for size in op.result.type.shape)


def _view_at(
    c: Context, result: Value, source: Buffer, place: Code, shape: tuple[Affine, ...], strides: tuple[Affine, ...]
) -> None:
    """result begins at a place in source."""
    name = source.name
    if place.number != 0:
        c.lines.read(source.name)
        name = _pointer_to(c, result, source, f"{source.name} + {place.text}")
    assert isinstance(result.type, MemRefType)
    start = None if place.number != 0 or source.start is None else source.start
    if place.number is not None and source.start is not None:
        start = source.start + place.number
    c.buffers[result] = replace(
        source,
        name=name,
        type=result.type,
        shape=shape,
        strides=strides,
        offset=0,
        start=start,
        base=source.base or source.name,
        whole=whole_shape(source),
    )


def _pointer_to(c: Context, result: Value, source: Buffer, shown: str, c_type: str = "") -> str:
    name = c.lines.scope.declare(result.hint, "part")
    constant = "const " if source.constant else ""
    c_type = c_type or stored_type(element(source.type), source.unsigned)
    c.lines.declaration(name, f"{constant}{c_type} *{name} = {shown};")
    return name


def reinterpret(c: Context, op: memref.ReinterpretCast) -> None:
    """The elements of a buffer under other strides."""
    source = c.buffers[op.source]
    root = c.plan.roots[op.source]
    if isinstance(root.type, MemRefType) and root in c.plan.strides and strides_of(root.type, "")[1] is None:
        raise UnsupportedError(
            f"memref.reinterpret_cast of {source.name!r}: its offset in a larger buffer is known only at run time"
        )
    (offset,), sizes, strides = (_numbers_of(c, part) for part in op.parts)
    c.lines.read(source.base or source.name)
    whole = replace(source, name=source.base or source.name, offset=0, start=Affine.of(0))
    check_reach(c, op, source, offset, sizes, strides)
    _view_at(c, op.result, whole, c.values.expression(offset), tuple(sizes), tuple(strides))


def expand_shape(c: Context, op: memref.ExpandShape) -> None:
    """Dimensions taken apart."""
    source = c.buffers[op.source]
    assert isinstance(op.result.type, MemRefType)
    shape = tuple(_numbers_of(c, mixed(op.static_sizes, op.sizes)))
    for axis, group in enumerate(op.groups):
        check_product(c, op, source, [axis], [shape[k] for k in group])
    strides: dict[int, Affine] = {}
    if source.strides is not None:
        for group, stride in zip(op.groups, strides_in(c, source), strict=True):
            for axis in reversed(group):
                strides[axis] = stride
                stride = product(c, stride, shape[axis])
    steps = None if source.strides is None else tuple(strides.get(k, Affine.of(1)) for k in range(len(shape)))
    c.buffers[op.result] = replace(source, type=op.result.type, shape=shape, strides=steps, whole=whole_shape(source))


def collapse_shape(c: Context, op: memref.CollapseShape) -> None:
    """Dimensions taken together."""
    source = c.buffers[op.source]
    assert isinstance(op.result.type, MemRefType)
    steps = None if source.strides is None else tuple(_together(c, op, source, c.buffers.sizes(source)))
    shape = tuple(_size_together(c, [source.shape[k] for k in group]) for group in op.groups)
    c.buffers[op.result] = replace(source, type=op.result.type, shape=shape, strides=steps, whole=whole_shape(source))


def _size_together(c: Context, sizes: Sequence[Affine | None]) -> Affine | None:
    """The product of sizes; None where one is not known."""
    known = [size for size in sizes if size is not None]
    return reduce(partial(product, c), known, Affine.of(1)) if len(known) == len(sizes) else None


def _together(c: Context, op: memref.CollapseShape, source: Buffer, sizes: Sequence[Affine]) -> Sequence[Affine]:
    strides, found = strides_in(c, source), []
    for group in op.groups:
        longer = [k for k in group if sizes[k] != Affine.of(1)] or [group[-1]]
        if len(longer) > 1 and not sizes[longer[-1]].is_constant:
            raise UnsupportedError(
                f"memref.collapse_shape of {source.name!r}: the size of dimension {longer[-1]} is known only at "
                "run time, and so is the stride of the dimensions as one"
            )
        check_contiguous(c, op, sizes, strides, longer)
        found.append(strides[longer[-1]])
    return found


def bytes_as(c: Context, op: memref.View) -> None:
    """The bytes of a buffer as elements of another type."""
    source, shift = c.buffers[op.source], c.values.expression(op.shift)
    assert isinstance(op.result.type, MemRefType)
    if element(op.result.type) == IntegerType(1):
        raise UnsupportedError(f"memref.view of {source.name!r} as i1: not every byte is a bool in C")
    given = iter(op.sizes)
    shape = tuple(c.values.fixed(next(given)) if s is None else Affine.of(s) for s in op.result.type.shape)
    check_bytes(c, op, source, shift, shape)
    constant, c_type = "const " if source.constant else "", stored_type(element(op.result.type))
    c.lines.read(source.name)
    shown = source.name if shift.number == 0 else f"({infix('+', Code(source.name), shift)})"
    pointer = f"({constant}{c_type} *)({constant}void *){shown}"
    name = _pointer_to(c, op.result, source, pointer, c_type)
    c.buffers[op.result] = replace(
        source, name=name, base=name, type=op.result.type, shape=shape, strides=None, offset=0, unsigned=False,
        start=Affine.of(0), whole=None,
    )  # fmt: skip


def reshape(c: Context, op: memref.Reshape) -> None:
    """The elements of a buffer in another shape, which is data."""
    source, sizes = c.buffers[op.source], c.buffers[op.shape]
    if not isinstance(op.result.type, MemRefType) or source.strides is not None:
        raise UnsupportedError(f"memref.reshape of {source.name!r} to {op.result.type}: its rank must be known")
    kind, shape = element(sizes.type), []
    for axis, size in enumerate(op.result.type.shape):
        if size is not None:
            shape.append(Affine.of(size))
            continue
        c.lines.read(sizes.name)
        if c.is_checked:
            checked(c, op, op.shape, [number(axis)], [Affine.of(axis)])
        place = place_in(c, sizes, [number(axis)])
        stored = tables.load_element(kind, Code(f"{sizes.name}[{place}]"), c.unit, unsigned=sizes.unsigned)
        shape.append(c.values.named(cast("int64_t", stored) if kind != INDEX else stored, "size"))
    check_product(c, op, source, list(range(source.type.rank)), shape)
    c.buffers[op.result] = replace(source, type=op.result.type, shape=tuple(shape), whole=whole_shape(source))


def take_apart(c: Context, op: memref.ExtractStridedMetadata) -> None:
    """The buffer, the offset, the sizes and the strides of a view."""
    source = c.buffers[op.source]
    assert isinstance(op.base.type, MemRefType)
    if source.start is None:
        raise UnsupportedError(
            f"memref.extract_strided_metadata of {source.name!r}: its offset is known only at run time"
        )
    c.buffers[op.base] = replace(
        source, name=source.base or source.name, type=op.base.type, shape=(), strides=(), offset=0,
        start=Affine.of(0), whole=whole_shape(source),
    )  # fmt: skip
    c.values.affine[op.offset] = source.start + source.offset
    for k, (size, stride) in enumerate(zip(op.sizes, op.strides, strict=True)):
        c.values.affine[size] = c.buffers.size(source, k)
        c.values.affine[stride] = strides_in(c, source)[k]


def _numbers_of(c: Context, parts: Mixed) -> list[Affine]:
    """Sizes, offsets or strides as expressions that keep their value."""
    return [c.values.fixed(p) if isinstance(p, Value) else Affine.of(p) for p in parts]
