"""What is certainly so of index values at the place that is being written: from loops, conditions and the contract."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import prod

from affdsl.ir.expr import Affine, Atom, Constraint, FloorDiv, Product, Value

Interval = tuple[int | None, int | None]

STEPS = 2
"""How many facts are added up in a proof."""


_HEAVIEST = 1000
"""Atoms of an expression beyond which its ends are not computed."""


class Ranges:
    """Lower and upper ends of index values, None where nothing is known; and facts, each an expression that is not
    negative. What is learned inside a block of C is forgotten at its end: `forget(mark)` goes back to `mark()`.
    """

    def __init__(self) -> None:
        self._ends: dict[Value, Interval] = {}
        self._loops: dict[Value, int] = {}
        self._facts: list[Affine] = []
        self._undo: list[tuple[Value, Interval] | None] = []  # what was known before; None for a fact

    def mark(self) -> int:
        """Now."""
        return len(self._undo)

    def forget(self, mark: int) -> None:
        """Forget what was learned since then."""
        while len(self._undo) > mark:
            match self._undo.pop():
                case None:
                    self._facts.pop()
                case value, ends:
                    self._ends[value] = ends

    def know(self, value: Value, lower: int | None, upper: int | None = None) -> None:
        """value lies between these, both included."""
        old = low, high = self._ends.get(value, (None, None))
        if lower is not None and (low is None or lower > low):
            low = lower
        if upper is not None and (high is None or upper < high):
            high = upper
        if (low, high) != old:
            self._undo.append((value, old))
            self._ends[value] = low, high

    def know_constraints(self, constraints: Iterable[Constraint]) -> None:
        """These hold."""
        for constraint in constraints:
            for expr in (constraint.expr, -constraint.expr) if constraint.equality else (constraint.expr,):
                self._facts.append(expr)
                self._undo.append(None)
                self._narrow(expr)

    def know_loop(self, iv: Value, lower: Iterable[Affine], upper: Iterable[Affine]) -> None:
        """iv runs from the largest of lower to below the smallest of upper: in the loop, it lies there."""
        self._loops[iv] = len(self._loops)
        self.know_constraints([Constraint(iv - low) for low in lower])
        self.know_constraints([Constraint(high - 1 - iv) for high in upper])

    def is_loop(self, value: Value) -> bool:
        """Whether value counts a loop."""
        return value in self._loops

    def depth(self, value: Value) -> int:
        """How late the loop that value counts was opened; -1 for other values."""
        return self._loops.get(value, -1)

    def is_natural(self, expr: Affine) -> bool:
        """Whether expr is certainly not negative."""
        return self._is_natural(expr, STEPS)

    def is_positive(self, expr: Affine) -> bool:
        """Whether expr is certainly positive."""
        return self._is_natural(expr - 1, STEPS)

    def of(self, expr: Affine) -> Interval:
        """The ends of expr."""
        if expr.weight > _HEAVIEST:
            return None, None
        low: int | None = expr.constant
        high: int | None = expr.constant
        for atom, c in expr.terms:
            a, b = self._atom(atom)
            if c < 0:
                a, b = b, a
            low = None if low is None or a is None else low + c * a
            high = None if high is None or b is None else high + c * b
        return low, high

    def _is_natural(self, expr: Affine, steps: int) -> bool:
        low = self.of(expr)[0]
        if low is not None:
            return low >= 0 or (steps > 0 and self._follows(expr, steps))
        return steps > 0 and self._follows(expr, steps)

    def _follows(self, expr: Affine, steps: int) -> bool:
        """Whether expr is a multiple of a fact, and something that is not negative."""
        return any(self._is_natural(rest, steps - 1) for rest in self._less_facts(expr))

    def _less_facts(self, expr: Affine) -> Iterator[Affine]:
        """expr less multiples of facts with which one of its terms goes away."""
        coefficients = dict(expr.terms)
        for fact in reversed(self._facts):
            for atom, c in fact.terms:
                factor, rest = divmod(coefficients.get(atom, 0), c)
                if factor > 0 and rest == 0:
                    yield expr - fact * factor

    def _narrow(self, expr: Affine) -> None:
        """expr >= 0: what that says of each value in it, given the ends of the others."""
        for value, c in expr.terms:
            if isinstance(value, Value):
                high = self.of(expr - Affine(((value, c),)))[1]
                if high is not None and c > 0:
                    self.know(value, -(high // c))
                elif high is not None:
                    self.know(value, None, high // -c)

    def _atom(self, atom: Atom) -> Interval:
        match atom:
            case Value():
                return self._ends.get(atom, (None, None))
            case FloorDiv(dividend, int() as divisor):
                low, high = self.of(dividend)
                return (None if low is None else low // divisor), (None if high is None else high // divisor)
            case FloorDiv(dividend, divisor):
                low, high = self.of(dividend)
                least = self.of(Affine.of(divisor))[0]
                if least is None or least < 0:  # 0 is fine: what is divided by it gives 0
                    return None, None
                return (0 if low is not None and low >= 0 else None), (high if high is not None and high >= 0 else None)
            case Product(factors):
                lows = [low for low, _ in map(self._atom, factors) if low is not None and low >= 0]
                return (prod(lows) if len(lows) == len(factors) else None), None
