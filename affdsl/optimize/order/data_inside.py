"""Sums of rows and columns: kept where loops run along rows, in a register for data, or in memory for columns."""

from __future__ import annotations

from contextlib import suppress
from copy import copy

from affdsl.explained import Note
from affdsl.ir.dialects import affine, scf
from affdsl.ir.expr import Value
from affdsl.ir.traverse import holders
from affdsl.optimize.attempts import where_legal
from affdsl.optimize.nests import (
    Nest,
    counts_inside,
    lanes_of,
    made_inside,
    nests_in,
    on_vectors,
    require_loop,
    unfit_where_refused,
)
from affdsl.optimize.notes import Notes, of
from affdsl.optimize.options import Options
from affdsl.optimize.unfit import UnfitError
from affdsl.optimize.vector import inner_loops, sums
from affdsl.schedule.loops import ScheduleError
from affdsl.schedule.schedule import IllegalTransform, Schedule


def take(s: Schedule, root: str, options: Options) -> tuple[Schedule, Notes]:
    """The schedule with loops over data inside of rows that they update, and what was done. Raises UnfitError.

        for c: y[i, c] = 0                          for c: { t = 0
        for k = p[i] to p[i + 1]: for c:      ->             for k = p[i] to p[i + 1]: t += v[k] * x[n[k], c]
            y[i, c] += v[k] * x[n[k], c]                     y[i, c] = t }

    No iteration then waits for the store of the one before, and how long a row is does not matter: all lanes run the
    same iterations, since what bounds the loop is the same for all of them.
    """
    notes: Notes = []
    for nest in nests_in(s, root):
        loop = _around(s, nest)
        if loop is not None and loop not in s.function.body and _updates_a_row(nest, loop):
            with suppress(IllegalTransform, ScheduleError, UnfitError):
                s, note = _inside(copy(s), loop.iv, nest, options)
                notes.append(note)
    if not notes:
        raise UnfitError
    return s, notes


def _around(s: Schedule, nest: Nest) -> scf.For | None:
    """The loop over data right around a nest of one loop, if there is one."""
    inside = (op for op in holders(s.function) if isinstance(op, scf.For))
    return next((op for op in inside if len(nest.band) == 1 and nest.innermost in op.body), None)


def _updates_a_row(nest: Nest, around: scf.For) -> bool:
    """Whether a nest lies in rows, and stores to the same one in each iteration of the loop around it."""
    stores = [a.op for a in nest.accesses if a.kind == "write"]
    still = (isinstance(op, affine.Store) and not any(around.iv in e.values() for e in op.index) for op in stores)
    return all(still) and inner_loops.lies_in_rows(nest)


def _inside(s: Schedule, data: Value, nest: Nest, options: Options) -> tuple[Schedule, Note]:
    """The schedule given after the loop over data is the inner one. Raises as steps do, and UnfitError."""
    names = {row.iv: row.names[0] for row in s.loops()}
    row, inner = nest.name(nest.innermost), names[data]
    said = of(s, [inner, row], f"{inner} runs inside of {row}, for each element that its iterations update")
    where_legal(s.sink, [row])
    s.interchange(inner, row)
    with suppress(IllegalTransform, ScheduleError, UnfitError):
        before = _before(s, row)
        s.fuse(before, row)
        row = before
    s.scalar_replace(inner)
    on_vectors(copy(s), row, lanes_of(nest, options), options.tail)
    return s, said


def _before(s: Schedule, name: str) -> str:
    """The last loop before another one, in the same block, if it has the same bounds. Raises UnfitError."""
    loop = require_loop(s, name)
    block = next(block for op in holders(s.function) for block in op.blocks() if loop in block)
    found = [op for op in block[: block.index(loop)] if isinstance(op, affine.For)]
    if not found or (found[-1].lower, found[-1].upper, found[-1].step) != (loop.lower, loop.upper, loop.step):
        raise UnfitError
    return next(row.names[0] for row in s.loops() if row.iv is found[-1].iv)


LONG = 32
"""A column with more elements is in other pages than the next one: rows come to the caches by themselves."""


def with_sums_in_memory(s: Schedule, root: str, options: Options) -> Schedule:
    """The schedule with a sum that a loop makes in a variable made in the element that it is stored in.

        for i: { t = 0; for k: t += A[k, i]; y[i] = t }   ->   for i: { y[i] = 0; for k: y[i] += A[k, i] }

    Then each row of A can be added to y as a whole: it lies in memory in one piece. Raises UnfitError.
    """
    found = nests_in(s, root)
    if len(found) != 1 or len(found[0].loops) != 2 or not sums.is_sum(found[0], found[0].innermost):
        raise UnfitError("")
    (nest,) = found
    outer, inner = nest.loops
    most = counts_inside(s, outer)[inner.iv].high
    columns = [a for a in nest.accesses if a.buffer.rank and nest.stride(a, inner).motion not in inner_loops.COSTS]
    if not columns or any(nest.stride(a, outer).motion != "contiguous" for a in columns) or (most or LONG) < LONG:
        raise UnfitError("")
    made = copy(s)
    with unfit_where_refused():
        for variable, _ in made_inside(s.function, {outer.iv}):
            made.merge(variable)
    if len(made.steps) == len(s.steps) or not inner_loops.runs_along_rows(made, nests_in(made, root)[0], options):
        raise UnfitError("")
    return made


def has_sums_in_memory(s: Schedule, root: str, options: Options) -> bool:
    """Whether there is such a sum."""
    try:
        with_sums_in_memory(s, root, options)
    except UnfitError:
        return False
    return True
