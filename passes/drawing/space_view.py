"""What a drawing of an iteration space shows: points with numbers, boxes around some, arrows, and words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias

from affdsl.frozen import Frozen, FrozenValue

Kind: TypeAlias = Literal["flow", "anti", "output"]
Place: TypeAlias = tuple[int, int]
"""The values of the outer and of the inner loop."""


class Arrow(FrozenValue):
    """That something in the iteration `sink` must run after something in the iteration `source`."""

    kind: Kind
    source: Place
    sink: Place

    def __str__(self) -> str:
        return f"{self.kind} {self.source} -> {self.sink}"


class View(Frozen):
    """Points by their places with the number of the step in which they run.

    `tiles` are the points in each box, `paths` the points that each line leads through, `notes` the words below.
    """

    title: str
    axes: tuple[str, str]
    numbers: Mapping[Place, int]
    tiles: tuple[tuple[Place, ...], ...] = ()
    arrows: tuple[Arrow, ...] = ()
    paths: tuple[tuple[Place, ...], ...] = ()
    notes: tuple[str, ...] = ()


def direct(places: Sequence[Place], arrows: Sequence[Arrow]) -> tuple[Arrow, ...]:
    """The arrows that do not follow from others by way of a third point; all of them where they make a circle.

    >>> a, b, c = (0, 0), (0, 1), (0, 2)
    >>> [str(arrow) for arrow in direct((a, b, c), (Arrow("flow", a, b), Arrow("flow", b, c), Arrow("anti", a, c)))]
    ['flow (0, 0) -> (0, 1)', 'flow (0, 1) -> (0, 2)']
    """
    after: dict[Place, set[Place]] = {place: set() for place in places}
    before: dict[Place, int] = dict.fromkeys(places, 0)
    for source, sink in {(arrow.source, arrow.sink) for arrow in arrows}:
        after[source].add(sink)
        before[sink] += 1
    in_order = [place for place in places if not before[place]]
    for place in in_order:  # which grows
        for sink in after[place]:
            before[sink] -= 1
            if not before[sink]:
                in_order.append(sink)
    if len(in_order) < len(places):
        return tuple(arrows)
    reached: dict[Place, set[Place]] = {}
    kept: set[tuple[Place, Place]] = set()
    for place in reversed(in_order):
        beyond = set[Place]().union(*(reached[sink] for sink in after[place]))
        kept.update((place, sink) for sink in after[place] - beyond)
        reached[place] = beyond | after[place]
    return tuple(arrow for arrow in arrows if (arrow.source, arrow.sink) in kept)
