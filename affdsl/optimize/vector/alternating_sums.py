"""Sums in the order of the text, beside a row that all update: the two take turns, every few vectors of a row."""

from __future__ import annotations

from contextlib import suppress
from copy import copy

from affdsl.ir.core import Op
from affdsl.ir.dialects import affine
from affdsl.ir.types import FloatType
from affdsl.optimize.nests import Nest, lanes_of, nests, on_vectors, unfit_where_refused
from affdsl.optimize.options import Options
from affdsl.optimize.order import fronts
from affdsl.optimize.size import is_long
from affdsl.optimize.unfit import UnfitError
from affdsl.optimize.vector import inner_loops, sums, superword
from affdsl.passes.analysis.access import Access
from affdsl.schedule.schedule import Schedule

TURN = 8
"""So many vectors of a row are updated before it is the turn of the sums: of 4 to 32, 8 took least in the mean."""


def take(s: Schedule, nest: Nest, options: Options) -> tuple[Schedule, str]:
    """The schedule with some iterations of the loop around at once, which update a row and sum up their own in turns.

        for i, j: { s[j] += r[i] * A[i, j]; q[i] += A[i, j] * p[j] }   ->
        for i by 8, j_strip by 32: { for j by 8: s[j :+ 8] = (s[j :+ 8] + r[i] * A[i, j :+ 8]) + r[i + 1] * ...
                                     for j: { q[i] += A[i, j] * p[j]; q[i + 1] += A[i + 1, j] * p[j]; ... } }

    A sum waits for the addition before it, and other sums need not wait for that one. While all of them wait, the next
    elements come from memory; those of this turn are in the nearest cache for both. It takes sums of floats in the
    order of the text, arrays along their rows, and a loop around that repeats nothing else. Raises UnfitError.
    """
    name, around = nest.name(nest.innermost), _around(nest)
    if options.reassociate or not sums.is_mixed(nest) or not all(map(_has_floats, nest.accesses)):
        raise UnfitError("it has no sum of floats beside a row, or may make its sum in lanes")
    motions = {nest.stride(a, nest.innermost).motion for a in nest.accesses}
    if not around or not sums.adds_to_one_row(nest, around) or not motions <= {*inner_loops.COSTS}:
        raise UnfitError("its row is not that of all iterations around it, or some array does not lie along it")
    made, lanes, rows_at_once = copy(s), lanes_of(nest, options), options.choices.sums
    wide = superword.lanes_of_sums(nest, sums.loop_around(nest, around), options)
    before = {each.name(each.innermost) for each in nests(s)} - {name}
    with unfit_where_refused():
        made.strip_mine(name, TURN * lanes)
        made.distribute(name)
        parts = [each for each in nests(made) if each.name(each.innermost) not in before]
        summed = [each.name(each.innermost) for each in parts if sums.is_sum(each, each.innermost)]
        rows = [each.name(each.innermost) for each in parts if each.name(each.innermost) not in summed]
        if not summed or not rows:
            raise UnfitError("what it sums up and the row are no loops of their own")
        for each in rows:
            on_vectors(made, each, lanes, options.tail)
        made.unroll_jam(around, rows_at_once)
        for each in summed:
            made.scalar_replace(each)
        made = superword.in_lanes(made, summed, wide) or made
    return made, (
        f"a row and sums take turns, up to {TURN * lanes} elements each: the row on vectors of {lanes}, then each sum "
        f"in the order of the text; {rows_at_once} iterations of {around} run at once"
    )


def take_or_apart(s: Schedule, nest: Nest, options: Options) -> tuple[Schedule, str]:
    """The same, or else a row and sums in loops of their own, where sums are in the order of the text.

    Counts and sums of integers, which are the same in any order, stay beside a row. Raises UnfitError, and gives no
    reason: others say it for nests of all kinds.
    """
    if not options.reassociate and sums.is_mixed(nest) and not sums.needs_no_order(s, nest):
        with suppress(UnfitError):
            made, said = take(s, nest, options)
            if not is_long(made, s):
                return made, said
        with suppress(UnfitError):
            return fronts.apart(copy(s), nest.name(nest.innermost), options)
    raise UnfitError


def _around(nest: Nest) -> str:
    """The name of the loop around the innermost one of a nest, if it repeats nothing else; empty if there is none."""
    loops = (*nest.around, *nest.band[:-1])
    outer = loops[-1] if loops else None
    if not isinstance(outer, affine.For) or _with_blocks(outer) != [nest.innermost] or _with_blocks(nest.innermost):
        return ""
    return nest.names[outer.iv]


def _with_blocks(loop: affine.For) -> list[Op]:
    """The operations right in a loop that hold others: loops and conditions."""
    return [op for op in loop.body for _ in op.blocks()]


def _has_floats(access: Access) -> bool:
    return isinstance(access.buffer.type.element, FloatType)
