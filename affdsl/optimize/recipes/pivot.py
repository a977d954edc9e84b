"""Loops in which one iteration makes what all others read, that with the number of the loop around: split there."""

from __future__ import annotations

from contextlib import suppress
from copy import copy

from affdsl.explained import Note, SourceLoop
from affdsl.ir.dialects import affine
from affdsl.optimize.nests import Nest, is_recurrence, nests
from affdsl.optimize.options import Options
from affdsl.optimize.recipes.unfit import UnfitError
from affdsl.schedule.loops import ScheduleError
from affdsl.schedule.schedule import IllegalTransform, Schedule


def take(s: Schedule, root: str, options: Options) -> tuple[Schedule, Note]:
    """The schedule with the rows before the pivot on threads, the pivot, and the rows behind it on threads.

        for k: for i: for j: A[i, j] = S(A[i, j], A[i, k], A[k, j])
            ->  for k: { parallel i < k: for j: ...; for j: A[k, j] = ...; parallel i > k: for j: ... }

    Those before it read row k as it was, those behind it as it is then, and none waits for another one. Raises
    UnfitError where there is one thread, or no such loop.

    References
    ----------
    Park, Penner, Prasanna, "Optimizing graph algorithms for improved cache performance", TPDS 2004, section 3.
    """
    if options.threads < 2:
        raise UnfitError
    for nest in nests(s):
        if len(nest.band) < 3 or nest.name(nest.band[0]) != root:
            continue
        around, rows = nest.band[:2]
        if not _has_pivot(nest, around, rows) or not is_recurrence(nest, rows):
            continue
        made, name = copy(s), nest.name(rows)
        with suppress(IllegalTransform, ScheduleError):
            (rest,) = (row.names[0] for row in made.split(name, root).made if row.depth == 1)
            made.peel(rest, first=1)
            made.parallel(name).parallel(rest)
            said = f"split at {root}, which all iterations read; those before and behind run on threads"
            return made, Note((SourceLoop(name, rows.location),), said)
    raise UnfitError


def _has_pivot(nest: Nest, around: affine.For, rows: affine.For) -> bool:
    """Whether what is stored in the row of an iteration is read in the row that the loop around counts."""
    stores = [op for op in nest.innermost.body if isinstance(op, affine.Store)]
    loads = [op for op in nest.innermost.body if isinstance(op, affine.Load)]
    return any(
        store.memref is load.memref and stored.value is rows.iv and read.value is around.iv
        for store in stores
        for load in loads
        for stored, read in zip(store.index, load.index, strict=False)
    )
