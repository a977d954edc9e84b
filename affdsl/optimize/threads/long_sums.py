"""Long loops that combine what they read, or choose among it, on threads: sums, extremes, counts, places of these."""

from __future__ import annotations

from contextlib import suppress
from copy import copy

from affdsl.explained import Note
from affdsl.frozen import FrozenValue
from affdsl.ir.dialects import affine
from affdsl.ir.parts import fits
from affdsl.ir.traverse import walk
from affdsl.ir.types import ScalarType
from affdsl.lang.indices import Condition
from affdsl.optimize import versions
from affdsl.optimize.nests import counts_inside, loop_called, names_in, unfit_where_refused
from affdsl.optimize.notes import of
from affdsl.optimize.options import Options
from affdsl.optimize.unfit import UnfitError
from affdsl.passes.analysis.dependence import Dependences
from affdsl.passes.analysis.parallelism import Parallelism, of_loop
from affdsl.passes.analysis.reduction import DECLARED
from affdsl.schedule.alone import alone, way_to
from affdsl.schedule.loops import ScheduleError
from affdsl.schedule.schedule import IllegalTransform, Schedule

LEAST = 1 << 17
"""So many iterations threads share at least: to wake them takes as long as all of these, if they sleep."""
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
    condition
        For which sizes threads share it; None for all.
    note
        What is said of it.
    """

    schedule: Schedule
    root: str
    small: str
    condition: Condition | None
    note: Note


def take(s: Schedule, root: str, options: Options) -> Shared:
    """The schedule with a long loop, which holds no others, on threads.

        for i = 0 to N: s += x[i]   ->   if N >= 131072: parallel chunk of 16384: for i in it: s += x[i]; else: the loop

    What threads combine comes out the same, to the bit, or may be rounded in another way. Where MLIR has no reduction
    of a band, parts of the iterations take turns, as `parallel` does it. Raises UnfitError.
    """
    loop = loop_called(s, root)
    if options.threads < 2 or loop is None or names_in(s, root) != [root]:
        raise UnfitError
    high = counts_inside(s, loop)[loop.iv].high
    if high is not None and high < LEAST:
        raise UnfitError
    verdict = of_loop(Dependences(alone(way_to(s.function, {loop.iv})), s.module), loop.iv)
    if verdict is None or verdict.verdict == "parallel" or (verdict.needs_reassociation and not options.reassociate):
        raise UnfitError
    made, note = copy(s), of(s, root)
    condition = None if high is not None else versions.on_average(s, [root], LEAST)
    small = versions.in_other(made, root, condition)[0] if condition is not None else ""
    with unfit_where_refused():
        shared, how = _shared(made, root, options)
    said = f"its iterations run on threads, {how}"
    return Shared(made, shared, small, condition, Note(note.loops, said))


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
    if found is None or not loop.results or not _sums_alone(loop):
        raise UnfitError
    if not _has_reductions(found, loop):
        s.parallel(name, reassociate=options.reassociate)
        return s.made[0].names[0], "each of which has its own parts of them"
    s.strip_mine(name, CHUNK)
    chunk = s.made[0].names[0]
    s.parallel(chunk, reassociate=options.reassociate)
    return chunk, f"in chunks of {CHUNK}"


def _sums_alone(loop: affine.For) -> bool:
    """Whether a loop stores nothing: all that comes of it is what it hands on."""
    return not any(isinstance(op, affine.Store) for op in walk(loop))


def _has_reductions(found: Parallelism, loop: affine.For) -> bool:
    """Whether affine.parallel has a reduction for all that a loop hands on."""
    of_value = {each.value: each.kind for each in found.reductions}
    kinds = [(_KINDS[of_value[v]], v) for v in loop.carried if v in of_value]
    return len(kinds) == len(loop.carried) and all(isinstance(v.type, ScalarType) and fits(k, v) for k, v in kinds)
