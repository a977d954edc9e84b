"""Stencils along one row, again and again: vectors are stored as lines, and some are loaded rather than shuffled."""

from __future__ import annotations

from copy import copy

from affdsl.ir.core import Lanewise
from affdsl.ir.dialects import affine
from affdsl.ir.expr import Value
from affdsl.optimize.machine import has_large_cache
from affdsl.optimize.memory.streaming_stores import fills_lines, on_lines
from affdsl.optimize.nests import Nest, is_lane_by_lane, lane_by_lane, unfit_where_refused
from affdsl.optimize.options import Options
from affdsl.optimize.unfit import UnfitError
from affdsl.schedule.place import arrays_of
from affdsl.schedule.schedule import Schedule


def take(s: Schedule, nest: Nest, name: str, lanes: int, options: Options) -> tuple[Schedule, str]:
    """The schedule with a loop on vectors that begin where lines of what it stores do; some are loaded in two parts.

        for j: B[j] = S(A[j - 1 : j + 2])   ->   for j = 1 to a: B[j] = S(...)
                                                 for j = a to M - 1 by 8: { p = A[j :+ 8]; q = A[j + 1 :+ 8]; ... }

    It takes arrays of one dimension, and processors with a large second cache. Those have two units for vectors of this
    length, which shuffle as well as add and multiply, and two that load; a vector that lies in two lines is two loads.
    Vectors of a row are loaded rather than shuffled as long as that leaves the busier kind of units less to do. Raises
    UnfitError.
    """
    stores = [op for op in nest.innermost.body if isinstance(op, affine.Store)]
    loads = [op for op in nest.innermost.body if isinstance(op, affine.Load) and op.index]
    if not (has_large_cache(options.target) and options.target.has_masks) or len(stores) != 1:
        raise UnfitError("it stores several arrays, or processors of this kind shuffle in units of their own")
    (store,) = stores
    arrays = {op.memref for op in loads}
    if store.memref in arrays or any(len(index) != 1 for index in (store.index, *(op.index for op in loads))):
        raise UnfitError("it loads what it stores, or rows of several dimensions, which begin anywhere in lines")
    if not all(fills_lines(array, lanes) for array in (store.memref, *arrays)):
        raise UnfitError("its vectors are no lines")
    places = _places(nest, loads)
    more, most = _more_loads(nest, places), max(map(len, places.values()), default=1) - 1
    if not more:
        raise UnfitError("it would take longer to load more vectors than to shuffle them")
    called = next(each for each, value in arrays_of(s.function).items() if value is store.memref)
    made = copy(s)
    with unfit_where_refused():
        on_lines(made, called, name, lanes, options)
        if more < most:
            made.splice(name, more_loads=more)
    if is_lane_by_lane(made, name):
        raise UnfitError(lane_by_lane(nest, name))
    how = f"of vectors that overlap {more + 1} are loaded" if more < most else "each vector is loaded"
    return made, (
        f"{name} runs on vectors of {lanes} that begin where lines of {called} do; {how}, since shuffles wait for sums "
        "and products"
    )


def _places(nest: Nest, loads: list[affine.Load]) -> dict[Value, set[int]]:
    """Where each array is loaded that moves along with a loop, in elements from where that is."""
    places: dict[Value, set[int]] = {}
    for op in loads:
        apart = op.index[0] - nest.innermost.iv
        if apart.is_constant:
            places.setdefault(op.memref, set()).add(apart.constant)
    return places


def _more_loads(nest: Nest, places: dict[Value, set[int]]) -> int:
    """How many vectors of each row are loaded beside one, where others come by shuffles."""
    computed = sum(isinstance(op, Lanewise) for op in nest.innermost.body)

    def waits(more: int) -> int:
        loaded = [min(more + 1, len(each)) for each in places.values()]
        shuffled = sum(map(len, places.values())) - sum(loaded)
        return max(computed + shuffled, 2 * sum(loaded))

    return min(range(max(map(len, places.values()), default=1)), key=waits)
