"""Vectors whose lanes choose elements that are updated: C takes the lanes from memory, in their order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from affdsl.ir.core import Block, Op
from affdsl.ir.dialects import func, memref, vector
from affdsl.ir.expr import Value
from affdsl.ir.traverse import definitions, walk
from affdsl.ir.types import VectorType

FEWEST = 4
"""Fewer lanes are taken out of a register."""


def scattered(function: func.Func) -> frozenset[Value]:
    """The vectors each of whose lanes chooses an element of an array that is loaded and stored.

    Lanes that are taken out of a register come one after the other, the last ones first: a load then runs before the
    store to the same element that stands before it, and all that followed is done again. A histogram took a Zen 4
    six times as long.
    """
    made = definitions(function)
    return frozenset(v for op in walk(function) for block in op.blocks() for v in _of_block(block, made))


def _of_block(block: Block, made: Mapping[Value, Op]) -> Iterator[Value]:
    loaded, here = {op.memref for op in block if isinstance(op, memref.Load)}, {*block}
    lanes: dict[Value, set[int | None]] = {}
    for op in block:
        if isinstance(op, memref.Store) and op.memref in loaded:
            for each in map(made.get, op.indices):
                if isinstance(each, vector.Extract) and each in here and len(each.static_position) == 1:
                    (lane,) = each.static_position
                    lanes.setdefault(each.source, set()).add(lane)
    for source, places in lanes.items():
        if isinstance(source.type, VectorType) and FEWEST <= len(places) == source.type.shape[0] and None not in places:
            yield source
