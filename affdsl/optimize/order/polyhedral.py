"""Where no other recipe fits: the order that isl's scheduler finds, by the steps that schedules have."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from copy import copy
from itertools import permutations

from affdsl.ir.dialects import affine, scf
from affdsl.ir.expr import Affine, FloorDiv, Value, parts_of
from affdsl.ir.spelling import calling
from affdsl.ir.traverse import affine_exprs, walk
from affdsl.optimize.attempts import fuse_late, where_legal
from affdsl.optimize.machine import Machine, usual
from affdsl.optimize.model.schedules import cycles
from affdsl.optimize.nests import (
    Nest,
    is_library_call,
    is_recurrence,
    names_in,
    nest_called,
    nests,
    nests_in,
    perfect_band,
    require_loop,
)
from affdsl.optimize.options import Options
from affdsl.optimize.order.distribution import distribute
from affdsl.optimize.registers import jamming
from affdsl.optimize.unfit import UnfitError, in_one_line
from affdsl.optimize.vector import inner_loops, recurrences
from affdsl.passes.analysis.dependence import Dependences
from affdsl.passes.analysis.iterations import UncountedError
from affdsl.passes.analysis.scheduler import Band, Parts, UnscheduledError, schedule_of
from affdsl.schedule.alone import alone, way_to
from affdsl.schedule.loops import ScheduleError
from affdsl.schedule.schedule import IllegalTransform, Schedule

TILE = (32, 128)
"""How many iterations of the two loops of a recurrence a tile has, where tiles run on threads: those that divide.

