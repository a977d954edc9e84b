"""Arrays that a nest goes over row by row, in whole rows: one dimension, along which one loop runs."""

from __future__ import annotations

from collections.abc import Sequence

from affdsl.frozen import Frozen
from affdsl.ir.core import Block, Op
from affdsl.ir.dialects import affine, memref
from affdsl.ir.expr import Affine, Value
from affdsl.ir.traverse import rewrite, walk, with_fields
from affdsl.ir.types import MemRefType


class Flat(Frozen):
    """What stands before a loop that goes over rows as one dimension, and what it does."""

    views: Sequence[Op]
    body: Block


def flattened(band: Sequence[affine.For], iv: Value) -> Flat | None:
    """What a nest does, where counters say nothing but which element of whole rows it is at.

        for i = 0 to n: for j = 0 to 3: S(A[i, j])   ->   a = A with both dimensions as one; for k = 0 to n * 3: S(a[k])

    None where something else is done with a counter, or an array has larger rows, or they may not be contiguous.

    Parameters
    ----------
    band
        The loops, outermost first.
    iv
        The number of an iteration of all of them together.
    """
    sizes = [_size(loop) for loop in band[1:]]
    if not all(sizes) or band[0].step != 1:
        return None
    rows = 1
    for size in sizes:
        rows *= size
    number = band[0].lower[0] * rows + iv
    counters = [loop.iv for loop in band]
    views: dict[Value, memref.CollapseShape] = {}

    def on_row(op: Op) -> Op | None:
        if not isinstance(op, affine.Load | affine.Store) or not _is_of_rows(op, counters, sizes):
            return None
        if op.memref not in views:
            views[op.memref] = _view(op, len(band))
        return with_fields(op, memref=views[op.memref].result, index=(*op.index[: -len(band)], number), written=None)

    inside = {v for op in walk(band[0]) for v in op.defines()}
    made = rewrite(band[-1], on_row)
    assert isinstance(made, affine.For)
    if inside & views.keys() or any(v in each.mentions() for op in made.body for each in walk(op) for v in counters):
        return None
    return Flat((*views.values(),), made.body)


def _size(loop: affine.For) -> int:
    """How often an inner loop runs that counts from 0 to a number; 0 for another one."""
    if loop.step != 1 or len(loop.upper) != 1 or loop.lower != (Affine(),) or not loop.upper[0].is_constant:
        return 0
    return max(0, loop.upper[0].constant)


def _is_of_rows(op: affine.Load | affine.Store, counters: Sequence[Value], sizes: Sequence[int]) -> bool:
    """Whether an access is of the element of a whole row that some counters say."""
    type, count = op.memref.type, len(counters)
    if not isinstance(type, MemRefType) or type.layout is not None or type.rank < count:
        return False
    here = op.index[-count:] == tuple(map(Affine.of, counters))
    return here and type.shape[len(type.shape) - count + 1 :] == tuple(sizes)


def _view(op: affine.Load | affine.Store, count: int) -> memref.CollapseShape:
    """An array with its last dimensions as one."""
    type = op.memref.type
    assert isinstance(type, MemRefType)
    first = type.rank - count
    size: int | None = 1
    for each in type.shape[first:]:
        size = None if size is None or each is None else size * each
    together = (*((k,) for k in range(first)), tuple(range(first, type.rank)))
    made = MemRefType((*type.shape[:first], size), type.element, space=type.space)
    return memref.CollapseShape(Value(made, op.memref.hint), op.memref, together, location=op.location)
