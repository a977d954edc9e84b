"""Nests that go along rows of one array and along columns of another: in blocks of a line of the caches."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from copy import copy
from itertools import permutations

from affdsl.ir.dialects import affine, vector
from affdsl.ir.traverse import walk
from affdsl.optimize.attempts import bring_innermost, names_made
from affdsl.optimize.machine import LINE
from affdsl.optimize.nests import Nest, unfit_where_refused
from affdsl.optimize.options import Options
from affdsl.optimize.registers.matrix_products import is_tied
from affdsl.optimize.unfit import UnfitError
from affdsl.optimize.vector import sums
from affdsl.passes.analysis.access import Access
from affdsl.passes.analysis.boxes import width_of
from affdsl.passes.transforms.squares import MOST
from affdsl.schedule.loops import ScheduleError
from affdsl.schedule.schedule import IllegalTransform, Schedule

LEAST = 4
"""How many elements of a line pay for a block."""


def take(s: Schedule, nest: Nest, options: Options) -> tuple[Schedule, str]:
    """The schedule with two loops of a nest in blocks, of which each goes over whole lines of all arrays.

        for i, j: B[j, i] = A[i, j]   ->   for j by 8, i by 8: for j, i in the block: B[j, i] = A[i, j]

    Whatever loop is innermost, one of the arrays is accessed in another line each time; in a block a line is used as a
    whole while the nearest cache has it, also where rows are a power of two apart. The squares of a block are loaded by
    rows, and turned in registers (`squares`). It takes nests of which no iteration waits for another one, and where one
    loop is along what is stored and another one along what is loaded alone. If no square is turned, only that may be
    stored along the first: a sum of a matrix and its mirror image is quicker row by row then. Raises UnfitError.

    References
    ----------
    Lam, Rothberg and Wolf, "The cache performance and optimizations of blocked algorithms", ASPLOS 1991.
    """
    if len(nest.band) < 2 or sums.is_sum(nest, nest.innermost):
        raise UnfitError
    for inner, outer in permutations(nest.band, 2):
        stored, loaded = (_along(nest, loop, other) for loop, other in ((inner, outer), (outer, inner)))
        kinds = {a.kind for a in stored}
        if "write" in kinds and {a.kind for a in loaded} == {"read"} and not is_tied(inner, outer):
            break
    else:
        raise UnfitError
    size = LINE // max(width_of(a.buffer.type.element) or LINE for a in (*stored, *loaded))
    if size < LEAST:
        raise UnfitError
    made = copy(s)
    with unfit_where_refused():
        pair = bring_innermost(made, nest, outer, inner)
        made.tile(tuple(pair), (size, size), separate=True)
    said = f"in blocks of {size} x {size}, so that lines along both loops are used as a whole"
    turned = _turned(made, pair, size, options.target.lanes(8 * LINE // size))
    if turned is not None:  # the next block is along what is stored
        return turned, f"{said}, and turned in registers"
    if kinds != {"write"}:
        raise UnfitError
    with unfit_where_refused():
        made.permute(names_made(made)[::-1])  # the next block is along what is loaded
    return made, said


def _turned(s: Schedule, pair: Sequence[str], size: int, lanes: int) -> Schedule | None:
    """The schedule with the squares of whole blocks turned in registers; None where they are no squares."""
    outer, inner = pair
    lanes, made = min(lanes, MOST), copy(s)
    with suppress(IllegalTransform, ScheduleError):
        made.vectorize(inner, lanes)
        if lanes < size:
            made.unroll_jam(outer, lanes)
        else:
            made.unroll(outer, lanes)
        more = Counter(type(op) for op in walk(made.function))
        more.subtract(type(op) for op in walk(s.function))
        if more[vector.Shuffle] > 0 and more[vector.FromElements] <= 0:
            return made
    return None


def _along(nest: Nest, loop: affine.For, other: affine.For) -> list[Access]:
    """The accesses along whose rows a loop runs, and which another one moves on."""
    return [a for a in nest.accesses if nest.stride(a, loop).motion == "contiguous" and not nest.is_still(a, other)]
