"""Comparisons of indices: what they say, and what is left of conditions that are the same in all iterations."""

from __future__ import annotations

from collections.abc import Callable

from affdsl.ir.core import Block, Op
from affdsl.ir.dialects import affine, arith, scf, vector
from affdsl.ir.dialects.func import Func
from affdsl.ir.expr import Affine, Constraint, Value
from affdsl.ir.traverse import without_unread
from affdsl.ir.types import I1, INDEX
from affdsl.passes.simplify.context import Context

_MADE_OF = arith.Compare | arith.Constant | arith.Binary | affine.Apply


def compared(op: arith.Compare, meant: Callable[[Value], Affine]) -> tuple[Constraint, bool] | None:
    """A constraint, and what a comparison of indices is where that holds: elsewhere it is the contrary.

    `meant` gives the expressions of values. None for what is no comparison of indices with their signs.

    >>> i, n = Value(INDEX, "i"), Value(INDEX, "n")
    >>> constraint, holds = compared(arith.Compare(Value(I1, "c"), "cmpi", "sgt", i, n), Affine.of)
    >>> constraint == Constraint(i - n - 1), holds
    (True, True)
    """
    if op.kind != "cmpi" or op.left.type != INDEX:
        return None
    apart = meant(op.left) - meant(op.right)
    match op.predicate:
        case "eq" | "ne":
            return Constraint(apart, equality=True), op.predicate == "eq"
        case "sge" | "slt":
            return Constraint(apart), op.predicate == "sge"
        case "sgt" | "sle":
            return Constraint(apart - 1), op.predicate == "sgt"
    return None


class Conditions:
    """Conditions that are decided, from the first operation to the last, and what takes the place of values."""

    def __init__(self, values: dict[Value, Value]) -> None:
        self.values = values
        self.truths: dict[Value, bool] = {}
        self.are_any = False
        """Whether some are decided that are no constants."""
        self._counts: dict[Value, Value] = {}
        """How many lanes of a mask are set, from the first one on."""

    def decided(self, op: Op, context: Context) -> Op | Block | None:
        """What is left of an operation that is a condition, or asks for one; None for all others."""
        match op:
            case arith.Compare():
                found = compared(op, context.meant)
                return self._true_or_false(op.result, found and _truth(*found, context))
            case vector.CreateMask(bounds=(count,)):
                self._counts[op.result] = count
            case vector.Extract(source=mask, static_position=(int(lane),)) if mask in self._counts:
                is_set = Constraint(context.meant(self._counts[mask]) - lane - 1)
                return self._true_or_false(op.result, _truth(is_set, True, context))
            case arith.Constant(value=bool(truth)):
                self.truths[op.result] = truth
            case arith.Binary(kind="andi" | "ori" | "xori") if op.result.type == I1:
                return self._of_two(op)
            case arith.Select() if op.condition in self.truths:
                return self._is(op.result, op.if_true if self.truths[op.condition] else op.if_false)
            case scf.If() if op.condition in self.truths:
                body = op.then if self.truths[op.condition] else op.orelse
                if body and isinstance(last := body[-1], scf.Yield):
                    for result, value in zip(op.results, last.values, strict=True):
                        self._is(result, value)
                    return body[:-1]
                return body
        return None

    def _of_two(self, op: arith.Binary) -> Op | Block | None:
        left, right = known = [self.truths.get(v) for v in (op.left, op.right)]
        decides = {"ori": True, "andi": False}.get(op.kind)
        if decides is not None and decides in known:
            return self._true_or_false(op.result, decides)
        if left is not None and right is not None:
            return self._true_or_false(op.result, left != right if decides is None else not decides)
        if known == [None, None] or (decides is None and True in known):
            return None
        return self._is(op.result, op.left if left is None else op.right)

    def _true_or_false(self, result: Value, truth: bool | None) -> Op | None:
        if truth is None:
            return None
        self.are_any = True
        self.truths[result] = truth
        return arith.Constant(result, truth)

    def _is(self, result: Value, value: Value) -> Block:
        self.values[result] = self.values.get(value, value)
        return ()


def without_unread_conditions(function: Func) -> Func:
    """The function without conditions, and what these were made of, that nothing asks for."""
    return without_unread(function, lambda op: isinstance(op, _MADE_OF))


def _truth(constraint: Constraint, where_it_holds: bool, context: Context) -> bool | None:
    """What a condition is in all iterations that is so where a constraint holds; None where it may be either."""
    if context.is_contradictory:
        return None
    if context.proves(constraint):
        return where_it_holds
    return not where_it_holds if context.excludes([constraint]) else None
