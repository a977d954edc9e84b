"""Takes the first recipe that fits each nest of a kernel, and says which, or why none does."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from copy import copy
from functools import partial
from itertools import combinations

from affdsl.codegen.targets.target import Target
from affdsl.ir.dialects import affine, arith
from affdsl.ir.dialects.func import Func
from affdsl.ir.expr import Value
from affdsl.ir.location import Location
from affdsl.ir.traverse import walk
from affdsl.kernel import Kernel
from affdsl.lang.source import problem
from affdsl.optimize import versions
from affdsl.optimize.footprint import larger_than, longer_than
from affdsl.optimize.nests import Nest, made_inside, names_in, nests, now_called, used_again
from affdsl.optimize.options import Options, available_threads, targets
from affdsl.optimize.recipes import (
    across,
    blocked,
    chains,
    jammed,
    joined,
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
    unrolled,
    vectors,
)
from affdsl.optimize.recipes.unfit import UnfitError, in_one_line
from affdsl.optimize.tuning import tuned
from affdsl.passes.advice.alternatives import without_alternatives
from affdsl.passes.analysis.dependence import AnalysisWarning, Dependences
from affdsl.passes.analysis.parallelism import first_in_the_way
from affdsl.passes.legality.order import Violation
from affdsl.schedule.loops import LoopRow, ScheduleError, loop_by
from affdsl.schedule.schedule import IllegalTransform, Schedule
from affdsl.schedule.spelling import literal

Recipe = Callable[[Schedule, Nest, Options], tuple[Schedule, str]]
Notes = list[str]
_Whole = Callable[[Schedule, str, Options], tuple[Schedule, Notes]]

SECOND_BLOCK = 4
"""Of the second of several blocks there should be so large a share: the fourth part."""
LEAST_VECTORS = 2
"""How many vectors there should be of a loop, in the mean of all sizes of a nest: fewer cost more than they give."""


def optimize(
    kernel: Kernel,
    *,
    target: str = "native",
    threads: int | None = None,
    contract: bool = False,
    reassociate: bool = False,
    reciprocal: bool = False,
    approximate: bool = False,
    tune: bool | Mapping[str, int] = False,
    validate: bool = False,
) -> Kernel:
    """The kernel with a schedule that recipes have chosen; see `Kernel.optimize`."""
    threads = available_threads() if threads is None else threads
    options = Options(_target(target), threads, contract, reassociate, reciprocal, approximate)
    if tune is False:
        s, notes = chosen(Schedule(kernel, inline=True), options)
    else:
        s, notes = tuned(kernel, options, tune, lambda each: chosen(Schedule(kernel, inline=True), each))
    notes = notes or ["as it was: it has no loops"]
    return s.kernel(validate=validate, notes=tuple(notes))


def chosen(s: Schedule, options: Options) -> tuple[Schedule, Notes]:
    """The schedule after the recipes for each outermost loop, threads, and what may round in another way."""
    with warnings.catch_warnings():  # what the analysis gives up on is refused, and the next step tried
        warnings.simplefilter("ignore", AnalysisWarning)
        with without_alternatives():
            return _chosen(s, options)


def _chosen(s: Schedule, options: Options) -> tuple[Schedule, Notes]:
    notes: Notes = []
    known = {name for row in s.loops() for name in row.names}
    stencils: set[Location | None] = set()
    finished: set[str] = set()
    if options.approximate:  # before the last vector of a loop stands behind it
        for name in [row.names[0] for row in s.loops() if row.depth == 0]:
            with suppress(IllegalTransform):  # there may be no such function in it
                s.approximate(name)
    left_out = options.choices.left_out
    if "chains" not in left_out:
        with suppress(UnfitError):
            s, chained = chains.take(s, options)
            notes.append(f"a chain of nests: {chained}")
            finished = {row.names[0] for row in s.loops() if row.depth == 0 and _has_vectors(s, row.names[0])}
    if "joined" not in left_out:
        with suppress(UnfitError):
            s, said = joined.take(s, options)
            notes += said
    for root, place in [(row.names[0], row.location) for row in s.loops() if row.depth == 0]:
        if root in finished:
            continue
        for recipe in (_with_sweeps, _with_across, _with_straight, _with_products, _with_outer, _with_vectors):
            if recipe.__name__.removeprefix("_with_") in left_out:
                continue
            s, said = _unless_small(recipe, s, root, options)
            notes += said
            if said:
                stencils |= {place} if recipe is _with_sweeps and not vectors.has_long_vectors(options) else set()
                break
        else:
            notes += _as_written(s, root)
    small = versions.as_written(s, known)
    if options.threads > 1:
        notes += _in_parallel(s, small)
    roots = [row for row in s.loops() if row.depth == 0 and row.names[0] not in small]
    rest = [row for row in roots if row.location not in stencils]
    kinds = _kinds_in(s.function, {row.iv for row in rest})
    for row in rest:
        for verb, kind in _rounding(options):
            if kind in kinds[row.iv]:
                with suppress(IllegalTransform):  # there may be no such operation that can be another
                    getattr(s, verb)(row.names[0])
    return s, notes


def _unless_small(recipe: _Whole, s: Schedule, root: str, options: Options) -> tuple[Schedule, Notes]:
    """The schedule after a recipe, where sizes are large enough for it; smaller ones run the loops as they were.

    Sweeps and products have versions of their own.
    """
    row = next(row for row in s.loops() if row.names[0] == root)
    try:
        if recipe in (_with_sweeps, _with_products) or len(names_in(s, root)) == 1:
            raise UnfitError
        condition = versions.on_average(s, names_in(s, root), LEAST_VECTORS * versions.lanes_in(s, root, options))
        versions.in_other(both := copy(s), root, condition)
    except UnfitError:
        return recipe(s, root, options)
    made, notes = recipe(both, root, options)
    if len(made.steps) == len(both.steps):
        return s, notes
    large = versions.chosen_by(made, root, len(s.steps))
    return made, [f"{root} ({row.location}): the loops as written, unless {literal(large)}", *notes]


def _as_written(s: Schedule, root: str) -> Notes:
    """What is said of a loop that runs in parallel because the user says so, and holds no others; else nothing."""
    return [
        f"{', '.join(row.names)} ({row.location}): as it was; its iterations run in parallel, as it is written"
        for row in s.loops()
        if row.names[0] == root and row.is_parallel
    ]


def _has_vectors(s: Schedule, root: str) -> bool:
    """Whether a loop is on vectors, or one inside of it."""
    inside = names_in(s, root)
    return any(nest.has_vectors for nest in nests(s) if nest.name(nest.innermost) in inside)


def _rounding(options: Options) -> Iterator[tuple[str, str]]:
    """The steps that round in another way, of those that are allowed and that pay, with what they need in a loop."""
    if options.reciprocal:
        yield "reciprocal", "divf"
    if options.contract and options.target.has_fma:
        yield "contract", "mulf"


def _kinds_in(function: Func, counters: set[Value]) -> dict[Value, set[str]]:
    """The kinds of operations on two numbers in loops, by a counter of each."""
    return {
        iv: {op.kind for op in walk(loop) if isinstance(op, arith.Binary)}
        for loop in walk(function)
        for iv in counters.intersection(loop.binds())
    }


def _with_sweeps(s: Schedule, root: str, options: Options) -> tuple[Schedule, Notes]:
    """The schedule with a loop over time tiled; no notes where it is none."""
    row = next(row for row in s.loops() if row.names[0] == root)
    try:
        sizes = larger_than(s, root, options.target.caches[1]) if len(options.target.caches) > 1 else None
        both = s if sizes is None else copy(s).specialize(root, sizes)
        made = sweeps.take(both, root, options)
    except (UnfitError, IllegalTransform):  # a loop that is parallel already has no other versions
        return s, []
    is_shared = any(each.is_parallel for each in made.loops())
    shared = "; tiles that do not wait for each other run on threads" if is_shared else ""
    notes = [f"{root} ({row.location}): its sweeps are one, and tiled in time{shared}"]
    if sizes is None:
        return made, notes
    before = {row.names[0] for row in s.loops()}
    small = next(row.names[0] for row in both.loops() if row.depth == 0 and row.names[0] not in before)
    notes = [f"{notes[0]}, where {literal(sizes)}: smaller arrays fit into the second cache"]
    with suppress(UnfitError):
        return sweeps.take_untiled(made, small, options), [
            *notes,
            f"{small} ({row.location}): its sweeps are one, row by row",
        ]
    made, others = _with_vectors(made, small, options)
    return made, [*notes, *others]


def _with_products(s: Schedule, root: str, options: Options) -> tuple[Schedule, Notes]:
    """The schedule with products inside of a loop.

    Where those are triangles in blocks, and the loop around others can be on vectors, that is what one block runs on.
    """
    row = next(row for row in s.loops() if row.names[0] == root)
    sizes = longer_than(s, root, options.choices.block_rows) if _has_triangles(s, root) else None
    if sizes is not None:
        with suppress(IllegalTransform):  # a loop that is parallel already has no other versions
            both = copy(s).specialize(root, sizes)
            before = {each.names[0] for each in s.loops()}
            small = next(each.names[0] for each in both.loops() if each.depth == 0 and each.names[0] not in before)
            both, others = _with_outer(both, small, options)
            if others:
                made, notes = _apart(both, root, options)
                said = f"{root} ({row.location}): in blocks, where {literal(sizes)}"
                return (made, [said, *notes, *others]) if notes else _with_blocks(s, root, options)
    made, notes = _apart(s, root, options)
    return (made, notes) if notes else _with_blocks(s, root, options)


def _has_triangles(s: Schedule, root: str) -> bool:
    """Whether of three loops the innermost has bounds that move with one around it, and no other loop has such."""
    inside = names_in(s, root)
    for nest in nests(s):
        loops = [op for op in (*nest.around, *nest.band) if isinstance(op, affine.For)]
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
    _in_memory(apart, inside)
    others = {row.iv for row in s.loops() if row.names[0] not in inside}
    for name in reversed(inside):
        with suppress(IllegalTransform, ScheduleError):
            apart.distribute(name)
    notes: Notes = []
    rest: list[str] = []
    for nest in nests(apart):
        if not others.isdisjoint((*nest.around, *nest.band)[0].binds()):
            continue
        tried = copy(apart)
        try:
            notes.append(f"{nest.place}: {product.take(tried, nest, options)}")
            apart = tried
        except (UnfitError, IllegalTransform, ScheduleError):
            try:
                apart, said = blocked.take_triangle(apart, nest, options)
                notes += said
            except UnfitError:
                rest.append(nest.name(nest.innermost))
    if not notes:
        return s, []
    for name in rest:
        root = next((nest.name(nest.band[0]) for nest in nests(apart) if nest.name(nest.innermost) == name), name)
        apart, said = _unless_small(partial(_innermost, name), apart, root, options)
        notes += said
    return apart, notes


def _innermost(name: str, s: Schedule, root: str, options: Options) -> tuple[Schedule, Notes]:
    """The schedule with an innermost loop of a nest on vectors."""
    return _first(s, name, (vectors.take,), options)


def _with_blocks(s: Schedule, root: str, options: Options) -> tuple[Schedule, Notes]:
    """The schedule with a loop in blocks; no notes where these are no products."""
    row = next(row for row in s.loops() if row.names[0] == root)
    inside = names_in(s, root)
    if max(row.depth for row in s.loops() if row.names[0] in inside) < 2:
        return s, []
    rows = options.choices.block_rows
    sizes = longer_than(s, root, rows + rows // SECOND_BLOCK)
    apart, said = copy(s), list[str]()
    with suppress(UnfitError):
        versions.in_other(apart, root, sizes)
        said.append(f"{root} ({row.location}): the loops as written, unless {literal(sizes)}")
    for name in reversed(inside):
        with suppress(IllegalTransform, ScheduleError):
            apart.demote(name)
    try:
        made, notes = blocked.take(apart, root, options)
    except UnfitError:
        return s, []
    return made, [*said, *notes]


def _in_memory(s: Schedule, loops: Sequence[str]) -> None:
    """Sums that loops carry kept in memory, and what each iteration has for itself kept for all of them."""
    for name in reversed(loops):
        with suppress(IllegalTransform, ScheduleError):
            s.demote(name)
    counters = {row.iv: row.names[0] for row in s.loops() if row.names[0] in loops}
    for buffer, around in made_inside(s.function, counters):
        for iv in reversed(around):
            with suppress(IllegalTransform, ScheduleError):
                s.expand(buffer, counters[iv])
    for array, iv in used_again(s, counters):
        with suppress(IllegalTransform, ScheduleError):
            s.copy(array, counters[iv])
            s.expand(str(dict(s.steps[-1].call.options)["name"]), counters[iv])


def _with_straight(s: Schedule, root: str, options: Options) -> tuple[Schedule, Notes]:
    """The schedule with short loops as straight code, and what is around them on vectors; no notes without such."""
    row = next(row for row in s.loops() if row.names[0] == root)
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
    return made, [f"{root} ({row.location}): {names} inside of it as straight code", *notes]


def _loops_in(s: Schedule, root: str) -> Iterator[affine.For]:
    """The innermost loops inside of a loop, or itself."""
    inside = names_in(s, root)
    yield from (nest.innermost for nest in nests(s) if nest.name(nest.innermost) in inside)


def _with_across(s: Schedule, root: str, options: Options) -> tuple[Schedule, Notes]:
    """The schedule with a copy of a table whose columns are rows, along which vectors run; no notes without such."""
    row = next(row for row in s.loops() if row.names[0] == root)
    try:
        made, said = across.take(s, root, options)
    except UnfitError:
        return s, []
    return made, [f"{root} ({row.location}): {said}"]


def _with_outer(s: Schedule, root: str, options: Options) -> tuple[Schedule, Notes]:
    """The schedule with a loop around others on vectors; no notes where that does not pay."""
    row = next(row for row in s.loops() if row.names[0] == root)
    for recipe in (outer.take, parted.take):
        with suppress(UnfitError):
            made, said = recipe(s, root, options)
            break
    else:
        return s, []
    notes = [f"{root} ({row.location}): {said}"]
    inside = names_in(s, root)
    for name in [nest.name(nest.innermost) for nest in nests(s) if nest.name(nest.innermost) in inside]:
        made, others = _first(made, name, (vectors.take,), options)  # of those that stand beside the vectors
        notes += others
    return made, notes


def _with_vectors(s: Schedule, root: str, options: Options) -> tuple[Schedule, Notes]:
    """The schedule with the loops inside of a loop on vectors, or jammed."""
    notes: Notes = []
    s = copy(s)
    with suppress(UnfitError):
        s, split = pivot.take(s, root, options)
        notes.append(split)
    for nest in nests(s):
        if nest.name(nest.innermost) in names_in(s, root) and vectors.is_mixed(nest) and not options.reassociate:
            with suppress(IllegalTransform, ScheduleError):
                s.distribute(nest.name(nest.innermost))
    inside, done = names_in(s, root), set[str]()
    waiting = [nest for nest in nests(s) if nest.name(nest.innermost) in inside]
    known = {nest.name(nest.innermost) for nest in nests(s)}
    for nest in waiting:
        name = now_called(s, nest, known)
        if name in done:
            continue
        s, said, covered = _recurrences(s, name, options)
        if said:
            notes += said
            done.update(covered)
            continue
        early = (lines.take_carried, strips.take_early, vectors.take)
        book = (*early, lines.take, strips.take, jammed.take, scheduled.take)
        s, said = _first(s, name, book, options)
        notes += said
    if all(": as it was;" in note for note in notes) and any(nest.name(nest.band[0]) != root for nest in waiting):
        row = next(row for row in s.loops() if row.names[0] == root)
        try:
            s, ordered = scheduled.take_loop(s, root, options)
            notes = [f"{root} ({row.location}): {ordered}"]
        except UnfitError as why:
            notes += [f"{root} ({row.location}): as it was; {why}"] * bool(str(why))
    return s, notes


def _recurrences(s: Schedule, name: str, options: Options) -> tuple[Schedule, Notes, Sequence[str]]:
    """The schedule with several recurrences at once, in lanes or rows, what was done, and of which loops."""
    nest = next((nest for nest in nests(s) if nest.name(nest.innermost) == name), None)
    if nest is None or nest.has_vectors or not rows.may_be_jammed(s, nest, options):
        return s, [], ()
    with suppress(UnfitError):
        made, said = lines.take(s, nest, options)
        return made, [f"{nest.place}: {said}"], ()
    try:
        made, loop = rows.take(s, nest, options)
    except UnfitError:
        return s, [], ()
    said = f"{options.choices.recurrences} iterations of {loop} run at once, a recurrence each"
    return made, [f"{nest.place}: {said}"], names_in(made, loop)


def _first(s: Schedule, name: str, recipes: tuple[Recipe, ...], options: Options) -> tuple[Schedule, Notes]:
    """The schedule after the first recipe that fits an innermost loop, and what that did, or why none did."""
    nest = next((nest for nest in nests(s) if nest.name(nest.innermost) == name), None)
    if nest is None or nest.has_vectors:
        return s, []
    why: list[str] = []
    for recipe in recipes:
        try:
            made, said = recipe(s, nest, options)
        except UnfitError as error:
            why += [str(error)] * (str(error) not in [*why, ""])
        else:
            return made, [f"{nest.place}: {said}"]
    said = "as it was"
    if any(a.buffer.kind == "local" and not a.buffer.rank for a in nest.accesses):
        kept = copy(s)
        with suppress(IllegalTransform, ScheduleError):
            kept.scalar_replace(name)
            s, said = kept, "one iteration after the other, variables in registers"
    with suppress(UnfitError):
        s, several = unrolled.take(s, nest)
        said = f"one iteration after the other, {several}"
    return s, [f"{nest.place}: {said}; {'; '.join(why)}"]


def _in_parallel(s: Schedule, small: Set[str]) -> Iterator[str]:
    """Run outermost loops in parallel that hold others, where that is legal, but for those of small sizes."""
    for row in list(s.loops()):
        inside = [each for each in s.loops() if each.names[0] in names_in(s, row.names[0])]
        if row.depth or row.names[0] in small or len(inside) < 2 or any(each.is_parallel for each in inside):
            continue
        try:
            _require_none_in_the_way(s, row)
            s.parallel(row.names[0])
            yield f"{row.names[0]} ({row.location}): its iterations run on threads"
        except (IllegalTransform, ScheduleError) as error:
            yield f"{row.names[0]} ({row.location}): on one thread; {in_one_line(error)}"


def _require_none_in_the_way(s: Schedule, row: LoopRow) -> None:
    """Raise IllegalTransform for the first dependence because of which a loop is not parallel: all take much longer."""
    found = first_in_the_way(Dependences(s.function, s.module), row.iv)
    if found is not None:
        loop = loop_by(s.function, row.iv)
        raise IllegalTransform(loop, f"make {row.names[0]} parallel", violation=Violation(found, found.witness))


def _target(name: str) -> Target:
    known = targets()
    if name not in known:
        raise problem(ScheduleError, f"there is no target {name!r}", f"they are {', '.join(known)}")
    return known[name]
