"""Affine expressions, read from MLIR text."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from affdsl.ir.written import MAKE, Tree, add, is_symbolic, mul
from affdsl.mlir.scanner import Scanner

_DEEPEST_TREE = 80  # operators inside each other: what is printed of them must be read
_MOST_OPERATORS = 400  # in an expression: those of a sum are inside each other too
Atoms: TypeAlias = Callable[[], Tree]
"""Reads the name or operand at the scanner's place, inside an affine expression."""


class Expression:
    """Reads one affine expression at the scanner's place.

    `atom` reads its names, and `nested` calls what reads one level deeper, unless that is too deep.
    """

    def __init__(self, scanner: Scanner, nested: Callable[[Atoms], Tree], atom: Atoms) -> None:
        self._scanner = scanner
        self._nested = nested
        self._atom = atom
        self._operators = 0  # so far

    def read(self) -> Tree:
        """The expression, up to what cannot continue it."""
        s = self._scanner
        result = self._term()
        while s.token in ("+", "-"):
            self._count_operator()
            sign = s.advance()
            right = self._term()
            result = add(result, right if sign == "+" else mul(right, -1))
        return result

    def _term(self) -> Tree:
        s = self._scanner
        result = self._factor()
        while s.token in ("*", "floordiv", "ceildiv", "mod"):
            self._count_operator()
            place, operator = s.start, s.advance()
            right = self._factor()
            result = self._made(operator, result, right, place)
        return result

    def _factor(self) -> Tree:
        s = self._scanner
        if s.accept("-"):
            return mul(self._nested(self._factor), -1)
        if s.accept("("):
            result = self._nested(self.read)
            s.expect(")")
            return result
        if s.token in ("floordiv", "ceildiv", "mod") and s.peek() == "(":  # a spelling of 2019
            return self._called()
        if s.token.isdigit() or s.token[:2] == "0x":
            place, number = s.start, s.natural()
            if number >= 2**63:
                s.fail("this number does not fit into 64 bits", place)
            return number
        return self._atom()

    def _called(self) -> Tree:
        """`floordiv(a, b)`"""
        s = self._scanner
        operator = s.advance()
        s.expect("(")
        left = self._nested(self.read)
        s.expect(",")
        place, right = s.start, self._nested(self.read)
        s.expect(")")
        return self._made(operator, left, right, place)

    def _count_operator(self) -> None:
        self._operators += 1
        if self._operators > _MOST_OPERATORS:
            self._scanner.fail(f"an expression of more than {_MOST_OPERATORS} operators")

    def _made(self, operator: str, left: Tree, right: Tree, place: int) -> Tree:
        """An inner node; one that is not affine is refused."""
        s = self._scanner
        if self._operators >= _DEEPEST_TREE and max(_levels(left), _levels(right)) >= _DEEPEST_TREE:
            s.fail("this is nested too deeply", place)
        if operator == "*":
            if not is_symbolic(left) and not is_symbolic(right):
                s.fail("this is not affine: one factor of a product must be a number or a symbol", place)
        elif not is_symbolic(right):
            s.fail(f"this is not affine: the right side of {operator} must be a number or a symbol", place)
        elif isinstance(right, int) and right <= 0:
            s.fail(f"the right side of {operator} must be positive", place)
        return MAKE[operator](left, right)


def _levels(tree: Tree) -> int:
    """How many operators other than + are inside each other, which is how many brackets it takes to write them."""
    match tree:
        case (operator, left, right):
            return max(_levels(left), _levels(right)) + (operator != "+")
        case _:
            return 0
