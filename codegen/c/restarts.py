"""Counters that begin anew where a condition does not hold: masked, where gcc would branch. See `restarts_masked`."""

from __future__ import annotations

from collections.abc import Mapping

from affdsl.ir.attributes import UnitAttr
from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, arith, func, memref
from affdsl.ir.expr import Value
from affdsl.ir.traverse import definitions, rewrite, walk, with_fields
from affdsl.ir.types import IntegerType

MASKED = "affdsl.masked"
"""What marks a choice between an integer and 0 that is made by a mask."""
_WIDE = (IntegerType(32), IntegerType(64))


def with_restarts(f: func.Func) -> func.Func:
    """A function where what a loop counts from its last value on, or from a constant, is computed without a branch.

        n = select c, n + k, k   ->   m = select c, n, 0 {masked}; n = m + k

    Data decides on the condition, in runs of any length: a processor that guesses is wrong at the end of each.
    """
    made = definitions(f)
    kept = {v for op in walk(f) if isinstance(op, affine.For) for v in op.carried}
    if not any(_restarted(op, made, kept) for op in walk(f)):
        return f

    def rule(op: Op) -> tuple[Op, ...] | None:
        addition = _restarted(op, made, kept)
        if addition is None:
            return None
        assert isinstance(op, arith.Select)
        zero, chosen = Value(op.result.type), Value(op.result.type)
        return (
            arith.Constant(zero, 0, location=op.location),
            arith.Select(
                chosen, op.condition, addition.left, zero, location=op.location, attributes=((MASKED, UnitAttr()),)
            ),
            with_fields(addition, result=op.result, left=chosen),
        )

    return rewrite(f, rule)


def is_masked(op: arith.Select) -> bool:
    """Whether a choice between an integer and 0 is made by a mask."""
    return any(name == MASKED for name, _ in op.attributes)


def _restarted(op: Op, made: Mapping[Value, Op], kept: set[Value]) -> arith.Binary | None:
    """The addition by which a counter goes on that a choice restarts; None for any other operation."""
    if not isinstance(op, arith.Select) or op.result.type not in _WIDE:
        return None
    addition, start = made.get(op.if_true), made.get(op.if_false)
    if not isinstance(addition, arith.Binary) or addition.kind != "addi" or not isinstance(start, arith.Constant):
        return None
    step, before = made.get(addition.right), made.get(addition.left)
    if not isinstance(step, arith.Constant) or step.value != start.value:
        return None
    if isinstance(before, affine.Load):
        is_counted = not before.index and isinstance(made.get(before.memref), memref.Alloca)
    else:
        is_counted = addition.left in kept or isinstance(before, arith.Select)
    return addition if is_counted else None
