"""Vectors of lanes of several others, and squares that are turned, by shuffles of two at a time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

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


def shuffled_together(
    wanted: Sequence[Sequence[Lane | None]], hints: Sequence[str] = ()
) -> tuple[list[vector.Shuffle], list[Value]]:
    """Shuffles that make several vectors of given lanes of others, as `shuffled` makes one, and the vectors.

    Where several are made of the same ones, what they want of two vectors is put side by side into one or two first,
    pair by pair, and then again: of four vectors at a stride of 4, eight shuffles make what one by one take twelve.

    >>> from affdsl.ir.types import FloatType, VectorType
    >>> rows = [Value(VectorType((4,), FloatType("f32"))) for _ in range(4)]
    >>> len(shuffled_together([[(row, k) for row in rows] for k in range(4)])[0])
    8
    """
    hints = hints or [""] * len(wanted)
    made = [shuffled(lanes, hint) for lanes, hint in zip(wanted, hints, strict=True)]
    alone = [op for ops, _ in made for op in ops]
    pairs, left = _by_pairs(wanted)
    if _sources(left) < _sources(wanted):
        ops, found = shuffled_together(left, hints)
        if len(pairs) + len(ops) < len(alone):
            return [*pairs, *ops], found
    return alone, [value for _, value in made]


def _sources(wanted: Sequence[Sequence[Lane | None]]) -> int:
    """How many vectors all of these are made of, each counted by itself."""
    return sum(len({lane[0] for lane in lanes if lane is not None}) for lanes in wanted)


def _by_pairs(wanted: Sequence[Sequence[Lane | None]]) -> tuple[list[vector.Shuffle], list[list[Lane | None]]]:
    """Shuffles of each two vectors that put side by side what is wanted of them, and where that lies then."""
    sources = [*dict.fromkeys(lane[0] for lanes in wanted for lane in lanes if lane is not None)]
    ops, moved = list[vector.Shuffle](), dict[tuple[int, Lane], Lane]()
    for one, other in zip(sources[::2], sources[1::2], strict=False):
        of = {one: 0, other: len(wanted[0])}
        for places in _side_by_side(wanted, of):
            order = [0] * len(wanted[0])
            made = like(one)
            for (target, lane), place in places.items():
                order[place] = of[lane[0]] + lane[1]
                moved[target, lane] = made, place
            ops.append(vector.Shuffle(made, one, other, tuple(order)))
    left = [[lane and moved.get((target, lane), lane) for lane in lanes] for target, lanes in enumerate(wanted)]
    return ops, left


def _side_by_side(
    wanted: Sequence[Sequence[Lane | None]], of: Mapping[Value, int]
) -> list[dict[tuple[int, Lane], int]]:
    """The lanes of some vectors that each target wants, in places of as few vectors as have them all.

    Those of one target are turned by one number of places, so that halves stay halves, or else lie where there is room.
    """
    width = len(wanted[0])
    places: list[dict[tuple[int, Lane], int]] = []
    free: list[set[int]] = []
    kept = [
        {(target, lane): k for k, lane in enumerate(lanes) if lane is not None and lane[0] in of}
        for target, lanes in enumerate(wanted)
    ]
    for _ in range(-(-sum(map(len, kept)) // width)):
        places.append({})
        free.append({*range(width)})
    left = list[dict[tuple[int, Lane], int]]()
    for lanes in sorted(kept, key=len, reverse=True):
        ways = ((into, by) for into in range(len(free)) for by in range(width))
        fits = (way for way in ways if free[way[0]].issuperset((k + way[1]) % width for k in lanes.values()))
        if (way := next(fits, None)) is None:
            left.append(lanes)
            continue
        into, by = way
        places[into] |= {lane: (k + by) % width for lane, k in lanes.items()}
        free[into].difference_update((k + by) % width for k in lanes.values())
    room = [(into, k) for into, empty in enumerate(free) for k in sorted(empty)]
    for lane, (into, k) in zip((lane for lanes in left for lane in lanes), room, strict=False):
        places[into][lane] = k
    return places


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
