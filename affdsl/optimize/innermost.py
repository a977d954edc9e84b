"""The first recipe that fits an innermost loop; where none does, what runs without vectors."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from copy import copy

from affdsl.ir.core import Lanewise
from affdsl.ir.dialects import affine, arith, scf
from affdsl.ir.traverse import walk
from affdsl.ir.types import ComplexType, FloatType
from affdsl.optimize.attempts import where_legal
from affdsl.optimize.machine import usual
from affdsl.optimize.model.units import units_of
from affdsl.optimize.nests import Nest, loop_called, nest_called, unfit_where_refused
from affdsl.optimize.notes import Notes
from affdsl.optimize.options import Options
from affdsl.optimize.size import MOST_MORE, is_long
from affdsl.optimize.unfit import UnfitError
from affdsl.optimize.vector import sums
from affdsl.passes.analysis.lookups import lookups
from affdsl.passes.analysis.parallelism import of_loop
from affdsl.passes.transforms.if_convert import NEUTRAL
from affdsl.schedule.loops import ScheduleError
from affdsl.schedule.schedule import IllegalTransform, Schedule

OfNest = Callable[[Schedule, Nest, Options], tuple[Schedule, str]]
"""A recipe for a nest: the schedule after it, and what it did. Raises UnfitError where it does not fit."""
ONE_BY_ONE = "one iteration after the other"
ITERATIONS = 4
"""How many iterations of a quick loop are straight code."""
MOST_OPERATIONS = 32
"""How many operations and accesses such an iteration has at most: beside more, to count iterations takes no time."""
MOST_CHOSEN = 8
"""Conditions that hold more operations in the mean stay: to compute all of these takes as long as a branch."""


def first_that_fits(
    s: Schedule, name: str, recipes: Iterable[OfNest], options: Options
) -> tuple[Schedule, Notes, bool]:
    """The schedule after the first recipe that fits an innermost loop, what it did or why none did, and if one did."""
    nest = nest_called(s, name)
    if nest is None or nest.has_vectors:
        return s, [], False
    why: list[str] = []
    for recipe in recipes:
        try:
            made, said = recipe(s, nest, options)
        except UnfitError as error:
            why += [str(error)] * (str(error) not in [*why, ""])
        else:
            if not is_long(made, s):
                return made, [nest.note(said)], True
            why.append(f"its code would be longer by more than {MOST_MORE} operations")
    said, fits = "", False
    if any(a.buffer.kind == "local" and not a.buffer.rank for a in nest.accesses):
        kept = copy(s)
        with suppress(IllegalTransform, ScheduleError):
            kept.scalar_replace(name)
            s, said, fits = kept, f"{ONE_BY_ONE}, variables in registers", True
            with suppress(UnfitError):
                s, wide = sums.side_by_side(kept, name, options)
                return s, [nest.note(f"{ONE_BY_ONE}, {wide}", why)], True
    with suppress(UnfitError):
        s, several = _in_a_row(s, nest)
        said, fits = f"{ONE_BY_ONE}, {several}", True
    if _adds_under_conditions(s, name, options):
        without = copy(s)
        with suppress(IllegalTransform, ScheduleError):
            without.if_convert(name)
            s, said, fits = without, f"{said or ONE_BY_ONE}; what conditions add is chosen, without branches", True
    return s, [nest.note(said, why)], fits


def _adds_under_conditions(s: Schedule, name: str, options: Options) -> bool:
    """Whether a loop adds floats to what it carries under conditions, which decide little else.

    A quotient or a root, or a function, takes as long as a branch that is guessed wrong: it stays under its condition.
    """
    loop = loop_called(s, name)
    if loop is None:
        return False
    branches = [op for op in loop.body if isinstance(op, scf.If)]
    inside = [op for branch in branches for op in walk(branch)]
    adds = any(isinstance(op, arith.Binary) and op.kind in NEUTRAL and op.left in loop.carried for op in inside)
    is_long = any(units_of(op, usual(options.target)).busy for op in inside)
    return adds and not is_long and len(inside) <= MOST_CHOSEN * len(branches)


def _in_a_row(s: Schedule, nest: Nest) -> tuple[Schedule, str]:
    """The schedule with several iterations of a loop in a row where each may wait for the one before it.

        for i: counts[x[i]] += 1   ->   for i by 4: { counts[x[i]] += 1; counts[x[i + 1]] += 1; ... }

    Additions of integers take so little time that counting iterations counts; others would wait for each other all the
    same. An iteration that only looks small elements up takes little time, too. Raises UnfitError.
    """
    loop, name = nest.innermost, nest.name(nest.innermost)
    few = sum(isinstance(op, Lanewise | affine.Load | affine.Store) for op in walk(loop)) <= MOST_OPERATIONS
    if nest.ends_early or not few or not (lookups(loop) or _is_quick(nest)):
        raise UnfitError
    made = copy(s)
    where_legal(made.scalar_replace, [name])
    with unfit_where_refused():
        return made.unroll(name, ITERATIONS), f"{ITERATIONS} of them as straight code"


def _is_quick(nest: Nest) -> bool:
    """Whether the iterations of a loop wait for those before them, and no floats are in it."""
    found = of_loop(nest.dependences, nest.innermost.iv)
    if found is None or found.verdict == "parallel":
        return False  # the compiler of C may make vectors of it
    ops = [op for op in walk(nest.innermost) if op is not nest.innermost]
    return not any(isinstance(v.type, FloatType | ComplexType) for op in ops for v in (*op.defines(), *op.reads()))
