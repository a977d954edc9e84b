"""Stencils along one row that a near cache feeds: vectors are stored as lines, and some are loaded in two parts."""

from __future__ import annotations

from copy import copy

from affdsl.ir.core import Lanewise
from affdsl.ir.dialects import affine
from affdsl.ir.expr import Value
from affdsl.optimize.footprint import has_large_cache
from affdsl.optimize.nests import Nest
from affdsl.optimize.options import Options
from affdsl.optimize.recipes.streamed import fills_lines
from affdsl.optimize.recipes.unfit import UnfitError, in_one_line
from affdsl.schedule.loops import ScheduleError
from affdsl.schedule.place import arrays_of
from affdsl.schedule.schedule import IllegalTransform, Schedule


def take(s: Schedule, nest: Nest, name: str, lanes: int, options: Options) -> tuple[Schedule, str]:
    """The schedule with a loop on vectors that begin where lines of what it stores do, and not all of them shuffled.

        for j: B[j] = S(A[j - 1 : j + 2])   ->   for j = 1 to a: B[j] = S(...)
                                                 for j = a to M - 1 by 8: { p = A[j :+ 8]; q = A[j + 1 :+ 8]; ... }

    It takes arrays of one dimension, and processors with a large second cache: those run shuffles of whole registers in
    the units in which they add and multiply. A vector that lies in two lines is loaded twice there, in others. As many
    are loaded as neither waits for the other. Raises UnfitError.
    """
    stores = [op for op in nest.innermost.body if isinstance(op, affine.Store)]
    loads = [op for op in nest.innermost.body if isinstance(op, affine.Load)]
    places = [op.index for op in stores] + [op.index for op in loads]
    if not (has_large_cache(options.target) and options.target.has_masks):
        raise UnfitError("its shuffles are not known to wait for sums and products")
    if len(stores) != 1 or any(len(each) != 1 for each in places):
        raise UnfitError("it stores several arrays, or rows of some, which begin anywhere in lines")
    (array,) = {op.memref for op in stores}
    if not fills_lines(array, lanes) or array in {op.memref for op in loads}:
        raise UnfitError("its vectors are no lines of what it stores, or it loads some of that")
    more = _more_loads(nest, loads)
    if not more:
        raise UnfitError("its shuffles wait for nothing")
    called = next(name for name, value in arrays_of(s.function).items() if value is array)
    made = copy(s)
    try:
        before = {row.names[0] for row in made.loops()}
        made.align(called, name, lanes)
        (first,) = (row.names[0] for row in made.loops() if row.names[0] not in before)
        made.vectorize(first, lanes, tail="folded")
        made.vectorize(name, lanes, tail="overlapped")
        made.splice(name, more_loads=more)
    except (IllegalTransform, ScheduleError) as error:
        raise UnfitError(in_one_line(error)) from None
    return made, (
        f"{name} runs on vectors of {lanes} that begin where lines of {called} do; of each row {more + 1} are loaded, "
        "since shuffles wait for sums and products"
    )


def _more_loads(nest: Nest, loads: list[affine.Load]) -> int:
    """How many vectors of each row are loaded beside one: each takes two parts of lines, a shuffle one operation."""
    rows: dict[Value, set[int]] = {}
    for op in loads:
        place = op.index[0] - nest.innermost.iv
        if place.is_constant:
            rows.setdefault(op.memref, set()).add(place.constant)
    computed = sum(isinstance(op, Lanewise) for op in nest.innermost.body)
    most = max(map(len, rows.values()), default=1)

    def waits(more: int) -> int:
        loaded = {array: min(more + 1, len(places)) for array, places in rows.items()}
        shuffled = sum(len(places) - loaded[array] for array, places in rows.items())
        return max(computed + shuffled, 2 * sum(loaded.values()))

    return min(range(most), key=waits)