Others do so little in a tile that two threads would wait for each other longer than for their own recurrences.
"""
LATEST = 8
"""How many iterations one loop runs behind the one before it at most."""
CLEARLY = 1.15
"""So many times faster has an order to be by the model of all loops."""


def take(s: Schedule, nest: Nest, options: Options) -> tuple[Schedule, str]:
    """The schedule with a nest in the order that isl finds for it, several of its iterations at once.

        for i, j: A[i, j] = S(A[i - 1, j + 1], A[i, j - 1])

    isl finds loops all of whose orders are right: i, and i + j. So iterations of i may run together, each behind the
    one before it; tiles that do not wait for each other run on threads, where an iteration divides. Steps bring the
    loops into that order: a permutation, then skews; each is proved legal, or refused. Raises UnfitError.

    References
    ----------
    Bondhugula et al., "A practical automatic polyhedral parallelizer and locality optimizer", PLDI 2008; Verdoolaege
    and Janssens, "Scheduling for PPCG", 2017.
    """
    return take_loop(s, nest.name(nest.band[0]), options)


def take_loop(s: Schedule, root: str, options: Options) -> tuple[Schedule, str]:
    """The same for all that a loop holds: loops beside each other are made one, late by as much as isl says.

    Raises UnfitError.
    """
    holds_loops = any(isinstance(op, affine.For) for op in require_loop(s, root).body)
    if _divides(require_loop(s, root)) or (not holds_loops and _has_factors(require_loop(s, root))):
        raise UnfitError  # isl may look for an order of its statements for long, and counts no operations
    if any(isinstance(op, affine.For) and op.results for op in walk(require_loop(s, root))):
        raise UnfitError  # there is one order in which values are handed on
    made = _prepared(copy(s), root)
    found = _asked(made, root)
    if isinstance(found, Band) and not holds_loops:
        raise UnfitError  # there is one order
    try:
        if any(isinstance(op, scf.If) and op.orelse for op in walk(require_loop(s, root))):
            raise UnfitError(
                "data decides which way an iteration goes, which is foreseen wrongly more often for several"
            )
        made, said = _apart(s, root, options) if isinstance(found, Parts) else _ordered(made, root, found, options)
        if _gain(made, s, usual(options.target)) < CLEARLY:
            raise UnfitError("that is not expected to be faster")
    except (UnfitError, IllegalTransform, ScheduleError) as error:
        why = str(error) if isinstance(error, UnfitError) else in_one_line(error)
        raise UnfitError(f"no other order helps: {_words(s, found)}; {why}") from None
    return made, f"{_words(s, found)}: {said}"


def _has_factors(loop: affine.For) -> bool:
    """Whether a loop goes in steps, or some subscript, bound or condition in it has a multiple of its counter."""
    exprs = (each for op in walk(loop) for each in affine_exprs(op))
    return loop.step != 1 or any(abs(dict(each.terms).get(loop.iv, 0)) > 1 for each in exprs)


def _divides(loop: affine.For) -> bool:
    """Whether some subscript, bound or condition in a loop divides."""
    exprs = (each for op in walk(loop) for each in affine_exprs(op))
    return any(isinstance(atom, FloorDiv) for each in exprs for atom in parts_of(each))


def _words(s: Schedule, found: Band | Parts) -> str:
    """What isl has found, with loops as the schedule calls them."""
    names = {row.iv: row.names[0] for row in s.loops()}
    with calling(lambda value: names.get(value, "")):
        return f"isl's scheduler finds {found}"


def _ordered(s: Schedule, root: str, band: Band, options: Options) -> tuple[Schedule, str]:
    """The schedule with a loop in the order of a band; the one given is changed. Raises UnfitError, and as steps do."""
    said = _made_one(s, root)
    if said:
        again = _asked(s, root)
        if isinstance(again, Parts):
            raise UnfitError("that is more than to run one loop some iterations late")
        band = again
    nest, skews = _in_its_order(s, root, band)
    made, done = _several(s, nest, options)
    return made, "; ".join([*said, *skews, done])


def _prepared(s: Schedule, root: str) -> Schedule:
    """The schedule with loops in steps of 1, and with what only an inner one uses in it; the one given is changed."""
    names = names_in(s, root)
    where_legal(s.normalize, [name for name in names if require_loop(s, name).step != 1])
    where_legal(s.sink, names[1:])
    return s


def _asked(s: Schedule, root: str) -> Band | Parts:
    """What isl finds for a loop. Raises UnfitError."""
    loop = require_loop(s, root)
    try:
        return schedule_of(Dependences(alone(way_to(s.function, {loop.iv})), s.module), loop)
    except UnscheduledError as why:
        raise UnfitError(str(why)) from None


def _nest(s: Schedule, root: str) -> Nest:
    """The only nest inside of a loop, which is its outermost one. Raises UnfitError."""
    found = nests_in(s, root)
    if len(found) != 1 or found[0].name(found[0].band[0]) != root or len(found[0].band) < 2:
        raise UnfitError(f"its statements are not all inside of all loops of {root}")
    return found[0]


# Loops beside each other ----------------------------------------------------------------------------------------------


def _made_one(s: Schedule, root: str) -> list[str]:
    """Make the loops that stand beside each other in a loop one, and say so; the schedule given is changed.

    Raises UnfitError where other statements stand there, too, or none may run a little later.
    """
    loop = require_loop(s, root)
    loops = [op for op in loop.body if isinstance(op, affine.For)]
    if len(loops) < len(loop.body) and loops:
        raise UnfitError(f"statements stand beside the loops in {root}, which are not moved into them")
    names = {row.iv: row.names[0] for row in s.loops()}
    said: list[str] = []
    for other in loops[1:]:
        pairs = zip(perfect_band(loops[0]), perfect_band(other), strict=False)
        shifts = [fuse_late(s, names[one.iv], names[two.iv], LATEST, guarded=True) for one, two in pairs]
        late = f", {' and '.join(map(str, shifts))} iterations later" if any(shifts) else ""
        said.append(f"{names[other.iv]} runs with {names[loops[0].iv]}{late}")
    return said


# Loops inside of each other -------------------------------------------------------------------------------------------


def _in_its_order(s: Schedule, root: str, band: Band) -> tuple[Nest, list[str]]:
    """Bring a nest into an order all of whose permutations are legal; the schedule given is changed.

    Each row of the band is one loop, plus multiples of loops around it. Raises UnfitError, and as steps do.
    """
    nest = _nest(s, root)
    loops = [loop.iv for loop in nest.band]
    rows = [next(iter(row.times.values())) for row in band.rows]
    if not band.is_permutable or len(rows) != len(loops):
        raise UnfitError("not all of its loops may change places")
    order, owned = next(_triangular(rows, loops), ((), {}))
    if not order:
        raise UnfitError("these are no skews of its loops")
    names, said = nest.names, list[str]()
    if list(order) != loops:
        s.permute([names[iv] for iv in order])
        said.append(f"loops in the order {', '.join(names[iv] for iv in order)}")
    for iv in reversed(order):
        for outer in order[: order.index(iv)]:
            factor = dict(owned[iv].terms).get(outer, 0)
            if factor:
                s.skew(names[outer], names[iv], factor)
                said.append(f"{names[iv]} skewed by {'' if factor == 1 else f'{factor} * '}{names[outer]}")
    return _nest(s, names[order[0]]), said


def _triangular(
    rows: Sequence[Affine], loops: Sequence[Value]
) -> Iterator[tuple[tuple[Value, ...], dict[Value, Affine]]]:
    """The orders of loops, that of the text first, in which each row is one loop and multiples of those around it."""
    for order in permutations(loops):
        owned: dict[Value, Affine] = {}
        for row in rows:
            factors = dict(row.terms)
            last = max((k for k, iv in enumerate(order) if iv in factors), default=None)
            if last is None or factors[order[last]] != 1:
                break
            owned[order[last]] = row
        if len(owned) == len(loops):
            yield order, owned


# Several iterations at once -------------------------------------------------------------------------------------------


def _several(s: Schedule, nest: Nest, options: Options) -> tuple[Schedule, str]:
    """The schedule with iterations of a nest at once whose loops may change places.

    Raises UnfitError, and as steps do.
    """
    if any(map(is_library_call, walk(nest.innermost))):
        raise UnfitError("its functions of the C library take longer than one iteration waits for another")
    inner = min(reversed(nest.band), key=lambda each: inner_loops.cost(nest, each, options))
    made, said = copy(s), ""
    if inner is not nest.innermost:
        with suppress(IllegalTransform, ScheduleError):
            names = [nest.name(each) for each in nest.band if each is not inner]
            made.permute((*names, nest.name(inner)))
            nest, said = _nest(made, names[0]), f"{nest.name(inner)} runs innermost; "
    if not is_recurrence(nest, nest.innermost):
        raise UnfitError(f"iterations of {nest.name(nest.innermost)} wait for none before them")
    outer, steps = nest.name(nest.band[-2]), options.choices.jammed_steps
    if options.threads > 1 and not nest.around and recurrences.divides(nest.innermost):
        with suppress(UnfitError, IllegalTransform, ScheduleError):
            first, second = map(nest.name, nest.band[:2])
            tiled = jamming.in_tiles(made, (first, second), TILE, steps)
            return tiled, (
                f"{said}tiles that do not wait for each other run on threads, and in them {steps} iterations of "
                f"{first} run at once"
            )
    made.unroll_jam(outer, steps)
    where_legal(made.scalar_replace, [nest.name(nest.innermost)])
    return made, f"{said}{steps} iterations of {outer} run at once"


def _gain(s: Schedule, before: Schedule, machine: Machine) -> float:
    """How many times faster a schedule is expected to be than another one; 0 where data decides that."""
    try:
        return cycles(before, machine) / max(1.0, cycles(s, machine))
    except UncountedError:
        return 0.0


# Statements one after the other ---------------------------------------------------------------------------------------


def _apart(s: Schedule, root: str, options: Options) -> tuple[Schedule, str]:
    """The schedule with the statements of a loop in loops of their own, each on vectors or as isl orders it.

    Raises UnfitError.
    """
    made = copy(s)
    others = {row.names[0] for row in s.loops()}.difference(names_in(s, root))
    distribute(made, names_in(s, root))
    said: list[str] = []
    for name in [nest.name(nest.innermost) for nest in nests(made)]:
        found = nest_called(made, name)
        if found is None or found.has_vectors or name in others:
            continue
        for recipe in (inner_loops.take, take):
            with suppress(UnfitError):
                made, done = recipe(made, found, options)
                said.append(done)
                break
    if not said:
        raise UnfitError("apart none of them runs on vectors, or several iterations at once")
    return made, "; ".join(said)
