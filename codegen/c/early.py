"""Loops that end early: `break`, where an iteration hands on that the loop does not go on."""

from __future__ import annotations

from affdsl.codegen.c.context import Context, Target
from affdsl.codegen.c.expressions import invert
from affdsl.ir.core import Block, Op
from affdsl.ir.dialects import affine, arith, scf
from affdsl.ir.expr import Value


def always_leaves(c: Context, block: Block, target: Target) -> bool:
    """Whether all ways through a block, behind which its iteration has nothing to do, leave the loop."""
    *ops, last = block
    branch = ops[-1] if ops else None
    if isinstance(branch, affine.If | scf.If) and branch in target.tails:
        return all(always_leaves(c, inner, target) for inner in (branch.then, branch.orelse))
    assert isinstance(last, affine.Yield | scf.Yield)
    assert target.left is not None
    return truth(c, last.values[target.left]) is False


def truth(c: Context, value: Value) -> bool | None:
    """What a truth value is, where it is a constant."""
    made = c.definitions.get(value)
    return bool(made.value) if isinstance(made, arith.Constant) else None


def leave(c: Context, goes_on: Value, target: Target) -> None:
    """Leave the loop here, unless a truth value holds."""
    if goes_on in target.holding or truth(c, goes_on):
        return
    assert target.left is not None
    name = target.names[target.left]
    if truth(c, goes_on) is False:
        c.heap.leave(target.depth)
        if name:
            c.lines.add(f"{name} = false;")
        c.lines.add("break;")
        return
    if name:
        c.lines.add(f"{name} = {c.values.of(goes_on)};")
    with c.lines.block(f"if (!{c.lines.read(name)})" if name else f"if ({invert(c.values.of(goes_on))})"):
        c.heap.free_from(target.depth)
        c.lines.add("break;")


def yields_of_branch(c: Context, op: Op) -> bool:
    """Whether a block yields what a branch gives that has yielded it already."""
    assert isinstance(op, affine.Yield | scf.Yield)
    return bool(op.values) and c.definitions.get(op.values[0]) in c.targets[-1].tails
