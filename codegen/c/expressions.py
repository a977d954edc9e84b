"""C expressions with their precedence, and affine expressions among them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial, reduce
from math import inf

from affdsl.codegen.c.ranges import Ranges
from affdsl.codegen.c.types import integer_literal
from affdsl.errors import UnsupportedError
from affdsl.frozen import FrozenValue
from affdsl.ir.expr import Affine, Atom, Constraint, FloorDiv, Product, Value
from affdsl.ir.spelling import spell

PRIMARY, UNARY, MULTIPLY, ADD, RELATION, EQUALITY, BITS, AND, OR, CHOICE = range(10, 0, -1)
_LEVELS = {
    "*": MULTIPLY, "/": MULTIPLY, "%": MULTIPLY, "+": ADD, "-": ADD,
    "<": RELATION, "<=": RELATION, ">": RELATION, ">=": RELATION, "==": EQUALITY, "!=": EQUALITY,
    "&": BITS, "|": BITS, "^": BITS, "<<": BITS, ">>": BITS, "&&": AND, "||": OR,
}  # fmt: skip

_OPPOSITE = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}

_NONE: frozenset[object] = frozenset()
_NO_NAMES: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Code:
    """A C expression: its text, how tightly it binds, and what its value depends on."""

    text: str
    level: int = PRIMARY
    buffers: frozenset[object] = _NONE
    """The buffers that it loads from."""
    variables: frozenset[str] = _NO_NAMES
    """The variables that it reads and that some statement assigns again."""
    binary: tuple[str, Code, Code] | None = None
    """Its operator and operands where `x = x op y` may be written `x op= y`; "wrap" before those of integer helpers."""
    parts: tuple[Code, ...] = field(default=(), compare=False, repr=False)
    """What it is built from."""
    number: int | None = None
    """The number that it is, if it is a literal that C reads as this one number of any type."""
    function: str = field(default="", compare=False, repr=False)
    """The function that it calls."""

    def __str__(self) -> str:
        return self.text

    def at(self, level: int) -> str:
        """The text, in parentheses if it binds less tightly than `level`."""
        return self.text if self.level >= level else f"({self.text})"


def code(text: str, level: int, *parts: Code, binary: tuple[str, Code, Code] | None = None) -> Code:
    """An expression built from parts."""
    if len(parts) == 1:
        return Code(text, level, parts[0].buffers, parts[0].variables, binary, parts)
    buffers = _NONE.union(*(p.buffers for p in parts)) if any(p.buffers for p in parts) else _NONE
    variables = _NO_NAMES.union(*(p.variables for p in parts)) if any(p.variables for p in parts) else _NO_NAMES
    return Code(text, level, buffers, variables, binary, parts)


def number(n: int) -> Code:
    """An index constant."""
    return Code(integer_literal(n), PRIMARY if n >= 0 else UNARY, number=plain(n))


def plain(n: int) -> int | None:
    """n, if it is small enough for a literal without a suffix."""
    return n if -(2**31) < n < 2**31 else None


def infix(operator: str, left: Code, right: Code) -> Code:
    """left operator right. What C's rules of precedence make hard to read is put in parentheses."""
    level = _LEVELS[operator]
    if level >= ADD:
        shown = f"{left.at(level)} {operator} {right.at(level + 1)}"
    elif level == BITS:
        shown = f"{left.at(UNARY)} {operator} {right.at(UNARY)}"
    elif level in (AND, OR):
        shown = f"{left.at(level if left.level == level else EQUALITY)} {operator} {right.at(EQUALITY)}"
    else:
        shown = f"{left.at(ADD)} {operator} {right.at(ADD)}"
    return code(shown, level, left, right, binary=(operator, left, right))


MOST_IN_A_ROW = 16
"""So many parts are combined from left to right."""


def combined(parts: Sequence[Code], combine: Callable[[Code, Code], Code]) -> Code:
    """All of some parts, of which the order does not matter: of many, one half with the other.

    From left to right each would hold the text of all before it, and brackets would be as deep as there are parts.
    """
    if len(parts) <= MOST_IN_A_ROW:
        return reduce(combine, parts)
    middle = len(parts) // 2
    return combine(combined(parts[:middle], combine), combined(parts[middle:], combine))


def call(function: str, *arguments: Code) -> Code:
    """function(arguments)"""
    return calling(function, f"{function}({', '.join(a.text for a in arguments)})", *arguments)


def calling(function: str, text: str, *parts: Code, binary: tuple[str, Code, Code] | None = None) -> Code:
    """The call of a function, which text is."""
    return replace(code(text, PRIMARY, *parts, binary=binary), function=function)


