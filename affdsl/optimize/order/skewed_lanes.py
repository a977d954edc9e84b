"""Recurrences along rows and columns on vectors: each lane is a row, some columns behind the row before it."""

from __future__ import annotations

from contextlib import suppress
from copy import copy

from affdsl.lang.indices import Condition, Index, symbols
from affdsl.optimize.attempts import SKEWS, after_skew, names_made, side_by_side, where_legal
from affdsl.optimize.nests import (
    Nest,
    is_library_call,
    is_recurrence,
    lanes_of,
    names_in,
    nest_called,
    nests_in,
    on_vectors,
    require_loop,
    unfit_where_refused,
)
from affdsl.optimize.options import Options
from affdsl.optimize.unfit import UnfitError
from affdsl.optimize.versions import at_least, in_names
from affdsl.schedule.loops import ScheduleError
from affdsl.schedule.schedule import IllegalTransform, Schedule

ROWS = 32
"""How many rows run at once: so many vectors that none waits long for another, and little at both ends of rows."""
COLUMNS = 64
"""How many columns of each row are taken back at once."""
LEAST = 4
"""Vectors of fewer lanes are not worth the copies."""
LONG = 4 * ROWS
"""Rows of fewer columns are hardly more than their ends."""
BEHIND = (1, 2)
"""How many columns a row may be behind the one before it."""


def take(s: Schedule, nest: Nest, options: Options) -> tuple[Schedule, str]:
    """The schedule with rows of a recurrence in the lanes of vectors; the schedule given is changed.

        for i, j: A[i, j] = S(A[i - 1, j + 1], A[i, j - 1])

    A row may run as soon as the one before it is some columns ahead, so that some rows run at once, each behind the
    one before it. What they access lies on a diagonal. So they work on a copy of these rows whose elements are moved
    along by as many columns (`skew_array`), and transposed: there it is one vector after the other. Where the loop
    around is over time steps, several of these share a copy. Both ends, at which not all rows run, have loops of their
    own, and so have the rows that are left over. Raises UnfitError, and as steps do.

    References
    ----------
    Wolf and Lam, "A loop transformation theory and an algorithm to maximize parallelism", TPDS 1991, for skews; Farrar,
    "Striped Smith-Waterman speeds database searches six times over other SIMD implementations", Bioinformatics 2007,
    for what anti-diagonals are compared with.
    """
    lanes, crossed = _lanes(nest, options), _crossed(nest)
    steps, rows, columns = nest.name(nest.band[-3]) if len(nest.band) > 2 else "", *map(nest.name, nest.band[-2:])
    low, high = _ends(s, nest)
    with unfit_where_refused():
        tile = (options.choices.sweep_steps, ROWS) if steps else (ROWS,)
        s, strip = _whole_strips(s, steps, rows, tile, options.choices.jammed_steps)
        s, behind = _wavefront(s, rows, columns)
        for array in crossed:
            _copied(s, array, steps or columns, behind, lanes)
        s.split(columns, low + (symbols(strip) + (ROWS - 1)) * behind)
        whole = s.made[0].names[0]
        s.split(whole, high + symbols(strip) * behind)
        first, (middle,), last = (names_in(s, name)[1:] for name in (columns, whole, s.made[0].names[0]))
        on_vectors(s, middle, lanes, "scalar")
        where_legal(s.unroll, [middle])
    for name in (*first, *last):
        with suppress(IllegalTransform, ScheduleError, UnfitError):
            s = on_vectors(copy(s), name, lanes, options.tail)
    said = f"{ROWS} iterations of {rows} run at once on vectors of {lanes}, each {behind} of {columns} behind the last"
    return s, f"{said}, in tiles of {tile[0]} of {steps}" if steps else said


def long_rows(s: Schedule, nest: Nest) -> Condition | None:
    """That the rows of a nest are so long that it pays; None where they always are. Raises UnfitError."""
    low, high = _ends(s, nest)
    columns = high - low
    if not columns.expr.is_constant:
        return at_least(columns, LONG)
    if columns.expr.constant < LONG:
        raise UnfitError("its rows are too short")
    return None


def _lanes(nest: Nest, options: Options) -> int:
    """How many lanes a vector has. Raises UnfitError where rows of a nest, or what they do, are nothing for vectors."""
    if len(nest.band) < 2 or not all(is_recurrence(nest, loop) for loop in nest.band[-2:]):
        raise UnfitError
    lanes = lanes_of(nest, options)
    if lanes < LEAST or any(map(is_library_call, nest.innermost.body)):
        raise UnfitError("vectors are too short, or their functions those of the C library")
    return lanes


