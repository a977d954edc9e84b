"""Rows that a loop stores after others have read what it reads: their lines are asked for by the loop before it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress

from affdsl.ir.dialects import affine
from affdsl.ir.expr import Affine, Value
from affdsl.ir.traverse import walk
from affdsl.ir.types import VectorType
from affdsl.optimize.nests import names_in
from affdsl.passes.analysis.boxes import width_of
from affdsl.passes.transforms.prefetch import LINE
from affdsl.schedule.loops import ScheduleError
from affdsl.schedule.place import arrays_of
from affdsl.schedule.schedule import IllegalTransform, Schedule

_STORES = (affine.Store, affine.VectorStore)
Row = tuple[Value, tuple[Affine, ...]]
"""An array, and where in it a loop begins to read it."""


def take(s: Schedule, root: str) -> list[str]:
    """Ask for rows ahead in a loop, after it is on vectors, and say which; the schedule given is changed.

        for i: { for j: R(x[i, j]); for j: S(x[i, j]); for j: y[i, j] = T(x[i, j]) }
            ->   for i: { for j: R(x[i, j]); for j: { prefetch y[i, j]; S(x[i, j]) }; for j: y[i, j] = T(x[i, j]) }

    The loop that asks reads a row that a loop before it has read, so it waits for no line itself.
    """
    called = {row.iv: row.names[0] for row in s.loops()}
    arrays = {value: name for name, value in arrays_of(s.function).items()}
    inside = names_in(s, root)
    said = []
    for around in walk(s.function):
        if isinstance(around, affine.For | affine.Parallel) and any(called.get(iv) in inside for iv in around.binds()):
            for asking, later, array in _places(around):
                names = arrays[array], called[asking.iv], called[later.iv]
                with suppress(IllegalTransform, ScheduleError):
                    s.prefetch(*names)
                    said.append("lines of {} are asked for in {}, before {} stores them".format(*names))
    return said


def _places(around: affine.For | affine.Parallel) -> Iterator[tuple[affine.For, affine.For, Value]]:
    """The loops that ask, those that they ask for, and the arrays, in one iteration of the loop around them."""
    loops = [*_innermost(around.body)]
    read = [_rows_read(loop) for loop in loops]
    for k, later in enumerate(loops):
        stored = dict.fromkeys(op.memref for op in later.body if isinstance(op, affine.VectorStore))
        for array in stored:
            if any(array in (a for a, _ in read[k]) or _touches(loop, array) for loop in loops[:k]):
                continue
            for n in range(k - 1, 0, -1):
                again = {*read[n]} & {*read[k]}
                if again and any(again & {*rows} for rows in read[:n]) and _may_ask(loops[n]):
                    yield loops[n], later, array
                    break


def _innermost(block: Sequence[object]) -> Iterator[affine.For]:
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
