"""Loops that keep some of the elements that they see, one behind the other, on vectors whose lanes are packed."""

from __future__ import annotations

from contextlib import suppress
from copy import copy

from affdsl.codegen.c.vector_helpers import TARGETS
from affdsl.ir.dialects import vector
from affdsl.ir.traverse import walk
from affdsl.ir.types import FloatType, IntegerType, VectorType
from affdsl.optimize.nests import Nest, lanes_of, loop_called, nest_called, require_loop, unfit_where_refused
from affdsl.optimize.options import Options
from affdsl.optimize.unfit import UnfitError
from affdsl.passes.transforms.vectorize import keeps_elements
from affdsl.schedule.alone import alone, way_to
from affdsl.schedule.loops import ScheduleError
from affdsl.schedule.schedule import IllegalTransform, Schedule


def take(s: Schedule, nest: Nest, options: Options) -> tuple[Schedule, str]:
    """The schedule with a loop on vectors that stores what a condition holds for, one element behind the other.

        for i: if c[i]: { y[n] = x[i]; n += 1 }
            ->   for i step 8: { the lanes of x where c holds, packed, to y[n ..]; n += their count }

    One iteration after the other, a processor would have to guess each time whether the condition holds. It pays where
    the target has an instruction that packs lanes, for all of those that are stored. Raises UnfitError.
    """
    name, made = nest.name(nest.innermost), copy(s)
    if not nest.innermost.results:
        with suppress(IllegalTransform, ScheduleError):
            made.scalar_replace(name)
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


def _has_instruction(op: vector.CompressStore, options: Options) -> bool:
    """Whether a target packs the lanes of a store."""
    type = op.value.type
    assert isinstance(type, VectorType)
    letter = "f" if isinstance(type.element, FloatType) else "i"
    width = type.element.width if isinstance(type.element, FloatType | IntegerType) else 0
    row, has = ("compressed", f"{letter}{width}", type.shape[0]), set(options.target.macros)
    return any(row in each.rows and has.issuperset(each.macros) for each in TARGETS)
