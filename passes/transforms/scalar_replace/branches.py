"""Stores at the end of both branches of a condition are one behind it, and what the branches load is loaded before it.

for j: if c[j]: A[j] = x[j] else: A[j] = A[j - 1] + 1   ->   for j: { a = A[j - 1]; A[j] = c[j] ? x[j] : a + 1 }
"""

from __future__ import annotations

from affdsl.ir.core import Block, Op
from affdsl.ir.dialects import affine, func, scf
from affdsl.ir.expr import Value
from affdsl.ir.traverse import holders, kept, like, map_blocks, rewrite, walk, with_fields
from affdsl.passes.analysis.dependence import Dependences
from affdsl.passes.transforms.vectorize.unconditional import loaded_before_conditions

If = affine.If | scf.If


def out_of_branches(
    function: func.Func, loop: affine.For | scf.For, module: func.Module | None
) -> tuple[func.Func, affine.For] | None:
    """The function and the loop with such stores behind their conditions, and loads before these that cannot fail.

    None where no condition right in the loop has such a store in both branches.
    """
    if not isinstance(loop, affine.For):
        return None
    stored = map_blocks(loop, lambda block: kept(block, [each for op in block for each in _with_one_store(op)]))
    if stored is loop:
        return None
    function = rewrite(function, lambda op: stored if op is loop else None)
    stored = next(op for op in holders(function) if isinstance(op, affine.For) and op.iv is loop.iv)
    loaded = loaded_before_conditions(stored, Dependences(function, module).accesses, module)
    return rewrite(function, lambda op: loaded if op is stored else None), loaded


def _with_one_store(op: Op) -> tuple[Op, ...]:
    """A condition that yields what both of its branches store last, and the store; any other operation as it is."""
    if not isinstance(op, If):
        return (op,)
    inside = {v for inner in walk(op) for v in inner.defines()}
    (then, first, given), (orelse, second, others) = _parted(op.then), _parted(op.orelse)
    if first is None or second is None or (first.memref, first.index) != (second.memref, second.index):
        return (op,)
    if not inside.isdisjoint((first.memref, *(v for e in first.index for v in e.values()))):
        return (op,)
    chosen = like(first.value)
    give = affine.Yield if isinstance(op, affine.If) else scf.Yield
    both = with_fields(
        op,
        then=(*then, give((*given, first.value), location=first.location)),
        orelse=(*orelse, give((*others, second.value), location=second.location)),
        results=(*op.results, chosen),
    )
    return both, with_fields(first, value=chosen)


def _parted(block: Block) -> tuple[Block, affine.Store | None, tuple[Value, ...]]:
    """What stands in a block before a store at its end, the store, and what the block yields."""
    *before, last = block or (None,)
    given: tuple[Value, ...] = ()
    if isinstance(last, affine.Yield | scf.Yield):
        given = last.values
        *before, last = before or (None,)
    return tuple(before), last if isinstance(last, affine.Store) else None, given
