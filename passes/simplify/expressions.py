"""Affine expressions made simpler where loops, conditions and the contract say what their values can be."""

from __future__ import annotations

from collections.abc import Iterator
from math import gcd

from affdsl.ir.expr import Affine, Atom, Constraint, FloorDiv, Product, Value, factors_of
from affdsl.passes.simplify.context import NOTHING, Context

ROUNDS = 20
"""More than any expression needs: each round that changes one removes a division, a term or a factor."""
INDEX_MIN = -(1 << 63)


_HEAVIEST = 100
"""Atoms of an expression beyond which it stays as it is: each quotient in it is a question about all that is inside."""


def simplify(expr: Affine, context: Context = NOTHING) -> Affine:
    """The simplest expression known that is equal to expr wherever the facts of the context hold.

        i floordiv 8            ->  0              where 0 <= i < 8
        i mod 8                 ->  i              where 0 <= i < 8
        (8*i + j) floordiv 8    ->  i              where 0 <= j < 8
        (64*i + j) floordiv 128 ->  i floordiv 2   where 0 <= j < 64
        (i + 3) floordiv 4 * 4  ->  i              where i is a multiple of 4
        (i*n + j) floordiv n    ->  i              where 0 <= j < n

    The result is a fixed point: simplifying it again gives the same object. An expression that cannot be simplified
    is returned as it is. Division by a symbol goes only where the symbol is proved to be positive.

    >>> from affdsl.ir.types import INDEX
    >>> from affdsl.ir.spelling import spell
    >>> i, j = Value(INDEX, "i"), Value(INDEX, "j")
    >>> inside = Context().knowing([Constraint(Affine.of(j)), Constraint(7 - j)])
    >>> spell(simplify((i * 8 + j) // 8 + (i + j + 1) % 4, inside))
    'i + (i + j + 1) mod 4'
    """
    if context.is_contradictory or expr.weight > _HEAVIEST:
        return expr
    found = context.recall(("simplified", expr))
    if isinstance(found, Affine):
        return found
    result = expr
    for _ in range(ROUNDS):
        simpler = _once(result, context)
        if simpler == result:
            break
        result = simpler
    context.remember(("simplified", expr), result)
    context.remember(("simplified", result), result)
    return result


def _once(expr: Affine, context: Context) -> Affine:
    if not expr.terms:
        return expr
    number = context.range_of(expr).value
    if number is None and len(expr.terms) > 1 and any(isinstance(atom, FloorDiv) for atom, _ in expr.terms):
        number = context.quotient_of(expr, 1)
    if number is not None:
        return Affine((), number)
    new = [_term(atom, c, context) for atom, c in expr.terms]
    if not any(each is not None for each in new):
        return expr
    result = Affine((), expr.constant)
    for term, each in zip(expr.terms, new, strict=True):
        result += Affine((term,)) if each is None else each
    return result


def _term(atom: Atom, c: int, context: Context) -> Affine | None:
    """c * atom made simpler, or None if it stays."""
    match atom:
        case Value():
            number = context.range_of_value(atom).value
            return None if number is None else Affine((), c * number)
        case FloorDiv(dividend, int() as divisor):
            return _floor(dividend, divisor, c, context)
        case FloorDiv(dividend, divisor):
            new = _floor_by_symbol(dividend, Affine.of(divisor), context)
            return None if new is None else new * c
        case Product(factors):
            new, changed = Affine((), c), False
            for factor in factors:
                simpler = _term(factor, 1, context)
                new *= factor if simpler is None else simpler
                changed |= simpler is not None
            return new if changed else None


