"""The place of the least or greatest of narrow integers: the number in lanes, its place afterwards."""

from __future__ import annotations

from copy import copy

from affdsl.ir.dialects import affine
from affdsl.ir.traverse import walk
from affdsl.ir.types import IntegerType
from affdsl.optimize.nests import Nest, bits_in_register, nest_called
from affdsl.optimize.options import Options
from affdsl.optimize.unfit import UnfitError
from affdsl.optimize.vector import inner_loops
from affdsl.schedule.loops import ScheduleError
from affdsl.schedule.schedule import IllegalTransform, Schedule

STRIP = 1024
"""How many numbers are looked through again: few beside a long loop, and many beside the lanes of a register."""
PLACE = 64
"""How many bits a place has."""


def take(s: Schedule, nest: Nest, options: Options) -> tuple[Schedule, str]:
    """The schedule with the extreme of narrow integers made in lanes, and its place found in one strip afterwards.

    Places beside the numbers take as many lanes as places have, which are fewer, and most of the time. Raises
    UnfitError.
    """
    loads = [op.result.type for op in walk(nest.innermost) if isinstance(op, affine.Load) and op.index]
    if not loads or not all(isinstance(type, IntegerType) and bits_in_register(type) < PLACE for type in loads):
        raise UnfitError("")
    name, made = nest.name(nest.innermost), copy(s)
    try:
        if not nest.innermost.results:
            made.scalar_replace(name)
        made.locate(name, STRIP)
    except (IllegalTransform, ScheduleError):  # most loops have no such place, and of these nothing is to be said
        raise UnfitError("") from None
    inner = nest_called(made, name)
    if inner is None:
        raise UnfitError("")
    made, said = inner_loops.in_place(made, inner, options)
    return made, f"{said}; the place is looked for in the strip of {STRIP} that has it"
