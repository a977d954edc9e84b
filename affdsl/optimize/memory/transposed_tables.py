"""Sums along the rows of two tables, and what is made of each: one table is copied so that its columns are rows."""

from __future__ import annotations

from contextlib import suppress
from copy import copy

from affdsl.ir.core import Lanewise
from affdsl.ir.dialects import affine
from affdsl.ir.traverse import walk
from affdsl.optimize.nests import Nest, lanes_of, names_in, nests_in, on_vectors, unfit_where_refused
from affdsl.optimize.options import Options
from affdsl.optimize.unfit import UnfitError
from affdsl.passes.analysis.storage import Buffer
from affdsl.schedule.loops import ScheduleError
from affdsl.schedule.schedule import IllegalTransform, Schedule

LEAST_OPERATIONS = 3
"""How many operations a term has at least, with its addition: a product has two, and a recipe of its own."""
ROWS, VECTORS = 4, 2
"""How many rows, and vectors of each, sum up at once."""


def take(s: Schedule, root: str, options: Options) -> tuple[Schedule, str]:
    """The schedule with a table copied, its dimensions swapped, and vectors along what were its columns.

        for i, j: { t = 0; for k: t += f(A[i, k], B[j, k]); C[i, j] = g(t) }

    As the sums stay in registers, C is written once, and no table of sums is needed in between. Each is made in the
    order of the text. Raises UnfitError.

    References
    ----------
    Goto and van de Geijn, "Anatomy of high-performance matrix multiplication", TOMS 2008, for the copy.
    """
    inside = names_in(s, root)
    found = nests_in(s, root)
    if len(found) != 1 or len(inside) != 3 or found[0].has_vectors:
        raise UnfitError("it is no sum inside of two loops")
    nest = found[0]
    loops = nest.loops
    if [nest.name(loop) for loop in loops] != inside:
        raise UnfitError("one of its loops runs in parallel, or as often as data says")
    i, j, k = loops
    if nest.around == () or sum(isinstance(op, Lanewise) for op in walk(k)) < LEAST_OPERATIONS:
        raise UnfitError("its terms are products, or nothing is made of its sums")
    if not any(isinstance(op, Lanewise) for op in _beside(j, k)):
        raise UnfitError("nothing is made of its sums")
    lanes, made = lanes_of(nest, options), copy(s)
    with unfit_where_refused():
        for buffer in _across(nest, i, j):
            made.copy(buffer.name, root, layout=(1, 0))
        on_vectors(made, nest.name(j), lanes, options.tail)
    said = f"{nest.name(j)} runs on vectors of {lanes}, along a copy whose rows are columns"
    rows = min(ROWS, options.target.registers // (2 * VECTORS))
    with suppress(IllegalTransform, ScheduleError):
        made.unroll_jam(nest.name(j), VECTORS)
        made.unroll_jam(root, rows)
        said += f"; {rows} iterations of {root} and {VECTORS} vectors at once"
    return made, said


def _beside(outer: affine.For, inner: affine.For) -> list[object]:
    """What stands in a loop beside another one."""
    return [op for op in outer.body if op is not inner]


def _across(nest: Nest, i: affine.For, j: affine.For) -> list[Buffer]:
    """The tables to copy: each is read along its first dimension by the vectors, and the same for all rows.

    Raises UnfitError where something else is in the way of vectors, or nothing is.
    """
    found: dict[Buffer, None] = {}
    for access in nest.accesses:
        if not access.buffer.rank or nest.stride(access, j).motion in ("invariant", "contiguous"):
            continue
        is_table = access.buffer.rank == 2 and nest.stride(access, j).vector == (1, 0)
        if access.kind != "read" or not is_table or nest.stride(access, i).motion != "invariant":
            raise UnfitError(f"{access.buffer.name} is read in another way")
        found[access.buffer] = None
    if not found:
        raise UnfitError("nothing is read across its rows")
    return [*found]
