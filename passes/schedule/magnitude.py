"""How large the numbers in a program get by the steps of a schedule: what is computed with them fits into 64 bits."""

from __future__ import annotations

from collections.abc import Iterator

from affdsl.ir.core import Op, roles
from affdsl.ir.dialects import affine
from affdsl.ir.dialects.func import Func
from affdsl.ir.expr import Affine, Constraint, FloorDiv, Product
from affdsl.ir.traverse import walk
from passes.legality import refusal

FACTOR, NUMBER = 2**31, 2**62
"""Factors of counters and sizes stay below the first, as sizes of arrays do; steps and constants below the second."""


def require_small(before: Func, after: Func, call: str) -> None:
    """Refuse a step after which larger numbers stand in bounds or subscripts than any index could be computed with.

    Numbers that were there before are their author's.

    Raises
    ------
    IllegalTransform
        With the number.
    """
    old, new = _largest(before), _largest(after)
    for kind, most in (("factor", FACTOR), ("number", NUMBER)):
        if new[kind] >= most and new[kind] > old[kind]:
            reason = (
                f"the {kind} {new[kind]} would stand in it, and what is computed with that may not fit into 64 bits"
            )
            raise refusal(after, call, reason, "smaller numbers in this step, or in those before")


def _largest(function: Func) -> dict[str, int]:
    """The largest factor of a counter or size, and the largest step or constant, without their signs."""
    found = {"factor": 0, "number": 0}
    for kind, number in _numbers(function):
        found[kind] = max(found[kind], abs(number))
    return found


def _numbers(function: Func) -> Iterator[tuple[str, int]]:
    for op in walk(function):
        match op:
            case affine.For(step=step):
                yield "number", step
            case affine.Parallel(steps=steps):
                yield from (("number", step) for step in steps)
        yield from _parts(op)


def _parts(op: Op) -> Iterator[tuple[str, int]]:
    """The numbers in the affine expressions of an operation."""
    left: list[object] = [getattr(op, name) for name in roles(type(op)).operands]
    while left:
        match left.pop():
            case Affine() as expr:
                yield "number", expr.constant
                yield from (("factor", factor) for _, factor in expr.terms)
                left += (atom for atom, _ in expr.terms)
            case Constraint(expr=expr):
                left.append(expr)
            case FloorDiv(dividend, divisor):
                left += (dividend, Affine.of(divisor))
            case Product(factors):
                left += factors
            case tuple() as several:
                left += several
