"""The loops of a function by their induction variables: found, with the loops around, as bands, and replaced."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from affdsl.ir.core import Block, Op
from affdsl.ir.dialects import affine, func
from affdsl.ir.expr import Affine, Value
from affdsl.ir.traverse import fresh, rewrite, substitute, walk
from passes.legality import refusal
from passes.legality_words import name


def loop_of(function: func.Func, iv: Value, what: str) -> affine.For:
    """The affine.for with an induction variable.

    Raises
    ------
    IllegalTransform
        If there is none: with the loops that there are.
    """
    loops = [op for op in walk(function) if isinstance(op, affine.For)]
    for loop in loops:
        if loop.iv is iv:
            return loop
    names = ", ".join(name(loop.iv) for loop in loops)
    known = f"its loops are {names}" if names else "it has none"
    raise refusal(function, what, f"@{function.symbol} has no affine.for over {name(iv)}; {known}")


def band_of(function: func.Func, ivs: Sequence[Value], what: str) -> tuple[affine.For, ...]:
    """Perfectly nested loops, outermost first, in whatever order their induction variables are given.

    Raises
    ------
    IllegalTransform
        If one of them is missing, given twice, carries values, or does not hold the next one and nothing else.
    """
    loops = [loop_of(function, iv, what) for iv in ivs]
    for k, loop in enumerate(loops):
        if loop in loops[:k]:
            raise refusal(loop, what, f"{name(loop.iv)} is given twice")
    inside = {loop: sum(other in set(walk(loop)) for other in loops) for loop in loops}
    band = sorted(loops, key=lambda loop: -inside[loop])
    for loop in band:
        if loop.results:
            reason = f"the loop {name(loop.iv)} carries values (iter_args) from each iteration to the next"
            raise refusal(loop, what, reason)
    for outer, inner in pairwise(band):
        if len(outer.body) != 1 or outer.body[0] is not inner:
            reason = f"the loop {name(outer.iv)} does not hold the loop {name(inner.iv)} and nothing else"
            raise refusal(outer, what, reason)
    return tuple(band)


def replaced(function: func.Func, old: Op, *new: Op) -> func.Func:
    """A function with other operations in the place of one."""
    return rewrite(function, lambda op: new if op is old else None)


def counted(body: Block, iv: Value, expr: Affine) -> Block:
    """A body where an expression stands for an induction variable.

    It goes into the affine maps, or is computed first by affine.apply if something else reads the variable.
    """
    try:
        return tuple(substitute(op, {iv: expr}) for op in body)
    except ValueError:
        computed = fresh(iv)
        place = body[0].location
        return (affine.Apply(computed, expr, location=place), *(substitute(op, {iv: computed}) for op in body))
