"""What stands in the place of a loop that is unrolled: turns of several iterations, what is left over, or no loop."""

from __future__ import annotations

from collections.abc import Mapping

from affdsl.ir.core import Op
from affdsl.ir.dialects import affine
from affdsl.ir.dialects.func import Func, Module
from affdsl.ir.expr import Affine, Constraint, Value
from affdsl.ir.traverse import holders, likes, with_fields
from affdsl.ir.verifier.positions import Positions
from affdsl.ir.written import Tree, add, ceildiv, floordiv, mul
from affdsl.passes.affine.arithmetic import MOST, written
from affdsl.passes.affine.maps import flattened
from affdsl.passes.affine.positions import PositionNames, positions_of, spelled
from affdsl.passes.analysis.access import accesses_of
from affdsl.passes.analysis.trip_count import TripCount, trip_count
from affdsl.passes.legality.refusal import refusal
from affdsl.passes.transforms.loops.pieces import (
    MOST_OPERATIONS,
    Bounds,
    Piece,
    as_it_is,
    bounded,
    copied_loop,
    copies,
    ended,
    in_pieces,
    operations_in,
)

Made = tuple[list[Op], Mapping[Value, Value]]
"""What stands in the place of a loop, and which values stand for those that it defined."""


def constant_trips(loop: affine.For) -> int | None:
    """The trip count of a loop, where its bounds themselves say that it is one number.

    >>> from affdsl.ir.types import INDEX
    >>> i, n = Value(INDEX, "i"), Value(INDEX, "n")
    >>> constant_trips(affine.For(i, (n * 1,), (n + 9,), (), 2)), constant_trips(affine.For(i, (n * 1,), (i * 0,), ()))
    (5, None)
    """
    if len(loop.lower) > 1:
        return None
    trips = [(bound - loop.lower[0]).ceildiv(loop.step) for bound in loop.upper]
    return max(0, min(t.constant for t in trips)) if all(t.is_constant for t in trips) else None


class Unroller:
    """Unrolls loops of one function; what `constants` are, `in_full` says."""

    def __init__(self, function: Func, module: Module | None = None, constants: list[Op] | None = None) -> None:
        self.function = function
        self._constants = constants
        self._module = module
        self._positions: Positions | None = None
        self._loops = {op.iv: op for op in holders(function) if isinstance(op, affine.For)}

    def count(self, loop: affine.For) -> TripCount:
        """The exact trip count of a loop."""
        return trip_count(self._loops[loop.iv], loop.iv, accesses_of(self.function, self._module))

    def require_size(self, loop: affine.For, factor: int, what: str) -> None:
        """Refuse what makes too many operations, or steps that are no index."""
        if _is_too_large(loop, factor):
            made = operations_in(loop.body) * factor
            raise refusal(loop, what, f"that makes {made} operations, of at most {MOST_OPERATIONS}")

    def fully(self, loop: affine.For, number: int) -> Made | None:
        """All iterations of a loop that runs so often; None if it has no one first iteration, or is too large."""
        return in_full(loop, number, self._constants)

    def by_factor(
        self,
        loop: affine.For,
        factor: int,
        number: int | None,
        *,
        cleanup_unroll: bool = False,
        one_upper: bool = False,
    ) -> Made | None:
        """A loop by a factor, and loops for what is left over; None if that is not possible in this way.

        `number` is how often it runs, if that is known; with `one_upper`, nothing is left over by several upper bounds.
        """
        if factor == 1:
            return self.fully(loop, 1) if number == 1 else None
        if _is_too_large(loop, factor):
            return None
        if number is not None and number < factor:
            return self.fully(loop, number) if cleanup_unroll and number else None
        if number is not None and not number % factor:
            return self._without_loop([_turns(loop, factor)])
        count = None if number is not None else self.count(loop)
        if count is not None and not count.divisor % factor:
            return [_turns(loop, factor)], {}
        if len(loop.lower) > 1 or (one_upper and len(loop.upper) > 1):
            return None
        if cleanup_unroll:
            return self.fully(loop, number) if number is not None else None
        certain = number is not None or (count is not None and not count.may_be_negative)
        pieces = self._pieces(loop, factor, certain and len(loop.upper) == 1)
        main, *tails = in_pieces(loop, pieces)
        return self._without_loop([_turns(main, factor), *tails])

    def by_tests(self, loop: affine.For, factor: int) -> Made:
        """One loop that asks in each turn whether all of its iterations are there."""
        last = loop.iv + (factor - 1) * loop.step
        whole = tuple(Constraint(bound - last - 1) for bound in loop.upper)
        ops, values = copies(loop, [None, *[loop.iv + k * loop.step for k in range(1, factor)]], loop.carried)
        rest = bounded(copied_loop(loop, "_tail"), (Affine.of(loop.iv),), as_it_is(loop, "upper"), loop.step)
        rest = with_fields(rest, inits=loop.carried)
        results = likes(loop.results)
        either = affine.If(
            whole, ended(ops, values, loop), ended([rest], rest.results, loop), results, location=loop.location
        )
        body = ended([either], results, loop)
        return [with_fields(loop, body=body, step=loop.step * factor)], {}

    def _pieces(self, loop: affine.For, factor: int, is_never_below: bool) -> list[Piece]:
        """The whole turns, and what is left over: see the note at the end of the file."""
        names = PositionNames()
        (lower,), uppers = names.trees(written(loop, "lower")), names.trees(written(loop, "upper"))
        trips = [ceildiv(add(upper, mul(lower, -1)), loop.step) for upper in uppers]
        splits = [add(lower, mul(floordiv(t, factor), factor * loop.step)) for t in trips]
        exact = [(bound - loop.lower[0]).ceildiv(loop.step) for bound in loop.upper]
        divides = [is_multiple(t, factor) for t in exact]
        whole = [upper if fits else split for upper, split, fits in zip(uppers, splits, divides, strict=True)]
        pieces = [Piece(as_it_is(loop, "lower"), self._spelled(whole, names))]
        before: list[Tree] = []
        for split in (split for split, fits in zip(splits, divides, strict=True) if not fits):
            start = [split] if is_never_below else [lower, split]
            pieces.append(Piece(self._spelled(start, names), self._spelled([*uppers, *before], names), "_tail"))
            before.append(split)
        return pieces

    def _without_loop(self, loops: list[affine.For]) -> Made:
        """Loops, where those that certainly run once are no loops."""
        parts: list[list[Op]] = []
        replaced: dict[Value, Value] = {}
        for loop in reversed(loops):  # the order in which mlir-opt meets them
            once = self.fully(loop, 1) if constant_trips(loop) == 1 else None
            parts.append([loop] if once is None else once[0])
            replaced.update({} if once is None else once[1])
        return [op for part in reversed(parts) for op in part], replaced

    def _spelled(self, trees: list[Tree], names: PositionNames) -> Bounds:
        if self._positions is None:
            self._positions = positions_of(self.function)
        return flattened(spelled(trees, names.values, self._positions))


