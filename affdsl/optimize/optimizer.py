"""Takes the first recipe that fits each nest of a kernel, and says which, or why none does."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence, Set
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from copy import copy
from dataclasses import replace
from itertools import takewhile

from affdsl.errors import InternalError
from affdsl.explained import Note
from affdsl.garbage import uncollected
from affdsl.ir.dialects import affine
from affdsl.ir.expr import Affine, Value
from affdsl.ir.location import Location
from affdsl.ir.traverse import walk
from affdsl.kernel import Kernel
from affdsl.lang.source import located
from affdsl.optimize import recipes, rounding, versions
from affdsl.optimize.attempts import where_legal
from affdsl.optimize.decision import Decided
from affdsl.optimize.hints import with_hints
from affdsl.optimize.machine import usual
from affdsl.optimize.memory import prefetching
from affdsl.optimize.model.schedules import cycles_of, sizes_of_version, sizes_that_run, standing_in
from affdsl.optimize.nests import lanes_of, names_in, nests_in, roots_of, span
from affdsl.optimize.notes import Notes, Source, for_smaller, of, only_for, told
from affdsl.optimize.options import Options
from affdsl.optimize.order import short_loops
from affdsl.optimize.recipes import BY_SIZE, FOR_LOOPS
from affdsl.optimize.registers import matrix_products
from affdsl.optimize.search import SLOWER, Candidate, best_that_pays
from affdsl.optimize.size import MOST, TOO_LONG, is_long, require_short
from affdsl.optimize.small_sizes import LEAST_VECTORS, lengths_of_sums
from affdsl.optimize.threads import long_sums, sharing
from affdsl.optimize.unfit import RecipeWarning, UnfitError, in_one_line
from affdsl.passes.advice.alternatives import without_alternatives
from affdsl.passes.analysis.dependence import AnalysisWarning, Dependences
from affdsl.passes.analysis.iterations import UncountedError
from affdsl.passes.analysis.parallelism import first_in_the_way
from affdsl.passes.legality.order import Violation
from affdsl.schedule.again import remembering
from affdsl.schedule.alone import alone, way_to
from affdsl.schedule.loops import LoopRow, ScheduleError, loop_by
from affdsl.schedule.schedule import IllegalTransform, Schedule, verified_last
from affdsl.schedule.written import Step, take

_warned: ContextVar[list[str] | None] = ContextVar("_warned", default=None)
"""What was warned of, where somebody keeps it."""
MOST_LOOPS = 12
"""Loops inside each other that recipes take: they try each loop of a nest with each other one."""
MOST_BOUNDS = 16
"""Upper bounds, or lower ones, of a loop that recipes take: behind vectors a loop for the rest of each one is left."""

STRAIGHT_PRODUCT = "compilers make straight code, on vectors, of a product of so few columns and terms"


def decided(kernel: Kernel, options: Options) -> Decided:
    """What recipes make of a kernel."""
    warned: list[str] = []
    token = _warned.set(warned)
    try:
        s, notes = chosen(started(kernel), options)
    finally:
        _warned.reset(token)
    schedule = s.kernel().schedule
    assert schedule is not None, "a schedule made it"
    return Decided(s.module, lambda: schedule, (*notes,) or (Note((), why=("it has no loops",)),), (*warned,))


def started(kernel: Kernel) -> Schedule:
    """The schedule without steps, to which recipes add theirs."""
    return verified_last(Schedule(kernel, inline=True))


def replayed(
    kernel: Kernel, place: Location, name: str, steps: Sequence[Step], is_same: Callable[[Kernel], bool]
) -> Schedule:
    """The schedule of a decision that was kept: its steps, taken at a place of the user's, where it has a name.

    Raises InternalError where a step is refused, or `is_same` says of the result that it is not what was kept.
    """
    with located(place), trying():
        s = started(kernel)
        s._name = name or s._name
        with suppress(ValueError, IllegalTransform, ScheduleError):
            take(s, steps)
            made = s.kernel()
            if made.schedule is not None and is_same(made):
                return made.schedule
    raise InternalError(f"what the cache has of optimizing {kernel.name} is not what its steps make; remove the cache")


def chosen(s: Schedule, options: Options) -> tuple[Schedule, Notes]:
    """The schedule after the recipes for each outermost loop, threads, and what may round in another way."""
    with trying():
        return _chosen(s, options)


@contextmanager
def trying() -> Iterator[None]:
    """Steps may be refused: nobody asks what is legal instead, and what the analysis gives up on is no news."""
    with warnings.catch_warnings(), without_alternatives(), uncollected(), remembering():  # it forgets uncollected
        warnings.simplefilter("ignore", AnalysisWarning)
        yield


def _chosen(s: Schedule, options: Options) -> tuple[Schedule, Notes]:
    written, source = copy(s), Source(s)
    known = {name for row in s.loops() for name in row.names}
    s = _prepared(s, options)
    s, notes, joined = _as_one(s, options)
    s, said, straight, combining = _each_loop(s, joined, options)
    notes += said
    kept = versions.as_written(s, known)
    if options.threads > 1 and not joined.is_shared:
        notes += _in_parallel(s, kept | combining)
    for row in _outermost(s):
        if (root := row.names[0]) not in kept:
            is_plain = root in straight and matrix_products.is_one_vector(s, root, options)
            s = rounding.as_allowed(s, root, replace(options, contract=False) if is_plain else options)
    return s, with_hints(told(notes, source), written, s, kept | straight, source, options)


def _outermost(s: Schedule) -> list[LoopRow]:
    """The outermost loops, in the order of the text."""
    return [row for row in s.loops() if row.depth == 0]


def _prepared(s: Schedule, options: Options) -> Schedule:
    """The schedule with what hides what loops do undone, before recipes look at them; the one given is changed."""
    if options.approximate:  # before the last vector of a loop stands behind it
        where_legal(s.approximate, roots_of(s))
    where_legal(s.unroll, [*_run_once(s)])  # a step before may have left none of it
    return short_loops.rerolled(s)


def _as_one(s: Schedule, options: Options) -> tuple[Schedule, Notes, recipes.Fused]:
    """The schedule after the recipes for all nests of a kernel, what is said of them, and what they leave to do."""
    notes, joined = list[Note](), recipes.Fused(s, ())
    for name, recipe in recipes.FOR_KERNELS.items():
        if name not in options.choices.left_out:
            with _recipe(name, notes):
                fused = recipe(copy(s), options)
                s = require_short(fused.schedule, s)
                notes += fused.notes
                finished, small = joined.finished | fused.finished, fused.small or joined.small
                joined = recipes.Fused(s, (), finished, small, fused.is_shared or joined.is_shared)
    return s, notes, joined


def _each_loop(s: Schedule, joined: recipes.Fused, options: Options) -> tuple[Schedule, Notes, set[str], set[str]]:
    """The schedule after the recipes for each outermost loop that is not finished, and what is said of these.

    Behind that, two kinds of loops that are left as they are by some of what comes later: those of which compilers make
    straight code, and those that put together what threads have summed up.
    """
    notes, straight, combining = list[Note](), set[str](), set[str]()
    for row in _outermost(s):
        root = row.names[0]
        if root in joined.finished:
            continue
        with suppress(UnfitError):
            names = names_in(s, root)
            made, how = matrix_products.take_straight(s, root, options)
            notes.append(of(s, names, how, "" if how else STRAIGHT_PRODUCT))
            s = made
            straight.add(root)
            continue
        if options.threads > 1 and root != joined.small:
            with suppress(UnfitError):
                shared = long_sums.take(s, root, options)
                s, said = _on_threads(shared, options)
                notes, combining = notes + said, combining | {*shared.rest}
                continue
        is_small = root == joined.small
        s, said = _one(s, root, _for_small(options) if is_small else options)
        notes += for_smaller(said) if is_small else said
    return s, notes, straight, combining


def _on_threads(shared: long_sums.Shared, options: Options) -> tuple[Schedule, Notes]:
    """The schedule after the recipes for what threads share of a long loop, and for its version for small sizes."""
    s, said = _one(shared.schedule, shared.root, options)
    done = "; ".join(dict.fromkeys([shared.note.done, *(note.done for note in said if note.done)]))
    notes = only_for(shared.condition, [replace(shared.note, done=done)], "have one thread")
    for name in shared.rest:
        s, _ = _one(s, name, replace(options, threads=1))
    if shared.small:
        s, others = _one(s, shared.small, replace(options, threads=1))
        notes += for_smaller(others)
    return s, notes


def _run_once(s: Schedule) -> Iterator[str]:
    """The loops inside of others that have one iteration, whatever the sizes, and access elements of arrays."""
    named = {row.iv: row.names[0] for row in s.loops() if row.depth > 0}
    for op in walk(s.function):
        if isinstance(op, affine.For) and op.iv in named:
            trip = span(op)
            runs_once = trip is not None and trip.is_constant and 0 < trip.constant <= op.step
            if runs_once and any(isinstance(each, affine.Access) for each in walk(op)):
                yield named[op.iv]


def _for_small(options: Options) -> Options:
    """Options for sizes that are known to be small: for one thread, and without copies for products."""
    choices = replace(options.choices, left_out=(*options.choices.left_out, "sweeps", "products"))
    return replace(options, threads=1, choices=choices)


def _one(s: Schedule, root: str, options: Options) -> tuple[Schedule, Notes]:
    """The schedule after the first recipe that fits an outermost loop, and what is said of it."""
    inside = nests_in(s, root)
    depth = max((len(nest.around) + len(nest.band) for nest in inside), default=0)
    if depth > MOST_LOOPS:
        why = f"recipes are for at most {MOST_LOOPS} loops inside each other, not for {depth}"
        return s, [of(s, root, why=why)]
    ends = (each for nest in inside for loop in nest.loops for each in (loop.lower, loop.upper))
    bounds = max(map(len, ends), default=0)
    if bounds > MOST_BOUNDS:
        return s, [of(s, root, why=f"recipes are for at most {MOST_BOUNDS} bounds of a loop, not for {bounds}")]
    left_out: Notes = []
    best, slower = best_that_pays(_candidates(s, root, options, left_out))
    if options.reassociate and (best is None or best.may_be_beaten):
        strict, _ = best_that_pays(_candidates(s, root, replace(options, reassociate=False), []))
        if strict is not None and (best is None or strict.is_as_fast_as(best)):
            best = strict
        elif best is not None:
            best = with_short_sums(best, strict, root, options)
    if best is not None:
        first, *others = best.notes
        made = prefetching.take(best.schedule, options)
        asked = "; lines are asked for ahead" if len(made.steps) > len(best.schedule.steps) else ""
        return made, [*left_out, replace(first, done=f"{first.done}{asked}", gain=best.gain), *others]
    if slower:
        found = of(s, names_in(s, root), why="by the model, all else that was tried is slower")
        left_out += [replace(found, more=tuple(f"{each}: {_in_short(each)}" for each in slower))]
    return s, [*left_out, *_as_written(s, root)]


def _candidates(s: Schedule, root: str, options: Options, left_out: Notes) -> Iterator[Candidate]:
    """What the recipes that fit make of an outermost loop; those of which a step is refused are noted."""
    machine = usual(options.target)
    for name, recipe in recipes.FOR_LOOPS.items():
        if name in options.choices.left_out:
            continue
        said: Notes = []
        with _recipe(f"{name} of {root}", left_out):
            made, said = recipe(copy(s), root, options)
        if said and is_long(made, s, MOST):
            left_out.append(of(s, names_in(s, root), why=f"the recipe {name} was left out, since {TOO_LONG}"))
        elif said:
            yield Candidate(name, made, s, (*said,), machine)


def _in_short(candidate: Candidate) -> str:
    """What a candidate does to a nest."""
    return "; ".join(note.done for note in candidate.notes if note.done)


@contextmanager
def _recipe(name: str, notes: Notes) -> Iterator[None]:
    """Leave out a recipe that does not fit, or of which a step is refused, which notes and a warning say."""
    try:
        yield
    except UnfitError:
        pass
    except (IllegalTransform, ScheduleError) as error:
        step = f"cannot {error.message.what}: " if isinstance(error, IllegalTransform) else ""
        text = f"{name}: left out, since a step of this recipe was refused: {step}{in_one_line(error)}"
        notes.append(Note((), text))
        said = _warned.get()
        if said is not None:
            said.append(text)
        warnings.warn(text, RecipeWarning, stacklevel=3)


def _as_written(s: Schedule, root: str) -> Notes:
    """What is said of a loop that runs in parallel because the user says so, and holds no others; else nothing."""
    return [
        of(s, row.names, why="its iterations run in parallel, as it is written")
        for row in s.loops()
        if row.names[0] == root and row.is_parallel
    ]


def _in_parallel(s: Schedule, small: Set[str]) -> Iterator[Note]:
    """Run outermost loops in parallel that hold others, where that is legal, but for those of small sizes."""
    for row in _outermost(s):
        names = names_in(s, row.names[0])
        inside = [each for each in s.loops() if each.names[0] in names]
        if row.names[0] in small or len(inside) < 2 or any(each.is_parallel for each in inside):
            continue
        try:
            _require_none_in_the_way(s, row)
            s.parallel(row.names[0])
            yield of(s, row.names[0], "its iterations run on threads")
        except (IllegalTransform, ScheduleError) as error:
            within = sharing.inside_of(s, row.names[0])
            said = f"threads share {' and '.join(within)} inside of it" if within else "on one thread"
            yield of(s, row.names[0], said, in_one_line(error))


def _require_none_in_the_way(s: Schedule, row: LoopRow) -> None:
    """Raise IllegalTransform for the first dependence because of which a loop is not parallel: all take much longer."""
    found = first_in_the_way(Dependences(alone(way_to(s.function, {row.iv})), s.module), row.iv)
    if found is not None:
        loop = loop_by(s.function, row.iv)
        raise IllegalTransform(loop, f"make {row.names[0]} parallel", violation=Violation(found, found.witness))


PAYS = {64: 1.0, 32: 1.0, 16: 0.7, 8: 0.6}
"""How long sums are at least that are made in another order: one of these, or twice the largest one. It pays where the
model expects it to take such a part of the time in the order of the text: the model knows least of short rows."""
IN_ORDER = "keep the order of the text"
"""What shorter sums do."""


def with_short_sums(best: Candidate, in_order: Candidate | None, root: str, options: Options) -> Candidate:
    """The best candidate with a version for short sums, which is what comes of the loop in the order of the text.

    The best one itself where no size says how long sums are, or only the size that all loops have, and of recipes that
    have versions of parts of the loop.

    Parameters
    ----------
    in_order
        What is best in the order of the text; None for the loop as it is written.
    """
    s, known = best.before, {v.hint: v for v in best.before.function.args}
    lengths = [length.expr for length in lengths_of_sums(best.before, root, options)]
    if best.name not in BY_SIZE or not best.reassociates or not lengths:
        return best
    if in_order is not None and in_order.share * SLOWER > 1:  # a version that gains nothing is only longer
        in_order = None
    sizes = [(known[v.hint], e) for e in lengths for v in e.values()]
    try:
        shortest = _shortest(best, in_order, sizes, root, options)
        made, notes = FOR_LOOPS[best.name](copy(s), root, replace(options, shortest_sum=shortest))
        step = next((step for step in made.steps[len(s.steps) :] if step.call.verb == "specialize"), None)
        if step is None or step.call.arguments[0] != root:
            return best
        if in_order is not None:
            short = step.names[step.made[0]]
            made, others = FOR_LOOPS[in_order.name](made, short, replace(options, reassociate=False))
            notes = [replace(note, smaller=note.smaller and IN_ORDER) for note in notes] + [*for_smaller(others)]
    except (UnfitError, UncountedError):
        return best
    return replace(best, schedule=made, notes=(*notes,))


def _shortest(
    best: Candidate, in_order: Candidate | None, sizes: Sequence[tuple[Value, Affine]], root: str, options: Options
) -> int:
    """From which length of sums on the best candidate pays. Raises UncountedError where data decides that.

    It is asked between two lengths, and where a vector is left over.
    """
    s = best.before
    usual = sizes_of_version(best.schedule, s, sizes_that_run(s, but_not_in=best.schedule))
    other = s if in_order is None else in_order.schedule

    def pays(shortest: int) -> bool:
        length = 3 * shortest // 2 - 1
        for size, trip in sizes:
            ((_, factor),) = trip.terms
            with_short = usual | {size: -(-(length - trip.constant) // factor)}
            taken, instead = (
                cycles_of(each, standing_in(each, but_not_in=beside), best.machine, with_short, near=True)
                for each, beside in ((best.schedule, s), (other, best.schedule))
            )
            if taken > PAYS[shortest] * instead:
                return False
        return True

    lanes = max(lanes_of(nest, options) for nest in nests_in(s, root))
    return [2 * max(PAYS), *takewhile(pays, (n for n in PAYS if n >= LEAST_VECTORS * lanes))][-1]
