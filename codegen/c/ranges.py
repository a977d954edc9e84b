"""What is known about the size of index values, from loops and from the function's contract."""

from __future__ import annotations

from collections.abc import Iterable

from affdsl.ir.expr import Affine, Atom, Constraint, FloorDiv, Product, Value

Interval = tuple[int | None, int | None]


class Ranges:
    """Lower and upper ends of index values; None where nothing is known."""

    def __init__(self) -> None:
        self._ends: dict[Value, Interval] = {}
        self._loops: dict[Value, int] = {}

    def know(self, value: Value, lower: int | None, upper: int | None = None) -> None:
        """value lies between these, both included."""
        low, high = self._ends.get(value, (None, None))
        lowest = [n for n in (low, lower) if n is not None]
        highest = [n for n in (high, upper) if n is not None]
        self._ends[value] = (max(lowest, default=None), min(highest, default=None))

    def know_constraints(self, constraints: Iterable[Constraint]) -> None:
        """What constraints on one value alone say."""
        for constraint in constraints:
            match constraint.expr.terms:
                case ((Value() as value, c),):
                    bound = -constraint.expr.constant
                    if c > 0 or (constraint.equality and bound % c == 0):
                        self.know(value, -(-bound // c) if c > 0 else bound // c)
                    if c < 0 or (constraint.equality and bound % c == 0):
                        self.know(value, None, bound // c)

    def know_loop(self, iv: Value, lower: Iterable[Affine], upper: Iterable[Affine]) -> None:
        """iv runs from the largest of lower to below the smallest of upper."""
        self._loops[iv] = len(self._loops)
        lows = [low for low in (self.of(e)[0] for e in lower) if low is not None]
        highs = [high for high in (self.of(e)[1] for e in upper) if high is not None]
        self.know(iv, max(lows, default=None), min(highs, default=0) - 1 if highs else None)

    def is_loop(self, value: Value) -> bool:
        """Whether value counts a loop."""
        return value in self._loops

    def depth(self, value: Value) -> int:
        """How late the loop that value counts was opened; -1 for other values."""
        return self._loops.get(value, -1)

    def is_natural(self, expr: Affine) -> bool:
        """Whether expr is certainly not negative."""
        low = self.of(expr)[0]
        return low is not None and low >= 0

    def is_positive(self, expr: Affine) -> bool:
        """Whether expr is certainly positive; a divisor must be, by the rules of the dialect."""
        low = self.of(expr)[0]
        return expr.terms != () or (low is not None and low > 0)

    def of(self, expr: Affine) -> Interval:
        """The ends of expr."""
        low: int | None = expr.constant
        high: int | None = expr.constant
        for atom, c in expr.terms:
            a, b = self._atom(atom)
            if c < 0:
                a, b = b, a
            low = None if low is None or a is None else low + c * a
            high = None if high is None or b is None else high + c * b
        return low, high

    def _atom(self, atom: Atom) -> Interval:
        match atom:
            case Value():
                return self._ends.get(atom, (None, None))
            case FloorDiv(dividend, int() as divisor):
                low, high = self.of(dividend)
                return (None if low is None else low // divisor), (None if high is None else high // divisor)
            case FloorDiv(dividend, _):
                low, high = self.of(dividend)
                return (0 if low is not None and low >= 0 else None), (high if high is not None and high >= 0 else None)
            case Product(factors):
                ends = [self._atom(f) for f in factors]
                return (0 if all(low is not None and low >= 0 for low, _ in ends) else None), None
