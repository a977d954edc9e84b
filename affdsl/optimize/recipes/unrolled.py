"""Loops on integers that stay as they are: several iterations as straight code."""

from __future__ import annotations

from copy import copy

from affdsl.ir.core import Lanewise
from affdsl.ir.dialects import affine
from affdsl.ir.traverse import walk
from affdsl.ir.types import ComplexType, FloatType
from affdsl.optimize.nests import Nest
from affdsl.optimize.recipes.unfit import UnfitError, in_one_line
from affdsl.passes.analysis.parallelism import of_loop
from affdsl.schedule.loops import ScheduleError
from affdsl.schedule.schedule import IllegalTransform, Schedule

ITERATIONS = 4
MOST_OPERATIONS = 32
"""How many operations and accesses an iteration has at most: beside more, to count iterations takes no time."""


def take(s: Schedule, nest: Nest) -> tuple[Schedule, str]:
    """The schedule with several iterations of a loop in a row where each may wait for the one before it.

        for i: counts[x[i]] += 1   ->   for i by 4: { counts[x[i]] += 1; counts[x[i + 1]] += 1; ... }

    Additions of integers take so little time that counting iterations counts; others would wait for each other all the
    same. Raises UnfitError.
    """
    name, loop = nest.name(nest.innermost), nest.innermost
    found = of_loop(nest.dependences, loop.iv)
    ops = [op for op in walk(loop) if op is not loop]
    if found is None or found.verdict == "parallel":
        raise UnfitError  # the compiler of C may make vectors of it
    if any(isinstance(v.type, FloatType | ComplexType) for op in ops for v in (*op.defines(), *op.reads())):
        raise UnfitError
    work = sum(isinstance(op, Lanewise | affine.Load | affine.Store) for op in ops)
    if work > MOST_OPERATIONS:
        raise UnfitError
    try:
        return copy(s).unroll(name, ITERATIONS), f"{ITERATIONS} of them as straight code"
    except (IllegalTransform, ScheduleError) as error:
        raise UnfitError(in_one_line(error)) from None
