"""Loops that end early as `scf.while`, which stop where they end."""

from __future__ import annotations

from collections.abc import Mapping

from affdsl.ir.core import Block, Op
from affdsl.ir.dialects import affine, arith, func, scf
from affdsl.ir.expr import Value
from affdsl.ir.traverse import OpT, definitions, fresh, rewrite, walk
from affdsl.ir.types import I1, INDEX
from affdsl.passes.analysis.early_exits import early_loops
from affdsl.passes.lowering.lower_affine import lower_affine_in


def early_ends(root: OpT) -> OpT:
    """The same program, where a loop that may end early ends there, and does not run on with nothing to do.

        affine.for %i = 0 to %n iter_args(%on = %true) {
          scf.if %on { S(%i); yield %x } else { yield %on }
        }
        ->
        scf.while (%k = 0, %on = %true) { condition(%on and %k < %n) %k, %on }
        do (%i, %on) { S(%i); yield %i + 1, %x }

    What is in such a loop gets its subscripts as values: the counter of an `scf.while` is none of affine.

    >>> from affdsl.mlir.readers import parse
    >>> plain = parse("func.func @f(%n: index) { affine.for %i = 0 to %n {} return }")
    >>> early_ends(plain) is plain
    True
    """
    early: dict[Value, int] = {}
    for function in (op for op in walk(root) if isinstance(op, func.Func)):
        early.update((loop.iv, at) for loop, at in early_loops(function, function).items())
    if not early:
        return root
    lowered = lower_affine_in(root, lambda op: isinstance(op, affine.For | scf.For) and op.iv in early)
    known = definitions(lowered)

    def rule(op: Op) -> Op | None:
        return _ending(op, early[op.iv]) if isinstance(op, scf.For) and _ends(op, early, known) else None

    return rewrite(lowered, rule)


def _ends(op: scf.For, early: Mapping[Value, int], known: Mapping[Value, Op]) -> bool:
    """Whether a loop may end early, and counts as an `scf.while` can."""
    if op.iv not in early or op.iv.type != INDEX or op.is_unsigned:
        return False
    step = known.get(op.step)
    return isinstance(step, arith.Constant) and isinstance(step.value, int) and step.value > 0


def _ending(op: scf.For, at: int) -> scf.While:
    """The loop as one that asks before each iteration whether it goes on."""
    counter, asked = fresh(op.iv), tuple(map(fresh, op.carried))
    inside, more, following = Value(I1), Value(I1), fresh(op.iv)
    before = (
        arith.Compare(inside, "cmpi", "slt", counter, op.upper, location=op.location),
        arith.Binary(more, "andi", asked[at], inside, location=op.location),
        scf.Condition(more, (counter, *asked), location=op.location),
    )
    *ops, last = _body(op, at)
    assert isinstance(last, scf.Yield)
    after = (
        *ops,
        arith.Binary(following, "addi", op.iv, op.step, location=op.location),
        scf.Yield((following, *last.values), location=last.location),
    )
    return scf.While(
        (op.lower, *op.inits), (counter, *asked), before, (op.iv, *op.carried), after, (fresh(op.iv), *op.results),
        location=op.location, attributes=op.attributes,
    )  # fmt: skip


def _body(op: scf.For, at: int) -> Block:
    """What an iteration does, if the loop goes on: then a branch that asks for that is its first block."""
    *before, last = op.body
    guard = before[0] if len(before) == 1 else None
    if not isinstance(guard, scf.If) or guard.condition is not op.carried[at] or not isinstance(last, scf.Yield):
        return op.body
    return guard.then if last.values == guard.results else op.body
