"""Affine expressions as operations of arith on index values, exact wherever the exact result fits into 64 bits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from affdsl.errors import UnsupportedError
from affdsl.ir.applied import Applied, meaning
from affdsl.ir.core import Op
from affdsl.ir.emitter import Emitter
from affdsl.ir.expr import Affine, Constraint, FloorDiv, Value
from affdsl.ir.integers import wrap
from affdsl.ir.location import Location
from affdsl.ir.spelling import spell, tree_of
from affdsl.ir.types import I1, INDEX
from affdsl.ir.written import Tree
from affdsl.passes.simplify.ranges import Range, RangeOf, between, point, range_of

LEAST, MOST = -(1 << 63), (1 << 63) - 1
MACHINE = between(LEAST, MOST)
"""What an index can be."""
_PIECES = (1 << 16, 1 << 32, 1 << 48)
"""By how much a number that may not fit is divided, to look at its sign."""


def written(op: Op, name: str) -> Applied:
    """The expressions or constraints of a field of an operation, as they were written or else as they are printed."""
    applied = op.spelling(name)
    if applied is not None:
        return applied
    part = getattr(op, name)
    items = part if isinstance(part, tuple) else (part,)
    flat = [e for item in items for e in (item if isinstance(item, tuple) else (item,))]
    exprs = [e.expr if isinstance(e, Constraint) else Affine.of(e) for e in flat]
    values = tuple(dict.fromkeys(v for e in exprs for v in e.values()))
    names = {v: f"d{k}" for k, v in enumerate(values)}
    equalities = tuple(e.equality for e in flat if isinstance(e, Constraint))
    return Applied(tuple(tree_of(e, names.__getitem__) for e in exprs), values, (), equalities or None)


class Arithmetic(Emitter):
    """Collects the operations that compute affine expressions, in `ops`.

    `of` says where values lie; nothing is asked of it but that it is right. What is computed for a tree has the
    operations that the tree has, in its order, where they cannot overflow; see the note at the end of the file.
    """

    def __init__(self, of: RangeOf, location: Location | None = None) -> None:
        super().__init__(location)
        self._of = of
        self._known: dict[Value, Range] = {}

    # What is asked for

    def number(self, number: int) -> Value:
        """A constant, of which the lower 64 bits count."""
        held = wrap(number, 64)
        result = self.constant(held, INDEX)
        self._known[result] = point(held)
        return result

    def value(self, tree: Tree, values: Mapping[str, Value]) -> Value:
        """The lower 64 bits of what a tree stands for."""
        match tree:
            case int():
                return self.number(tree)
            case str():
                return values[tree]
            case ("+", left, right):
                return self.binary("addi", self.value(left, values), self.value(right, values))
            case ("*", left, right):
                return self.binary("muli", self.value(left, values), self.value(right, values))
            case (operator, left, right):
                dividend = _meaning(left, values)
                if isinstance(right, int) and (right > MOST or not self._fits(dividend)):
                    return self._collapsed(self._divided(operator, dividend, right))
                return self._quotient(operator, self.value(left, values), self._divisor(right, values))

    def value_of(self, expr: Affine) -> Value:
        """The lower 64 bits of an expression."""
        values = {f"d{k}": v for k, v in enumerate(dict.fromkeys(expr.values()))}
        names = {v: name for name, v in values.items()}
        return self.value(tree_of(expr, names.__getitem__), values)

    def clamped(self, tree: Tree, values: Mapping[str, Value]) -> Value:
        """What a tree stands for, or the end of the 64-bit range that is nearest to it."""
        expr = _meaning(tree, values)
        if self._fits(expr):
            return self.value(tree, values)
        where = range_of(expr, self._range)
        if where.low is not None and where.low > MOST:
            return self.number(MOST)
        if where.high is not None and where.high < LEAST:
            return self.number(LEAST)
        flat = self._flat(expr)
        match flat.terms:
            case ((Value() as v, 1),) if flat.constant > 0:
                low = self.binary("minsi", v, self.number(MOST - flat.constant))
                return self.binary("addi", low, self.number(flat.constant))
            case ((Value() as v, 1),):
                high = self.binary("maxsi", v, self.number(LEAST - flat.constant))
                return self.binary("addi", high, self.number(flat.constant))
        result = self._collapsed(flat)
        for above, end in ((True, MOST), (False, LEAST)):
            beyond = self._beyond(flat, end, above)
            if beyond is not None:
                result = self.select(beyond, self.number(end), result)
        return result

    def extreme(self, kind: Literal["minsi", "maxsi"], trees: Sequence[Tree], values: Mapping[str, Value]) -> Value:
        """The smallest or largest of what trees stand for."""
        result, *others = [self.clamped(tree, values) for tree in trees]
        for other in others:
            result = self.binary(kind, result, other)
        return result

    def holds(self, condition: Applied) -> Value:
        """Whether all constraints hold, an i1."""
        zero = self.number(0)
        result: Value | None = None
        for tree, equality in zip(condition.trees, condition.equalities or (), strict=True):
            one = self._holds(tree, equality, condition.values, zero)
            result = one if result is None else self.binary("andi", result, one)
        return self.constant(True, I1) if result is None else result

    def remainder(self, dividend: Value, divisor: Value, zero: Value) -> Value:
        """dividend mod divisor, the divisor positive."""
        rest = self.binary("remsi", dividend, divisor)
        negative = self.compare("slt", rest, zero)
        return self.select(negative, self.binary("addi", rest, divisor), rest)

    # Constraints

    def _holds(self, tree: Tree, equality: bool, values: Mapping[str, Value], zero: Value) -> Value:
        expr = _meaning(tree, values)
        if self._fits(expr):
            return self.compare("eq" if equality else "sge", self.value(tree, values), zero)
        where = range_of(expr, self._range)
        if (where.low is not None and where.low > 0) or (where.high is not None and where.high < 0):
            certain = not equality and where.low is not None and where.low > 0
            return self.constant(certain, I1)
        flat = self._flat(expr)
        if len(flat.terms) == 1:
            return self._one_holds(flat, equality)
        left, right, k = _side(flat, 1), _side(flat, -1), flat.constant
        sides = [(left, "eq", right - k), (left + k, "eq", right)]
        if not equality:
            sides = [(left, "sge", right - k), (left + k, "sge", right)]
            sides += [(left, "sgt", right - k - 1), (left + k + 1, "sgt", right)]
        for a, predicate, b in sides:
            if self._fits(a) and self._fits(b):
                return self.compare(predicate, self._collapsed(a), self._collapsed(b))
        upper, _ = self._upper(flat)
        if not equality:
            return self.compare("sge", upper, zero)
        small = self.compare("eq", upper, zero)
        return self.binary("andi", small, self.compare("eq", self._collapsed(flat), zero))

    def _one_holds(self, flat: Affine, equality: bool) -> Value:
        """Whether c * v + k is at least zero, or equals zero."""
        ((v, c),) = flat.terms
        assert isinstance(v, Value), "a flat expression is a sum of multiples of values"
        if equality:
            if flat.constant % c:
                return self.constant(False, I1)
            return self.compare("eq", v, self.number(-flat.constant // c))
        if c > 0:
            return self.compare("sge", v, self.number(-(flat.constant // c)))
        return self.compare("sle", v, self.number(flat.constant // -c))

    def _beyond(self, flat: Affine, end: int, above: bool) -> Value | None:
        """Whether flat lies above an end of the 64-bit range, or below it; None if it never does."""
        match flat.terms:
            case ((Value() as v, c),):
                # c * v + k > end, or < end: v lies beyond the last number for which that is not so
                last = (end - flat.constant) // c if above == (c > 0) else -((flat.constant - end) // c)
                predicate = "sgt" if above == (c > 0) else "slt"
                return self.compare(predicate, v, self.number(last)) if LEAST <= last <= MOST else None
        upper, divisor = self._upper(flat)
        return self.compare("sgt" if above else "slt", upper, self.number(end // divisor))

    # Division

    def _divisor(self, tree: Tree, values: Mapping[str, Value]) -> Value:
        if isinstance(tree, int) and tree > MOST:
            raise UnsupportedError(f"the divisor {tree} does not fit into 64 bits: there is no operation for it")
        return self.value(tree, values)

    def _quotient(self, operator: str, dividend: Value, divisor: Value) -> Value:
        """dividend <operator> divisor, with no step that can overflow."""
        match operator:
            case "floordiv":
                zero, ones = self.number(0), self.number(-1)
                negative = self.compare("slt", dividend, zero)
                mirrored = self.binary("subi", ones, dividend)
                quotient = self.binary("divsi", self.select(negative, mirrored, dividend), divisor)
                return self.select(negative, self.binary("subi", ones, quotient), quotient)
            case "ceildiv":  # rounding towards zero rounds up what is not positive
                zero, one = self.number(0), self.number(1)
                low = self.compare("sle", dividend, zero)
                before = self.binary("subi", dividend, one)
                quotient = self.binary("divsi", self.select(low, dividend, before), divisor)
                return self.select(low, quotient, self.binary("addi", quotient, one))
            case _:
                rest = self.binary("remsi", dividend, divisor)
                negative = self.compare("slt", rest, self.number(0))
                return self.select(negative, self.binary("addi", rest, divisor), rest)

    # Numbers that may not fit: sums of values that do

    def _flat(self, expr: Affine) -> Affine:
        """expr as a sum of multiples of values."""
        result = Affine((), expr.constant)
        for atom, c in expr.terms:
            match atom:
                case Value():
                    result += atom * c
                case FloorDiv(dividend, int() as divisor):
                    result += self._divided("floordiv", dividend, divisor) * c
                case _:
                    result += self.value_of(Affine.of(atom)) * c
        return result

    def _divided(self, operator: str, dividend: Affine, divisor: int) -> Affine:
        """dividend <operator> divisor as a sum of multiples of values that fit."""
        match operator:
            case "ceildiv":
                return self._floor(self._flat(dividend + (divisor - 1)), divisor)
            case "mod":
                return Affine.of(self._remainder(self._rest(self._flat(dividend), divisor), divisor))
            case _:
                return self._floor(self._flat(dividend), divisor)

    def _floor(self, flat: Affine, divisor: int) -> Affine:
        if self._fits(flat):
            return Affine.of(self._floor_of(self._collapsed(flat), divisor))
        whole, rest = self._split(flat, divisor)
        return whole + self._floor_of(self._collapsed(rest), divisor)

    def _split(self, flat: Affine, divisor: int) -> tuple[Affine, Affine]:
        """flat = divisor * whole + rest, where rest fits."""
        whole, rest = Affine((), flat.constant // divisor), Affine((), flat.constant % divisor)
        for atom, times, left in _residues(flat, divisor):
            whole += atom * times
            if left:
                quotient = self._floor_of(atom, divisor)
                whole += quotient * left
                rest += self._left(atom, quotient, divisor) * left
        return whole, self._fitting(rest, flat, divisor)

    def _rest(self, flat: Affine, divisor: int) -> Affine:
        """What leaves the same remainder as flat, and fits."""
        rest = Affine((), flat.constant % divisor)
        for atom, _, left in _residues(flat, divisor):
            rest += self._remainder(Affine.of(atom), divisor) * left if left else 0
        return self._fitting(rest, flat, divisor)

    def _fitting(self, rest: Affine, flat: Affine, divisor: int) -> Affine:
        if not self._fits(rest):
            raise UnsupportedError(
                f"({spell(flat)}) floordiv {divisor} cannot be computed in 64 bits: its parts are too large together"
            )
        return rest

    def _left(self, dividend: Value, quotient: Value, divisor: int) -> Value:
        """dividend - quotient * divisor, the remainder."""
        if self._known[quotient].value == 0:
            return dividend
        result = self.binary("subi", dividend, self.binary("muli", quotient, self.number(divisor)))
        self._known[result] = between(0, divisor - 1)
        return result

    def _floor_of(self, dividend: Value, divisor: int) -> Value:
        where = self._range(dividend)
        if where.value is not None:
            return self.number(where.value // divisor)
        if divisor > MOST:
            result = self.binary("shrsi", dividend, self.number(63))  # -1 or 0
        elif where.low is not None and where.low >= 0:
            result = self.binary("divsi", dividend, self.number(divisor))
        else:
            result = self._quotient("floordiv", dividend, self.number(divisor))
        self._known[result] = where.floordiv(divisor)
        return result

    def _remainder(self, dividend: Affine, divisor: int) -> Value:
        value, where = self._collapsed(dividend), range_of(dividend, self._range)
        if where.low is not None and where.high is not None and 0 <= where.low <= where.high < divisor:
            return value
        by = self._divisor(divisor, {})
        natural = where.low is not None and where.low >= 0
        result = self.binary("remsi", value, by) if natural else self._quotient("mod", value, by)
        self._known[result] = between(0, divisor - 1)
        return result

    def _upper(self, flat: Affine) -> tuple[Value, int]:
        """floor(flat / d), which fits, and d."""
        for divisor in _PIECES:
            lost = sum(abs(c) for _, c in flat.terms)  # what rounding each quotient down can amount to
            ends = between(flat.constant // divisor - lost, flat.constant // divisor + lost + 1)
            for atom, c in flat.terms:
                assert isinstance(atom, Value), "a flat expression is a sum of multiples of values"
                ends += self._range(atom).floordiv(divisor).scaled(c)
            if self._is_machine(ends):
                return self._collapsed(self._floor(flat, divisor)), divisor
        raise UnsupportedError(f"{spell(flat)} cannot be compared in 64 bits: its factors are too large")

    # Single operations

    def _collapsed(self, flat: Affine) -> Value:
        """The lower 64 bits of a sum of multiples of values."""
        result: Value | None = None
        for atom, c in flat.terms:
            assert isinstance(atom, Value), "a flat expression is a sum of multiples of values"
            term = atom if c == 1 else self.binary("muli", atom, self.number(c))
            result = term if result is None else self.binary("addi", result, term)
        if result is None:
            return self.number(flat.constant)
        if flat.constant:
            result = self.binary("addi", result, self.number(flat.constant))
        where = range_of(flat, self._range)
        if self._is_machine(where):
            self._known[result] = where
        return result

    def _fits(self, expr: Affine) -> bool:
        return self._is_machine(range_of(expr, self._range))

    @staticmethod
    def _is_machine(where: Range) -> bool:
        if where.is_empty:
            return True
        return where.low is not None and where.high is not None and where.low >= LEAST and where.high <= MOST

    def _range(self, value: Value) -> Range:
        known = self._known.get(value)
        return MACHINE.both(self._of(value)) if known is None else known


def _residues(flat: Affine, divisor: int) -> list[tuple[Value, int, int]]:
    """Each value of a sum with its factor as times * divisor + left: left is not negative, or small if it must be."""
    found: list[tuple[Value, int, int]] = []
    large = sum(c % divisor for _, c in flat.terms) * (divisor - 1) + divisor > MOST
    for atom, c in flat.terms:
        assert isinstance(atom, Value), "a flat expression is a sum of multiples of values"
        times = (c + divisor // 2) // divisor if large else c // divisor
        found.append((atom, times, c - times * divisor))
    return found


def _meaning(tree: Tree, values: Mapping[str, Value]) -> Affine:
    def listed(letter: str) -> tuple[Value, ...]:
        return tuple(values[f"{letter}{k}"] for k in range(sum(name[0] == letter for name in values)))

    return meaning(tree, listed("d"), listed("s"))


def _side(flat: Affine, sign: int) -> Affine:
    """The terms of one sign, as a sum with positive factors."""
    return Affine(tuple((atom, c * sign) for atom, c in flat.terms if c * sign > 0))


# What is exact, and why.
#
# The meaning of an affine expression is an integer of any size. Sums and products of 64-bit operations give its lower
# 64 bits, whatever happens in between, so a result that fits comes out right. Divisions, comparisons, minima and maxima
# are different: they need operands that fit. Where the ranges of the values show that, the operation is done as it is
# written. Where they do not:
#
# * floor((a*x + k) / d) = a*floor(x / d) + floor((a*(x mod d) + k) / d), and the last dividend is small;
# * a constraint x - y + k >= 0 becomes x >= y - k, or x > y - k - 1, or with k on the left, if both sides fit then;
#   otherwise floor(expr / 2**n) is looked at, which has the sign of expr;
# * bounds, and operands of minima and maxima, that lie beyond the 64-bit range are moved to its end: the result of
#   affine.min fits, so it is none of those that were too large, and no loop can count further.
#
# Two things are taken to fit, since nothing can be said otherwise: the product of two values, and what is divided by a
# value. Nothing is marked nsw: a product may well wrap on the way to a result that fits.
