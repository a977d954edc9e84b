"""Recurrences along rows: several rows at once, each of which waits for itself alone."""

from __future__ import annotations

from contextlib import suppress
from copy import copy

from affdsl.ir.dialects import affine
from affdsl.optimize.nests import Nest, names_in, nests, require_quick_numbers
from affdsl.optimize.options import Options
from affdsl.optimize.recipes.unfit import UnfitError
from affdsl.passes.analysis.parallelism import of_loop
from affdsl.schedule.loops import ScheduleError
from affdsl.schedule.schedule import IllegalTransform, Schedule


def take(s: Schedule, root: str, options: Options) -> tuple[Schedule, str]:
    """The schedule with iterations of a loop around recurrences jammed, and what these hand on in registers.

        for i: for j: A[i, j] = S(A[i, j - 1])

    Raises UnfitError.
    """
    rows = options.choices.recurrences
    if options.target.registers < rows:
        raise UnfitError("there are too few registers for several rows")
    inside = names_in(s, root)
    found = [nest for nest in nests(s) if nest.name(nest.innermost) in inside]
    if not all(_is_recurrence(nest) for nest in found):
        raise UnfitError("its iterations do not wait for those before them")
    for nest in found[:1]:
        require_quick_numbers(nest)
        around = [op for op in (*nest.around, *nest.band[:-1]) if isinstance(op, affine.For)]
        for loop in reversed(around):
            made, name = copy(s), nest.names[loop.iv]
            with suppress(IllegalTransform, ScheduleError):
                made.unroll_jam(name, rows)
                for each in names_in(made, name)[1:]:
                    with suppress(IllegalTransform, ScheduleError):
                        made.scalar_replace(each)
                return made, f"{rows} iterations of {name} run at once, each of which waits for itself alone"
    raise UnfitError("no rows of it are independent")


def _is_recurrence(nest: Nest) -> bool:
    """Whether an iteration of the innermost loop needs what the one before has made."""
    found = of_loop(nest.dependences, nest.innermost.iv)
    return found is not None and found.verdict == "sequential"
