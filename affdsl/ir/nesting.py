"""How many loops and branches may stand inside each other."""

from __future__ import annotations

from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, scf
from affdsl.ir.dialects.func import Func, Module
from affdsl.ir.dialects.opaque import OpaqueBlock, OpaqueRegion

DEEPEST = 64
"""What the language, the reader and the verifier let through, and all that works on IR reaches with ease (decision 71).
"""
TOO_DEEP = f"more than {DEEPEST} loops and branches inside each other"
INSTEAD = "put the inner ones into a kernel of their own, which this one calls"
_COUNTLESS = (Module, Func, OpaqueRegion, OpaqueBlock)


def levels_of(op: Op) -> int:
    """How much deeper than an operation is what stands in its blocks: bands are as many loops as they have counters."""
    if isinstance(op, affine.Parallel | scf.Parallel):
        return len(op.ivs)
    return int(bool(op.block_fields) and not isinstance(op, _COUNTLESS))


def is_too_deep(root: Op, around: int = 0) -> bool:
    """Whether more loops and branches are inside each other in a function, or in an operation that has some around.

    >>> from affdsl.mlir.readers import parse
    >>> is_too_deep(parse("func.func @f() { affine.for %i = 0 to 8 { affine.for %j = 0 to 8 {} } return }"))
    False
    """
    waiting = [(root, around)]
    while waiting:
        op, around = waiting.pop()
        inside = around + levels_of(op)
        if inside > DEEPEST:
            return True
        waiting += [(inner, inside) for block in op.blocks() for inner in block if inner.block_fields]
    return False
