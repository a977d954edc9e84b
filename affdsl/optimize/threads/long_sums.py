"""Long loops that combine what they read, or choose among it, on threads: sums, extremes, counts, places of these."""

from __future__ import annotations

from contextlib import suppress
from copy import copy
from math import prod

from affdsl.explained import Note
from affdsl.frozen import FrozenValue
from affdsl.ir.dialects import affine
from affdsl.ir.parts import fits
from affdsl.ir.traverse import walk
from affdsl.ir.types import ScalarType
from affdsl.lang.indices import Condition, symbols
from affdsl.optimize import versions
from affdsl.optimize.memory.lines import chunks_from_a_line
from affdsl.optimize.nests import counts_inside, loop_called, names_in, unfit_where_refused
from affdsl.optimize.notes import of
from affdsl.optimize.options import Options
from affdsl.optimize.unfit import UnfitError
from affdsl.passes.analysis.dependence import Dependences
from affdsl.passes.analysis.parallelism import Parallelism, of_loop
from affdsl.passes.analysis.reduction import DECLARED
from affdsl.passes.transforms.private_copies import Updated, needs_reassociation, updated_of
from affdsl.schedule.alone import alone, way_to
from affdsl.schedule.loops import ScheduleError
from affdsl.schedule.schedule import IllegalTransform, Schedule

LEAST = 1 << 17
"""So many iterations threads share at least: to wake them takes as long as all of these, if they sleep."""
SCANNED = 1 << 18
"""The same for loops of which something sees what they combine: threads are woken twice."""
PAID = 8
"""How many iterations there are at least for each element of a copy."""
CHUNK = 1 << 14
"""How many iterations a chunk has: a row of memory that is read fast, and enough of them for all threads."""
_KINDS = {kind: declared for declared, kind in DECLARED.items()}


class Shared(FrozenValue):
    """A schedule in which threads share a loop.

    Attributes
    ----------
    root
        The loop that they share.
    small
        The version for sizes that are too small for that; "" where there is none.
    rest
        The loops that combine what threads have made.
    condition
        For which sizes threads share it; None for all.
    note
        What is said of it.
    """

    schedule: Schedule
    root: str
    small: str
    rest: tuple[str, ...]
    condition: Condition | None
    note: Note


def take(s: Schedule, root: str, options: Options) -> Shared:
    """The schedule with a long loop, which holds no others, on threads.

        for i = 0 to N: s += x[i]   ->   if N >= 131072: parallel chunk of 16384: for i in it: s += x[i]; else: the loop

    Of an array that is updated where data says, as a histogram, threads have copies, if there is enough for each.

    What threads combine comes out the same, to the bit, or may be rounded in another way. Where MLIR has no reduction
    of a band, parts of the iterations take turns, as `parallel` does it. Raises UnfitError.
    """
    loop = loop_called(s, root)
    if options.threads < 2 or loop is None or names_in(s, root) != [root]:
        raise UnfitError
    high = counts_inside(s, loop)[loop.iv].high
    if high is not None and high < LEAST:
        raise UnfitError
    made, found = copy(s), Dependences(alone(way_to(s.function, {loop.iv})), s.module)
    verdict, updated = of_loop(found, loop.iv), updated_of(found.accesses.function, loop, s.module)
    if verdict is None or verdict.is_parallel:
        raise UnfitError
    in_copies = verdict.verdict == "unknown" and updated is not None
    rounds = verdict.needs_reassociation or (updated is not None and needs_reassociation(updated))
    if rounds and not options.reassociate:
        raise UnfitError
    least, condition = SCANNED if _stores_along(loop) else LEAST, None
    if in_copies and updated is not None:
        least, condition = _for_copies(s, root, updated, options)
    if high is None:
        long = versions.on_average(s, [root], least)
        if long is not None and condition is not None:
            long = Condition((*long.constraints, *condition.constraints))
        condition = long
    elif high < least or condition is not None:
        raise UnfitError
    small = versions.in_other(made, root, condition)[0] if condition is not None else ""
    with unfit_where_refused():
        shared, how = _in_copies(made, root, options) if in_copies else _shared(made, root, options)
    note = Note(of(s, root).loops, f"its iterations run on threads, {how}")
    known = {shared, small, *(name for row in s.loops() for name in row.names)}
    rest = tuple(row.names[0] for row in made.loops() if row.depth == 0 and row.names[0] not in known)
    return Shared(made, shared, small, rest, condition, note)


def _for_copies(s: Schedule, root: str, updated: Updated, options: Options) -> tuple[int, Condition | None]:
    """How many iterations a loop has at least, and for which sizes, that copies of an array for threads are short.

    They are set to zero, and added up. Raises UnfitError.
    """
    known = prod(e.constant for e in updated.shape if e.is_constant) * options.threads * PAID
    values = [e.value for e in updated.shape if not e.is_constant]
    if not values:
        return max(LEAST, known), None
    if len(values) > 1 or values[0] is None:
        raise UnfitError
    sizes = [symbols(values[0].hint)] if values[0].hint.isidentifier() else []
    condition = versions.times_as_long(s, root, sizes, known)
    if condition is None:
        raise UnfitError
    return LEAST, condition


def _in_copies(s: Schedule, name: str, options: Options) -> tuple[str, str]:
    """The same as `_shared` where each thread updates a copy of an array."""
    s.parallel(name, reassociate=options.reassociate, copies=options.threads)
    return s.made[0].names[0], "each of which updates a copy of its own"


def _shared(s: Schedule, name: str, options: Options) -> tuple[str, str]:
    """What the loop is called that threads share after steps for that, and how they do; raises as steps do."""
    loop = loop_called(s, name)
    if loop is not None and not loop.results:
        with suppress(IllegalTransform, ScheduleError):
            s.scalar_replace(name)
    loop = loop_called(s, name)
    if loop is None:
        raise UnfitError
    found = of_loop(Dependences(alone(way_to(s.function, {loop.iv})), s.module), loop.iv)
    if found is None or not loop.results:
        raise UnfitError
    if not _sums_alone(loop):
        s.parallel(name, reassociate=options.reassociate)
        if not s.made:  # nothing sees what it combines: it is a loop that stores, with sums beside
            raise UnfitError
        return s.made[0].names[0], "which sum up parts of them, and then go through these"
    if not _has_reductions(found, loop):
        s.parallel(name, reassociate=options.reassociate)
        return s.made[0].names[0], "each of which has its own parts of them"
    chunks_from_a_line(s, name, options)
    s.strip_mine(name, CHUNK)
    chunk = s.made[0].names[0]
    s.parallel(chunk, reassociate=options.reassociate)
    return chunk, f"in chunks of {CHUNK}"


def _sums_alone(loop: affine.For) -> bool:
    """Whether a loop stores nothing: all that comes of it is what it hands on."""
    return not any(isinstance(op, affine.Store) for op in walk(loop))


def _stores_along(loop: affine.For) -> bool:
    """Whether iterations store to elements of their own."""
    stores = [op for op in walk(loop) if isinstance(op, affine.Store)]
    return any(loop.iv in index.values() for op in stores for index in op.index)


def _has_reductions(found: Parallelism, loop: affine.For) -> bool:
    """Whether affine.parallel has a reduction for all that a loop hands on."""
    of_value = {each.value: each.kind for each in found.reductions}
    kinds = [(_KINDS[of_value[v]], v) for v in loop.carried if v in of_value]
    return len(kinds) == len(loop.carried) and all(isinstance(v.type, ScalarType) and fits(k, v) for k, v in kinds)
