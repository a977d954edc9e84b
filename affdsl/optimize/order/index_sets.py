"""Index-set splitting: in each part of a loop, conditions, bounds and clamped subscripts are decided, or rows read."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from copy import copy
from itertools import combinations
from math import prod

from affdsl.explained import Note, SourceLoop
from affdsl.frozen import FrozenValue
from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, arith, memref
from affdsl.ir.dialects.func import Func
from affdsl.ir.expr import Affine, Constraint, FloorDiv, Product, Value, parts_of
from affdsl.ir.traverse import walk
from affdsl.ir.types import INDEX
from affdsl.lang.indices import Index
from affdsl.optimize.nests import Nest, counts_inside, is_recurrence, names_in, nests, roots_of, span
from affdsl.optimize.options import Options
from affdsl.optimize.unfit import UnfitError
from affdsl.optimize.versions import in_names
from affdsl.passes.simplify import compared
from affdsl.passes.transforms.loops.wrap_around import are_read, wrap_arounds
from affdsl.schedule.loops import ScheduleError
from affdsl.schedule.schedule import IllegalTransform, Schedule
from affdsl.schedule.spelling import literal

MOST = 6
"""At so many places the loops of a nest are split, which makes one more loop each."""

LEAST = 256
"""So many iterations a nest has at least, where sizes are known, for which parts of it pay."""


class Place(FrozenValue):
    """Where a loop may be split.

    Attributes
    ----------
    depth
        How many loops are around it.
    long
        How many of these, of it and those inside grow with sizes.
    at
        The first iteration of the second part.
    """

    depth: int
    long: int
    name: str
    at: Index


def take(s: Schedule, root: str, options: Options) -> tuple[Schedule, str, list[str]]:
    """The schedule with loops split where conditions on their counters change, what was done, and the outermost loops.

        for i < N: { if 1 <= i < N - 1: S(i) else: T(i) }
            ->   for i < 1: T(i);   for 1 <= i < N - 1: S(i);   for N - 1 <= i: T(i)

    Vectors then need no masks, and no iteration asks. Where a bound of the innermost loop or a subscript is the smaller
    or larger of two numbers, loops are split where that changes: in each part there is one. Subscripts that wrap around
    at the ends of a loop do not do so inside; carried numbers, as that of the iteration before, are affine there. On
    several threads the outermost loop stays whole, of which they take shares. Raises UnfitError if there is no place.

    References
    ----------
    Griebl, Feautrier and Lengauer, "Index set splitting", IJPP 2000.
    """
    made, roots, said = copy(s), [root], list[str]()
    others = {*roots_of(s)} - {root}
    first_part: dict[str, str] = {}  # of each other part, as those of a loop are one loop
    tried: set[tuple[str, str]] = set()

    def is_new(place: Place) -> bool:
        return (first_part.get(place.name, place.name), str(place.at)) not in tried

    def order(place: Place) -> tuple[int, int, int, int]:
        """What runs most first, and outermost; numbers, which come early, before sizes, the largest one first."""
        terms, number = place.at.expr.terms, place.at.expr.constant
        return -place.long, place.depth, len(terms), 0 if terms else -number

    long = 0
    while len(said) < MOST:
        places = [place for place in _places(made, roots, options) if is_new(place)]
        long = max([long, *(place.long for place in places)])
        places = [place for place in places if place.long == long]  # the ends themselves take little of the time
        if not places:
            break
        last = places[-1].name  # of parts, the last one; of its changes, those of where it begins
        place = min((*(each for each in places if each.name == last), *reversed(places)), key=order)
        name, at = place.name, place.at
        tried.add((first_part.get(name, name), str(at)))
        before = {row.names[0]: row.depth for row in made.loops()}
        try:
            made.split(name, at)
        except (IllegalTransform, ScheduleError):
            continue
        new = [row for row in made.loops() if row.names[0] not in before]
        first_part |= {row.names[0]: first_part.get(name, name) for row in new if row.depth == before[name]}
        roots = [each for each in roots_of(made) if each not in others]
        said.append(f"{first_part.get(name, name)} at {literal(at)}")
    if not said:
        raise UnfitError
    where, why = ", ".join(dict.fromkeys(said)), "a condition, a bound or a clamped subscript changes"
    return made, f"split where {why}: {where}", roots


def _places(s: Schedule, roots: Collection[str], options: Options) -> Iterator[Place]:
    """Where loops may be split, the outermost loops first."""
    inside = {name for root in roots for name in names_in(s, root)}
    for nest in nests(s):
        if nest.name(nest.innermost) not in inside or nest.has_vectors:
            continue
        loops, counts = nest.loops, counts_inside(s, nest.loops[0])
        most = [counts[loop.iv].high for loop in loops]
        long = most.count(None)
        if not long and prod(each or 0 for each in most) < LEAST:
            continue
        meant = _meanings(s.function)
        for depth, loop in enumerate(loops):
            if options.threads > 1 and not depth and len(loops) > 1:
                continue
            known = {v: v.hint for v in s.function.args} | {each.iv: nest.name(each) for each in loops[:depth]}
            named = (in_names(change, known) for change in _changes(loop, nest.innermost, meant))
            found = (at for at in named if at is not None and not _is_outside(at, loop))
            yield from (Place(depth, long, nest.name(loop), at) for at in found)


def _is_outside(at: Index, loop: affine.For) -> bool:
    """Whether a loop is known to begin no earlier than at a number, or to end no later."""
    begun, ended = (low - at.expr for low in loop.lower), (at.expr - high for high in loop.upper)
    return any(each.is_constant and each.constant >= 0 for each in (*begun, *ended))


def _meanings(function: Func) -> Mapping[Value, Affine]:
    """Numbers, and values that are affine, as expressions."""
    found: dict[Value, Affine] = {}
    for op in walk(function):
        if isinstance(op, arith.Constant) and op.result.type == INDEX and isinstance(op.value, int):
            found[op.result] = Affine.of(op.value)
        elif isinstance(op, affine.Apply):
            found[op.result] = op.expr.substitute(found)
    return found


def _constraints(op: Op, meant: Mapping[Value, Affine]) -> Sequence[Constraint]:
    """What an operation asks of indices."""
    if isinstance(op, affine.If):
        return op.condition
    found = compared(op, lambda v: meant.get(v, Affine.of(v))) if isinstance(op, arith.Compare) else None
    return () if found is None else (found[0],)


def _changes(loop: affine.For, innermost: affine.For, meant: Mapping[Value, Affine]) -> Iterator[Affine]:
    """The iterations of a loop from which on a condition in it, a bound of the innermost or a subscript is another."""
    for op in walk(loop):
        for constraint in _constraints(op, meant):
            first = _first(loop.iv, constraint.expr)
            if first is not None and constraint.equality:
                falls = dict(constraint.expr.terms)[loop.iv] < 0  # then it is 0 in the iteration before that
                yield from (first, first - 1) if falls else (first + 1, first)
            elif first is not None:
                yield first
    if len(loop.lower) == 1 and are_read(loop, wrap_arounds(loop)):
        yield loop.lower[0] + loop.step
    index = (memref.Load, memref.Store, arith.Binary)
    read = {v for op in walk(innermost) if isinstance(op, index) for v in op.reads()}
    for op in walk(innermost):
        if isinstance(op, affine.Min | affine.Max) and op.result in read:
            sign = 1 if isinstance(op, affine.Max) else -1
            for one, other in combinations(op.exprs, 2):
                if loop.iv not in one.values():  # what moves decides as long as it may
                    one, other = other, one
                first = _first(loop.iv, (one - other) * sign)
                if first is not None:
                    yield first
        elif isinstance(op, affine.Load | affine.Store):
            yield from _wraps(loop, op)
    for bounds in (innermost.lower, innermost.upper) if innermost.step == 1 else ():
        if len(bounds) == 2 and (first := _first(loop.iv, bounds[0] - bounds[1])) is not None:
            yield first


def _wraps(loop: affine.For, op: affine.Load | affine.Store) -> Iterator[Affine]:
    """The iterations of a loop from which on a subscript wraps around, which it does at the ends: A[(i + 1) mod N]."""
    trips = span(loop)
    if trips is None:
        return
    quotients = (atom for expr in op.index for atom in parts_of(expr) if isinstance(atom, FloorDiv))
    for atom in quotients:
        divisor = Affine.of(atom.divisor)
        if loop.iv in atom.dividend.values() and (trips - divisor).is_constant:
            for turn in (Affine(), divisor):
                first = _first(loop.iv, atom.dividend - turn)
                if first is not None:
                    yield first


def _first(iv: Value, expr: Affine) -> Affine | None:
    """From which value of a counter on an expression is at least 0, or below 0 if it falls; None if that is unknown."""
    factor = dict(expr.terms).get(iv, 0)
    rest = expr - Affine.of(iv) * factor
    if not factor or iv in rest.values() or any(isinstance(part, Product) for part in parts_of(rest)):
        return None
    return (-rest).ceildiv(factor) if factor > 0 else rest // -factor + 1


def take_pivot(s: Schedule, root: str, options: Options) -> tuple[Schedule, Note]:
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
