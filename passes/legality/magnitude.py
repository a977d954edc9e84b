"""How large the numbers in a program get by the steps of a schedule: what is computed with them fits into 64 bits."""

from __future__ import annotations

from collections.abc import Iterator

from affdsl.ir.core import Op
from affdsl.ir.dialects import affine
from affdsl.ir.dialects.func import Func
from affdsl.ir.magnitude import FACTOR, NUMBER, factors_and_constants
from affdsl.ir.traverse import affine_exprs, gathered
from affdsl.passes.legality.refusal import refusal


def require_small(before: Func, after: Func, call: str) -> None:
    """Refuse a step after which larger numbers stand in bounds or subscripts than any index could be computed with.

    Numbers that were there before are their author's.

    Raises
    ------
    IllegalTransform
        With the number.
    """
    new = _largest(after)
    for kind, most in (("factor", FACTOR), ("number", NUMBER)):
        if new[kind] >= most and new[kind] > _largest(before)[kind]:
            reason = f"it would have the {kind} {new[kind]}, and what is computed with that may not fit into 64 bits"
            raise refusal(after, call, reason)


def _largest(function: Func) -> dict[str, int]:
    """The largest factor of a counter or size, and the largest step or constant, without their signs."""
    found = {"factor": 0, "number": 0}
    for kind, number in gathered(function, _numbers):
        found[kind] = max(found[kind], abs(number))
    return found


def _numbers(op: Op) -> Iterator[tuple[str, int]]:
    match op:
        case affine.For(step=step):
            yield "number", step
        case affine.Parallel(steps=steps):
            yield from (("number", step) for step in steps)
    for expr in affine_exprs(op):
        for factor, constant in factors_and_constants(expr):
            yield from (("factor", factor), ("number", constant))
