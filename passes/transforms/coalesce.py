"""Makes one loop of a perfect nest of loops whose bounds do not depend on each other."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import prod

from affdsl.frozen import Frozen
from affdsl.ir.blocks import split_body
from affdsl.ir.core import Op
from affdsl.ir.dialects import affine
from affdsl.ir.dialects.func import Func, Module
from affdsl.ir.expr import Affine, Value
from affdsl.ir.messages import shown
from affdsl.ir.traverse import walk, with_fields
from affdsl.ir.types import INDEX
from affdsl.ir.verifier.positions import Position, Positions
from affdsl.passes.affine.arithmetic import MOST
from affdsl.passes.affine.positions import positions_of
from affdsl.passes.analysis.access import Accesses
from affdsl.passes.analysis.certain import holds
from affdsl.passes.legality.refusal import refusal
from affdsl.passes.transforms.loops.nests import loop_of
from affdsl.passes.transforms.loops.pieces import with_loop
from affdsl.passes.transforms.whole_rows import flattened

Band = tuple[affine.For, ...]
"""Loops each of which is all that the one before does."""


def coalesce(function: Func, ivs: Sequence[Value], *, module: Module | None = None) -> Func:
    """Make one loop of perfectly nested loops, which runs as often as all of them together.

        for i = 0 to n:        ->   for i_j = 0 to n * max(0, m):
            for j = 0 to m:             j = i_j mod max(0, m)
                S(i, j)                 i = i_j floordiv max(0, m)
                                        S(i, j)

    Where an array is gone over in whole rows of a known size, its dimensions are one, too, and so is its subscript.
    With sizes in place of numbers, the new subscripts are semi-affine, and the analyses know little of them. Refuses if
    bounds depend on other loops of the nest, or an inner one on what is no symbol, or begin at a max of several; and if
    a value that the outer loop carries is read by more than the next loop.

    Parameters
    ----------
    ivs
        The induction variables of the loops, outermost first: at least two. Inside of the new loop they are computed.

    Raises
    ------
    IllegalTransform
        With the loop that is in the way.

    References
    ----------
    Polychronopoulos, "Loop Coalescing: A Compiler Transformation for Parallel Machines", ICPP 1987.
    """
    what = f"coalesce loops {', '.join(map(shown, ivs))}"
    band = tuple(loop_of(function, iv, what) for iv in ivs)
    if len(band) < 2:
        raise refusal(band[0] if band else function, what, "it takes two loops at least")
    for outer, inner in pairwise(band):
        if split_body(outer.body)[0] != (inner,):
            raise refusal(outer, what, f"loop {shown(inner.iv)} is not all that loop {shown(outer.iv)} does")
    plan = Planner(function, module).plan(band, what)
    flat = flattened(band, plan.iv)
    if flat is not None:
        before = [*plan.before, *flat.views]
        plan = Plan(before, plan.iv, plan.upper, [])
        band = (*band[:-1], with_fields(band[-1], body=flat.body))
    return with_loop(function, band[0], applied(plan, band))


class Plan(Frozen):
    """What stands before the new loop, its induction variable and upper bounds, and what computes the old ones."""

    before: list[Op]
    iv: Value
    upper: tuple[Affine, ...]
    applies: list[Op]


def applied(plan: Plan, band: Sequence[affine.For]) -> list[Op]:
    """The loop that a plan makes of a nest."""
    outer, inner = band[0], band[-1]
    new = with_fields(
        outer, iv=plan.iv, lower=(Affine(),), upper=plan.upper, step=1, body=(*plan.applies, *inner.body),
        carried=inner.carried, written=None, ends=inner.ends,
    )  # fmt: skip
    return [*plan.before, new]


class Planner:
    """Finds how nests of one function become one loop each."""

    def __init__(self, function: Func, module: Module | None = None) -> None:
        self.function = function
        self._module = module
        self._accesses: Accesses | None = None
        self._positions: Positions | None = None

    def plan(self, band: Band, what: str) -> Plan:
        """How a nest becomes one loop. Raises IllegalTransform if it does not."""
        _require_one_nest(band, what)
        before: list[Op] = []
        sizes = [self._size(loop, band[0], before, what) for loop in band[1:]]
        number = prod(size for size in sizes if isinstance(size, int))
        product = Affine.of(number)
        for size in sizes:
            product = product * (1 if isinstance(size, int) else size)
        upper = tuple(trip * product for trip in _trips(band[0]))
        if any(abs(c) > MOST for each in upper for c in (each.constant, *(c for _, c in each.terms))):
            raise refusal(band[0], what, "the number of all iterations does not fit into 64 bits")
        iv = Value(INDEX, "_".join(loop.iv.hint for loop in band if loop.iv.hint))
        return Plan(before, iv, upper, _counters(band, sizes, iv))

    def _size(self, loop: affine.For, outermost: affine.For, before: list[Op], what: str) -> int | Value:
        """How often an inner loop runs, as a number or a symbol that is not negative where the nest is reached."""
        trips = _trips(loop)
        if all(trip.is_constant for trip in trips):
            return max(0, min(trip.constant for trip in trips))
        if self._positions is None:
            self._positions = positions_of(self.function)
        for value in (v for trip in trips for v in trip.values()):
            if self._positions.of(value) is not Position.SYMBOL:
                raise refusal(
                    loop, what, f"how often loop {shown(loop.iv)} runs depends on {shown(value)}, which is no symbol: "
                    "no number can be divided by that",
                )  # fmt: skip
        if self._accesses is None:
            self._accesses = Accesses(self.function, self._module)
        smallest = trips[0].value if len(trips) == 1 else None
        if smallest is None:
            smallest = Value(INDEX)
            apply = affine.Apply(smallest, trips[0], location=loop.location)
            before.append(apply if len(trips) == 1 else affine.Min(smallest, trips, location=loop.location))
        # Where the inner loop is reached the outer one runs; where that does not run, both may be negative.
        exprs, domain = self._accesses.scope.exprs(trips, self._accesses.domains[outermost])
        if all(holds(expr, domain) for expr in exprs):
            return smallest
        natural = Value(INDEX)
        before.append(affine.Max(natural, (Affine(), Affine.of(smallest)), location=loop.location))
        return natural


def _require_one_nest(band: Band, what: str) -> None:
    for k, loop in enumerate(band):
        if len(loop.lower) > 1:
            raise refusal(loop, what, f"loop {shown(loop.iv)} begins at the largest of several lower bounds")
        outer = {each.iv for each in band[:k]}
        for value in (v for bound in (*loop.lower, *loop.upper) for v in bound.values()):
            if value in outer:
                raise refusal(loop, what, f"the bounds of loop {shown(loop.iv)} depend on loop {shown(value)}")
    for around, inner in pairwise(band):
        reads = {v for op in inner.body for each in walk(op) for v in each.reads()} if around.carried else set()
        captured = [v for v in around.carried if v in reads]
        if captured:
            raise refusal(
                around, what, f"{shown(captured[0])}, which loop {shown(around.iv)} carries, is read inside of loop "
                f"{shown(inner.iv)}, where it stays the same from one iteration to the next",
            )  # fmt: skip
        if inner.inits != around.carried or split_body(around.body)[1] != inner.results:
            raise refusal(
                around, what,
                f"loop {shown(inner.iv)} does not carry on all that loop {shown(around.iv)} carries, in the same order",
            )  # fmt: skip


def _trips(loop: affine.For) -> tuple[Affine, ...]:
    """How often a loop runs, if it is the smallest of these and no less than 0."""
    return tuple(dict.fromkeys((bound - loop.lower[0]).ceildiv(loop.step) for bound in loop.upper))


def _counters(band: Band, sizes: Sequence[int | Value], iv: Value) -> list[Op]:
    """What computes the induction variables of a nest from the one that counts all iterations."""
    made: list[Op] = []
    left = Affine.of(iv)
    for loop, size in zip(reversed(band[1:]), reversed(sizes), strict=True):
        if size == 0:  # nothing runs, and nothing is divided
            size = 1
        made.append(affine.Apply(loop.iv, _at(loop, left % size), location=loop.location))
        rest = Value(INDEX)
        made.append(affine.Apply(rest, left // size, location=loop.location))
        left = Affine.of(rest)
    last = made.pop()
    assert isinstance(last, affine.Apply)
    return [*made, with_fields(last, result=band[0].iv, expr=_at(band[0], last.expr))]


def _at(loop: affine.For, number: Affine) -> Affine:
    """The induction variable of a loop in its iteration of some number."""
    return loop.lower[0] + number * loop.step