def _crossed(nest: Nest) -> list[str]:
    """The arrays that the two innermost loops go through by rows and by columns, by name; one of them is stored to.

    Raises UnfitError.
    """
    rows, columns = nest.band[-2:]
    both = [a for a in nest.accesses if not nest.is_still(a, rows) and not nest.is_still(a, columns)]
    found = list(dict.fromkeys(a.buffer for a in both))
    along = all(nest.stride(a, columns).motion == "contiguous" for a in both)
    if not along or any(buffer.rank != 2 for buffer in found) or all(a.kind == "read" for a in both):
        raise UnfitError("what it stores does not go along rows")
    return [buffer.name for buffer in found]


def _ends(s: Schedule, nest: Nest) -> list[Index]:
    """Where the innermost loop begins and ends, by the names of sizes. Raises UnfitError."""
    names, loop = {v: v.hint for v in s.function.args}, nest.innermost
    found = [in_names(bound, names) for bound in (*loop.lower, *loop.upper)]
    ends = [each for each in found if each is not None]
    if len(found) != 2 or len(ends) != 2:
        raise UnfitError("its rows begin or end at different columns")
    return ends


def _whole_strips(s: Schedule, steps: str, rows: str, tile: tuple[int, ...], jammed: int) -> tuple[Schedule, str]:
    """The schedule with the rows in strips, and the loop over those; others are for strips that are not whole.

    Raises UnfitError, and as steps do.
    """
    tiled, skews = ((steps, rows), SKEWS) if steps else ((rows,), (0,))
    made, skew = after_skew(s, steps, [rows], skews, lambda made: made.tile(tiled, tile), f"tile {steps} and {rows}")
    strip, left = names_made(made)[-1], list[str]()
    if skew:  # where the first one begins, another row is the first in each step
        made.peel(strip, first=1)
        left.append(made.made[0].names[0])
    known = {v: v.hint for v in s.function.args} | {row.iv: row.names[0] for row in made.loops()}
    loop = require_loop(made, rows)
    first = {each.iv: each.lower[0] for each in (require_loop(made, steps),)} if steps else {}
    ends = [in_names(e.substitute(first), known) for e in loop.upper if loop.lower[0] + ROWS != e]
    if len(loop.lower) > 1 or len(ends) != 1 or ends[0] is None:
        raise UnfitError(f"it is not known which strips of {rows} are whole")
    made.split(strip, ends[0] - ROWS + 1)
    left.append(made.made[0].names[0])
    for nest in nests_in(made, *left):
        if len(nest.band) > 1:
            with suppress(UnfitError):
                made, _ = side_by_side(made, [*map(nest.name, nest.band[-2:])], jammed)
    return made, strip


def _wavefront(s: Schedule, rows: str, columns: str) -> tuple[Schedule, int]:
    """The schedule with the rows of a strip innermost, of which none waits for another, and how far each is behind.

    Raises UnfitError.
    """

    def swap(made: Schedule) -> None:
        nest = nest_called(made.interchange(rows, columns), rows)
        if nest is None or is_recurrence(nest, nest.innermost):
            raise UnfitError

    return after_skew(s, rows, [columns], BEHIND, swap, f"run several iterations of {rows} at once")


def _copied(s: Schedule, array: str, loop: str, behind: int, lanes: int) -> None:
    """Let a loop work on a copy of rows of an array in the order of lanes; the schedule given is changed.

    Elements are brought in that order, too, and taken back row by row, some columns at once, which the nearest cache
    has: both store what lies side by side. Raises as steps do.
    """
    before = {row.iv for row in s.loops()}
    s.copy(array, loop, layout=(1, 0))
    (fast,) = names_made(s)
    names = [row.names[0] for row in s.loops()]
    made = [row.names[0] for row in s.loops() if row.iv not in before]
    brings = [name for name in made if names.index(name) < names.index(loop)]
    s.skew_array(fast, 0, 1, behind)
    s.pad(fast, 1, 2 * lanes, lanes)  # so that columns beside each other do not fall onto the same lines of a cache
    if brings:
        rows, columns = brings
        s.skew(rows, columns, behind).interchange(rows, columns)
    if len(made) > len(brings):
        rows, columns = made[len(brings) :]
        s.strip_mine(columns, COLUMNS)
        s.interchange(rows, names_made(s)[0])
