"""Nests over one matrix as one: it comes from memory once, and each of its rows is used while it is near."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from dataclasses import replace
from itertools import pairwise

from affdsl.explained import Note
from affdsl.frozen import FrozenValue
from affdsl.ir.core import Op
from affdsl.ir.dialects import affine
from affdsl.ir.expr import Value
from affdsl.optimize.nests import Nest, nest_called, nests
from affdsl.optimize.options import Options
from affdsl.optimize.recipes import vectors
from affdsl.optimize.recipes.unfit import UnfitError
from affdsl.schedule.loops import ScheduleError
from affdsl.schedule.schedule import IllegalTransform, Schedule

THREADS = 2
"""With how many threads one pass over a matrix still takes no longer than two that have threads of their own."""


class Pass(FrozenValue):
    """Two loops that go over a matrix, and else over nothing but vectors.

    Attributes
    ----------
    note
        The nest, of which nothing is said yet.
    matrix
        Its memref.
    around
        The loops around the two, outermost first.
    row, column
        What the loop is called that goes from row to row, and what the one along a row.
    is_across
        Whether it goes down the columns, as it is written.
    is_read
        Whether the matrix stays as it is.
    """

    note: Note
    matrix: Value
    around: tuple[Op, ...]
    row: str
    column: str
    is_across: bool
    is_read: bool


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
    passes = [found for nest in nests(s) if (found := _pass(nest)) is not None]
    for first, second in pairwise(passes):
        if first.matrix is not second.matrix or first.around != second.around:
            continue
        if first.around and not (first.is_read and second.is_read):
            continue  # sweeps, which may be tiled in time
        made = copy(s)
        try:
            for each in (first, second):
                if each.is_across:
                    made.permute((each.row, each.column))
            made.fuse(first.row, second.row)
            made.fuse(first.column, second.column)
        except (IllegalTransform, ScheduleError):
            continue
        if _has_vectors_to_come(made, first.column, options) and len(made.loops()) == len(s.loops()) - 2:
            said = f"one nest with {second.note.place}, row by row over {first.matrix.hint}"
            yield made, replace(first.note, done=said)


def _has_vectors_to_come(s: Schedule, name: str, options: Options) -> bool:
    """Whether a loop may be made of vectors: sums beside what lies in a row need to be made in any order."""
    nest = nest_called(s, name)
    return nest is not None and (options.reassociate or not vectors.is_mixed(nest))


def _pass(nest: Nest) -> Pass | None:
    """A nest as two loops over a matrix; None where it is something else."""
    path = (*nest.around, *nest.band)
    if len(nest.band) > 2 or len(path) < 2:
        return None
    outer, inner = path[-2:]
    if not isinstance(outer, affine.For) or not isinstance(inner, affine.For):
        return None
    if sum(isinstance(op, affine.For) for op in outer.body) > 1:
        return None
    steps = [(a, nest.stride(a, outer).motion, nest.stride(a, inner).motion) for a in nest.accesses]
    moving = [(a, down, along) for a, down, along in steps if "invariant" not in (down, along)]
    if len({a.buffer.root for a, _, _ in moving}) != 1:
        return None
    matrix = moving[0][0].buffer.root
    if any(a.buffer.root is matrix for a, down, along in steps if "invariant" in (down, along)):
        return None
    is_across = all(down == "contiguous" for _, down, _ in moving) and len(nest.band) == 2
    if not is_across and any(along != "contiguous" for _, _, along in moving):
        return None
    row, column = (inner, outer) if is_across else (outer, inner)
    is_read = all(a.kind == "read" for a, _, _ in moving)
    return Pass(nest.note(), matrix, path[:-2], nest.names[row.iv], nest.names[column.iv], is_across, is_read)
