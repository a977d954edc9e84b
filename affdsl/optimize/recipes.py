"""The tables of recipes: for all nests of a kernel, for an outermost loop, for a nest, in the order they are tried.

A recipe takes steps on a copy of a schedule, each of which is proved, so that whatever it makes is right, or raises
UnfitError, if need be with the reason. Of those for a nest the first that fits is taken; what comes of an outermost
loop is compared with the loops as written (`search`). What only prepares others, as index sets that are split, or is
a part of one, as products in blocks, is called by that one and stands in no table.

Six rooms hold them, by what they change: which nests become one (`fuse`), the order of iterations (`order`), vectors
(`vector`), what stays in registers (`registers`), how memory is gone through (`memory`), and what threads share
(`threads`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import replace

from affdsl.explained import Note
from affdsl.frozen import FrozenValue
from affdsl.ir.types import IntegerType
from affdsl.optimize import versions
from affdsl.optimize.attempts import where_legal
from affdsl.optimize.fuse import chains, matrix_passes, row_strips
from affdsl.optimize.innermost import OfNest, first_that_fits
from affdsl.optimize.machine import usual
from affdsl.optimize.nests import (
    Nest,
    loop_called,
    names_in,
    nests,
    nests_in,
    now_called,
    roots_of,
    span,
    unfit_where_refused,
)
from affdsl.optimize.notes import Notes, for_smaller, of, only_for
from affdsl.optimize.options import Options
from affdsl.optimize.order import (
    blocks,
    data_inside,
    diagonals,
    fronts,
    index_sets,
    panels,
    short_loops,
    time_tiles,
    transposes,
)
from affdsl.optimize.registers import products_in_loops
from affdsl.optimize.search import Candidate
from affdsl.optimize.small_sizes import OfLoop, unless_small
from affdsl.optimize.unfit import TOO_SHORT, UnfitError
from affdsl.optimize.vector import inner_loops, looking, outer_loops, periods, recurrences, sums
from affdsl.schedule.loops import ScheduleError
from affdsl.schedule.schedule import IllegalTransform, Schedule

SHARED_SWEEP = 256
"""How many rows and columns a sweep that threads share has at least, in the mean: one thread is as fast with fewer."""
IN_CACHE = "smaller arrays stay in a cache anyway"


class Fused(FrozenValue):
    """What a recipe makes of all nests of a kernel.

    Attributes
    ----------
    finished
        The outermost loops to which nothing more is done.
    small
        The one that runs for small sizes, which gets recipes for these.
    is_shared
        Whether threads share what they are to share: all other loops are for one.
    """

    schedule: Schedule
    notes: Sequence[Note]
    finished: frozenset[str] = frozenset()
    small: str = ""
    is_shared: bool = False


OfKernel = Callable[[Schedule, Options], Fused]
"""A recipe for all nests. Raises UnfitError where it does not fit."""


def _chain(s: Schedule, options: Options) -> Fused:
    made, said = chains.take(s, options)
    done = (root for root in roots_of(made) if any(nest.has_vectors for nest in nests_in(made, root)))
    return Fused(made, [of(made, roots_of(made), f"a chain of nests: {said}")], frozenset(done))


def _one_pass(s: Schedule, options: Options) -> Fused:
    return Fused(*matrix_passes.take(s, options))


def _row_strips(s: Schedule, options: Options) -> Fused:
    made, small, said = row_strips.take(s, options)
    return Fused(made, [said], frozenset(roots_of(made)) - {small}, small, is_shared=True)


def _with_sweeps(s: Schedule, root: str, options: Options) -> tuple[Schedule, Notes]:
    """The schedule with a loop over time tiled, and its sweeps along rows."""
    s = time_tiles.along_rows(s, root, options)
    with unfit_where_refused():  # a loop that is parallel already has no other versions
        small = time_tiles.small_enough(s, root, options.target)
        sizes = None if small is None else versions.larger_than(s, root, small)
        both = s if sizes is None else copy(s).specialize(root, sizes)
        made = time_tiles.take(both, root, options)
    is_shared = any(each.is_parallel for each in made.loops())
    shared = "; tiles that do not wait for each other run on threads" if is_shared else ""
    notes = [of(s, root, f"its sweeps run as one, in tiles of time steps and rows{shared}")]
    if sizes is None:
        return made, notes
    other = both.made[0].names[0]
    notes = only_for(sizes, [replace(notes[0], why=(IN_CACHE,))], "")
    try:
        made, others = _with_small_sweeps(made, other, options)
    except UnfitError:
        made, others = _with_vectors(made, other, options)
    return made, [*notes, *for_smaller(others)]


def _with_small_sweeps(s: Schedule, root: str, options: Options) -> tuple[Schedule, Notes]:
    """The schedule with the sweeps of a loop over time as one, which several threads only share where they are large.

    Raises UnfitError.
    """
    s, small = copy(s), root
    large = None
    if options.threads > 1:
        large = versions.on_average(s, names_in(s, root)[1:], SHARED_SWEEP)
        small, *_ = versions.in_other(s, root, large)
    s, said = time_tiles.take_near(s, small, options)
    notes = [of(s, root, said)]
    if options.threads > 1:
        s, others = _with_vectors(s, root, options)
        notes += only_for(large, others, "have one thread")
    return s, notes


def _with_whole_rows(s: Schedule, root: str, options: Options) -> tuple[Schedule, Notes]:
    """The schedule with short rows gone over as a whole, on vectors."""
    made, whole, said = short_loops.as_one_loop(s, root)
    names = names_in(s, root)
    made, notes = _with_vectors(made, whole, options)
    if not any(note.done for note in notes):
        raise UnfitError("the whole rows are on no vectors")
    return made, [of(s, names, said), *notes]


def _with_straight_code(s: Schedule, root: str, options: Options) -> tuple[Schedule, Notes]:
    """The schedule with short loops as straight code, and what is around them on vectors."""
    straight, names = short_loops.as_straight_code(s, root)
    try:
        made, notes = outer_loops.take_all(straight, root, options)
    except UnfitError:
        made, notes = _with_vectors(straight, root, options)
    done = {step.call.verb for step in made.steps[len(straight.steps) :]}
    innermost = (nest.innermost for nest in nests_in(made, root))
    if done <= {"scalar_replace", "unroll"} and any(map(inner_loops.updates_by_data, innermost)):
        raise UnfitError("what chooses the elements may run on vectors by itself")
    return made, [of(s, root, f"{names} inside of it as straight code"), *notes]


def _with_vectors(s: Schedule, root: str, options: Options) -> tuple[Schedule, Notes]:
    """The schedule with the loops inside of a loop on vectors, or jammed."""
    notes: Notes = []
    before, s = s, copy(s)
    with suppress(UnfitError):
        s = data_inside.with_sums_in_memory(s, root, options)
    with suppress(UnfitError):
        s, notes = data_inside.take(s, root, options)
    with suppress(UnfitError):
        s, at_pivot = index_sets.take_pivot(s, root, options)
        notes.append(at_pivot)
    parts, split = [root], ""
    with suppress(UnfitError):
        s, split, parts = index_sets.take(s, root, options)
    s = _rectangular(s, parts)
    mixed = [nest for nest in nests_in(s, *parts) if sums.is_mixed(nest)] if not options.reassociate else []
    if len(mixed) > 1:  # sums of one of them run several iterations of the loop around at once, with all that it holds
        where_legal(s.distribute, [nest.name(nest.innermost) for nest in mixed])
    waiting = nests_in(s, *parts)
    known = {nest.name(nest.innermost) for nest in nests(s)}
    none_fits = not notes
    for nest in waiting:
        s, said, fits = first_that_fits(s, now_called(s, nest, known), FOR_NESTS.values(), options)
        notes, none_fits = [*notes, *said], none_fits and not fits
    if none_fits and any(nest.name(nest.band[0]) != root for nest in waiting):
        try:
            made, ordered = fronts.take_loop(s, root, options)
            s, notes = made, [of(s, root, ordered)]
        except UnfitError as why:
            notes += [of(s, root, why=str(why))] * bool(str(why))
    return s, _without_ends(of(before, root, split), notes) if split else notes


def _inner_loop(s: Schedule, nest: Nest, options: Options) -> tuple[Schedule, str]:
    """The schedule with an inner loop on vectors; or, where one lane waits for the other, iterations of the loop around
    side by side, or its statements apart, if the model says that this takes less.
    """
    made, said = inner_loops.take(s, nest, options)
    loop = loop_called(made, nest.name(nest.innermost))
    if loop is not None and any(isinstance(v.type, IntegerType) for v in loop.carried):
        with suppress(UnfitError, IllegalTransform, ScheduleError):
            others, how = fronts.take(s, nest, options)
            if 0 < Candidate("", others, made, (), usual(options.target)).ratio < 1:
                return others, how
    return made, said


def _rectangular(s: Schedule, roots: Sequence[str]) -> Schedule:
    """The schedule with innermost loops that move along with another one counted from 0.

        for i: for k = i - 3 to i + 1: S(i, k)   ->   for i: for k = 0 to 4: S(i, k + i - 3)

    Loops around may then run innermost, or on vectors: all of their iterations run the same ones inside.
    """
    made = copy(s)
    for nest in nests_in(s, *roots):
        loop, around = nest.innermost, {each.iv for each in nest.loops[:-1]}
        trip = span(loop)
        if trip is not None and around.isdisjoint(trip.values()) and not around.isdisjoint(loop.lower[0].values()):
            with suppress(IllegalTransform, ScheduleError):
                made.normalize(nest.name(loop))
    return made


def _without_ends(split: Note, notes: Notes) -> Notes:
    """What is said of the parts of a loop that was split, with half a sentence for those that are too short."""
    long = [note for note in notes if note.done or TOO_SHORT not in note.why]
    ends = "; short ends run as written" if len(long) < len(notes) else ""
    return [replace(split, done=f"{split.done}{ends}"), *long]


FOR_KERNELS: Mapping[str, OfKernel] = {"chains": _chain, "joined": _one_pass, "through": _row_strips}
"""The recipes for all nests, by the names of `options.RECIPES`."""

FOR_LOOPS: Mapping[str, OfLoop] = {
    "products": products_in_loops.take,
    "sweeps": _with_sweeps,
    "rows": unless_small(_with_whole_rows),
    "diagonals": diagonals.take,
    "straight": unless_small(_with_straight_code, in_lanes=True),
    "panels": panels.take,
    "outer": unless_small(outer_loops.take_all, in_lanes=True),
    "vectors": unless_small(_with_vectors),
    "colours": unless_small(periods.take_colours),
}
"""Those for an outermost loop with all that it holds. Some have versions for small sizes themselves."""
BY_SIZE = ("rows", "straight", "outer", "vectors", "colours")
"""Those of which small sizes run the whole loop as it is written."""

FOR_NESTS: Mapping[str, OfNest] = {
    "a search on vectors": looking.take_search,
    "carried recurrences in lanes": recurrences.take_carried,
    "sums in blocks, of far terms": blocks.take_sums_early,
    "elements that are kept": looking.take_kept,
    "what one strip has": looking.take_place,
    "a row beside sums, apart": fronts.take_sums_apart,
    "what is transposed, in blocks": transposes.take,
    "an inner loop on vectors": _inner_loop,
    "recurrences in lanes": recurrences.take,
    "sums in blocks": blocks.take_sums,
    "iterations side by side, or statements apart": fronts.take,
}
"""Those for a nest, where a loop has no better recipe."""
