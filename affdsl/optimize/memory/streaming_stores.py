"""Stencils whose results nobody reads again: their vectors begin where lines do, and go past the caches."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy

from affdsl.ir.dialects import affine
from affdsl.ir.expr import Value
from affdsl.ir.traverse import walk
from affdsl.ir.types import FloatType, IntegerType, MemRefType
from affdsl.optimize.memory.lines import begin_on_lines
from affdsl.optimize.nests import Nest, unfit_where_refused
from affdsl.optimize.options import Options
from affdsl.optimize.unfit import UnfitError
from affdsl.schedule.place import arrays_of
from affdsl.schedule.schedule import Schedule

CACHE = 32 << 20
"""The last cache where nobody asked the machine, and as much as counts of a larger one, which many cores share."""
LINE = 512
"""How many bits a line of the caches has: a vector that is as long, and not aligned, lies in two of them."""
WIDTHS = {FloatType: (32, 64), IntegerType: (8, 16, 32, 64)}
"""The numbers that C stores as whole vectors, by how many bits they have."""
SHARE = 4
"""An array of a quarter of the last cache goes past it: what is read to make it takes as much, and others use it."""


def take(
    s: Schedule, nest: Nest, outer: str, name: str, lanes: int, ways: int, options: Options
) -> tuple[Schedule, str]:
    """The schedule with a loop on vectors that are stored past the caches, some rows of the loop around it at once.

        for i, j: B[i, j] = S(A[i - 1, j - 1 : j + 2], A[i, j - 1 : j + 2], A[i + 1, j - 1 : j + 2])   ->
        for i by 4: { for j = 1 to a: B[i : i + 4, j] = S(...); for j = a to M - 1 by 16: B[i : i + 4, j :+ 16] = ... }

    Lines of the result are not read first then, which is a third of what a stencil moves. It takes one array that is
    stored, which the kernel reads nowhere, and rows along which vectors overlap, since those that wait for memory alone
    are few. Raises UnfitError.
    """
    stored = {op.memref for op in nest.innermost.body if isinstance(op, affine.Store)}
    loads = [op for op in nest.innermost.body if isinstance(op, affine.Load) and op.index]
    if not options.target.streams or len(stored) != 1 or not loads:
        raise UnfitError("it stores several arrays, or nothing is loaded, or the machine has no stores past the caches")
    (array,) = stored
    if not _fills_lines(array, lanes):
        raise UnfitError("its vectors are no lines of what it stores")
    touching = [op for op in walk(s.function) if array in op.reads()]
    if any(not isinstance(op, affine.Store | affine.VectorStore) for op in touching):
        raise UnfitError("what it stores is read again")
    called = next(name for name, value in arrays_of(s.function).items() if value is array)
    least = min((options.target.caches or (CACHE,))[-1], CACHE) // SHARE
    made = copy(s)
    rows = _rows(loads, ways)
    with unfit_where_refused():
        begin_on_lines(made, called, name, lanes, options)
        made.vectorize(name, lanes, tail="overlapped")
        if rows > 1:
            made.unroll_jam(outer, rows)
        made.splice(name, ahead=True)
        made.stream(called, name, least)
    at_once = f"; {rows} iterations of {outer} run at once" * (rows > 1)
    said = (
        f"{name} runs on vectors of {lanes} that begin where lines of {called} do, and go past the caches where it has "
        f"{least >> 20} MiB or more{at_once}; each element of a row is loaded once"
    )
    return made, said


def _fills_lines(array: Value, lanes: int) -> bool:
    """Whether a vector of so many elements of an array is a line, of numbers that vectors are stored of as they are."""
    element = array.type.element if isinstance(array.type, MemRefType) else None
    return (
        isinstance(element, FloatType | IntegerType)
        and element.width in WIDTHS[type(element)]
        and (element.width * lanes == LINE)
    )


def _rows(loads: Sequence[affine.Load], ways: int) -> int:
    """How many rows are made at once, where so many lines of one place are near.

    Each loads a row more of every array. Lines that go past the caches do not stay, but shorter arrays have some that
    do: each counts half.
    """
    arrays, lines = {op.memref for op in loads}, {(op.memref, op.index[:-1]) for op in loads}
    return max(1, 2 * (ways + len(arrays) - len(lines)) // (2 * len(arrays) + 1))