def in_full(loop: affine.For, number: int, constants: list[Op] | None = None) -> Made | None:
    """All iterations of a loop that runs so often; None if it has no one first iteration, or is too large.

    With `constants` as mlir-opt writes them: each but the first is a distance from it, and if that is a number, it is
    appended there, for the start of the function.
    """
    first = _first(loop)
    if first is None or _is_too_large(loop, number):
        return None
    if not number:
        return [], dict(zip(loop.results, loop.inits, strict=True))
    if constants is not None:
        loop, number = _turns(loop, number), 1
    ops, values = copies(loop, [first + k * loop.step for k in range(number)], loop.inits, constants)
    return ops, dict(zip(loop.results, values, strict=True))


def _turns(loop: affine.For, factor: int) -> affine.For:
    """A loop whose turns have so many iterations."""
    ops, values = copies(loop, [None, *[loop.iv + k * loop.step for k in range(1, factor)]], loop.carried)
    return with_fields(loop, body=ended(ops, values, loop), step=loop.step * factor)


def _first(loop: affine.For) -> Affine | None:
    """Where a loop begins, as one expression."""
    if all(bound.is_constant for bound in loop.lower):
        return Affine.of(max(bound.constant for bound in loop.lower))
    return loop.lower[0] if len(loop.lower) == 1 else None


def _is_too_large(loop: affine.For, factor: int) -> bool:
    return factor * loop.step > MOST or factor * operations_in(loop.body) > MOST_OPERATIONS


def is_multiple(expr: Affine, factor: int) -> bool:
    """Whether a factor divides all numbers in an expression, and so its value."""
    return not expr.constant % factor and all(not c % factor for _, c in expr.terms)


# What is left over.
#
# A loop with one lower bound l and upper bounds u1, u2, ... runs min(t1, t2, ...) times: tk = (uk - l) ceildiv step.
# Its whole turns end at the smallest of sk = l + (tk floordiv factor) * factor * step, which a min of upper bounds can
# say. What is left over begins there, but a lower bound can only be a max. So each uk has a loop of its own, from sk to
# all upper bounds: only where sk is the smallest is anything left for it, since a larger one is a whole turn further,
# at the end or behind it. Where two are equal, the first does the work: the sk of those before are upper bounds too.
# An uk whose tk the factor divides needs no such loop: there, nothing is left over.
#
# Where a trip count is negative, sk lies below l; hence the max with l, unless that is known not to occur.