def functions_of(shown: Code) -> Iterator[str]:
    """The functions that an expression calls."""
    if shown.function:
        yield shown.function
    for part in shown.parts:
        yield from functions_of(part)


def cast(type: str, operand: Code) -> Code:
    """(type)operand"""
    return code(f"({type}){operand.at(UNARY)}", UNARY, operand)


def negate(operand: Code) -> Code:
    """-operand"""
    shown = operand.at(UNARY)
    return code(f"-({shown})" if shown.startswith("-") else f"-{shown}", UNARY, operand)


def invert(operand: Code) -> Code:
    """!operand"""
    return code(f"!{operand.at(UNARY)}", UNARY, operand)


def choose(condition: Code, yes: Code, no: Code) -> Code:
    """condition ? yes : no"""
    shown = f"{condition.at(CHOICE + 1)} ? {yes.at(CHOICE + 1)} : {no.at(CHOICE)}"
    return code(shown, CHOICE, condition, yes, no)


def plus(left: Code, right: Code) -> Code:
    """left + right, of indices, which do not overflow."""
    if left.number == 0:
        return right
    if right.number == 0:
        return left
    if left.number is not None and right.number is not None and min(left.number, right.number) > 0:
        return number(left.number + right.number)
    if right.level == ADD and not right.text.startswith("-"):  # no overflow here, so any order is the same
        return code(f"{left.at(ADD)} + {right.text}", ADD, left, right)
    return infix("+", left, right)


def times(left: Code, right: Code) -> Code:
    """left * right, of indices."""
    if 0 in (left.number, right.number):
        return number(0)
    if 1 in (left.number, right.number):
        return right if left.number == 1 else left
    if left.number is not None and right.number is not None and min(left.number, right.number) > 0:
        return number(left.number * right.number)
    return infix("*", left, right)


@dataclass(frozen=True, slots=True)
class Mod:
    """dividend mod divisor, as found again in a canonical expression."""

    dividend: Affine
    divisor: int | Affine


Part = Atom | Mod


_HEAVIEST = 20_000
"""Atoms of an expression that C text may have."""


class AffineWriter(FrozenValue):
    """Writes affine expressions: what each value is called, what is known about it, and where helpers are asked for."""

    value: Callable[[Value], Code]
    ranges: Ranges
    helper: Callable[[str], str]

    def expression(self, expr: Affine) -> Code:
        """expr in C. Raises UnsupportedError where it would be far too long."""
        if expr.weight > _HEAVIEST:
            raise UnsupportedError(f"in C, {spell(expr)}: give parts of it names, by affine.apply")
        return self._sum(*_parts(expr))

    def constraint(self, constraint: Constraint) -> Code:
        """constraint as a comparison that a person would write: what varies most alone on the left."""
        parts, constant = _parts(constraint.expr)
        more, less = [p for p in parts if p[0] > 0], [(-c, part) for c, part in parts if c < 0]
        swapped = self._depth(less) > self._depth(more)
        if swapped:
            left, right, constant = less, more, -constant
        else:
            left, right = more, less
        if constraint.equality:
            return infix("==", self._sum(left, 0), self._sum(right, -constant))
        # more - less + constant >= 0
        strict = bool(right) and constant == (1 if swapped else -1)
        operator = ("<" if strict else "<=") if swapped else (">" if strict else ">=")
        return infix(operator, self._sum(left, 0), self._sum(right, 0 if strict else -constant))

    def _depth(self, parts: list[tuple[int, Part]]) -> int:
        return max((self.ranges.depth(v) for _, part in parts for v in _values(part)), default=-2)

    def _sum(self, parts: list[tuple[int, Part]], constant: int) -> Code:
        result: Code | None = None
        for factor, part in sorted(parts, key=lambda p: p[0] < 0):
            if result is None and factor < 0 and constant > 0:
                result, constant = number(constant), 0
            term = self._scaled(abs(factor), part)
            if result is not None:
                result = infix("-" if factor < 0 else "+", result, term)
            else:
                result = negate(term) if factor < 0 else term
        if result is None:
            return number(constant)
        return result if constant == 0 else infix("-" if constant < 0 else "+", result, number(abs(constant)))

    def _scaled(self, factor: int, part: Part) -> Code:
        if factor == 1:
            return self._part(part)
        match part:
            case Product(factors):
                return self._product([number(factor), *map(self._part, factors)])
            case _:
                return infix("*", number(factor), self._part(part))

    def _product(self, factors: list[Code]) -> Code:
        result = factors[0]
        for factor in factors[1:]:
            result = infix("*", result, factor)
        return result

    def _part(self, part: Part) -> Code:
        match part:
            case Value():
                return self.value(part)
            case Product(factors):
                varying = [f for f in factors if isinstance(f, FloorDiv) or self._varies(f)]
                return self._product([self._part(f) for f in (*varying, *(f for f in factors if f not in varying))])
            case FloorDiv(dividend, int() as divisor):
                return self._divide(dividend, divisor)
            case FloorDiv(dividend, divisor):
                return self._divide_by_symbol(dividend, Affine.of(divisor))
            case Mod(dividend, divisor):
                by = self.expression(Affine.of(divisor))
                if not self.ranges.is_positive(Affine.of(divisor)):
                    return call(self.helper("mod_any_i64"), self.expression(dividend), by)
                if self.ranges.is_natural(dividend):
                    return infix("%", self.expression(dividend), by)
                return call(self.helper("mod_i64"), self.expression(dividend), by)

    def _varies(self, atom: Atom) -> bool:
        return isinstance(atom, Value) and self.ranges.is_loop(atom)

    def _divide(self, dividend: Affine, divisor: int) -> Code:
        if self.ranges.is_natural(dividend):
            return infix("/", self.expression(dividend), number(divisor))
        if dividend.constant == divisor - 1:
            return call(self.helper("ceildiv_i64"), self.expression(dividend - dividend.constant), number(divisor))
        return call(self.helper("floordiv_i64"), self.expression(dividend), number(divisor))

    def _divide_by_symbol(self, dividend: Affine, divisor: Affine) -> Code:
        by = self.expression(divisor)
        if not self.ranges.is_positive(divisor):
            return call(self.helper("floordiv_any_i64"), self.expression(dividend), by)
        if self.ranges.is_natural(dividend):
            return infix("/", self.expression(dividend), by)
        return call(self.helper("floordiv_i64"), self.expression(dividend), by)


