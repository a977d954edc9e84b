"""Lets loads and stores reach through views of a buffer to the buffer itself."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, memref
from affdsl.ir.dialects.func import Module
from affdsl.ir.expr import Value
from affdsl.ir.traverse import definitions, rewrite, subscripts, users, with_fields, without_unread
from affdsl.ir.verifier.positions import Positions
from affdsl.passes.affine.positions import are_valid, computed, positions_of
from affdsl.passes.analysis.views import below

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
    if folded is module:
        return module
    before = users(module)
    return without_unread(folded, lambda op: isinstance(op, _VIEWS) and op.result in before)


def _folded(
    op: affine.Load | affine.Store, makers: Mapping[Value, Op], positions: Positions
) -> affine.Load | affine.Store | None:
    """An affine access to what lies below the views of its buffer."""
    buffer, index = op.memref, op.index
    while (found := below(makers.get(buffer), index)) is not None and are_valid(found[1], positions):
        buffer, index = found
    return None if buffer is op.memref else with_fields(op, memref=buffer, index=index, written=None)


def _folded_plain(
    op: memref.Load | memref.Store, makers: Mapping[Value, Op], positions: Positions
) -> Iterable[Op] | None:
    """A plain access to what lies below the views of its buffer, after the operations that compute its indices."""
    buffer, index = op.memref, subscripts(op)
    while (found := below(makers.get(buffer), index)) is not None:
        buffer, index = found
    if buffer is op.memref:
        return None
    before: list[Op] = []
    indices = tuple(computed(expr, op, before, positions) for expr in index)
    return (*before, with_fields(op, memref=buffer, indices=indices))
