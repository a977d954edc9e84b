"""How often a loop runs its body: as a number, as an expression, and what holds of it wherever the loop is reached."""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd
from typing import TypeAlias

from affdsl.frozen import FrozenValue
from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, func, scf
from affdsl.ir.expr import Affine, Constraint, Value
from affdsl.ir.spelling import spell
from affdsl.ir.traverse import walk
from affdsl.passes.analysis.access import Accesses
from affdsl.passes.analysis.domain import Domain
from affdsl.passes.analysis.polyhedral import Dim, Set, UnknownError, set_of, spending
from affdsl.passes.analysis.projection import projected
from affdsl.passes.analysis.relations import BUDGET, ends, is_nowhere, iterator, map_from, remembered, some_point

Loop: TypeAlias = affine.For | affine.Parallel | scf.For | scf.Parallel


class TripCount(FrozenValue):
    """How often a loop runs its body, for all sizes and all iterations of the loops around it.

    Attributes
    ----------
    low, high
        The smallest and the largest count; high is None where it grows with a size, or is not known. Where the loop is
        never reached, both are 0.
    divisor
        The largest number that divides every count; 0 where every count is 0, and 1 where nothing is known.
    exprs
        The count is the smallest of these, and 0 where that is negative. They are over symbols and the induction
        variables around, or over other values as the bounds of the loop are. Empty where the step is not known.
    unknown
        Why low or high may not occur, and divisor be too small; empty if they are exact.

    >>> from affdsl.ir.types import INDEX
    >>> n = Value(INDEX, "n")
    >>> tile = TripCount(1, 32, 1, (Affine.of(32), n * 1), may_be_negative=False)
    >>> print(tile, tile.runs, tile.number)
    min(32, n) True None
    """

    low: int
    high: int | None
    divisor: int
    exprs: tuple[Affine, ...]
    may_be_negative: bool = True
    """Whether one of `exprs` may be below 0, so that the count is 0."""
    unknown: tuple[str, ...] = ()

    @property
    def number(self) -> int | None:
        """The count, where it is one number."""
        return self.low if self.low == self.high else None

    @property
    def expr(self) -> Affine | None:
        """The count as one expression, where it is one; ceildiv is part of it."""
        if self.number is not None:
            return Affine.of(self.number)
        return self.exprs[0] if len(self.exprs) == 1 and not self.may_be_negative else None

    @property
    def runs(self) -> bool:
        """Whether the body certainly runs at least once, whenever the loop is reached."""
        return self.low >= 1

    @property
    def runs_at_most_once(self) -> bool:
        """Whether the body certainly does not run twice."""
        return self.high is not None and self.high <= 1

    @property
    def never_runs(self) -> bool:
        """Whether the body certainly does not run."""
        return self.high == 0

    def __str__(self) -> str:
        if self.number is not None:
            return str(self.number)
        if not self.exprs:
            return "unknown"
        text = ", ".join(map(spell, self.exprs))
        text = f"min({text})" if len(self.exprs) > 1 else text
        return f"max(0, {text})" if self.may_be_negative else text


def trip_counts(function: func.Func, inside: Op | None = None) -> dict[Value, TripCount]:
    """The trip count of each loop of a function, or of those inside of one operation, by its induction variable.

    >>> from affdsl.mlir.readers import parse
    >>> module = parse('''
    ... func.func @f(%n: index) {
    ...   affine.for %i = 0 to 96 step 32 {
    ...     affine.for %j = 0 to %n step 4 {
    ...       affine.for %k = affine_map<(d) -> (d)>(%i) to affine_map<(d) -> (d + 32)>(%i) { }
    ...     }
    ...   }
    ...   return
    ... }''')
    >>> [str(count) for count in trip_counts(module.functions[0]).values()]
    ['3', 'max(0, n ceildiv 4)', '32']
    """
    accesses = Accesses(function)
    found = {}
    for op in walk(inside or function):
        if isinstance(op, affine.For | scf.For):
            found[op.iv] = trip_count(op, op.iv, accesses)
        elif isinstance(op, affine.Parallel | scf.Parallel):
            found |= {iv: trip_count(op, iv, accesses) for iv in op.ivs}
    return found


def trip_count(loop: Loop, iv: Value, accesses: Accesses) -> TripCount:
    """The trip count of a loop, or of one loop of a band; `accesses` are those of the function around."""
    counted = _counted(loop, iv, accesses)
    if isinstance(counted, str):
        return TripCount(0, None, 1, (), unknown=(counted,))
    found, domain, step = counted
    if _is_number(found, domain):
        least = min(found, key=lambda each: each.constant)
        count = max(0, least.constant)
        return TripCount(count, count, count, (least,), least.constant < 0, domain.unknown)
    lower, upper, _ = _bounds(loop, iv)
    written = _differences(lower, upper, step)
    try:
        with spending(BUDGET):
            read = projected(domain, found)
            low, high, divisor = _counts(read, found)
            kept = _smallest(read, found)
            negative = any(not _is_empty(read, Constraint(-1 - each)) for each in kept)
    except UnknownError as error:
        return TripCount(0, None, 1, _shown(found, written, domain), unknown=(str(error),))
    return TripCount(low, high, divisor, _shown(kept, written, domain), negative, domain.unknown)


