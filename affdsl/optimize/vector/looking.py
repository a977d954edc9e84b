"""Loops that look for something, on vectors: that end early, keep the place of an extreme, or elements one by one."""

from __future__ import annotations

from copy import copy

from affdsl.codegen.c.vector_helpers import TARGETS
from affdsl.ir.dialects import affine, arith, scf, vector
from affdsl.ir.traverse import walk
from affdsl.ir.types import FloatType, IntegerType, VectorType
from affdsl.optimize.nests import (
    Nest,
    bits_in_register,
    counts_inside,
    is_lane_by_lane,
    lanes_for,
    lanes_of,
    loop_called,
    nest_called,
    require_loop,
    unfit_where_refused,
)
from affdsl.optimize.options import Options
from affdsl.optimize.unfit import UnfitError
from affdsl.optimize.vector import inner_loops, sums
from affdsl.passes.analysis.early_exits import early_loops
from affdsl.passes.transforms.vectorize import keeps_elements
from affdsl.passes.transforms.vectorize.searches import VECTORS
from affdsl.schedule.alone import alone, way_to
from affdsl.schedule.loops import ScheduleError
from affdsl.schedule.schedule import IllegalTransform, Schedule

STRIP = 1024
"""How many numbers are looked through again: few beside a long loop, and many beside the lanes of a register."""
PLACE = 64
"""How many bits a place has."""


def take_search(s: Schedule, nest: Nest, options: Options) -> tuple[Schedule, str]:
    """The schedule with blocks of iterations that vectors look through, where an innermost loop searches.

    Raises UnfitError.
    """
    if not nest.ends_early:
        raise UnfitError
    name, lanes = nest.name(nest.innermost), _lanes(nest, options)
    runs = counts_inside(s, nest.loops[0])[nest.innermost.iv].high
    if runs is not None and runs < VECTORS * lanes:
        raise UnfitError(f"it runs {runs} times at most, and a block of vectors has {VECTORS * lanes} elements")
    return _in_blocks(copy(s), name, lanes), f"{name} searches, {VECTORS * lanes} elements at a time on vectors"


def take_place(s: Schedule, nest: Nest, options: Options) -> tuple[Schedule, str]:
    """The schedule with the extreme of narrow integers made in lanes, and its place found in one strip afterwards.

    Places beside the numbers take as many lanes as places have, which are fewer, and most of the time. The first or
    last iteration with a condition is searched for, in blocks of vectors. Raises UnfitError.
    """
    may_choose = any(isinstance(op, arith.Select | scf.If) for op in walk(nest.innermost))
    if not may_choose or not sums.is_sum(nest, nest.innermost) or nest.ends_early or nest.has_vectors:
        raise UnfitError
    name = nest.name(nest.innermost)
    made = _located(s, nest, STRIP)
    inner = nest_called(made, name)
    if inner is None:
        raise UnfitError
    if any(op in early_loops(op, made.function) for op in inner.around):
        lanes = _lanes(nest, options)
        made = _in_blocks(_located(s, nest, VECTORS * lanes), name, lanes)
        return made, f"{name} looks for one iteration, {VECTORS * lanes} at a time on vectors"
    loads = [op.result.type for op in walk(nest.innermost) if isinstance(op, affine.Load) and op.index]
    if not loads or not all(isinstance(type, IntegerType) and bits_in_register(type) < PLACE for type in loads):
        raise UnfitError
    made, said = inner_loops.in_place(made, inner, options)
    return made, f"{said}; the place is looked for in the strip of {STRIP} that has it"


def take_kept(s: Schedule, nest: Nest, options: Options) -> tuple[Schedule, str]:
    """The schedule with a loop on vectors that stores what a condition holds for, one element behind the other.

        for i: if c[i]: { y[n] = x[i]; n += 1 }
            ->   for i step 8: { the lanes of x where c holds, packed, to y[n ..]; n += their count }

    One iteration after the other, a processor would have to guess each time whether the condition holds. It pays where
    the target has an instruction that packs lanes, for all of those that are stored. Raises UnfitError.
    """
    name, made = nest.name(nest.innermost), copy(sums.handed_on(s, nest))
    loop, again = loop_called(made, name), nest_called(made, name)
    if loop is None or again is None or not loop.results:
        raise UnfitError
    if not keeps_elements(alone(way_to(made.function, {loop.iv})), loop.iv, made.module):
        raise UnfitError
    lanes = lanes_of(again, options)
    with unfit_where_refused():
        made.vectorize(name, lanes, tail=options.tail)
    stores = [op for op in walk(require_loop(made, name)) if isinstance(op, vector.CompressStore)]
    if not stores or not all(_has_instruction(op, options) for op in stores):
        raise UnfitError("the target has no instruction that stores the lanes of a mask one behind the other")
    return made, f"{lanes} iterations of {name} at once, of which those that are kept are stored side by side"


def _lanes(nest: Nest, options: Options) -> int:
    """How many of the widest numbers that the loop looks at a register has. Raises UnfitError where that is one."""
    loads = (op for op in walk(nest.innermost) if isinstance(op, affine.Load) and op.index)
    lanes = lanes_for((op.result.type for op in loads), options)
    if lanes < 2:
        raise UnfitError("a register has no two of the numbers that it looks through")
    return lanes


def _in_blocks(s: Schedule, name: str, lanes: int) -> Schedule:
    """The schedule given after vectors look through blocks of the iterations of a loop. Raises UnfitError."""
    with unfit_where_refused():
        s.vectorize(name, lanes)
    if is_lane_by_lane(s, name):
        raise UnfitError("what it looks through does not lie side by side in memory")
    return s


def _located(s: Schedule, nest: Nest, strip: int) -> Schedule:
    """The schedule after the step. Raises UnfitError: of loops that look for nothing, nothing is to be said."""
    name, made = nest.name(nest.innermost), copy(s)
    try:
        if not nest.innermost.results:
            made.scalar_replace(name)
        return made.locate(name, strip)
    except (IllegalTransform, ScheduleError):
        raise UnfitError from None


def _has_instruction(op: vector.CompressStore, options: Options) -> bool:
    """Whether a target packs the lanes of a store."""
    type = op.value.type
    assert isinstance(type, VectorType)
    letter = "f" if isinstance(type.element, FloatType) else "i"
    width = type.element.width if isinstance(type.element, FloatType | IntegerType) else 0
    row, has = ("compressed", f"{letter}{width}", type.shape[0]), set(options.target.macros)
    return any(row in each.rows and has.issuperset(each.macros) for each in TARGETS)
