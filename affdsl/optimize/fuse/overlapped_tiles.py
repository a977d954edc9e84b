"""Bands of rows of a chain: each has rows of its own of what lies between the stages, so that threads share none."""

from __future__ import annotations

from contextlib import suppress
from copy import copy
from functools import partial

from affdsl.ir.dialects import affine
from affdsl.ir.traverse import walk
from affdsl.ir.types import FloatType, IntegerType, MemRefType
from affdsl.optimize.attempts import where_legal
from affdsl.optimize.fuse.line_buffers import (
    along_one_row,
    cheapest,
    fused,
    is_row_by_row,
    made_for,
    rows_at_once,
    rows_on_vectors,
)
from affdsl.optimize.machine import LINE
from affdsl.optimize.nests import names_in, roots_of, unfit_where_refused
from affdsl.optimize.options import Options
from affdsl.optimize.unfit import UnfitError
from affdsl.schedule.loops import ScheduleError
from affdsl.schedule.place import arrays_of
from affdsl.schedule.schedule import IllegalTransform, Schedule

MOST_CONDITIONS = 8
"""Stages that hold more are none of a chain of stencils, and to prove a step each read asks all writes."""


def take(s: Schedule, options: Options) -> tuple[Schedule, str]:
    """The schedule with the last nest of a chain in bands of rows, each of which computes what it reads; and why.

        for i, j: t[i, j] = P(A, i, j);  for k, m: B[k, m] = C(t[k - 1, m], t[k, m], t[k + 1, m])

    Bands have arrays of their own, and may run at the same time. In a band each stage runs several rows at once. What
    two bands need of a stage both compute, so that bands of few rows cost more; of many rows, what lies between the
    stages does not stay in the second cache. Raises UnfitError.

    References
    ----------
    Ragan-Kelley, Barnes, Adams, Paris, Durand and Amarasinghe, "Halide: a language and compiler for optimizing
    parallelism, locality, and recomputation in image processing pipelines", PLDI 2013, on overlapped tiles.
    """
    if sum(isinstance(op, affine.If) for op in walk(s.function)) > MOST_CONDITIONS:
        raise UnfitError(f"its nests hold more than {MOST_CONDITIONS} conditions")
    made = cheapest(s, partial(fused, until=lambda step: step.verb != "inline"))
    arrays = made_for(made)
    if not is_row_by_row(made) or not arrays:
        raise UnfitError("its nests do not all go over rows")
    last = roots_of(made)[-1]
    before = {row.names[0] for row in made.loops()}
    with unfit_where_refused():
        made.strip_mine(last, options.choices.band_rows)
        band = next((name for name in roots_of(made) if name not in before), None)
        if band is None:
            raise UnfitError(f"its last nest has at most {options.choices.band_rows} rows")
        for array in reversed(arrays):
            made.compute_at(array, band)
        if roots_of(made) != [band]:
            raise UnfitError("some nest is no part of a band")
        _fuse_alike(made, band, options)
        rows = rows_at_once(made, band, options)
        for array in arrays:
            set_apart(made, array)
            made.privatize(array, band)
    what = f"each of which computes what it reads of {', '.join(arrays)}"
    said = f"it runs in bands of {options.choices.band_rows} rows, {what}" + f", {rows} rows at once" * (rows > 1)
    if rows > 1:
        where_legal(lambda stage: made.unroll_jam(stage, rows), _stages(made, band))
    return rows_on_vectors(made, options), said


def set_apart(s: Schedule, array: str) -> None:
    """Let rows of an array begin an odd number of cache lines apart, so that they do not compete for the same places.

    References
    ----------
    Bailey, "Unfavorable strides in cache memory systems", Scientific Programming 4 (1995).
    """
    type = arrays_of(s.function)[array].type
    if (
        isinstance(type, MemRefType)
        and isinstance(type.element, FloatType | IntegerType)
        and type.element.width <= 8 * LINE
    ):
        line = 8 * LINE // type.element.width
        with suppress(IllegalTransform):  # vectors that the kernel is written with may go on behind a row
            s.pad(array, type.rank - 1, 2 * line, line)


def _stages(s: Schedule, band: str) -> list[str]:
    """The loops over rows of a band, in the order of the text."""
    inside = set(names_in(s, band))
    return [row.names[0] for row in s.loops() if row.depth == 1 and row.names[0] in inside]


def _fuse_alike(s: Schedule, band: str, options: Options) -> None:
    """Make one loop of stages over the same rows that follow each other, and then of their loops along a row."""
    first, *others = _stages(s, band)
    for second in others:
        inner = [name for stage in (first, second) for name in names_in(s, stage)[1:]]
        tried = copy(s)
        with suppress(IllegalTransform, ScheduleError):
            tried.fuse(first, second)
            if len(_stages(tried, band)) < len(_stages(s, band)):  # and none is left over before or behind
                s.fuse(first, second)
                _fuse_inner(s, inner, options)
                continue
        first = second


def _fuse_inner(s: Schedule, inner: list[str], options: Options) -> None:
    """Make one loop of loops along one row: as it is where they need not wait for each other, else late."""
    *before, last = inner
    with suppress(IllegalTransform, ScheduleError):
        s.fuse(before[-1], last)
        return
    along_one_row(s, inner[-2:], options)
