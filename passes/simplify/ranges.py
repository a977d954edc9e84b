"""Where an integer can lie: between two ends, and in one residue class. Cheap, and right for all integers."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import ceil, floor, gcd, inf, lcm
from typing import TypeAlias

from affdsl.frozen import FrozenValue
from affdsl.ir.expr import Affine, Atom, FloorDiv, Product, Value

RangeOf: TypeAlias = Callable[[Value], "Range"]


class Range(FrozenValue):
    """The integers from low to high that leave `residue` when divided by `modulus`; an end of None is not known.

    A modulus of 0 stands for the one number `residue`. Made by `between`, `point` and the methods, always as tight
    as the residue class allows:

    >>> between(1, 10, modulus=4)
    Range(low=4, high=8, modulus=4, residue=0)
    >>> between(-3, 12).floordiv(8)
    Range(low=-1, high=1, modulus=1, residue=0)
    """

    low: int | None = None
    high: int | None = None
    modulus: int = 1
    residue: int = 0

    def __init__(self, low: int | None = None, high: int | None = None, modulus: int = 1, residue: int = 0) -> None:
        of = self.__dict__  # there are very many
        of["low"], of["high"], of["modulus"], of["residue"] = low, high, modulus, residue

    @property
    def is_empty(self) -> bool:
        """Whether there is no such integer."""
        return self.low is not None and self.high is not None and self.low > self.high

    @property
    def value(self) -> int | None:
        """The one integer that it is, if it is one."""
        return self.low if self.low is not None and self.low == self.high else None

    def __contains__(self, number: int) -> bool:
        if (self.low is not None and number < self.low) or (self.high is not None and number > self.high):
            return False
        return number == self.residue if self.modulus == 0 else number % self.modulus == self.residue

    def __add__(self, other: Range) -> Range:
        modulus = gcd(self.modulus, other.modulus)
        return between(
            None if self.low is None or other.low is None else self.low + other.low,
            None if self.high is None or other.high is None else self.high + other.high,
            modulus,
            self.residue + other.residue,
        )

    def __mul__(self, other: Range) -> Range:
        corners = [_times(a, b) for a in _ends(self) for b in _ends(other)]
        modulus = gcd(self.modulus * other.modulus, self.modulus * other.residue, self.residue * other.modulus)
        residue = self.residue * other.residue
        return between(_end(min(corners)), _end(max(corners)), modulus, residue)

    def scaled(self, factor: int) -> Range:
        """factor * x"""
        low, high = (self.low, self.high) if factor >= 0 else (self.high, self.low)
        if factor == 0:
            return point(0)
        return between(
            None if low is None else factor * low,
            None if high is None else factor * high,
            abs(factor) * self.modulus,
            factor * self.residue,
        )

    def floordiv(self, divisor: int) -> Range:
        """floor(x / divisor), the divisor positive."""
        whole = self.modulus % divisor == 0
        return between(
            None if self.low is None else self.low // divisor,
            None if self.high is None else self.high // divisor,
            self.modulus // divisor if whole else 1,
            self.residue // divisor if whole else 0,
        )

    def floordiv_by(self, divisor: Range) -> Range:
        """floor(x / y) for a y that is certainly positive; otherwise nothing is known."""
        if divisor.low is None or divisor.low < 1:
            return ANY
        low, high = self.low, self.high
        if low is not None:
            low = low // divisor.low if low < 0 else 0 if divisor.high is None else low // divisor.high
        if high is not None:
            high = high // divisor.low if high >= 0 else -1 if divisor.high is None else high // divisor.high
        return between(low, high)

    def both(self, other: Range) -> Range:
        """The integers in both."""
        low = other.low if self.low is None else self.low if other.low is None else max(self.low, other.low)
        high = other.high if self.high is None else self.high if other.high is None else min(self.high, other.high)
        congruence = _both_classes(self.modulus, self.residue, other.modulus, other.residue)
        return EMPTY if congruence is None else between(low, high, *congruence)


def between(low: int | None, high: int | None, modulus: int = 1, residue: int = 0) -> Range:
    """The integers from low to high that are congruent to residue by modulus."""
    if modulus == 0:
        low = residue if low is None else max(low, residue)
        high = residue if high is None else min(high, residue)
        return Range(low, high, 0, residue) if low == high else EMPTY
    if modulus != 1:
        residue %= modulus
        low = None if low is None else low + (residue - low) % modulus
        high = None if high is None else high - (high - residue) % modulus
    else:
        residue = 0
    if low is not None and high is not None:
        if low == high:
            return Range(low, high, 0, low)
        if low > high:
            return EMPTY
    return Range(low, high, modulus, residue)


def point(number: int) -> Range:
    """One number."""
    return Range(number, number, 0, number)


ANY = Range()
EMPTY = Range(0, -1)


def range_of(expr: Affine, of: RangeOf, done: dict[Atom, Range] | None = None) -> Range:
    """Where expr can lie, given where its values can.

    >>> from affdsl.ir.types import INDEX
    >>> i, j = Value(INDEX, "i"), Value(INDEX, "j")
    >>> range_of(i * 8 + j % 8 + 3, {i: between(0, 9), j: ANY}.__getitem__)
    Range(low=3, high=82, modulus=1, residue=0)
    """
    result = point(expr.constant)
    floors, known = 0, {} if done is None else done
    for atom, c in expr.terms:
        result += _of_atom(atom, of, known).scaled(c)
        floors += isinstance(atom, FloorDiv) and isinstance(atom.divisor, int)
    if len(expr.terms) > 1 and expr.weight <= _HEAVIEST_SUM:
        if floors:
            result = result.both(_relaxed_range(expr, of, known))
        result = result.both(_with_remainders(expr, of, known))
    return result


_HEAVIEST_SUM = 100
"""Atoms of a sum up to which it is tried whether quotients in it cancel: each sum inside of it is tried again."""


def _of_atom(atom: Atom, of: RangeOf, done: dict[Atom, Range]) -> Range:
    if isinstance(atom, Value):
        return of(atom)
    result = done.get(atom)
    if result is None:
        match atom:
            case FloorDiv(dividend, int() as divisor):
                result = range_of(dividend, of, done).floordiv(divisor)
            case FloorDiv(dividend, divisor):
                result = range_of(dividend, of, done).floordiv_by(range_of(Affine.of(divisor), of, done))
            case Product(factors):
                result = point(1)
                for factor in factors:
                    result *= _of_atom(factor, of, done)
        done[atom] = result
    return result


def _with_remainders(expr: Affine, of: RangeOf, done: dict[Atom, Range]) -> Range:
    """Where expr can lie, if x - (x floordiv s) * s in it is taken for x mod s, which is at least 0 and below s."""
    for atom, c in expr.terms:
        for quotient in atom.factors if isinstance(atom, Product) and c < 0 else ():
            if not isinstance(quotient, FloorDiv) or isinstance(quotient.divisor, int):
                continue
            rest = expr - Affine(((atom, c),)) + quotient.dividend * c
            if quotient.divisor * quotient != Affine(((atom, 1),)) or rest.weight >= expr.weight:
                continue
            divisor = range_of(quotient.divisor, of, done)
            if divisor.low is not None and divisor.low > 0:
                remainder = between(0, None if divisor.high is None else divisor.high - 1)
                return range_of(rest, of, done) + remainder.scaled(-c)
    return ANY


class _Relaxed:
    """coefficients * atoms + something from low to high, where no atom is a division by a number."""

    def __init__(self, coefficients: dict[Atom, Fraction], low: Fraction, high: Fraction) -> None:
        self.coefficients, self.low, self.high = coefficients, low, high


def _relaxed_range(expr: Affine, of: RangeOf, done: dict[Atom, Range]) -> Range:
    relaxed = _relax(expr, {})
    low: Fraction | None = relaxed.low
    high: Fraction | None = relaxed.high
    for atom, c in relaxed.coefficients.items():
        ends = _of_atom(atom, of, done)
        first, last = (ends.low, ends.high) if c > 0 else (ends.high, ends.low)
        low = None if low is None or first is None else low + c * first
        high = None if high is None or last is None else high + c * last
    return between(None if low is None else ceil(low), None if high is None else floor(high))


def _relax(expr: Affine, done: dict[Atom, _Relaxed]) -> _Relaxed:
    result = _Relaxed({}, Fraction(expr.constant), Fraction(expr.constant))
    for atom, c in expr.terms:
        match atom:
            case FloorDiv(dividend, int() as divisor):  # floor(x / d) = (x - r) / d for some r from 0 to d - 1
                inner = done.get(atom)
                if inner is None:
                    inner = done[atom] = _relax(dividend, done)
                    inner.low -= _remainder(dividend, divisor)
                factor = Fraction(c, divisor)
                for a, k in inner.coefficients.items():
                    _add(result.coefficients, a, factor * k)
                ends = (inner.low, inner.high) if factor > 0 else (inner.high, inner.low)
                result.low += factor * ends[0]
                result.high += factor * ends[1]
            case _:
                _add(result.coefficients, atom, Fraction(c))
    return result


def _remainder(dividend: Affine, divisor: int) -> int:
    """The largest remainder that dividend can leave, for all integers."""
    step = gcd(divisor, *(c for _, c in dividend.terms))
    return divisor - step + dividend.constant % step


def _add(sums: dict[Atom, Fraction], atom: Atom, factor: Fraction) -> None:
    total = sums.get(atom, Fraction(0)) + factor
    if total:
        sums[atom] = total
    else:
        sums.pop(atom, None)


def _ends(x: Range) -> tuple[int | float, int | float]:
    return (-inf if x.low is None else x.low, inf if x.high is None else x.high)


def _times(a: int | float, b: int | float) -> int | float:
    """a * b, where infinity may meet zero and very large integers."""
    if a == 0 or b == 0:
        return 0
    if isinstance(a, int) and isinstance(b, int):
        return a * b
    return inf if (a > 0) == (b > 0) else -inf


def _end(number: int | float) -> int | None:
    return number if isinstance(number, int) else None


def _both_classes(m: int, r: int, n: int, s: int) -> tuple[int, int] | None:
    """The class of the integers that are r by m and s by n, or None if there is none."""
    if m == 0 or n == 0:
        number, modulus, residue = (r, n, s) if m == 0 else (s, m, r)
        fits = number == residue if modulus == 0 else number % modulus == residue
        return (0, number) if fits else None
    common = gcd(m, n)
    if (s - r) % common:
        return None
    steps = (s - r) // common * pow(m // common, -1, n // common) if n != common else 0
    return lcm(m, n), r + m * steps
