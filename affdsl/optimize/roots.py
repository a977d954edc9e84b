"""What recipes make of one outermost loop: each of them with the versions of sizes for which it does not pay."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import replace
from functools import partial
from itertools import combinations

from affdsl.explained import Note
from affdsl.ir.dialects import affine
from affdsl.optimize import versions
from affdsl.optimize.footprint import larger_than, longer_than
from affdsl.optimize.nests import Nest, names_in, nest_called, nests, nests_in, now_called
from affdsl.optimize.notes import Notes, for_smaller, of, only_for
from affdsl.optimize.options import Options
from affdsl.optimize.recipes import (
    across,
    blocked,
    bounded,
    finished,
    jammed,
    lines,
    outer,
    parted,
    pivot,
    product,
    rows,
    scheduled,
    short,
    strips,
    sweeps,
    transposed,
    turns,
    unrolled,
    vectors,
)
from affdsl.optimize.recipes.apart import distribute, in_memory
from affdsl.optimize.recipes.shared import threads_around
from affdsl.optimize.recipes.unfit import TOO_SHORT, UnfitError
from affdsl.optimize.size import MOST_MORE, is_long
from affdsl.schedule.loops import ScheduleError
from affdsl.schedule.schedule import IllegalTransform, Schedule

Recipe = Callable[[Schedule, str, Options], tuple[Schedule, Notes]]
"""What is tried for a loop, by its name: no notes if it does not fit."""
_OfNest = Callable[[Schedule, Nest, Options], tuple[Schedule, str]]

SECOND_BLOCK = 4
"""Of the second of several blocks there should be so large a share: the fourth part."""
SHARED_SWEEP = 256
"""How many rows and columns a sweep that threads share has at least, in the mean: one thread is as fast with fewer."""
DIMENSIONS = 3
"""How many loops a product of matrices has."""
ONE_BY_ONE = "one iteration after the other"
IN_CACHE = "smaller arrays stay in the second cache anyway"
LEAST_VECTORS = 2
"""How many vectors there should be of a loop, in the mean of all sizes of a nest: fewer cost more than they give."""


def take(name: str, s: Schedule, root: str, options: Options) -> tuple[Schedule, Notes]:
    """The schedule after a recipe of `BOOK` for an outermost loop, and what that did; no notes if it does not fit.

    Sizes that are too small to gain run the loop as it was. Sweeps and products have versions of their own.
    """
    recipe = BOOK[name]
    if name in ("sweeps", "products"):
        return recipe(s, root, options)
    return _unless_small(recipe, s, root, options)


def _unless_small(recipe: Recipe, s: Schedule, root: str, options: Options) -> tuple[Schedule, Notes]:
    """The schedule after a recipe, where sizes are large enough for it; smaller ones run the loops as they were."""
    both = copy(s)
    try:
        _keep_for_small(both, root, options)
    except UnfitError:
        return recipe(s, root, options)
    made, notes = recipe(both, root, options)
    if len(made.steps) == len(both.steps):
        return s, notes
    return made, only_for(versions.chosen_by(made, root, len(s.steps)), notes)


def _keep_for_small(s: Schedule, root: str, options: Options) -> None:
    """Give a nest of loops a copy for small sizes; the schedule given is changed.

    Raises UnfitError for a loop alone, and where no size says how large it is.
    """
    loops = names_in(s, root)
    if len(loops) == 1:
        raise UnfitError(f"{root} holds no other loop")
    large = versions.on_average(s, loops, LEAST_VECTORS * versions.lanes_in(s, root, options))
    versions.in_other(s, root, large)


def _with_sweeps(s: Schedule, root: str, options: Options) -> tuple[Schedule, Notes]:
    """The schedule with a loop over time tiled; no notes where it is none."""
    try:
        small = sweeps.small_enough(s, root, options.target)
        sizes = None if small is None else larger_than(s, root, small)
        both = s if sizes is None else copy(s).specialize(root, sizes)
        made = sweeps.take(both, root, options)
    except (UnfitError, IllegalTransform):  # a loop that is parallel already has no other versions
        return s, []
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
    s, said = sweeps.take_near(s, small, options)
    notes = [of(s, root, said)]
    if options.threads > 1:
        s, others = _with_vectors(s, root, options)
        notes += only_for(large, others, "have one thread")
    return s, notes


def _with_products(s: Schedule, root: str, options: Options) -> tuple[Schedule, Notes]:
    """The schedule with products inside of a loop.

    Where those are triangles in blocks, and the loop around others can be on vectors, that is what one block runs on.
    """
    sizes = longer_than(s, root, options.choices.block_rows) if _has_triangles(s, root) else None
    if sizes is not None:
        with suppress(IllegalTransform):  # a loop that is parallel already has no other versions
            both = copy(s).specialize(root, sizes)
            small = both.made[0].names[0]
            both, others = _with_outer(both, small, options, near=True)
            if others:
                made, notes = _apart(both, root, options)
                if not notes:
                    return _with_blocks(s, root, options)
                in_blocks = of(s, root, f"in blocks of {options.choices.block_rows} rows")
                return made, [*only_for(sizes, [in_blocks, *notes], ""), *for_smaller(others)]
    made, notes = _apart(s, root, options)
    return (made, notes) if notes else _with_blocks(s, root, options)


def _has_triangles(s: Schedule, root: str) -> bool:
    """Whether of three loops the innermost has bounds that move with one around it, and no other loop has such."""
    inside = names_in(s, root)
    for nest in nests(s):
        loops = nest.loops
        tied = [b for a, b in combinations(loops, 2) if product.is_tied(a, b)]
        if nest.name(nest.innermost) in inside and len(loops) > 2 and tied == [nest.innermost]:
            return True
    return False


def _apart(s: Schedule, root: str, options: Options) -> tuple[Schedule, Notes]:
    """A schedule where the loops inside of a loop are taken apart, if there is a product among what is left."""
    apart = copy(s)
    inside = names_in(s, root)
    if max(row.depth for row in s.loops() if row.names[0] in inside) < 2:
        return s, []
    in_memory(apart, inside)
    notes: Notes = []
    with suppress(UnfitError):
        made, other, how = finished.take(apart, root, options)
        notes.append(of(s, inside, how))
        if not other:
            return made, notes
        apart, root, inside = made, other, names_in(made, other)
    others = {row.iv for row in apart.loops() if row.names[0] not in inside}
    apart = _distributed(apart, inside, options)
    on_threads = ""
    with suppress(UnfitError):
        apart, on_threads = threads_around(apart, root, options)
    rest: list[str] = []
    for nest in nests(apart):
        if not others.isdisjoint((*nest.around, *nest.band)[0].binds()):
            continue
        try:
            apart, done = product.take(apart, nest, options)
            notes.append(nest.note(done))
        except UnfitError:
            try:
                apart, said = blocked.take_triangle(apart, nest, options)
                notes += said
            except UnfitError:
                rest.append(nest.name(nest.innermost))
    if not notes:
        return s, []
    if on_threads:
        notes.insert(0, of(s, root, on_threads))
    for name in rest:
        root = next((nest.name(nest.band[0]) for nest in nests(apart) if nest.name(nest.innermost) == name), name)
        apart, said = _unless_small(partial(_innermost, name), apart, root, options)
        notes += said
    return apart, notes


def _distributed(s: Schedule, inside: Sequence[str], options: Options) -> Schedule:
    """The schedule with loops taken apart; those around tiny products stay around all of what they hold.

    A matrix is then in the nearest cache from its first statement to the last one.
    """
    apart, last = copy(s), set[str]()
    for nest in nests(s):
        loops = nest.loops
        last |= {nest.name(loop) for loop in loops[-DIMENSIONS:]}
    distribute(apart, [name for name in inside if name in last])
    if len(last.intersection(inside)) < len(inside) and product.tiny_ones(apart, inside, options):
        return apart
    distribute(apart, inside)
    return apart


def _innermost(name: str, s: Schedule, root: str, options: Options) -> tuple[Schedule, Notes]:
    """The schedule with an innermost loop of a nest on vectors."""
    s, notes, _ = _first(s, name, (vectors.take,), options)
    return s, notes


def _with_blocks(s: Schedule, root: str, options: Options) -> tuple[Schedule, Notes]:
    """The schedule with a loop in blocks; no notes where these are no products."""
    inside = names_in(s, root)
    if max(row.depth for row in s.loops() if row.names[0] in inside) < 2:
        return s, []
    rows = options.choices.block_rows
    sizes = longer_than(s, root, rows + rows // SECOND_BLOCK)
    apart, large = copy(s), None
    with suppress(UnfitError):
        versions.in_other(apart, root, sizes)
        large = sizes
    for name in reversed(inside):
        with suppress(IllegalTransform, ScheduleError):
            apart.demote(name)
    try:
        made, notes = blocked.take(apart, root, options)
    except UnfitError:
        return s, []
    return made, only_for(large, notes)


def _with_straight(s: Schedule, root: str, options: Options) -> tuple[Schedule, Notes]:
    """The schedule with short loops as straight code, and what is around them on vectors; no notes without such."""
    try:
        straight, names = short.take(s, root)
    except UnfitError:
        return s, []
    made, notes = _with_outer(straight, root, options)
    if not notes:
        made, notes = _with_vectors(straight, root, options)
    done = {step.call.verb for step in made.steps[len(straight.steps) :]}
    if done <= {"scalar_replace", "unroll"} and any(map(vectors.updates_by_data, _loops_in(made, root))):
        return s, []  # what chooses the elements may run on vectors by itself
    return made, [of(s, root, f"{names} inside of it as straight code"), *notes]


def _loops_in(s: Schedule, root: str) -> Iterator[affine.For]:
    """The innermost loops inside of a loop, or itself."""
    yield from (nest.innermost for nest in nests_in(s, root))


def _with_across(s: Schedule, root: str, options: Options) -> tuple[Schedule, Notes]:
    """The schedule with a copy of a table whose columns are rows, along which vectors run; no notes without such."""
    try:
        made, said = across.take(s, root, options)
    except UnfitError:
        return s, []
    return made, [of(s, root, said)]


def _with_outer(s: Schedule, root: str, options: Options, *, near: bool = False) -> tuple[Schedule, Notes]:
    """The schedule with a loop around others on vectors; no notes where that does not pay."""
    for recipe in (partial(outer.take, near=near), parted.take):
        with suppress(UnfitError):
            made, said = recipe(s, root, options)
            break
    else:
        return s, []
    if is_long(made, s):
        return s, []
    notes = [of(s, root, said)]
    for name in [nest.name(nest.innermost) for nest in nests_in(s, root)]:
        made, others, _ = _first(made, name, (vectors.take,), options)  # of those that stand beside the vectors
        notes += others
    return made, notes


def _with_vectors(s: Schedule, root: str, options: Options) -> tuple[Schedule, Notes]:
    """The schedule with the loops inside of a loop on vectors, or jammed."""
    notes: Notes = []
    before, s, done = s, copy(s), set[str]()
    with suppress(UnfitError):
        s, at_pivot = pivot.take(s, root, options)
        notes.append(at_pivot)
    parts, split = [root], ""
    with suppress(UnfitError):
        s, split, parts = bounded.take(s, root, options)
    for nest in nests(s):
        if nest.name(nest.innermost) in _inside(s, parts) and vectors.is_mixed(nest) and not options.reassociate:
            older = {each for row in s.loops() for each in row.names} - {nest.name(nest.innermost)}
            with suppress(UnfitError):
                made, in_turns = turns.take(s, nest, options)
                if not is_long(made, s):
                    s, notes = made, [*notes, nest.note(in_turns)]
                    done.update(each for row in s.loops() for each in row.names if each not in older)
                    continue
            with suppress(IllegalTransform, ScheduleError):
                s.distribute(nest.name(nest.innermost))
    waiting = nests_in(s, *parts)
    known = {nest.name(nest.innermost) for nest in nests(s)}
    none_fits = not notes
    for nest in waiting:
        name = now_called(s, nest, known)
        if name in done:
            continue
        s, said, covered = _recurrences(s, name, options)
        if said:
            notes, none_fits = [*notes, *said], False
            done.update(covered)
            continue
        early = (lines.take_carried, strips.take_early, vectors.take)
        book = (*early, lines.take, strips.take, jammed.take, transposed.take, scheduled.take)
        s, said, fits = _first(s, name, book, options)
        notes, none_fits = [*notes, *said], none_fits and not fits
    if none_fits and any(nest.name(nest.band[0]) != root for nest in waiting):
        try:
            made, ordered = scheduled.take_loop(s, root, options)
            s, notes = made, [of(s, root, ordered)]
        except UnfitError as why:
            notes += [of(s, root, why=str(why))] * bool(str(why))
    return s, _without_ends(of(before, root, split), notes) if split else notes


def _without_ends(split: Note, notes: Notes) -> Notes:
    """What is said of the parts of a loop that was split, with half a sentence for those that are too short."""
    long = [note for note in notes if note.done or TOO_SHORT not in note.why]
    ends = "; short ends run as written" if len(long) < len(notes) else ""
    return [replace(split, done=f"{split.done}{ends}"), *long]


def _inside(s: Schedule, roots: Sequence[str]) -> list[str]:
    """Some outermost loops, and those inside of them, by name."""
    return [name for root in roots for name in names_in(s, root)]


def _recurrences(s: Schedule, name: str, options: Options) -> tuple[Schedule, Notes, Sequence[str]]:
    """The schedule with several recurrences at once, in lanes or rows, what was done, and of which loops."""
    nest = nest_called(s, name)
    if nest is None or nest.has_vectors or not rows.may_be_jammed(s, nest, options):
        return s, [], ()
    with suppress(UnfitError):
        made, said = lines.take(s, nest, options)
        return made, [nest.note(said)], ()
    try:
        made, loop = rows.take(s, nest, options)
    except UnfitError:
        return s, [], ()
    said = f"{options.choices.recurrences} iterations of {loop} run at once, a recurrence each"
    return made, [nest.note(said)], names_in(made, loop)


def _first(s: Schedule, name: str, recipes: tuple[_OfNest, ...], options: Options) -> tuple[Schedule, Notes, bool]:
    """The schedule after the first recipe that fits an innermost loop, what it did or why none did, and if one did."""
    nest = nest_called(s, name)
    if nest is None or nest.has_vectors:
        return s, [], False
    why: list[str] = []
    for recipe in recipes:
        try:
            made, said = recipe(s, nest, options)
        except UnfitError as error:
            why += [str(error)] * (str(error) not in [*why, ""])
        else:
            if not is_long(made, s):
                return made, [nest.note(said)], True
            why.append(f"its code would be longer by more than {MOST_MORE} operations")
    with suppress(UnfitError):
        s, several = unrolled.take_rows(s, nest, options)
        return s, [nest.note(f"{ONE_BY_ONE}, {several}", why)], True
    said, fits = "", False
    if any(a.buffer.kind == "local" and not a.buffer.rank for a in nest.accesses):
        kept = copy(s)
        with suppress(IllegalTransform, ScheduleError):
            kept.scalar_replace(name)
            s, said, fits = kept, f"{ONE_BY_ONE}, variables in registers", True
    with suppress(UnfitError):
        s, several = unrolled.take(s, nest)
        said, fits = f"{ONE_BY_ONE}, {several}", True
    return s, [nest.note(said, why)], fits


BOOK: dict[str, Recipe] = {
    "sweeps": _with_sweeps,
    "across": _with_across,
    "straight": _with_straight,
    "products": _with_products,
    "outer": _with_outer,
    "vectors": _with_vectors,
}
"""The recipes for an outermost loop, by the names of `choices.RECIPES`, in the order in which they are tried."""
