"""Loops whose vectors are loaded from two that were just stored, which no processor hands on: statements apart."""

from __future__ import annotations

from copy import copy

from affdsl.ir.dialects import affine
from affdsl.ir.traverse import walk
from affdsl.ir.types import VectorType
from affdsl.optimize.nests import is_lane_by_lane, loop_called, names_in, unfit_where_refused
from affdsl.optimize.options import Options
from affdsl.optimize.unfit import UnfitError
from affdsl.schedule.schedule import Schedule

STRIP = 64
"""So many vectors of one statement are made before those of the next one: they stay in the nearest cache."""


def waits(s: Schedule, name: str) -> bool:
    """Whether a loop on vectors loads what overlaps a vector that it has stored just before, and is not that one."""
    loop = loop_called(s, name)
    stored: list[affine.VectorStore] = []
    for op in walk(loop) if loop is not None else ():
        if isinstance(op, affine.VectorStore):
            stored.append(op)
        elif isinstance(op, affine.VectorLoad) and any(_overlaps(op, store) for store in stored):
            return True
    return False


def _overlaps(load: affine.VectorLoad, store: affine.VectorStore) -> bool:
    """Whether a vector begins some lanes before or behind another one, and less than it has."""
    type = store.value.type
    if load.memref is not store.memref or load.index[:-1] != store.index[:-1] or not isinstance(type, VectorType):
        return False
    apart = load.index[-1] - store.index[-1]
    return apart.is_constant and 0 < abs(apart.constant) < type.shape[0]


def take(s: Schedule, name: str, lanes: int, options: Options) -> tuple[Schedule, str]:
    """The schedule with the statements of a loop apart, each on vectors, some of which run before the next statement.

        for i: { c[i] = S(i); b[i] = T(c[i - 1]) }
            ->   for i by 512: { for ii: c[ii :+ 8] = ...; for ii: b[ii :+ 8] = T(c[ii - 1 :+ 8]) }

    A load of what one store has written gets that from the store; a load of parts of two waits until both are in the
    cache. Raises UnfitError where that does not help.
    """
    made = copy(s)
    with unfit_where_refused():
        made.strip_mine(name, STRIP * lanes)
        around = made.made[0].names[0] if made.made else name
        made.distribute(name)
        parts = [each for each in names_in(made, around) if each != around]
        if len(parts) < 2:
            raise UnfitError
        for each in parts:
            made.vectorize(each, lanes, tail=options.tail)
            if waits(made, each) or is_lane_by_lane(made, each):
                raise UnfitError
    return made, f"{STRIP * lanes} iterations of each statement run on vectors of {lanes} before those of the next one"
