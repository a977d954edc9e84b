"""Chains of pointwise work and stencils: what lies between their nests is computed where it is read, or row by row."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from copy import copy

from affdsl.ir.dialects import affine
from affdsl.optimize.fuse import line_buffers, overlapped_tiles
from affdsl.optimize.fuse.line_buffers import fused, made_for, rolls
from affdsl.optimize.nests import Nest, nests, roots_of, updates
from affdsl.optimize.options import Options
from affdsl.optimize.unfit import UnfitError
from affdsl.optimize.vector.sums import is_sum
from affdsl.passes.analysis.combining import COMBINERS
from affdsl.schedule.loops import ScheduleError
from affdsl.schedule.schedule import IllegalTransform, Schedule

MOST_LOADS = 12
"""How many loads an iteration of a nest has at most after what it reads is computed in place."""


def take(s: Schedule, options: Options) -> tuple[Schedule, str]:
    """The schedule with the nests of a chain as one, as far as that is legal and pays.

        for i, j: t[i, j] = P(i, j);  for k, m: B[k, m] = C(t[k - 1, m], t[k, m], t[k + 1, m])

    Where few loads make an element, it is computed in each place that reads it. Else one thread keeps rows that roll,
    as `kernel.fuse()` does; with several, nests over the same rows are one, and rows wait for no others. Raises
    UnfitError.

    References
    ----------
    Ragan-Kelley, Barnes, Adams, Paris, Durand and Amarasinghe, "Halide: a language and compiler for optimizing
    parallelism, locality, and recomputation in image processing pipelines", PLDI 2013.
    """
    arrays = made_for(s)
    if len(roots_of(s)) < 2 or not arrays:
        raise UnfitError("it is no chain of nests")
    if any(row.is_parallel for row in s.loops()):
        raise UnfitError("its iterations run in parallel, as it is written")
    if any(_adds(nest) or is_sum(nest, nest.innermost) for nest in nests(s)):
        raise UnfitError("some nest sums up")
    inlined = _inlined(s, arrays)
    if inlined is not None:
        return inlined, f"elements of {', '.join(arrays)} are computed where they are read"
    with suppress(UnfitError):
        return line_buffers.take(s, options) if options.threads == 1 else overlapped_tiles.take(s, options)
    made = fused(s) if options.threads == 1 else _side_by_side(s)
    if len(made.steps) == len(s.steps):
        raise UnfitError("no two nests of it run as one")
    steps = [step.call.verb for step in made.steps[len(s.steps) :]]
    what = [f"{steps.count(verb)} x {verb}" for verb in dict.fromkeys(steps)]
    return made, f"nests of it run as one ({', '.join(what)})"


def _adds(nest: Nest) -> bool:
    """Whether each iteration adds something to an element, or subtracts it."""
    found = updates(nest)
    return found is not None and COMBINERS[found[1].kind][0] in ("addf", "addi")


def _inlined(s: Schedule, arrays: list[str]) -> Schedule | None:
    """The schedule with all arrays computed where they are read, the last ones first; None if that takes many loads."""
    made = copy(s)
    for array in reversed(arrays):
        try:
            made.inline(array)
        except (IllegalTransform, ScheduleError):
            return None
        if max(map(_loads, nests(made)), default=0) > MOST_LOADS:
            return None
    return made


def _loads(nest: Nest) -> int:
    """How many different elements an iteration of the innermost loop loads."""
    return len(Counter((op.memref, op.index) for op in nest.innermost.body if isinstance(op, affine.Load)))


def _side_by_side(s: Schedule) -> Schedule:
    """The schedule with nests over the same rows as one, each row with its own of what lies between them."""
    made = fused(s, until=rolls)
    for root in roots_of(made):
        for array in made_for(made):
            tried = copy(made)
            with suppress(IllegalTransform, ScheduleError):
                made = tried.fold(array, 0, 1).privatize(array, root)
    return made
