"""Nests over one matrix as one: it comes from memory once, and each of its rows is used while it is near."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from copy import copy
from itertools import pairwise

from affdsl.explained import Note
from affdsl.ir.core import Op
from affdsl.ir.dialects import affine
from affdsl.ir.expr import Value
from affdsl.optimize.nests import Nest, nest_called, nests
from affdsl.optimize.options import Options
from affdsl.optimize.unfit import UnfitError
from affdsl.optimize.vector import sums
from affdsl.schedule.loops import ScheduleError
from affdsl.schedule.schedule import IllegalTransform, Schedule

THREADS = 2
"""With how many threads one pass over a matrix still takes no longer than two that have threads of their own."""


def take(s: Schedule, options: Options) -> tuple[Schedule, list[Note]]:
    """The schedule with nests as one that go over the same matrix one after the other.

        for i, j: x[i] += A[i, j] * p[j];  for k, m: y[k] += A[m, k] * q[m]

    becomes

        for i, j: { x[i] += A[i, j] * p[j]; y[j] += A[i, j] * q[i] }

    Raises UnfitError.

    References
    ----------
    Howell, Demmel, Fulton, Hammarling and Marmol, "Cache efficient bidiagonalization using BLAS 2.5 operators", TOMS
    2008.
    """
    if options.threads > THREADS:
        raise UnfitError("each nest may have threads of its own")
    said: list[Note] = []
    while (found := next(_fused(s, options), None)) is not None:
        s, done = found
        said.append(done)
    if not said:
        raise UnfitError("no two nests go over one matrix")
    return s, said


def _fused(s: Schedule, options: Options) -> Iterator[tuple[Schedule, Note]]:
    """The schedules with two nests as one, and what became of them."""
    found = [(nest, matrix) for nest in nests(s) if (matrix := _matrix(nest)) is not None]
    for (first, matrix), (second, other) in pairwise(found):
        around = _path(first)[:-2]
        if other is not matrix or _path(second)[:-2] != around:
            continue
        if around and any(a.kind == "write" and a.buffer.root is matrix for a in (*first.accesses, *second.accesses)):
            continue  # sweeps, which may be tiled in time
        made = copy(s)
        with suppress(IllegalTransform, ScheduleError):
            row, column = _by_rows(made, first, matrix)
            for one, two in zip((row, column), _by_rows(made, second, matrix), strict=True):
                made.fuse(one, two)
            if _has_vectors_to_come(made, column, options) and len(made.loops()) == len(s.loops()) - 2:
                yield made, first.note(f"one nest with {second.place}, row by row over {matrix.hint}")


def _has_vectors_to_come(s: Schedule, name: str, options: Options) -> bool:
    """Whether a loop may be made of vectors: sums beside what lies in a row need to be made in any order."""
    nest = nest_called(s, name)
    return nest is not None and (options.reassociate or not sums.is_mixed(nest))


def _path(nest: Nest) -> tuple[Op, ...]:
    """The loops of a nest and those around it, outermost first."""
    return (*nest.around, *nest.band)


def _matrix(nest: Nest) -> Value | None:
    """The array over which the two inner loops of a nest go, if all else moves with one of them at most, as vectors do.

    One of the loops runs along its rows.
    """
    loops = nest.loops[-2:]
    inner = [op for op in loops[0].body if isinstance(op, affine.For)]
    if not inner or inner != loops[1:] or len(nest.band) > 2 or [*_path(nest)[-2:]] != loops:
        return None
    moving = [a for a in nest.accesses if not any(nest.is_still(a, loop) for loop in loops)]
    roots, others = {a.buffer.root for a in moving}, {a.buffer.root for a in nest.accesses if a not in moving}
    is_along = any(_runs_along(nest, loop, root) for loop in loops for root in roots)
    return next(iter(roots)) if len(roots) == 1 and roots.isdisjoint(others) and is_along else None


def _runs_along(nest: Nest, loop: affine.For, matrix: Value) -> bool:
    """Whether a loop goes from one element of a row to the next."""
    return all(nest.stride(a, loop).motion == "contiguous" for a in nest.accesses if a.buffer.root is matrix)


def _by_rows(s: Schedule, nest: Nest, matrix: Value) -> tuple[str, str]:
    """What the loops over rows and along each are called, in this order after a step; the schedule given is changed."""
    outer, inner = map(nest.name, nest.loops[-2:])
    if _runs_along(nest, nest.innermost, matrix):
        return outer, inner
    s.permute((inner, outer))
    return inner, outer
