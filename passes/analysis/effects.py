"""What each operation reads, writes, allocates and frees, and whether it can be left out where nobody uses it."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from affdsl.frozen import FrozenValue
from affdsl.ir.core import UNTOUCHED, KeptInPlace, Op
from affdsl.ir.dialects import func, memref, scf
from affdsl.ir.dialects.opaque import Opaque, OpaqueBlock, OpaqueRegion
from affdsl.ir.expr import Value
from affdsl.ir.types import OpaqueType


class Effects(FrozenValue):
    """The buffers that an operation itself touches, not those that its blocks touch.

    `unknown` is an operation that may do anything.
    """

    reads: tuple[Value, ...] = ()
    writes: tuple[Value, ...] = ()
    allocates: tuple[Value, ...] = ()
    frees: tuple[Value, ...] = ()
    unknown: bool = False


NONE = Effects()
UNKNOWN = Effects(unknown=True)
_touching = lru_cache(maxsize=1000)(Effects)
"""Effects on buffers: made once, since the same few buffers are touched everywhere."""

_PARTS = (
    func.Func, func.Module, memref.Global, scf.Case, scf.Combiner, Opaque, OpaqueRegion, OpaqueBlock,
)  # fmt: skip
"""They are there for their names, or are parts of the operation around them."""


def effects(op: Op) -> Effects:
    """What an operation itself does to memory; one whose class does not declare it may do anything.

    A prefetch and the start and end of a copy in the background are kept in place: they may do anything, too.
    """
    memory = op.memory
    if memory is UNTOUCHED:
        return NONE
    if memory is None:
        return UNKNOWN
    reads, writes = _buffers(op, memory.reads), _buffers(op, memory.writes)
    if any(isinstance(buffer.type, OpaqueType) for buffer in (*reads, *writes)):
        return UNKNOWN
    return _touching(reads, writes, _buffers(op, memory.allocates), _buffers(op, memory.frees))


def may_do_anything(op: Op) -> bool:
    """Whether not even the accesses of an operation are known."""
    return effects(op).unknown and not op.is_terminator and not isinstance(op, KeptInPlace)


def _buffers(op: Op, name: str | None) -> tuple[Value, ...]:
    return () if name is None else (getattr(op, name),)


def is_pure(op: Op) -> bool:
    """Whether an operation touches no memory, nor do its blocks: it computes the same from the same values, always."""
    return all(effects(inner) == NONE for inner in _with_blocks(op))


def is_removable(op: Op, blocks: Iterable[Op] | None = None) -> bool:
    """Whether an operation may be left out where nobody uses its results.

    It does nothing but compute, read, and make buffers that are its own results; `blocks` are the operations right
    inside, where those are not the ones that op holds.
    """
    if op.is_terminator or isinstance(op, _PARTS):
        return False
    if not is_own(op):
        return False
    inside = _inside(op) if blocks is None else blocks
    return all(is_own(inner) for outer in inside for inner in _with_blocks(outer))


def is_own(op: Op) -> bool:
    """Whether an operation itself, without its blocks, does no more than to compute, to read and to make buffers."""
    found = effects(op)
    return not (found.unknown or found.writes or found.frees)


def _inside(op: Op) -> Iterable[Op]:
    return (inner for block in op.blocks() for inner in block)


def _with_blocks(op: Op) -> Iterable[Op]:
    """op and everything inside; what is last in a block comes first, since a store or a call mostly stands there."""
    stack = [op]
    while stack:
        inner = stack.pop()
        yield inner
        stack.extend(_inside(inner))
