"""How much of what an iteration of a loop around computes the next one computes again."""

from __future__ import annotations

from collections.abc import Hashable, Mapping

from affdsl.ir.core import Block, Lanewise
from affdsl.ir.dialects import affine, arith, memref
from affdsl.ir.expr import Value
from affdsl.ir.traverse import clone_block
from affdsl.optimize.nests import Nest
from affdsl.passes.transforms.loops.nests import counted

_ALIKE = (affine.Load, affine.Apply, arith.Constant, memref.Load, Lanewise)
"""Operations that make the same where they are the same, of the same; others are like no other."""


def share_done_again(nest: Nest, loop: affine.For) -> float:
    """The share of the operations of an innermost loop, of those that move with it, that the next iteration repeats.

        for i: for j: B[i, j] = max(f(A[i, j]), f(A[i + 1, j]))

    An iteration of i computes f of the row that the one before it has computed f of: half of all f, and no maximum.
    Iterations that run at once do such operations once: the C compiler sees that they are equal. 0 where a loop has
    other loops or conditions in it.
    """
    ops = nest.innermost.body
    if any(True for op in ops for _ in op.blocks()):
        return 0.0
    later = counted(clone_block(ops, {}), loop.iv, loop.iv + loop.step)
    number = _numbered((*ops, *later))
    moves, done, again = {nest.innermost.iv}, set[int](), set[int]()
    for op, copied in zip(ops, later[-len(ops) :], strict=True):
        in_index = {v for e in op.index for v in e.values()} if isinstance(op, affine.Load) else set[Value]()
        if not moves.isdisjoint((*op.reads(), *in_index)):
            moves.update(op.defines())
            if isinstance(op, Lanewise):
                done.update(number[v] for v in op.defines())
                again.update(number[v] for v in copied.defines())
    return len(done & again) / len(done) if done else 0.0


def _numbered(block: Block) -> Mapping[Value, int]:
    """The number of each value that a block makes: the same for the same structure, however much that is made of."""
    numbers: dict[Hashable, int] = {}
    found: dict[Value, int] = {}
    for op in block:
        parts = (getattr(op, part, None) for part in ("kind", "predicate", "value", "index", "expr"))
        read = (found.get(v, v) for v in op.reads())
        key = (type(op), *parts, *read) if isinstance(op, _ALIKE) else op
        found |= {v: numbers.setdefault((k, v.type, key), len(numbers)) for k, v in enumerate(op.defines())}
    return found
