"""Vectors of lanes of several others, and squares that are turned, by shuffles of two at a time."""

from __future__ import annotations

from collections.abc import Sequence

from affdsl.ir.dialects import vector
from affdsl.ir.expr import Value
from affdsl.ir.traverse import like

Lane = tuple[Value, int]
"""A vector, and the number of a lane."""


def shuffled(lanes: Sequence[Lane | None], hint: str = "") -> tuple[list[vector.Shuffle], Value]:
    """Shuffles that make the vector of given lanes of vectors that have as many, and the vector.

    A lane for which None is given may hold any number. Lanes that stay where they are need no shuffle.

    >>> from affdsl.ir.types import FloatType, VectorType
    >>> a, b, c = (Value(VectorType((4,), FloatType("f32"))) for _ in range(3))
    >>> made, found = shuffled([(a, 0), (a, 3), (b, 2), (c, 1)])
    >>> [op.mask for op in made]
    [(0, 3, 6, 3), (0, 1, 2, 5)]
    >>> shuffled([(a, 0), (a, 1), None, (a, 3)]) == ([], a)
    True
    """
    width = len(lanes)
    first, *others = dict.fromkeys(lane[0] for lane in lanes if lane is not None)
    order = [k if lane is None or lane[0] is not first else lane[1] for k, lane in enumerate(lanes)]
    if not others and order == list(range(width)):
        return [], first
    made: list[vector.Shuffle] = []
    found = first
    for source in others or [first]:
        mask = [
            order[k] if lane is None or lane[0] is first or lane[0] is not source else width + lane[1]
            for k, lane in enumerate(lanes)
        ]
        made.append(vector.Shuffle(Value(first.type, hint), found, source, tuple(mask)))
        found, order = made[-1].result, list(range(width))
    return made, found


def turned(rows: Sequence[Value], columns: Sequence[Value] = ()) -> tuple[list[vector.Shuffle], list[Value]]:
    """Shuffles that make the columns of a square of rows, a power of two, and the columns: those given, or new ones.

    Blocks off the diagonal change places, single lanes first.

    >>> from affdsl.ir.types import FloatType, VectorType
    >>> rows = [Value(VectorType((2,), FloatType("f32"))) for _ in range(2)]
    >>> [op.mask for op in turned(rows)[0]]
    [(0, 2), (1, 3)]
    """
    lanes, block = range(len(rows)), 1
    ops: list[vector.Shuffle] = []
    found = [*rows]
    while block < len(rows):
        is_last = 2 * block == len(rows)
        made = [columns[k] if columns and is_last else like(rows[0]) for k in lanes]
        for k in lanes:
            one, other = (k, k + block) if not k & block else (k - block, k)
            moved = k & block
            order = [j - block + moved + len(rows) if j & block else j + moved for j in lanes]
            ops.append(vector.Shuffle(made[k], found[one], found[other], tuple(order), location=rows[0].location))
        found, block = made, 2 * block
    return ops, found
