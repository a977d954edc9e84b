"""Rows that a loop stores after others have read what it reads: their lines are asked for by the loop before it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress

from affdsl.ir.core import Block
from affdsl.ir.dialects import affine
from affdsl.ir.expr import Affine, Value
from affdsl.ir.traverse import walk
from affdsl.ir.types import VectorType
from affdsl.optimize.nests import names_in
from affdsl.optimize.notes import sizes_in
from affdsl.optimize.options import Options
from affdsl.optimize.recipes.unfit import UnfitError
from affdsl.optimize.recipes.vectors import has_long_vectors
from affdsl.optimize.versions import in_other, on_average
from affdsl.passes.analysis.boxes import width_of
from affdsl.passes.analysis.trip_count import trip_counts
from affdsl.passes.transforms.prefetch import LINE
from affdsl.schedule.loops import ScheduleError
from affdsl.schedule.place import arrays_of
from affdsl.schedule.schedule import IllegalTransform, Schedule

LEAST_ROWS = 64
"""How many rows pay for a copy of what all of them read: it takes about as long as one of them."""
_STORES = (affine.Store, affine.VectorStore)
Row = tuple[Value, tuple[Affine, ...]]
"""An array, and where in it a loop begins to read it."""


def take(s: Schedule, root: str, options: Options) -> list[str]:
    """Ask for rows ahead in a loop, after it is on vectors, and say which; the schedule given is changed.

        for i: { for j: R(x[i, j]); for j: S(x[i, j]); for j: y[i, j] = T(x[i, j], a[j]) }   ->
        b = a
        for i: { for j: R(x[i, j]); for j: { prefetch y[i, j]; S(x[i, j]) }; v = x[i, 0];
                 for j: { n = x[i, j + 1]; y[i, j] = T(v, b[j]); v = n } }

    The loop that asks reads a row that a loop before it has read, so it waits for no line itself. Then loads from the
    nearest cache take the time, two where a vector lies in two lines: what all iterations read is copied to where lines
    begin, if there are many of them, and half a page away from what is stored, so that no load waits for a store. The
    row is loaded an iteration ahead, so that it does not wait either where it lies a line in front of what is stored.
    """
    called = {row.iv: row.names[0] for row in s.loops()}
    arrays = {value: name for name, value in arrays_of(s.function).items()}
    inside = names_in(s, root)
    said = []
    loops = [op for op in walk(s.function) if isinstance(op, affine.For) and called[op.iv] in inside]
    for around in loops:
        still: list[str] = []
        written: list[str] = []
        for asking, later, stored in _places(around):
            first, second, rows = called[asking.iv], called[later.iv], [arrays[each] for each in stored]
            early_one, late_one = (f"{called[loop.iv]}{_line(loop)}" for loop in (asking, later))
            with suppress(IllegalTransform, ScheduleError):
                for each in rows:
                    s.prefetch(each, first, second)
                said.append(
                    f"lines of {' and '.join(rows)} are asked for in {early_one}, before {late_one} stores them"
                )
                kept = _still(around, later)
                still += [arrays[each] for each in kept]
                moving = dict.fromkeys(at for at, _ in _rows_read(later) if at not in kept)
                early = _early(s, [arrays[each] for each in moving], second) if has_long_vectors(options) else None
                if early is not None:
                    said[-1] += f", and loads {early} an iteration ahead"
                written += rows
        if still and has_long_vectors(options):
            said += _copied(s, called[around.iv], [*dict.fromkeys(still)], written[0])
    return said


def _line(loop: affine.For) -> str:
    return f" (line {loop.location.line})" if loop.location is not None else ""


def _early(s: Schedule, arrays: Sequence[str], loop: str) -> str | None:
    """The first array of which a loop may load vectors an iteration ahead; the schedule given is changed."""
    for array in arrays:
        with suppress(IllegalTransform, ScheduleError):
            s.load_ahead(array, loop)
            return array
    return None


def _copied(s: Schedule, around: str, arrays: Sequence[str], stored: str) -> list[str]:
    """Copy arrays before a loop that runs often, away from one that it stores; the schedule given is changed."""
    count = trip_counts(s.function)[next(row.iv for row in s.loops() if row.names[0] == around)].high
    if count is not None and count < LEAST_ROWS:
        return []
    apart: list[str] = []
    before, often = len(s.steps), on_average(s, (around,), LEAST_ROWS) if count is None else None
    try:
        if count is None:
            in_other(s, around, often)
        for array in arrays:
            others = {*arrays_of(s.function)}
            s.copy(array, around)
            (made,) = {*arrays_of(s.function)} - others
            with suppress(IllegalTransform):  # rows of several dimensions, or an array that is none of the arguments
                s.displace(made, stored)
                apart.append(array)
    except (UnfitError, IllegalTransform, ScheduleError):
        while len(s.steps) > before:
            s.undo()
        return []
    where = f", for {sizes_in(often)}" if often is not None else ""
    away = f", half a page away from {stored}" if apart == [*arrays] else ""
    return [f"vectors of {' and '.join(arrays)} come from copies that begin where lines do{away}{where}"]


def _still(around: affine.For, later: affine.For) -> list[Value]:
    """The arrays of which a loop reads the same rows in each iteration of the loop around it, and nothing is stored."""
    stored = {op.memref for op in walk(around) if isinstance(op, _STORES)}
    inside = {v for op in walk(around) for v in (*op.defines(), *op.binds())}
    rows = dict.fromkeys(_rows_read(later))
    return [
        array
        for array, index in rows
        if array not in stored and array not in inside and not any(v in inside for each in index for v in each.values())
    ]


def _places(around: affine.For) -> Iterator[tuple[affine.For, affine.For, list[Value]]]:
    """The loops that ask, those that they ask for, and the arrays, in one iteration of the loop around them."""
    loops = [*_innermost(around.body)]
    read = [_rows_read(loop) for loop in loops]
    for k, later in enumerate(loops):
        known = {array for array, _ in read[k]}
        stored = [
            array
            for array in dict.fromkeys(op.memref for op in later.body if isinstance(op, affine.VectorStore))
            if array not in known and not any(_touches(loop, array) for loop in loops[:k])
        ]
        asking = next(
            (n for n in range(k - 1, 0, -1) if _has_read(read[: n + 1], read[k]) and _may_ask(loops[n])), None
        )
        if stored and asking is not None:
            yield loops[asking], later, stored


def _has_read(read: Sequence[Sequence[Row]], rows: Sequence[Row]) -> bool:
    """Whether the last of some loops reads a row of these again that a loop before it has read."""
    again = {*read[-1]} & {*rows}
    return any(again & {*each} for each in read[:-1])


def _innermost(block: Block) -> Iterator[affine.For]:
    """The loops of a block that hold no others, also under conditions; none of loops that do."""
    for op in block:
        if isinstance(op, affine.For) and not any(isinstance(each, affine.For) for each in walk(op) if each is not op):
            yield op
        elif isinstance(op, affine.If):
            for branch in op.blocks():
                yield from _innermost(branch)


def _rows_read(loop: affine.For) -> list[Row]:
    """The rows that a loop reads as vectors, one element after the other, and where it begins."""
    if len(loop.lower) != 1:
        return []
    return [
        (op.memref, (*op.index[:-1], op.index[-1] - loop.iv + loop.lower[0]))
        for op in loop.body
        if isinstance(op, affine.VectorLoad)
        and not any(loop.iv in each.values() for each in (*op.index[:-1], op.index[-1] - loop.iv))
    ]


def _touches(loop: affine.For, array: Value) -> bool:
    return any(array in op.reads() for op in walk(loop))


def _may_ask(loop: affine.For) -> bool:
    """Whether a loop stores nothing, and each of its iterations reads a line at least of what it reads as vectors."""
    if any(isinstance(op, _STORES) for op in walk(loop)):
        return False
    elements = [
        op.result.type.element
        for op in loop.body
        if isinstance(op, affine.VectorLoad) and isinstance(op.result.type, VectorType)
    ]
    return bool(elements) and all(loop.step * (width_of(each) or LINE) >= LINE for each in elements)
