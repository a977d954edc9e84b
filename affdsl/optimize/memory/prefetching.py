"""Loops over vectors ask for the lines of what they go over, some iterations ahead."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy

from affdsl.ir.core import Lanewise
from affdsl.ir.dialects import affine, vector
from affdsl.ir.expr import Value
from affdsl.ir.traverse import walk
from affdsl.ir.types import MemRefType
from affdsl.optimize.attempts import AllOrNone
from affdsl.optimize.machine import PAGE, has_large_cache
from affdsl.optimize.nests import Nest, counts_inside, nests
from affdsl.optimize.options import Options
from affdsl.passes.analysis.boxes import width_of
from affdsl.passes.transforms.prefetch import LINE
from affdsl.schedule.place import arrays_of
from affdsl.schedule.schedule import Schedule

AHEAD = 8
"""So many lines before an array is touched they are asked for: half as many and twice as many are as good."""
FEW = 4
"""A loop that goes over so many times as many lines at most, or fewer, is over before that helps."""
COMPUTING = 8
"""A loop with so many operations on numbers waits for these rather than for lines."""
LEFT_ALONE = (affine.Prefetch, vector.FromElements, vector.Extract)
"""Loops with one of these ask for nothing: they do so already, or compilers make vectors of their lanes once branches
are choices, and they turn no branch into a choice in a loop with a prefetch."""
ROWS = 8
"""So many rows before a column of vectors comes to one it is asked for: twice as many are as good."""
LEAST = 2
"""So many arrays a loop goes over, one of which it stores: one alone comes fast enough."""


def take(s: Schedule, options: Options) -> Schedule:
    """The schedule with prefetches in loops over vectors that have none; the one given, where they do not pay.

        for i by 8: y[i :+ 8] = S(x[i :+ 8])   ->
        for i by 8: { prefetch x[i + 64]; prefetch y[i + 64]; y[i :+ 8] = S(x[i :+ 8]) }

    On processors with a second cache of 2 MiB whose vectors are as long as lines (measured on Sapphire Rapids, 16 KiB
    to 1.6 MB): a copy takes 1.12 to 1.2 times as long without, a sum of two arrays 1.15 to 1.3, a difference of
    neighbours 1.35 to 1.5, two results 1.3 to 1.7, an update in place 1.05; arrays in the first cache .95 to 1.03.
    Where one array is loaded in vectors that overlap, and come from others by a shuffle, what is stored alone is asked
    for: as fast beyond the first cache, and in it .93 of the time of a stencil of three points (decision 140).

    A recurrence in lanes goes down columns of vectors, where each row lies in another page, and no processor guesses
    the next one: its rows are asked for (decision 149).
    """
    if not has_large_cache(options.target) or options.target.width < 8 * LINE:
        return s
    made, arrays = copy(s), {value: name for name, value in arrays_of(s.function).items()}
    for nest in nests(s):
        loop, name = nest.innermost, nest.name(nest.innermost)
        columns = arrays.keys() & _columns(loop)
        if columns and _is_longer(s, nest, FEW * ROWS):
            with AllOrNone(made):
                for array in sorted(map(arrays.__getitem__, columns)):
                    made.prefetch(array, name, name, distance=ROWS)
            continue
        streams = [*_streams(loop)]
        if (
            len(streams) < LEAST
            or not arrays.keys() >= {*streams}
            or not any(isinstance(op, affine.VectorStore) for op in walk(loop))
        ):
            continue
        loads = [op for op in walk(loop) if isinstance(op, affine.VectorLoad)]
        if len(loaded := {op.memref for op in loads}) == 1 and {*loop.body[-1].reads()} & {op.result for op in loads}:
            streams = [each for each in streams if each not in loaded] or streams
        ahead = max(-(-AHEAD * LINE // (loop.step * _bytes(each))) for each in streams)
        if _is_longer(s, nest, FEW * ahead):
            with AllOrNone(made):
                for each in streams:
                    made.prefetch(arrays[each], name, name, distance=ahead)
    return made


def _is_longer(s: Schedule, nest: Nest, trips: int) -> bool:
    """Whether the innermost loop may run more often than so many times."""
    most = counts_inside(s, nest.loops[0])[nest.innermost.iv].high
    return most is None or most > trips


def _columns(loop: affine.For) -> set[Value]:
    """The arrays down whose long rows a loop goes that hands on what it stores: in each row it accesses other vectors.

    None where some of them wait for nothing, as sums of columns do: the next rows are loaded early anyway.
    """
    ops = [*walk(loop)]
    if not loop.carried or not any(isinstance(op, affine.Store | affine.VectorStore) for op in ops):
        return set()
    accesses = [op for op in ops if isinstance(op, affine.VectorLoad | affine.VectorStore)]
    down = (op for op in accesses if any(loop.iv in e.values() for e in op.index[:-1]))
    return {op.memref for op in down if loop.iv not in op.index[-1].values() and _has_long_rows(op.memref)}


def _has_long_rows(array: Value) -> bool:
    """Whether the next row of an array may lie in another page."""
    row = array.type.shape[-1] if isinstance(array.type, MemRefType) else 0
    return row is None or row * _bytes(array) >= PAGE


def _streams(loop: affine.For) -> Iterator[Value]:
    """The arrays of which a loop loads or stores another vector in each iteration, whole lines or large parts of them.

    None where it goes over several rows of one, some of which the nearest cache has, or computes more than it moves.
    """
    found: dict[Value, affine.VectorLoad | affine.VectorStore] = {}
    ops = [*walk(loop)]
    if sum(isinstance(op, Lanewise) for op in ops) >= COMPUTING or any(isinstance(op, LEFT_ALONE) for op in ops):
        return
    for op in ops:
        if isinstance(op, affine.VectorLoad | affine.VectorStore) and any(loop.iv in e.values() for e in op.index):
            first = found.setdefault(op.memref, op)
            apart = [a - b for a, b in zip(op.index, first.index, strict=True)]
            if any(not each.is_constant or each.constant for each in apart[:-1]):
                return
    yield from (each for each in found if 2 * loop.step * _bytes(each) >= LINE)


def _bytes(array: Value) -> int:
    """How many bytes an element of an array has: it is one of which vectors are made."""
    bytes = width_of(array.type.element) if isinstance(array.type, MemRefType) else None
    assert bytes is not None, "vectors are of numbers"
    return bytes
