"""How large the numbers in affine expressions may be, so that what is computed with them fits into 64 bits.

An affine expression means an exact number, while `arith` on indices wraps, and so do compiled loops. Both are the same
as long as factors of counters and sizes stay small: those count elements and iterations, and are below 2**31 or so.
"""

from __future__ import annotations

from collections.abc import Iterator

from affdsl.ir.expr import Affine, FloorDiv, parts_of

FACTOR, NUMBER = 2**31, 2**62
"""Factors of counters and sizes stay below the first, steps and constants below the second."""


def factors_and_constants(expr: Affine) -> Iterator[tuple[int, int]]:
    """The factors and constants of an expression and its parts, without signs: a factor and 0, or 0 and a constant.

    >>> from affdsl.ir.expr import Value
    >>> from affdsl.ir.types import INDEX
    >>> i = Value(INDEX, "i")
    >>> list(factors_and_constants(i * -3 + 7))
    [(0, 7), (3, 0)]
    """
    inside = [e for p in parts_of(expr) if isinstance(p, FloorDiv) for e in (p.dividend, Affine.of(p.divisor))]
    for part in (expr, *inside):
        yield 0, abs(part.constant)
        yield from ((abs(factor), 0) for _, factor in part.terms)


def is_small(expr: Affine) -> bool:
    """Whether no number in an expression is too large.

    >>> is_small(Affine.of(2**40)), is_small(Affine.of(2**62))
    (True, False)
    """
    return all(factor < FACTOR and constant < NUMBER for factor, constant in factors_and_constants(expr))
