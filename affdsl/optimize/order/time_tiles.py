"""Stencils that sweep over arrays in each time step: sweeps made one at a shift, and tiled in time."""

from __future__ import annotations

from contextlib import suppress
from copy import copy
from dataclasses import replace
from typing import Literal

from affdsl.codegen.targets.target import Target
from affdsl.ir.dialects import affine
from affdsl.optimize.attempts import after_skew, bring_innermost, names_made, wavefront
from affdsl.optimize.machine import LARGE, has_large_cache
from affdsl.optimize.memory import lines
from affdsl.optimize.nests import (
    Nest,
    is_lane_by_lane,
    is_recurrence,
    lanes_of,
    nests,
    nests_in,
    perfect_band,
    require_loop,
)
from affdsl.optimize.options import Choices, Options
from affdsl.optimize.unfit import UnfitError
from affdsl.optimize.vector import inner_loops
from affdsl.schedule.alone import way_to
from affdsl.schedule.loops import ScheduleError
from affdsl.schedule.schedule import IllegalTransform, Schedule

TAILS: tuple[Literal["overlapped", "masked", "scalar"], ...] = ("overlapped", "masked", "scalar")
"""How the iterations of a row run that whole vectors leave over; under masks where there are some, and the second cache
is large."""
SHIFTS = (0, 1, 2, 3)
"""How late a sweep may run, in rows."""
SKEWS = (0, 1, 2, 3, 4)
"""How many rows a tile may move in each time step."""
SMALL_PART = 16
"""Sweeps that each go through all arrays are tiled where these exceed one part in so many of a large second cache."""
PART_OF_LAST = 8
"""One part in so many of the last cache holds planes for which tiles do not pay: of 32 MB, heat-3d takes 1.3 times as
long in tiles where its arrays have 1 to 4 MB, as long where they have 8 MB, and .4 where they have 28 MB."""
STEPS, ROWS = 4, 2
"""A tile of time steps and rows that touches few rows of arrays: the nearest cache has them, unless they are long."""


def along_rows(s: Schedule, root: str, options: Options) -> Schedule:
    """The schedule with the loop of each sweep innermost that moves through memory in the smallest steps, if it may."""
    made = copy(s)
    for nest in nests_in(s, root):
        best = min(reversed(nest.band), key=lambda each: inner_loops.cost(nest, each, options))
        with suppress(IllegalTransform, ScheduleError):
            bring_innermost(made, nest, best)
    return made


def take(s: Schedule, root: str, options: Options, tile: tuple[int, int] | None = None) -> Schedule:
    """The schedule with a loop over time and its sweeps tiled, in the order that results ask for.

        for t: { for i, j: B = S(A); for i, j: A = S(B) }

    One dimension of space stays whole, so that vectors run along it. `tile` has time steps and rows, for sweeps over
    rows that are not to have those of the options. Raises UnfitError.

    References
    ----------
    Wonnacott, "Achieving scalable locality with time skewing", IJPP 2002; Bondhugula et al., "A practical automatic
    polyhedral parallelizer and locality optimizer", PLDI 2008.
    """
    time = require_loop(s, root)
    sweeps = [op for op in time.body if isinstance(op, affine.For)]
    depth = max((_depth(op) for op in sweeps), default=0)
    if depth < 2 or time.results:
        raise UnfitError("it is no sweep over planes in time")
    if any(_moves(nest, time, depth) for nest in nests(s)):
        raise UnfitError(f"what it stores moves with {root}")
    made, inner = _as_one(s, sweeps, min(depth - 1, 2))
    with suppress(IllegalTransform, ScheduleError):
        made.make_perfect(root, inner[0])
    at_once = options.choices.shared_rows if len(inner) == 1 and _spans_rows(s, sweeps) else 1
    tiled = _tiled(made, root, inner, tile or _sizes(options.choices, len(inner)), separate=at_once > 1)
    if options.threads > 1:
        tiled = _wavefront(tiled)
    if at_once > 1:
        with suppress(IllegalTransform, ScheduleError):
            tiled = copy(tiled).unroll_jam(inner[0], at_once)
    are_long = len(inner) == 1 and tile is None
    return _rows_on_vectors(tiled, _outermost(tiled, root), options, are_long=are_long)