def runs_at_least(loop: affine.For, times: int, accesses: Accesses) -> bool:
    """Whether a loop certainly runs its body so often, 1 or more, whenever it is reached: sooner found than its count.

    >>> from affdsl.mlir.readers import parse
    >>> (f,) = parse('''func.func @f(%n: index) {
    ...   affine.for %i = 0 to %n { affine.for %j = 0 to 9 { } }
    ...   return
    ... }''').functions
    >>> [runs_at_least(f.body[0].body[0], times, Accesses(f)) for times in (1, 9, 10)]
    [True, True, False]
    """
    counted = _counted(loop, loop.iv, accesses)
    if isinstance(counted, str):
        return False
    found, domain, _ = counted
    if _is_number(found, domain):
        return min(each.constant for each in found) >= times
    try:
        with spending(BUDGET):
            read = projected(domain, found)
            return all(_is_empty(read, Constraint(times - 1 - each)) for each in found)
    except UnknownError:
        return False


def _counted(loop: Loop, iv: Value, accesses: Accesses) -> tuple[tuple[Affine, ...], Domain, int] | str:
    """Of what the count is the smallest, where a loop is reached, and its step; or why that is not known."""
    if isinstance(loop, scf.For) and loop.is_unsigned:
        return "the bounds are unsigned numbers"
    lower, upper, step = _bounds(loop, iv)
    scope, domain = accesses.scope, accesses.domains[loop]
    distance, _ = scope.expr(step, domain)
    if not distance.is_constant or distance.constant < 1:
        return "the step is known only at run time"
    lows, domain = scope.exprs(lower, domain)
    highs, domain = scope.exprs(upper, domain)
    return _differences(lows, highs, distance.constant), domain, distance.constant


def _is_number(found: Sequence[Affine], domain: Domain) -> bool:
    """Whether the count is a number: a box has points, so the loop is reached, each time with the same bounds."""
    return all(each.is_constant for each in found) and domain.relation(()).box is not None


def _bounds(loop: Loop, iv: Value) -> tuple[tuple[Affine, ...], tuple[Affine, ...], Affine]:
    match loop:
        case affine.For():
            return loop.lower, loop.upper, Affine.of(loop.step)
        case scf.For():
            return (Affine.of(loop.lower),), (Affine.of(loop.upper),), Affine.of(loop.step)
        case affine.Parallel():
            k = loop.ivs.index(iv)
            return loop.lower[k], loop.upper[k], Affine.of(loop.steps[k])
        case scf.Parallel():
            k = loop.ivs.index(iv)
            return (Affine.of(loop.lower[k]),), (Affine.of(loop.upper[k]),), Affine.of(loop.steps[k])


def _differences(lower: Sequence[Affine], upper: Sequence[Affine], step: int) -> tuple[Affine, ...]:
    """How often a loop runs, if only one lower and one upper bound count: for each two of them."""
    return tuple(dict.fromkeys((high - low).ceildiv(step) for low in lower for high in upper))


def _shown(found: tuple[Affine, ...], written: tuple[Affine, ...], domain: Domain) -> tuple[Affine, ...]:
    """Expressions without the locals of a domain."""
    hidden = set(domain.locals)
    return written if any(v in hidden for each in found for v in each.values()) else found


def _counts(domain: Domain, exprs: tuple[Affine, ...]) -> tuple[int, int | None, int]:
    """The smallest and the largest count, and the largest number that divides all of them."""
    # Where each expression is the smallest one, and positive, it is the count: so isl is asked about no unions.
    found = [_positive(domain, each, [other for other in exprs if other is not each]) for each in exprs]
    positive = [each for each in found if each is not None]
    has_zero = not positive or any(not _is_empty(domain, Constraint(-each)) for each in exprs)
    low = 0 if has_zero else min(low for low, _, _ in positive)
    highs = [high for _, high, _ in positive]
    high = None if None in highs else max((high for high in highs if high is not None), default=0)
    return low, high, gcd(*(divisor for _, _, divisor in positive))


def _positive(domain: Domain, expr: Affine, others: Sequence[Affine]) -> tuple[int, int | None, int] | None:
    """The ends of an expression where it is positive and none is smaller, and what divides it; None if nowhere."""
    where = (Constraint(expr - 1), *(Constraint(other - expr) for other in others))
    relation = domain.where((where,)).relation((expr,))

    def find() -> tuple[int, int | None, int] | None:
        numbers = map_from(relation).range()
        numbers = numbers.project_out(Dim.param, 0, numbers.dim(Dim.param))
        if numbers.is_empty():
            return None
        low, high = ends(numbers, 0)
        assert low is not None, "it is positive"
        return low, high, low if low == high else _divisor(numbers)

    return remembered(("trip count", relation), find)


def _divisor(counts: Set) -> int:
    """The largest number that divides all numbers of a set: it shrinks as long as one is no multiple of it."""
    number, divisor = iterator(0), 0
    while True:
        rest = Constraint(number % divisor - 1 if divisor else number - 1)
        found = some_point(counts.intersect(set_of((rest,), (number,))))
        if found is None:
            return divisor
        divisor = gcd(divisor, found[1][0])


def _smallest(domain: Domain, exprs: tuple[Affine, ...]) -> tuple[Affine, ...]:
    """The expressions without those that are nowhere smaller than another one."""
    kept = list(exprs)
    for each in exprs:
        if any(other is not each and _is_empty(domain, Constraint(other - each - 1)) for other in kept):
            kept.remove(each)
    return tuple(kept)


def _is_empty(domain: Domain, constraint: Constraint) -> bool:
    """Whether a constraint holds nowhere in a domain."""
    return is_nowhere(domain.where(((constraint,),)).relation(()))
