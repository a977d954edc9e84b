"""Where the elements of a view lie: its sizes, strides and offset from those of its source; None is not known."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from math import prod

from affdsl.ir.expr import Affine, Product, Value
from affdsl.ir.maps import AffineMap, dim
from affdsl.ir.mixed import Static
from affdsl.ir.types import MemRefType, StridedLayout

Groups = tuple[tuple[int, ...], ...]


def strided(type: MemRefType) -> StridedLayout | None:
    """The layout of a memref by strides; None where an affine map says what strides cannot."""
    match type.layout:
        case None:
            return StridedLayout(row_major(type.shape))
        case StridedLayout() as layout:
            return layout
        case map if _is_identity(map):
            return StridedLayout(row_major(type.shape))
        case map:
            return _linear(map)


def has_rows(type: MemRefType) -> bool | None:
    """Whether elements whose last subscripts are neighbours are neighbours in memory; None is known only at run time.

    >>> from affdsl.ir.types import F32
    >>> layouts = StridedLayout((8, 1)), StridedLayout((8, 2)), StridedLayout((None, None), None)
    >>> [has_rows(MemRefType((4, 4), F32, layout)) for layout in (None, *layouts)]
    [True, True, False, None]
    """
    layout = strided(type)
    if layout is None or not layout.strides:
        return type.layout is None
    return None if layout.strides[-1] is None else layout.strides[-1] == 1


def row_major(shape: Static) -> Static:
    """The strides of a contiguous buffer.

    >>> row_major((4, None, 8))
    (None, 8, 1)
    """
    strides: list[int | None] = []
    step: int | None = 1
    for size in reversed(shape):
        strides.append(step)
        step = times(step, size)
    return tuple(reversed(strides))


def times(a: int | None, b: int | None) -> int | None:
    """a * b; zero where one of them is."""
    return 0 if a == 0 or b == 0 else None if a is None or b is None else a * b


def plus(a: int | None, b: int | None) -> int | None:
    """a + b"""
    return None if a is None or b is None else a + b


def subview(source: StridedLayout, offsets: Static, strides: Static) -> StridedLayout:
    """The layout of a part of a buffer that leaves out no dimension."""
    start = source.offset
    for offset, stride in zip(offsets, source.strides, strict=True):
        start = plus(start, times(offset, stride))
    return StridedLayout(tuple(map(times, strides, source.strides)), start)


def kept(sizes: Static, layout: StridedLayout, shape: Static, wanted: StridedLayout) -> tuple[int, ...] | None:
    """Which dimensions a result of this shape and layout keeps, if what it leaves out has size 1; otherwise None."""
    if layout.offset != wanted.offset:
        return None
    units = [axis for axis, size in enumerate(sizes) if size == 1]
    for left_out in combinations(units, max(0, len(sizes) - len(shape))):
        axes = tuple(axis for axis in range(len(sizes)) if axis not in left_out)
        found = tuple(sizes[k] for k in axes), tuple(layout.strides[k] for k in axes)
        if found == (shape, wanted.strides):
            return axes
    return None


def expanded(source: MemRefType, shape: Static, groups: Groups) -> MemRefType:
    """The type of `source` with dimension k as the dimensions groups[k] of a result of this shape."""
    if source.layout is None:
        return MemRefType(shape, source.element, None, source.space)
    layout = strided(source)
    assert layout is not None
    strides: dict[int, int | None] = {}
    for group, stride in zip(groups, layout.strides, strict=True):
        for axis in reversed(group):
            strides[axis] = stride
            stride = times(stride, shape[axis])
    # What stands in no group has size 1, as the dimensions of a source without any.
    steps = tuple(strides.get(axis, 1) for axis in range(len(shape)))
    return MemRefType(shape, source.element, StridedLayout(steps, layout.offset), source.space)


def collapsed(source: MemRefType, shape: Static, groups: Groups) -> MemRefType | None:
    """The type of `source` with the dimensions groups[k] as dimension k; None if they cannot be contiguous."""
    if source.layout is None:
        return MemRefType(shape, source.element, None, source.space)
    layout = strided(source)
    assert layout is not None
    strides = []
    for group in groups:
        last = next((axis for axis in reversed(group) if source.shape[axis] != 1), group[0])
        known = source.shape[last] is not None or last == group[0]
        stride = layout.strides[last] if known else None
        strides.append(stride)
        if stride is not None and not _is_contiguous(source, layout, group, stride):
            return None
    return MemRefType(shape, source.element, StridedLayout(tuple(strides), layout.offset), source.space)


def _is_contiguous(source: MemRefType, layout: StridedLayout, group: tuple[int, ...], stride: int | None) -> bool:
    for before, axis in zip(reversed(group[:-1]), reversed(group[1:]), strict=True):
        stride = times(stride, source.shape[axis])
        if source.shape[before] == 1:
            continue
        if stride is not None and layout.strides[before] is not None and stride != layout.strides[before]:
            return False
    return True


def group_problems(groups: Groups, outer: Static, inner: Static) -> Iterator[str]:
    """What is wrong with groups that make the dimensions `inner` of the dimensions `outer`, or the other way round."""
    if not outer:
        if groups or any(size != 1 for size in inner):
            yield "a buffer without dimensions has only dimensions of size 1 to make or to be made of"
        return
    if len(groups) != len(outer):
        yield f"has {len(groups)} groups for {len(outer)} dimensions"
        return
    if [axis for group in groups for axis in group] != list(range(len(inner))) or not all(groups):
        yield f"the groups must name the dimensions 0 to {len(inner) - 1} in order, each once"
        return
    for axis, (group, size) in enumerate(zip(groups, outer, strict=True)):
        sizes = [inner[k] for k in group]
        known = [s for s in sizes if s is not None]
        if (size is None) != (len(known) < len(sizes)):
            yield f"dimension {axis} is known only at run time if and only if one of its group is"
        elif size is not None and prod(known) != size:
            yield f"dimension {axis} has size {size}, but its group has {prod(known)} elements"


def _linear(map: AffineMap) -> StridedLayout | None:
    """The strides of a layout whose one result is a linear expression; a factor that is a symbol is not known."""
    if len(map.results) != 1:
        return None
    (result,) = map.results
    axes = {dim(k): k for k in range(map.dims)}
    strides: list[int | None] = [0] * map.dims
    offset: int | None = result.constant
    for atom, factor in result.terms:
        factors = atom.factors if isinstance(atom, Product) else (atom,)
        varying = [axes[f] for f in factors if isinstance(f, Value) and f in axes]
        if any(not isinstance(f, Value) for f in factors) or len(varying) > 1:
            return None
        if varying:
            strides[varying[0]] = factor if len(factors) == 1 and strides[varying[0]] == 0 else None
        else:
            offset = None
    return StridedLayout(tuple(strides), offset)


def _is_identity(map: AffineMap) -> bool:
    return map.results == tuple(Affine.of(dim(k)) for k in range(map.dims))
