"""Whether one statement certainly runs after another, by how far apart their loops are: without isl."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import zip_longest
from typing import TypeAlias

from affdsl.ir.expr import Affine, FloorDiv, Value

Ends: TypeAlias = tuple[int | None, int | None]
"""The least and the greatest that something can be; None is no limit."""


def runs_later(
    first: Sequence[Affine],
    second: Sequence[Affine],
    apart: Mapping[Value, Ends],
    is_fixed: Callable[[Value], bool] = lambda _: False,
) -> bool:
    """Whether the second of two times, compared like words, is certainly the later one; False is not known.

    Parameters
    ----------
    first, second
        The times; a shorter one is filled up with zeros.
    apart
        How much larger each induction variable is for the second one.
    is_fixed
        Whether another value is the same for both.

    >>> from affdsl.ir.types import INDEX
    >>> i, j = Value(INDEX, "i"), Value(INDEX, "j")
    >>> times = (Affine.of(j), Affine.of(i))
    >>> runs_later(times, times, {i: (1, 1), j: (0, None)}), runs_later(times, times, {i: (1, 1), j: (-1, 5)})
    (True, False)
    """
    for before, after in zip_longest(first, second, fillvalue=Affine()):
        low, _ = _growth(before, after, apart, is_fixed)
        if low != 0:
            return low is not None and low > 0
    return False


def _growth(before: Affine, after: Affine, apart: Mapping[Value, Ends], is_fixed: Callable[[Value], bool]) -> Ends:
    """How much larger the second of two expressions is."""
    if len(before.terms) != len(after.terms):
        return None, None
    low: int | None = after.constant - before.constant
    high = low
    for (atom, factor), (other, other_factor) in zip(before.terms, after.terms, strict=True):
        ends: Ends = (None, None)
        match atom, other:
            case _ if factor != other_factor:
                pass
            case Value(), Value() if atom is other:
                ends = (0, 0) if atom not in apart and is_fixed(atom) else apart.get(atom, ends)
            case FloorDiv(dividend, int() as divisor), FloorDiv(grown, int() as same) if divisor == same:
                least, most = _growth(dividend, grown, apart, is_fixed)
                ends = (None if least is None else least // divisor, None if most is None else -(-most // divisor))
        if factor < 0:
            ends = ends[::-1]
        low = None if low is None or ends[0] is None else low + ends[0] * factor
        high = None if high is None or ends[1] is None else high + ends[1] * factor
    return low, high