def take_near(s: Schedule, root: str, options: Options) -> tuple[Schedule, str]:
    """The schedule with the sweeps of a loop over time as one, each row of which runs while the nearest cache has it.

    They run row by row; where the second cache is large, and takes longer to answer, some rows in some time steps. It
    makes nothing parallel, and pays where arrays lie in that cache, and no sweep loads rows that several iterations of
    it share. Raises UnfitError.
    """
    sweeps = _sweeps(s, root)
    if not _are_over_rows(sweeps):
        raise UnfitError("there are no two sweeps over rows")
    if _spans_rows(s, sweeps):
        raise UnfitError("several iterations of a sweep load the same rows")
    if has_large_cache(options.target):
        with suppress(UnfitError):
            made = take(s, root, replace(options, threads=1), (STEPS, ROWS))
            return made, f"its sweeps are one, {ROWS} rows in {STEPS} time steps at once"
    made, _ = _as_one(s, sweeps, 1)
    return _rows_on_vectors(made, root, options, are_long=False), "its sweeps are one, row by row"


def small_enough(s: Schedule, root: str, target: Target) -> int | None:
    """How many bytes arrays may have so that the sweeps of a loop over time need no tiles; None where nobody knows.

    They stay in the second cache then, or, where each sweep would go through it as a whole, in a part of a large one.
    Tiles of planes move in two dimensions, and have many edges: a part of the last cache serves sweeps as well.
    """
    if len(target.caches) < 2:
        return None
    second, sweeps = target.caches[1], _sweeps(s, root)
    if second < LARGE and max(map(_depth, sweeps), default=0) > 2:
        return max(second, target.caches[-1] // PART_OF_LAST)
    one_by_one = not _are_over_rows(sweeps) or _spans_rows(s, sweeps)
    return second // SMALL_PART if one_by_one and second >= LARGE else second


def _sweeps(s: Schedule, root: str) -> list[affine.For]:
    return [op for op in require_loop(s, root).body if isinstance(op, affine.For)]


def _are_over_rows(sweeps: list[affine.For]) -> bool:
    """Whether several of some sweeps are over rows, and none of them over planes."""
    depths = [*map(_depth, sweeps)]
    return depths.count(2) > 1 and max(depths) == 2


def _as_one(s: Schedule, sweeps: list[affine.For], dimensions: int) -> tuple[Schedule, list[str]]:
    """The schedule with the deepest sweeps as one in their outer dimensions, and its loops. Raises UnfitError."""
    names = {row.iv: row.names[0] for row in s.loops()}
    deepest = [op for op in sweeps if _depth(op) == max(map(_depth, sweeps))]
    first, *others = ([names[op.iv] for op in perfect_band(sweep)[:dimensions]] for sweep in deepest)
    made = copy(s)
    for other in others:
        made = _fused(made, first, other)
    return made, first


def _rows_on_vectors(s: Schedule, root: str, options: Options, *, are_long: bool) -> Schedule:
    """The schedule with vectors of the innermost loops inside of one, from lines on if rows may be long.

    Raises UnfitError.
    """
    for name in [nest.name(nest.innermost) for nest in nests_in(s, root)]:
        s = _on_vectors(lines.rows_from_a_line(s, name, options) if are_long else s, name, options)
    return s


def _on_vectors(s: Schedule, name: str, options: Options) -> Schedule:
    """The schedule with vectors of an innermost loop. Raises UnfitError where it would not be faster."""
    nest = next(each for each in nests(s) if each.name(each.innermost) == name)
    if is_recurrence(nest, nest.innermost):  # its lanes are made one after the other
        raise UnfitError(f"each iteration of {name} needs the one before")
    for tail in TAILS if has_large_cache(options.target) and options.target.has_masks else TAILS[::2]:
        made = copy(s)
        with suppress(IllegalTransform, ScheduleError):
            made.vectorize(name, lanes_of(nest, options), tail=tail)
            if is_lane_by_lane(made, name):  # with any tail
                break
            inner_loops.spliced(made, name, options)
            return made
    if len(nest.band) > 1:
        raise UnfitError(f"{name} cannot run on vectors")
    return s


def _moves(nest: Nest, time: affine.For, depth: int) -> bool:
    """Whether a sweep in a loop stores elsewhere in each of its iterations."""
    if time not in (*nest.around, *nest.band) or len(nest.around) + len(nest.band) <= depth:
        return False
    bounds = {v for op in nest.band for e in (*op.lower, *op.upper) for v in e.values()}
    stores = [a for a in nest.accesses if a.kind == "write"]
    return time.iv in bounds or any(nest.stride(a, time).motion != "invariant" for a in stores)


def _spans_rows(s: Schedule, sweeps: list[affine.For]) -> bool:
    """Whether a sweep loads three rows around that of an iteration, so that several of these at once load fewer."""
    for nest in nests(s):
        loads = [op for op in nest.innermost.body if isinstance(op, affine.Load)]
        if nest.band[-2:-1] and any(op in (*nest.around, *nest.band) for op in sweeps):
            rows = nest.band[-2].iv
            found = {(op.memref, e.constant) for op in loads for e in op.index[:1] if rows in e.values()}
            if any(sum(memref is other for other, _ in found) > 2 for memref, _ in found):
                return True
    return False


def _outermost(s: Schedule, name: str) -> str:
    """The outermost loop around one. Raises UnfitError if it is gone."""
    found = name
    for row in s.loops():
        found = row.names[0] if row.depth == 0 else found
        if name in row.names:
            return found
    raise UnfitError(f"{name} has no iterations in tiles")


def _sizes(choices: Choices, dimensions: int) -> tuple[int, ...]:
    """The tile of a loop over time and so many outer dimensions of space."""
    return (choices.sweep_steps, *(choices.sweep_planes, choices.sweep_rows)[-dimensions:])


def _tiled(s: Schedule, root: str, inner: list[str], sizes: tuple[int, ...], *, separate: bool) -> Schedule:
    """The loops tiled after the smallest skew with which that is legal, whole tiles apart if need be."""

    def tile(made: Schedule) -> None:
        made.tile((root, *inner), sizes, grid=True, separate=separate)

    skews = () if _stores_again(s, root, inner[0]) else SKEWS
    return after_skew(s, root, inner, skews, tile, "tile its time steps")[0]


def _stores_again(s: Schedule, time: str, space: str) -> bool:
    """Whether all iterations of two loops store to the same elements: no skew lets tiles of them run in turn."""
    for nest in nests_in(s, time):
        loops = [loop for loop in nest.loops if nest.name(loop) in (time, space)]
        way = way_to(s.function, {nest.innermost.iv})
        if len(loops) < 2 or not all(isinstance(op, affine.For) for op in way[way.index(loops[0]) :]):
            continue
        stores = [a for a in nest.accesses if a.kind == "write" and a.op in nest.innermost.body]
        if any(not a.buffer.loops and all(nest.is_still(a, loop) for loop in loops) for a in stores):
            return True
    return False


def _wavefront(s: Schedule) -> Schedule:
    """The schedule with tiles of its last step at once that do not wait for each other; as it was if none may be."""
    time, space, *_ = names_made(s)
    with suppress(IllegalTransform, ScheduleError):
        return wavefront(copy(s), time, space)
    return s


def _fused(s: Schedule, band: list[str], other: list[str]) -> Schedule:
    """A sweep made one with another, late by the same number of rows in each dimension, the smallest that is legal."""
    why = ""
    for shift in SHIFTS:
        made = copy(s)
        try:
            for first, second in zip(band, other, strict=False):
                made.fuse(first, second, shift=shift, guarded=True)
        except (IllegalTransform, ScheduleError) as error:
            why = why or str(error)
        else:
            return made
    raise UnfitError(f"its sweeps cannot be made one: {why}")


def _depth(op: affine.For) -> int:
    """How deep loops are nested."""
    inner = [each for each in op.body if isinstance(each, affine.For)]
    return 1 + max(map(_depth, inner), default=0)
