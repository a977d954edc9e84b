"""How much a pass did to a program, as a number that is natural for it: loops tiled, loads saved, nests permuted."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import TypeAlias

from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, arith, func, memref
from affdsl.ir.expr import Value
from affdsl.ir.traverse import walk
from affdsl.mlir.writers import print_op

Amount: TypeAlias = Callable[[func.Module, func.Module], int]
"""What was done, from the modules before and after it; 0, or less, is nothing."""

ACCESSES = (affine.Load, affine.Store, affine.VectorLoad, affine.VectorStore, memref.Load, memref.Store)


def loops_added(before: func.Module, after: func.Module) -> int:
    """Each loop that is tiled makes one more."""
    return _count(after, affine.For) - _count(before, affine.For)


def loops_removed(before: func.Module, after: func.Module) -> int:
    """Loops that were made one with another."""
    return -loops_added(before, after)


def nests_fused(before: func.Module, after: func.Module) -> int:
    """Loops that stood beside others, in the same block, and do not any more."""
    return _beside(before) - _beside(after)


def innermost_changed(before: func.Module, after: func.Module) -> int:
    """How many loops without one inside are not there any more as they were."""
    return _changed(filter(_is_innermost, walk(before)), walk(after))


def outermost_changed(before: func.Module, after: func.Module) -> int:
    """How many loops without one around are not there any more as they were."""
    return _changed(_outermost(before), _outermost(after))


def accesses_removed(before: func.Module, after: func.Module) -> int:
    """Loads whose value is known, and stores that nobody reads."""
    return _count(before, *ACCESSES) - _count(after, *ACCESSES)


def parallel_loops_added(before: func.Module, after: func.Module) -> int:
    """Loops whose iterations may run in any order; one of several counters is several."""
    return _parallel(after) - _parallel(before)


def levels_left(before: func.Module, after: func.Module) -> int:
    """Out of how many loops operations were taken, all operations together; constants do not count."""
    return _levels(before) - _levels(after)


def buffers_added(before: func.Module, after: func.Module) -> int:
    """Copies of parts of a buffer have one of their own. Tags are none, nor is what is filled and never read."""
    return _buffers(after) - _buffers(before)


def transfers_added(before: func.Module, after: func.Module) -> int:
    """A transfer that overlaps with computing is started before the loop too."""
    return _count(after, affine.DmaStart) - _count(before, affine.DmaStart)


def nests_permuted(depth: int) -> Amount:
    """How many of the perfect nests with so many loops are not as they were."""

    def amount(before: func.Module, after: func.Module) -> int:
        return _changed(_nests(before, depth), _nests(after, depth))

    return amount


def _count(module: func.Module, *kinds: type[Op]) -> int:
    return sum(isinstance(op, kinds) for op in walk(module))


def _buffers(module: func.Module) -> int:
    """The buffers that are made, and are written as well as read."""
    written: set[Value] = set()
    read: set[Value] = set()
    for op in walk(module):
        match op:
            case affine.Store() | affine.VectorStore() | memref.Store():
                written.add(op.memref)
            case affine.Load() | affine.VectorLoad() | memref.Load():
                read.add(op.memref)
            case affine.DmaStart():
                read.add(op.source)
                written.add(op.target)
    return sum(isinstance(op, memref.Alloc) and op.result in written & read for op in walk(module))


def _changed(before: Iterable[Op], after: Iterable[Op]) -> int:
    """How many loops are not there any more as they were."""
    old, new = (Counter(_text(op) for op in ops if isinstance(op, affine.For)) for ops in (before, after))
    return (old - new).total()


def _text(op: Op) -> str:
    """An operation as text, without the numbers that keep names apart: what stands elsewhere changes them."""
    return re.sub(r"(%[a-zA-Z]\w*?)_\d+\b", r"\1", print_op(op))


def _is_innermost(op: Op) -> bool:
    return isinstance(op, affine.For) and not any(
        isinstance(inner, affine.For) for inner in walk(op) if inner is not op
    )


def _beside(module: func.Module) -> int:
    """How many outermost loops there are more than one for each function."""
    return sum(max(0, sum(1 for _ in _outermost(function)) - 1) for function in module.functions)


def _outermost(op: Op) -> Iterator[Op]:
    """The loops of a module or in an operation that no other loop holds."""
    for inner in (inner for block in op.blocks() for inner in block):
        if isinstance(inner, affine.For):
            yield inner
        else:
            yield from _outermost(inner)


def _parallel(module: func.Module) -> int:
    return sum(len(op.ivs) for op in walk(module) if isinstance(op, affine.Parallel))


def _levels(op: Op, depth: int = 0) -> int:
    """The loops around each operation, all together."""
    inside = depth + isinstance(op, affine.For | affine.Parallel)
    own = 0 if isinstance(op, arith.Constant) else depth
    return own + sum(_levels(inner, inside) for block in op.blocks() for inner in block)


def _nests(module: func.Module, depth: int) -> Iterator[affine.For]:
    """The outermost loops that hold `depth - 1` more, each alone in the one before, and something else in the last."""
    inner: set[affine.For] = set()
    for op in walk(module):
        if isinstance(op, affine.For) and op not in inner:
            nest = [op]
            while len(nest[-1].body) == 1 and isinstance(only := nest[-1].body[0], affine.For):
                nest.append(only)
            inner.update(nest)
            if len(nest) == depth:
                yield op
