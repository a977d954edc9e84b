"""Sums in the order of the text, beside rows that are updated: the two take turns, every few vectors of a row."""

from __future__ import annotations

from copy import copy

from affdsl.ir.dialects import affine
from affdsl.ir.types import FloatType
from affdsl.optimize.nests import Nest, lanes_of, nests
from affdsl.optimize.options import Options
from affdsl.optimize.recipes import vectors
from affdsl.optimize.recipes.unfit import UnfitError, in_one_line
from affdsl.schedule.loops import ScheduleError
from affdsl.schedule.schedule import IllegalTransform, Schedule

TURN = 4
"""So many vectors of a row are updated before it is the turn of the sums: of 1 to 64, 2 and 4 took least time."""


def take(s: Schedule, nest: Nest, options: Options) -> tuple[Schedule, str]:
    """The schedule with some iterations of the loop around at once, whose rows are updated before they are summed up.

        for i, j: { s[j] += r[i] * A[i, j]; q[i] += A[i, j] * p[j] }   ->
        for i by 8, j_turn by 32: { for j by 8: s[j :+ 8] += r[i] * A[i, j :+ 8] + r[i + 1] * A[i + 1, j :+ 8] + ...
                                    for j: { q[i] += A[i, j] * p[j]; q[i + 1] += A[i + 1, j] * p[j]; ... } }

    A sum waits for the addition before it, and other sums need not wait for that one. While all of them wait, the next
    rows come from memory; what they read is in the nearest cache, as the row has just been updated. It takes sums of
    floats in the order of the text, where iterations of the loop around may run at once. Raises UnfitError.
    """
    name, around = nest.name(nest.innermost), outer(nest)
    floats = all(isinstance(a.buffer.type.element, FloatType) for a in nest.accesses if a.kind == "write")
    if options.reassociate or not floats or not vectors.is_mixed(nest) or not around:
        raise UnfitError("it has no sum beside a row, or no loop around, or may make its sum in lanes")
    made, lanes, sums = copy(s), lanes_of(nest, options), options.choices.sums
    before = {each.name(each.innermost) for each in nests(s)} - {name}
    try:
        made.strip_mine(name, TURN * lanes, name=f"{name}_turn")
        made.distribute(name)
        parts = [each for each in nests(made) if each.name(each.innermost) not in before]
        summed = [each.name(each.innermost) for each in parts if vectors.is_sum(each, each.innermost)]
        rows = [each.name(each.innermost) for each in parts if each.name(each.innermost) not in summed]
        if not summed or not rows:
            raise UnfitError("what it sums up and the row are no loops of their own")
        for each in rows:
            made.vectorize(each, lanes, tail=vectors.tail_of(options))
        made.unroll_jam(around, sums)
        for each in summed:
            made.scalar_replace(each)
    except (IllegalTransform, ScheduleError) as error:
        raise UnfitError(in_one_line(error)) from None
    return made, (
        f"{TURN * lanes} elements of a row are updated, on vectors of {lanes}, and then summed up in the order of the "
        f"text; {sums} iterations of {around} run at once"
    )


def outer(nest: Nest) -> str:
    """The loop right around the innermost one of a nest; empty if there is none."""
    around = [nest.names[op.iv] for op in (*nest.around, *nest.band[:-1]) if isinstance(op, affine.For)]
    return around[-1] if around else ""
