"""Lets loads and stores reach through views of a buffer to the buffer itself."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from math import prod

from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, memref
from affdsl.ir.dialects.func import Module
from affdsl.ir.expr import Affine, Value
from affdsl.ir.layouts import kept, strided, subview
from affdsl.ir.mixed import mixed
from affdsl.ir.traverse import definitions, rewrite, users, with_fields
from affdsl.ir.types import MemRefType
from affdsl.ir.verifier.positions import Positions
from passes.affine_positions import are_valid, computed, positions_of

_VIEWS = (memref.SubView, memref.ExpandShape, memref.CollapseShape, memref.Cast)


def affine_fold_memref_alias_ops(module: Module) -> Module:
    """The same program with loads and stores of memref.subview, expand_shape, collapse_shape and cast folded.

        %s = memref.subview %A[%o, 4] [8, 8] [2, 1]
        affine.load %s[%i, %j]                          ->  affine.load %A[%o + %i * 2, %j + 4]
        %c = memref.collapse_shape %B [[0, 1]]              of memref<32x64xf32>
        affine.load %c[%i]                              ->  affine.load %B[%i floordiv 64, %i mod 64]

    Of memref.load and memref.store the new indices are computed by affine.apply, or by arith where they are not affine.
    An access stays where its new subscripts would not be affine, where a size inside of a collapsed group is known only
    at run time, and where the buffer has no rank. Views that nobody uses any more are removed.
    """
    positions = positions_of(module)
    makers = definitions(module)

    def rule(op: Op) -> Op | Iterable[Op] | None:
        match op:
            case affine.Load() | affine.Store():
                return _folded(op, makers, positions)
            case memref.Load() | memref.Store():
                return _folded_plain(op, makers, positions)
            case _:
                return None

    folded = rewrite(module, rule)
    return _without_unused(folded, users(module)) if folded is not module else module


def _folded(
    op: affine.Load | affine.Store, makers: Mapping[Value, Op], positions: Positions
) -> affine.Load | affine.Store | None:
    """An affine access to what lies below the views of its buffer."""
    buffer, index = op.memref, op.index
    while (below := _below(makers.get(buffer), index)) is not None and are_valid(below[1], positions):
        buffer, index = below
    return None if buffer is op.memref else with_fields(op, memref=buffer, index=index, written=None)


def _folded_plain(
    op: memref.Load | memref.Store, makers: Mapping[Value, Op], positions: Positions
) -> Iterable[Op] | None:
    """A plain access to what lies below the views of its buffer, after the operations that compute its indices."""
    buffer, index = op.memref, tuple(map(Affine.of, op.indices))
    while (below := _below(makers.get(buffer), index)) is not None:
        buffer, index = below
    if buffer is op.memref:
        return None
    before: list[Op] = []
    indices = tuple(computed(expr, op, before, positions) for expr in index)
    return (*before, with_fields(op, memref=buffer, indices=indices))


def _below(view: Op | None, index: Sequence[Affine]) -> tuple[Value, tuple[Affine, ...]] | None:
    """The buffer that a view is a view of, and where the element at index lies there; None if that cannot be said."""
    match view:
        case memref.Cast(source=source) if isinstance(source.type, MemRefType):
            return source, tuple(index)
        case memref.SubView():
            found = _in_subview(view, index)
            return None if found is None else (view.source, found)
        case memref.ExpandShape():
            shape = mixed(view.static_sizes, view.sizes)
            if not view.groups:
                return view.source, ()
            return view.source, tuple(_joined([index[k] for k in g], [shape[k] for k in g]) for g in view.groups)
        case memref.CollapseShape():
            found = _in_collapsed(view, index)
            return None if found is None else (view.source, found)
    return None


def _in_subview(view: memref.SubView, index: Sequence[Affine]) -> tuple[Affine, ...] | None:
    source, result = view.source.type, view.result.type
    assert isinstance(source, MemRefType)
    assert isinstance(result, MemRefType)
    layout, wanted = strided(source), strided(result)
    if layout is None or wanted is None:
        return None
    inferred = subview(layout, view.static_offsets, view.static_strides)
    axes = kept(view.static_sizes, inferred, result.shape, wanted)
    if axes is None:
        return None
    inside = dict(zip(axes, index, strict=True))
    offsets, _, strides = view.parts
    return tuple(
        Affine.of(offset) + (inside.get(axis, Affine()) * stride)
        for axis, (offset, stride) in enumerate(zip(offsets, strides, strict=True))
    )


def _joined(index: Sequence[Affine], sizes: Sequence[int | Value]) -> Affine:
    """The number whose digits are index."""
    result = index[0]
    for digit, size in zip(index[1:], sizes[1:], strict=True):
        result = result * size + digit
    return result


def _in_collapsed(view: memref.CollapseShape, index: Sequence[Affine]) -> tuple[Affine, ...] | None:
    source = view.source.type
    assert isinstance(source, MemRefType)
    if not view.groups:
        return (Affine(),) * source.rank
    found: list[Affine] = []
    for group, number in zip(view.groups, index, strict=True):
        sizes = [source.shape[k] for k in group]
        inner = [size for size in sizes[1:] if size is not None]
        if len(inner) < len(sizes) - 1 or 0 in inner:
            return None
        strides = [prod(inner[k:]) for k in range(len(sizes))]
        digits = [number // strides[0]]
        digits += [(number % period) // stride for period, stride in pairwise(strides)]
        found += digits
    return tuple(found)


def _without_unused(module: Module, before: Mapping[Value, list[Op]]) -> Module:
    """module without the views that have lost all of their users."""
    while True:
        used = users(module)

        def rule(op: Op, used: Mapping[Value, list[Op]] = used) -> tuple[()] | None:
            return () if isinstance(op, _VIEWS) and op.result not in used and op.result in before else None

        fewer = rewrite(module, rule)
        if fewer is module:
            return module
        module = fewer