def _floor(dividend: Affine, divisor: int, c: int, context: Context) -> Affine | None:
    """c * floor(dividend / divisor) made simpler."""
    simpler = simplify(dividend, context)
    if simpler != dividend:
        return simpler // divisor * c
    where = context.range_of(dividend)
    number = where.floordiv(divisor).value
    if number is not None:
        return Affine((), c * number)
    common = gcd(where.modulus, divisor)
    remainder = where.residue % common
    if common == divisor and c % divisor == 0:  # the division leaves a known remainder
        return (dividend - remainder) * (c // divisor)
    least = INDEX_MIN if where.low is None else max(where.low, INDEX_MIN)
    least += (remainder - least) % common
    if 0 < remainder <= dividend.constant and least - remainder >= INDEX_MIN:
        return (dividend - remainder) // divisor * c
    split = _split(dividend, divisor, context)
    return None if split is None else split * c


def _split(dividend: Affine, divisor: int, context: Context) -> Affine | None:
    """floor((g*x + r) / (g*d)) = floor((x + p) / d), where floor(r / g) is certainly p."""
    found = _splits(dividend, divisor)
    for step, large, small in found:
        number = context.range_of(small).floordiv(step).value
        if number is not None:
            return (large + number) // (divisor // step)
    for step, large, small in found:
        number = context.quotient_of(small, step)
        if number is not None:
            return (large + number) // (divisor // step)
    return None


def _splits(dividend: Affine, divisor: int) -> list[tuple[int, Affine, Affine]]:
    """The ways to see dividend as g*x + r for a factor g of divisor, as g, x and r: with as little as can be in r."""
    found = [(divisor, Affine(), dividend)]
    for step in sorted({divisor, *(gcd(divisor, c) for _, c in dividend.terms)} - {1}, reverse=True):
        for shift in dict.fromkeys((step // 2, 0, step - 1)):  # to the nearest, down, up
            large, small = _by(dividend, step, shift)
            if large.terms and (step, large, small) not in found:
                found.append((step, large, small))
    return found


def _by(expr: Affine, step: int, shift: int) -> tuple[Affine, Affine]:
    """expr as step * large + small; how much of each coefficient is large depends on shift."""
    quotients = [(atom, (c + shift) // step) for atom, c in expr.terms]
    large = Affine(tuple((atom, q) for atom, q in quotients if q))
    return large, expr - large * step


def _floor_by_symbol(dividend: Affine, divisor: Affine, context: Context) -> Affine | None:
    """floor(dividend / divisor) made simpler."""
    x, y = simplify(dividend, context), simplify(divisor, context)
    if y.is_constant and y.constant <= 0:
        return None  # such a division is an error, and stays one
    if (x, y) != (dividend, divisor):
        return x // y
    whole = context.range_of(Affine(((FloorDiv(dividend, divisor), 1),))).value
    if whole is not None:
        return Affine((), whole)
    for quotient in _multiples(dividend, divisor):
        rest = dividend - quotient * divisor
        if context.proves(Constraint(rest)) and context.proves(Constraint(divisor - rest - 1)):
            return quotient
    return None


def _multiples(dividend: Affine, divisor: Affine) -> Iterator[Affine]:
    """What dividend has of whole multiples of a divisor, and nothing of it."""
    if len(divisor.terms) == 1 and divisor.constant == 0:
        ((atom, factor),) = divisor.terms
        quotient = Affine()
        for term, c in dividend.terms:
            factors = list(factors_of(term))
            if c % factor == 0 and all(_removed(factors, f) for f in factors_of(atom)):
                part = Affine((), c // factor)
                for f in factors:
                    part *= f
                quotient += part
        if quotient != Affine():
            yield quotient
    yield Affine()


def _removed(factors: list[Atom], factor: Atom) -> bool:
    """Take a factor away, if it is there."""
    if factor not in factors:
        return False
    factors.remove(factor)
    return True


# Why no step makes 64-bit arithmetic overflow where it did not before.
#
# The value of an expression is an exact integer; machines compute it modulo 2**64. Sums and products come out right
# modulo 2**64 in any order, whatever their parts are, so it is enough that each dividend, and each number that is
# compared, used as an index or yielded, fits into 64 bits (the compared numbers and the results are those of the
# expression before, up to the positive factor that a constraint is divided by).
#
# A dividend of the result is one of these:
# * a dividend of the expression before;
# * floor(e / g), for a dividend e that was there, written x + p: it lies between e and 0 or -1;
# * e - r, the largest multiple of a number that is at most e: it is checked that taking r from the smallest index that
#   e can be leaves an index. The constant of e is at least r, so that it does not turn into divisor - r, far from e.
# * a dividend with values replaced by the numbers that they have: it is the same number.
#
# The constructors of `Affine` bring each of these, like every division that anybody writes, into one form: constants
# and coefficients of a dividend lie between 0 and the divisor, so (i - j) floordiv 4 divides i + 3 * j. That form can
# be larger than what was written; simplification adds nothing to it: no dividend of the result is larger than the parts
# of a dividend before, added up without their signs, by more than its divisor. The random tests check that, too.
