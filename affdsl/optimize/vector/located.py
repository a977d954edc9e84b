"""What a loop looks for and one strip has: the place of an extreme of narrow integers, the first or last of all."""

from __future__ import annotations

from copy import copy

from affdsl.ir.dialects import affine, arith, scf
from affdsl.ir.traverse import walk
from affdsl.ir.types import IntegerType
from affdsl.optimize.nests import Nest, bits_in_register, is_lane_by_lane, nest_called
from affdsl.optimize.options import Options
from affdsl.optimize.unfit import UnfitError
from affdsl.optimize.vector import inner_loops, searches
from affdsl.passes.analysis.early_exits import early_loops
from affdsl.passes.transforms.vectorize.searches import VECTORS
from affdsl.schedule.loops import ScheduleError
from affdsl.schedule.schedule import IllegalTransform, Schedule

STRIP = 1024
"""How many numbers are looked through again: few beside a long loop, and many beside the lanes of a register."""
PLACE = 64
"""How many bits a place has."""


def take(s: Schedule, nest: Nest, options: Options) -> tuple[Schedule, str]:
    """The schedule with the extreme of narrow integers made in lanes, and its place found in one strip afterwards.

    Places beside the numbers take as many lanes as places have, which are fewer, and most of the time. The first or
    last iteration with a condition is searched for, in blocks of vectors. Raises UnfitError.
    """
    may_choose = any(isinstance(op, arith.Select | scf.If) for op in walk(nest.innermost))
    if not may_choose or not inner_loops.is_sum(nest, nest.innermost) or nest.ends_early or nest.has_vectors:
        raise UnfitError("")
    name = nest.name(nest.innermost)
    made = _located(s, nest, STRIP)
    inner = nest_called(made, name)
    if inner is None:
        raise UnfitError("")
    if any(op in early_loops(op, made.function) for op in inner.around):
        return _one(s, nest, options)
    loads = [op.result.type for op in walk(nest.innermost) if isinstance(op, affine.Load) and op.index]
    if not loads or not all(isinstance(type, IntegerType) and bits_in_register(type) < PLACE for type in loads):
        raise UnfitError("")
    made, said = inner_loops.in_place(made, inner, options)
    return made, f"{said}; the place is looked for in the strip of {STRIP} that has it"


def _one(s: Schedule, nest: Nest, options: Options) -> tuple[Schedule, str]:
    """The schedule with the first or last iteration with a condition looked for on vectors. Raises UnfitError."""
    name, lanes = nest.name(nest.innermost), searches.lanes_to_search(nest, options)
    made = _located(s, nest, VECTORS * lanes)
    try:
        made.vectorize(name, lanes)
    except IllegalTransform:
        raise UnfitError("") from None
    if is_lane_by_lane(made, name):
        raise UnfitError("what it looks through does not lie side by side in memory")
    return made, f"{name} looks for one iteration, {VECTORS * lanes} at a time on vectors"


def _located(s: Schedule, nest: Nest, strip: int) -> Schedule:
    """The schedule after the step. Raises UnfitError: of loops that look for nothing, nothing is to be said."""
    name, made = nest.name(nest.innermost), copy(s)
    try:
        if not nest.innermost.results:
            made.scalar_replace(name)
        return made.locate(name, strip)
    except (IllegalTransform, ScheduleError):
        raise UnfitError("") from None
