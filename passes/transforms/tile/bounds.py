"""How far an expression goes over the points of a tile."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product

from affdsl.frozen import FrozenValue
from affdsl.ir.expr import Affine, FloorDiv, Value
from affdsl.ir.spelling import spell

MOST_ENDS = 8
"""Of how many combinations of last points the bounds of one loop are made at most."""


class Ends(FrozenValue):
    """Between which expressions an induction variable lies in a tile: from `first` to the least of `last`."""

    first: Affine
    last: tuple[Affine, ...]


def furthest(expr: Affine, ends: Mapping[Value, Ends], sign: int) -> tuple[Affine, ...]:
    """Expressions none of which is below (sign 1) or above (sign -1) any value that expr takes between the ends.

    Raises ValueError where a product or quotient with a symbol depends on such a value.

    >>> from affdsl.ir.types import INDEX
    >>> i, ii, n = (Value(INDEX, name) for name in ("i", "ii", "n"))
    >>> within = {i: Ends(Affine.of(ii), (ii + 31, n - 1))}
    >>> [spell(e) for e in furthest(n - i, within, 1)], [spell(e) for e in furthest(i + 1, within, 1)]
    (['n - ii'], ['ii + 32', 'n'])
    >>> [spell(e) for e in furthest(n * 8 - i // 4, within, 1)]
    ['n * 8 - ii floordiv 4']
    """
    moving = [v for v in dict.fromkeys(expr.values()) if v in ends]
    choices = [ends[v].last for v in moving]
    found: list[Affine] = []
    for chosen in product(*choices):
        if len(found) == MOST_ENDS:
            break
        last = dict(zip(moving, chosen, strict=True))
        far = _far(expr, ends, last, sign > 0)
        if far not in found:
            found.append(far)
    return tuple(found)


def _far(expr: Affine, ends: Mapping[Value, Ends], last: Mapping[Value, Affine], up: bool) -> Affine:
    """Every place where a value makes the expression larger gets its last one, every other place its first."""
    result = Affine((), expr.constant)
    for atom, c in expr.terms:
        rising = up == (c > 0)
        match atom:
            case Value():
                end = Affine.of(atom) if atom not in ends else last[atom] if rising else ends[atom].first
                result += end * c
            case FloorDiv(dividend, int() as divisor):
                result += _far(dividend, ends, last, rising) // divisor * c
            case _:
                term = Affine(((atom, c),))
                if any(v in ends for v in term.values()):
                    raise ValueError(f"{spell(term)} is semi-affine: how far it goes in a tile is not known")
                result += term
    return result
