"""The same program in words that mlir-opt's dependence check reads rightly: no views, no second handle, no else.

mlir-opt takes each memref for a buffer of its own, so accesses through views are written as accesses of the buffer
below; and it reads an else branch under the condition of the other one, so that is written with conditions of its own:

    affine.if (a >= 0, b >= 0) { S } else { T }   ->   affine.if (a >= 0, b >= 0) { S }
                                                       affine.if (-a - 1 >= 0) { T }
                                                       affine.if (a >= 0, -b - 1 >= 0) { T }
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from affdsl.ir.core import Block, Op
from affdsl.ir.dialects import affine, func, memref
from affdsl.ir.expr import Constraint, Value
from affdsl.ir.layouts import row_major
from affdsl.ir.location import Location
from affdsl.ir.traverse import clone_block, definitions, map_blocks, rewrite, substitute, walk, with_fields
from affdsl.ir.types import MemRefType
from affdsl.passes.analysis.views import digits
from affdsl.passes.cleanup.affine_fold_memref_alias_ops import affine_fold_memref_alias_ops

ACCESSES = (affine.Load, affine.Store)


@dataclass(frozen=True)
class Plain:
    """A module in plain words, and for each affine load and store of the one before what it has become."""

    module: func.Module
    copies: Mapping[Op, tuple[Op, ...]]


def plain(module: func.Module) -> Plain:
    """Write a program in plain words. What a view is made of stays where it cannot be said by affine subscripts."""
    numbers = {op: number for number, op in enumerate(op for op in walk(module) if isinstance(op, ACCESSES))}
    named = rewrite(module, lambda op: with_fields(op, location=_place(numbers[op])) if op in numbers else None)
    made = without_else(without_views(one_handle(named)))
    found: defaultdict[int, list[Op]] = defaultdict(list)
    for op in walk(made):
        if isinstance(op, ACCESSES):
            assert op.location is not None
            found[op.location.line].append(op)
    return Plain(made, {op: tuple(found[number]) for op, number in numbers.items()})


def _place(number: int) -> Location:
    """Where an access is said to stand: copies of it say the same."""
    return Location("access", number)


def one_handle(module: func.Module) -> func.Module:
    """Name each global buffer by the handle that a function asked for first."""

    def rule(op: Op) -> Op | None:
        if not isinstance(op, func.Func):
            return None
        first: dict[str, Value] = {}
        handles = [inner for inner in op.body if isinstance(inner, memref.GetGlobal)]
        return substitute(op, {h.result: first.setdefault(h.symbol, h.result) for h in handles})

    return rewrite(module, rule)


def without_views(module: func.Module) -> func.Module:
    """Let affine loads and stores reach through views to the buffer below."""
    folded = affine_fold_memref_alias_ops(module)
    makers = definitions(folded)

    def rule(op: Op) -> Op | None:
        if not isinstance(op, ACCESSES) or not isinstance(view := makers.get(op.memref), memref.ReinterpretCast):
            return None
        (offset,), _, strides = view.parts
        if not isinstance(view.source.type, MemRefType) or not isinstance(offset, int):
            return None
        shape = view.source.type.shape
        if None in row_major(shape) or view.source.type.layout is not None:
            return None
        place = sum((i * s for i, s in zip(op.index, strides, strict=True)), offset + 0 * op.index[0])
        index = digits(place, shape)
        return None if index is None else with_fields(op, memref=view.source, index=index)

    return rewrite(folded, rule)


def without_else(module: func.Module) -> func.Module:
    """Write each else branch with conditions of its own, of which at most one holds."""

    def on_block(block: Block) -> Block:
        made: list[Op] = []
        for op in block:
            inner = map_blocks(op, on_block)
            made += _apart(inner) if isinstance(inner, affine.If) and inner.orelse else [inner]
        return tuple(made)

    return map_blocks(module, on_block)


def _apart(op: affine.If) -> Iterator[affine.If]:
    """A condition without its else branch, then that branch under each way in which the condition can fail."""
    if op.results:
        raise NotImplementedError("an affine.if with results")
    yield with_fields(op, orelse=())
    for number, constraint in enumerate(op.condition):
        for opposite in _opposites(constraint):
            condition = (*op.condition[:number], opposite)
            yield with_fields(op, condition=condition, then=clone_block(op.orelse, {}), orelse=(), written=None)


def _opposites(constraint: Constraint) -> Iterator[Constraint]:
    """What holds where a constraint does not: one of these."""
    yield Constraint(-constraint.expr - 1)
    if constraint.equality:
        yield Constraint(constraint.expr - 1)
