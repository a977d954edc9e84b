"""How large the numbers in a program get by the steps of a schedule: what is computed with them fits into 64 bits."""

from __future__ import annotations

from functools import lru_cache

from affdsl.ir.core import Op
from affdsl.ir.counters import too_large_in
from affdsl.ir.dialects import affine
from affdsl.ir.dialects.func import Func
from affdsl.ir.expr import Affine
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
    for wrong in gathered(after, _wrong):
        raise refusal(after, call, wrong)


def _largest(function: Func) -> dict[str, int]:
    """The largest factor of a counter or size, and the largest step or constant, without their signs."""
    found = gathered(function, _numbers)
    return {"factor": max((f for f, _ in found), default=0), "number": max((n for _, n in found), default=0)}


def _wrong(op: Op) -> list[str]:
    """What is wrong with the counters of loops."""
    return [*too_large_in(op)]


def _numbers(op: Op) -> list[tuple[int, int]]:
    """The largest factor and the largest constant of each expression of an operation; a step counts as a constant."""
    found = [*map(_in_expression, affine_exprs(op))]
    match op:
        case affine.For(step=step):
            found.append((0, step))
        case affine.Parallel(steps=steps):
            found += [(0, step) for step in steps]
    return found


@lru_cache(maxsize=5000)
def _in_expression(expr: Affine) -> tuple[int, int]:
    """The largest factor and the largest constant of an expression and its parts, without their signs."""
    found = [*factors_and_constants(expr)]
    return max(factor for factor, _ in found), max(constant for _, constant in found)
