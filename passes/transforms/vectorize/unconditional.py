"""Loads that stand under a condition, and lie inside of their arrays without it, done before it: lanes need no mask.

    for i: if c[i]: y[i] = x[i] + 1 else: y[i] = x[i] * 2   ->   for i: { v = x[i]; if c[i]: y[i] = v + 1 ... }

A load in each branch is one load then. What is loaded for nothing changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Set

from affdsl.ir.core import Block, Op
from affdsl.ir.dialects import affine, func, memref, scf
from affdsl.ir.expr import Affine, Value
from affdsl.ir.traverse import kept, map_blocks, walk
from affdsl.ir.types import MemRefType
from affdsl.passes.analysis.access import Access, Accesses
from affdsl.passes.transforms.hoist.faults import Faults

If = affine.If | scf.If


def loaded_before_conditions(loop: affine.For, accesses: Accesses, module: func.Module | None) -> affine.For:
    """The loop with such loads before the outermost of their conditions; the same object where there are none."""
    if not any(isinstance(inner, affine.Load) for op in walk(loop) if isinstance(op, If) for inner in walk(op)):
        return loop
    return map_blocks(loop, _Moving(accesses, module).block)


def filled(loop: affine.For, accesses: Accesses) -> frozenset[Value]:
    """The arrays in which data chooses what a loop loads that have an element in each iteration, and that
    neither it nor the loops around it change."""
    arrays = {op.memref for op in walk(loop) if isinstance(op, memref.Load)}
    if not arrays:
        return frozenset()
    faults, storage = Faults(accesses), accesses.storage
    arrays -= {v for op in walk(loop) for v in op.defines()}
    written = [access.buffer for access in accesses.all if access.kind == "write"]

    def is_filled(array: Value) -> bool:
        if not isinstance(array.type, MemRefType):
            return False
        first = affine.Load(Value(array.type.element), array, (Affine.of(0),) * array.type.rank)
        if not faults.are_impossible(first, loop.body[0]):
            return False
        return not any(storage.may_alias(each, storage.buffer(array)) for each in written)

    return frozenset(filter(is_filled, arrays))


class _Moving:
    """Takes loads out of conditions in one function."""

    def __init__(self, accesses: Accesses, module: func.Module | None) -> None:
        self._accesses = accesses
        self._faults = Faults(accesses, module)
        self._at: dict[Op, list[Access]] = {}
        for access in accesses.all:
            self._at.setdefault(access.op, []).append(access)

    def block(self, block: Block) -> Block:
        """A block with loads before the conditions in it."""
        found: list[Op] = []
        for op in block:
            made = op
            if isinstance(op, If):
                loads = [load for load in _loads(op) if self._may_run_before(load, op)]
                found += loads
                made = _without(op, {*loads}) if loads else op
            elif any(op.blocks()):
                made = map_blocks(op, self.block)
            found.append(made)
        return kept(block, found)

    def _may_run_before(self, load: affine.Load, condition: If) -> bool:
        """Whether a load gives the same before a condition, and fails in no iteration."""
        inside = {v for inner in walk(condition) for v in inner.defines()}
        if load.memref in inside or any(v in inside for expr in load.index for v in expr.values()):
            return False
        return not self._is_written(load, condition) and self._faults.are_impossible(load, condition)

    def _is_written(self, load: affine.Load, condition: If) -> bool:
        """Whether what is loaded may be stored to under the condition, or meanwhile by another thread."""
        storage = self._accesses.storage
        buffer = storage.buffer(load.memref)
        around: list[Op] = [condition]
        around += [
            op for op in self._accesses.domains[condition].loops if isinstance(op, affine.Parallel | scf.Parallel)
        ]
        return any(
            access.kind == "write" and storage.may_alias(access.buffer, buffer)
            for each in around for op in walk(each) for access in self._at.get(op, ())
        )  # fmt: skip


def _loads(condition: If) -> Iterator[affine.Load]:
    """The loads in the branches of a condition, and of those inside of it, but not in loops."""
    for block in condition.blocks():
        for op in block:
            if isinstance(op, affine.Load):
                yield op
            elif isinstance(op, If):
                yield from _loads(op)


def _without(condition: If, loads: Set[Op]) -> If:
    def on_block(block: Block) -> Block:
        return tuple(_without(op, loads) if isinstance(op, If) else op for op in block if op not in loads)

    return map_blocks(condition, on_block)
