"""Loops that end early, and do nothing before: blocks of iterations are looked through on vectors."""

from __future__ import annotations

from copy import copy

from affdsl.ir.dialects import affine
from affdsl.ir.traverse import walk
from affdsl.optimize.nests import Nest, counts_inside, is_lane_by_lane, lanes_for
from affdsl.optimize.options import Options
from affdsl.optimize.unfit import UnfitError, in_one_line
from affdsl.passes.transforms.vectorize.searches import VECTORS
from affdsl.schedule.schedule import IllegalTransform, Schedule


def take(s: Schedule, nest: Nest, options: Options) -> tuple[Schedule, str]:
    """The schedule with blocks of iterations that vectors look through, where an innermost loop searches.

    Raises UnfitError.
    """
    if not nest.ends_early:
        raise UnfitError("")
    name, lanes = nest.name(nest.innermost), lanes_to_search(nest, options)
    runs = counts_inside(s, nest.loops[0])[nest.innermost.iv].high
    if runs is not None and runs < VECTORS * lanes:
        raise UnfitError(f"it runs {runs} times at most, and a block of vectors has {VECTORS * lanes} elements")
    made = copy(s)
    try:
        made.vectorize(name, lanes)
    except IllegalTransform as error:
        raise UnfitError(in_one_line(error)) from None
    if is_lane_by_lane(made, name):
        raise UnfitError("what it looks through does not lie side by side in memory")
    return made, f"{name} searches, {VECTORS * lanes} elements at a time on vectors"


def lanes_to_search(nest: Nest, options: Options) -> int:
    """How many of the widest numbers that the loop looks at a register has. Raises UnfitError where that is one."""
    loads = (op for op in walk(nest.innermost) if isinstance(op, affine.Load) and op.index)
    lanes = lanes_for((op.result.type for op in loads), options)
    if lanes < 2:
        raise UnfitError("a register has no two of the numbers that it looks through")
    return lanes
