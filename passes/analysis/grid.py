"""The elements that an access touches as a grid, a range of numbers along each dimension, where they plainly are one.

Most loops have bounds and steps that are numbers, and most subscripts take one loop each. Whether two such accesses
touch a common element, and how many iterations apart, is then a question about ranges, which isl need not be asked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import gcd
from typing import TypeAlias

from affdsl.ir.expr import Affine, Constraint, FloorDiv, Value

Box: TypeAlias = Mapping[Value, range]
"""The numbers that each of some values may be, whatever the others are."""
Grid: TypeAlias = tuple[range, ...]
"""All points whose coordinate along each dimension is in its range. No range is empty, and all steps are positive."""
NEVER = range(0)


def box_of(dims: Sequence[Value], clauses: Sequence[Sequence[Sequence[Constraint]]]) -> Box | None:
    """The numbers that dims may be where, of each clause, one alternative holds; None where that is not plainly a box.

    >>> from affdsl.ir.types import INDEX
    >>> i, j = Value(INDEX, "i"), Value(INDEX, "j")
    >>> within = [Constraint(Affine.of(i)), Constraint(9 - i), Constraint(j - 1), Constraint(8 - j)]
    >>> steps = [Constraint((i - 1) % 3, equality=True)]
    >>> list(box_of((i, j), ((within,), (steps,))).values())
    [range(1, 10, 3), range(1, 9)]
    >>> print(box_of((i, j), ((within,), ([Constraint(i - j)],))))
    None
    """
    lower: dict[Value, int] = {}
    upper: dict[Value, int] = {}
    steps: dict[Value, tuple[int, int]] = {}
    for clause in clauses:
        if len(clause) != 1:
            return None
        for constraint in clause[0]:
            match constraint:
                case Constraint(Affine(((Value() as v, factor),), rest), False) if factor > 0:  # factor * v + rest >= 0
                    lower[v] = max(-(rest // factor), lower.get(v, -(rest // factor)))
                case Constraint(Affine(((Value() as v, factor),), rest), False):
                    upper[v] = min(rest // -factor, upper.get(v, rest // -factor))
                case Constraint(
                    Affine(((Value() as v, 1), (FloorDiv(Affine(((w, 1),), shift), int() as step), factor)), rest), True
                ) if v is w and factor == -step and 0 <= shift - rest < step and v not in steps:
                    steps[v] = -rest % step, step  # (v + shift) mod step + rest - shift = 0
                case _:
                    return None
    if any(v not in lower or v not in upper for v in dims) or not {*lower, *upper, *steps} <= {*dims}:
        return None
    found = {}
    for v in dims:
        residue, step = steps.get(v, (0, 1))
        found[v] = range(lower[v] + (residue - lower[v]) % step, upper[v] + 1, step)
    return found if all(found.values()) else None


def grid_of(box: Box, index: Sequence[Affine]) -> Grid | None:
    """What index is in a box; None where that is no grid, or not plainly one.

    It is one if each expression takes one value of the box that no other takes.

    >>> from affdsl.ir.types import INDEX
    >>> i, j = Value(INDEX, "i"), Value(INDEX, "j")
    >>> box = {i: range(1, 10, 3), j: range(1, 9)}
    >>> grid_of(box, (i * 2, 7 - j, Affine.of(5)))
    (range(2, 15, 6), range(-1, 7), range(5, 6))
    >>> print(grid_of(box, (i + j,)))
    None
    """
    free = dict(box)
    found = []
    for expr in index:
        match expr.terms:
            case ():
                found.append(range(expr.constant, expr.constant + 1))
            case ((Value() as value, factor),) if value in free:
                found.append(_scaled(free.pop(value), factor, expr.constant))
            case _:
                return None
    return tuple(found)


def overlap(a: Grid, b: Grid) -> bool:
    """Whether two grids have a common point.

    >>> overlap((range(0, 10, 4), range(3)), (range(1, 10, 4), range(3))), overlap((range(5),), (range(4, 9),))
    (False, True)
    """
    return all(map(_share, a, b))


def differences(
    source: tuple[Box, Sequence[Affine]], sink: tuple[Box, Sequence[Affine]], common: Sequence[Value]
) -> tuple[range, ...] | None:
    """How much larger each common value can be in the sink where both touch one element; None if that is not plain.

    The values of a box that are not common are others in the other box. Each difference may go with each of the others;
    all are empty where nothing is touched by both. It is plain if each pair of subscripts takes the same common value
    as often, or, on both sides, none that is common or is taken elsewhere.

    >>> from affdsl.ir.types import INDEX
    >>> i, j = Value(INDEX, "i"), Value(INDEX, "j")
    >>> box = {i: range(1, 9), j: range(0, 12, 3)}
    >>> differences((box, (i + 2,)), (box, (Affine.of(i),)), (i, j))
    (range(2, 3), range(-9, 10, 3))
    >>> print(differences((box, (i + j,)), (box, (Affine.of(i),)), (i, j)))
    None
    """
    if any(source[0][v] != sink[0][v] for v in common):
        return None
    found = {v: range(r[0] - r[-1], r[-1] - r[0] + 1, r.step) for v, r in source[0].items() if v in common}
    left: tuple[list[Affine], list[Affine]] = ([], [])
    for a, b in zip(source[1], sink[1], strict=True):
        match a.terms, b.terms:
            case ((Value() as v, factor),), ((Value() as w, other),) if v is w and v in found and factor == other:
                apart, rest = divmod(a.constant - b.constant, factor)
                found[v] = range(apart, apart + 1) if not rest and apart in found[v] else NEVER
            case _ if any(v in found for v in (*a.values(), *b.values())):
                return None
            case _:
                left[0].append(a)
                left[1].append(b)
    grids = grid_of(source[0], left[0]), grid_of(sink[0], left[1])
    if grids[0] is None or grids[1] is None:
        return None
    meets = overlap(grids[0], grids[1]) and all(found.values())
    return tuple(found[v] if meets else NEVER for v in common)


def _share(a: range, b: range) -> bool:
    """Whether two ranges have a common number."""
    if a.start > b[-1] or b.start > a[-1]:
        return False
    common = gcd(a.step, b.step)
    apart = b.start - a.start
    if apart % common:
        return False
    if a.step == b.step:
        return True  # those of one are those of the other, and the later start is in both
    # Of the numbers a.start + n * a.step every period-th one is a whole number of steps of b away from b.start.
    period = b.step // common
    n = apart // common * pow(a.step // common, -1, period) % period
    first, again = a.start + n * a.step, a.step * period
    if first < b.start:
        first += -((first - b.start) // again) * again
    return first <= min(a[-1], b[-1])


def _scaled(numbers: range, factor: int, shift: int) -> range:
    """factor * n + shift for all numbers n, in rising order."""
    ends = sorted((numbers[0] * factor + shift, numbers[-1] * factor + shift))
    return range(ends[0], ends[1] + 1, numbers.step * abs(factor))