def conjunction(comparisons: list[Code]) -> Code:
    """All of the comparisons, of integers; `false` where two of them exclude each other, of which compilers warn."""
    ends: dict[str, tuple[float, float]] = {}
    for comparison in comparisons:
        assert comparison.binary is not None
        operator, left, right = comparison.binary
        if (n := right.number) is not None:
            low, high = ends.get(left.text, (-inf, inf))
            low = max(low, n) if operator in (">=", "==") else max(low, n + 1) if operator == ">" else low
            high = min(high, n) if operator in ("<=", "==") else min(high, n - 1) if operator == "<" else high
            ends[left.text] = low, high
    if not comparisons or any(low > high for low, high in ends.values()):
        return Code("false" if comparisons else "true")
    return combined(comparisons, partial(infix, "&&"))


def opposite(comparison: Code) -> Code:
    """!comparison, of integers."""
    if comparison.binary is not None and comparison.binary[0] in _OPPOSITE:
        operator, left, right = comparison.binary
        return infix(_OPPOSITE[operator], left, right)
    return invert(comparison)


def _values(part: Part) -> list[Value]:
    if isinstance(part, Mod):
        return [*part.dividend.values(), *Affine.of(part.divisor).values()]
    return list(Affine.of(part).values())


def _parts(expr: Affine) -> tuple[list[tuple[int, Part]], int]:
    """expr as factors and parts, where k*x - k*d*floor(x / d) has become k * (x mod d)."""
    left = expr
    found: list[tuple[int, Part]] = []
    for quotient in dict.fromkeys(q for atom, _ in expr.terms for q in _quotients(atom)):
        remainder = quotient.dividend - Affine.of(quotient) * quotient.divisor
        coefficients = dict(left.terms)
        atom, c = remainder.terms[0]
        k, rest = divmod(coefficients.get(atom, 0), c)
        if k == 0 or rest != 0 or any(coefficients.get(a, 0) != k * x for a, x in remainder.terms):
            continue
        if quotient.dividend.terms or left.constant == k * quotient.dividend.constant:
            left = left - remainder * k
            found.append((k, Mod(quotient.dividend, quotient.divisor)))
    return [*((c, atom) for atom, c in left.terms), *found], left.constant


def _quotients(atom: Atom) -> Iterator[FloorDiv]:
    """The quotients that an atom is, or has as factors."""
    for factor in atom.factors if isinstance(atom, Product) else (atom,):
        if isinstance(factor, FloorDiv):
            yield factor
