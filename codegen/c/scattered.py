"""Vectors whose lanes choose elements that are updated: C takes the lanes from memory, in their order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from affdsl.ir.core import Block, Op
from affdsl.ir.dialects import func, memref, vector
from affdsl.ir.expr import Value
from affdsl.ir.traverse import definitions, users, walk
from affdsl.ir.types import VectorType

FEWEST = 4
"""Fewer lanes are taken out of a register."""


def scattered(function: func.Func) -> frozenset[Value]:
    """The vectors each of whose lanes chooses an element of an array that is loaded and stored.

    Lanes that are taken out of a register come one after the other, the last ones first: a load then runs before the
    store to the same element that stands before it, and all that followed is done again. A histogram took a Zen 4
    six times as long.
    """
    made, used = definitions(function), users(function)
    return frozenset(v for op in walk(function) for block in op.blocks() for v in _of_block(block, made, used))


def _of_block(block: Block, made: Mapping[Value, Op], used: Mapping[Value, Sequence[Op]]) -> Iterator[Value]:
    loaded, here = {op.memref for op in block if isinstance(op, memref.Load)}, {*block}
    lanes: dict[Value, set[int | None]] = {}
    for op in block:
        if isinstance(op, memref.Store) and op.memref in loaded:
            for each in map(made.get, op.indices):
                if isinstance(each, vector.Extract) and len(each.static_position) == 1:
                    (lane,) = each.static_position
                    lanes.setdefault(each.source, set()).add(lane)
    for source, places in lanes.items():
        apart = here.issuperset(op for op in used[source] if isinstance(op, vector.Extract))  # one array has them all
        if apart and None not in places and FEWEST <= len(places) == _lanes_of(source):
            yield source


def _lanes_of(source: Value) -> int:
    """How many lanes a vector of one dimension has."""
    type = source.type
    return type.shape[0] if isinstance(type, VectorType) and type.rank == 1 else 0
