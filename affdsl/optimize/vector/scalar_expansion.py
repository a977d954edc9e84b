"""Loops in strips, statement by statement on vectors: what comes before a wait for others, or for stores, is apart."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from copy import copy

from affdsl.ir.core import Lanewise, Op
from affdsl.ir.dialects import affine, memref
from affdsl.ir.traverse import walk
from affdsl.ir.types import VectorType
from affdsl.optimize.nests import (
    is_lane_by_lane,
    lanes_of,
    loop_called,
    names_in,
    nests_in,
    on_vectors,
    require_loop,
    unfit_where_refused,
)
from affdsl.optimize.options import Options
from affdsl.optimize.unfit import UnfitError
from affdsl.schedule.loops import ScheduleError
from affdsl.schedule.place import arrays_of
from affdsl.schedule.schedule import IllegalTransform, Schedule


def take(s: Schedule, root: str, options: Options) -> tuple[Schedule, str]:
    """The schedule with a loop in strips: first the loops inside of it for a whole strip, on vectors, then the rest.

        for i: { b = 0; for k: if f(i, k) < f(i, b): b = k;  count[b] += 1 }

    Each iteration looks for something by itself, and what it does with it may be of another's as well: data decides.
    What is found is kept for the strip, in the nearest cache. Raises UnfitError.

    References
    ----------
    Allen and Kennedy, "Automatic translation of FORTRAN programs to vector form", TOPLAS 1987: distribution, and
    scalars that are expanded for it.
    """
    made = copy(s)
    loop = require_loop(made, root)
    if not any(isinstance(op, affine.For) for op in loop.body) or not _waits_at_the_end(loop):
        raise UnfitError("nothing follows the loops inside of it")
    lanes = min(lanes_of(nest, options) for nest in nests_in(made, root))
    with unfit_where_refused():
        made.strip_mine(root, options.choices.searched)
        for name in names_in(made, root)[1:]:
            with suppress(IllegalTransform, ScheduleError):
                made.scalar_replace(name)
        for buffer in _handed_on(made, root):
            made.expand(buffer, root)
        parts = [root, *(row.names[0] for row in made.distribute(root).made)]
        busy = [name for name in parts if len(names_in(made, name)) > 1]
        if not busy or len(busy) == len(parts):
            raise UnfitError("what follows the loops inside of it cannot be taken apart from them")
        for name in busy:
            _on_vectors(made, name, lanes, options)
    said = f"{', '.join(busy)} runs on vectors of {lanes}"
    return made, f"in strips of {options.choices.searched} iterations, for each of which {said}, and then the rest"


def _on_vectors(s: Schedule, name: str, lanes: int, options: Options) -> None:
    """Run a loop around others on vectors, two at once where few operations are inside. Raises as steps do."""
    on_vectors(s, name, lanes, options.tail)
    counts = [sum(isinstance(op, Lanewise) for op in walk(nest.innermost)) for nest in nests_in(s, name)]
    if options.choices.outer_vectors > 1 and max(counts, default=0) <= options.target.registers:
        with suppress(IllegalTransform, ScheduleError):
            s.unroll_jam(name, 2)


def _last(loop: affine.For) -> int:
    """Where the last loop inside of another one stands; -1 if none is left: they run once."""
    return max((k for k, op in enumerate(loop.body) if isinstance(op, affine.For)), default=-1)


def _waits_at_the_end(loop: affine.For) -> bool:
    """Whether what follows the loops inside of a loop updates elements that data chooses."""
    return any(isinstance(op, memref.Store) for op in _behind(loop))


def _handed_on(s: Schedule, root: str) -> Sequence[str]:
    """The buffers that each iteration of a loop makes for itself and reads behind the loops that it holds, by name."""
    loop, names = require_loop(s, root), {v: name for name, v in arrays_of(s.function).items()}
    read = {v for op in _behind(loop) if isinstance(op, affine.Load | memref.Load) for v in op.reads()}
    return [names[op.result] for op in loop.body if isinstance(op, memref.Allocation) and op.result in read]


def _behind(loop: affine.For) -> Iterator[Op]:
    """What follows the loops that a loop holds, with all that is inside."""
    for op in loop.body[_last(loop) + 1 :]:
        yield from walk(op)


STRIP = 64
"""So many vectors of one statement are made before those of the next one: they stay in the nearest cache."""


def waits_for_stores(s: Schedule, name: str) -> bool:
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


def take_forwarded(s: Schedule, name: str, lanes: int, options: Options) -> tuple[Schedule, str]:
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
            if waits_for_stores(made, each) or is_lane_by_lane(made, each):
                raise UnfitError
    return made, f"{STRIP * lanes} iterations of each statement run on vectors of {lanes} before those of the next one"
