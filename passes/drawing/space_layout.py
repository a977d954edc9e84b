"""Where everything in the drawing of an iteration space stands: a grid of points with arrows, axes, and a legend."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from affdsl.frozen import FrozenValue
from affdsl.passes.drawing.layout import EDGE, FAINT, INK, DrawingError
from affdsl.passes.drawing.picture import ADVANCE, Curve, Picture, Point, Rectangle, Shape, Text, Triangle
from affdsl.passes.drawing.space_view import Arrow, Place, View
from affdsl.passes.drawing.style import STYLES
from affdsl.passes.drawing.summary import wrap

CELL = 44.0
"""From one point to the next."""
RADIUS = 9.0
MARGIN, TITLE, FONT, LINE = 24.0, 14.0, 10.5, 16.0
NUMBER = 8.5
HEAD, HEAD_WIDTH = 7.0, 6.0
BETWEEN, WIDEST = 6.0, 14.0
"""How far arrows between the same two points are apart, and all of them together at most."""
BEND = 0.35
"""How far an arrow over other points is bent aside, in cells."""
MOST_POINTS, MOST_CELLS, MOST_ARROWS = 500, 60, 2500
TILE = 0.44
"""How far a box reaches beyond its points, in cells."""
ORDER = "#dfe5ec"
RAMP = ((255, 247, 188), (65, 171, 120), (10, 61, 82))
"""The colours of the first step, of one in the middle, and of the last."""
LEGEND = 430.0
"""How wide the legend may be in a small drawing."""


def space_layout(of: View) -> Picture:
    """The shapes of a drawing. Raises DrawingError where nobody could read it."""
    if len(of.numbers) > MOST_POINTS:
        raise DrawingError(
            f"a drawing of {len(of.numbers)} points cannot be read: take sizes with at most {MOST_POINTS}"
        )
    if len(of.arrows) > MOST_ARROWS:
        raise DrawingError(
            f"a drawing of {len(of.arrows)} arrows cannot be read: leave out those that follow from others, hold other "
            "loops at one iteration, or take smaller sizes"
        )
    grid = _grid(of)
    title = Text(MARGIN, MARGIN + 6, of.title, TITLE, INK, bold=True)
    width = max(grid.right, MARGIN + LEGEND, MARGIN + len(of.title) * TITLE * ADVANCE)
    legend, bottom = _legend(of, grid.bottom + 30, width - MARGIN)
    shapes = [title, *_axes(of, grid)]
    shapes += [_outline(tile, grid) for tile in of.tiles]
    for path in of.paths:
        shapes += [Curve(a, ((b,),), ORDER, width=5.0) for a, b in pairwise(map(grid.at, path))]
    shapes += _arrows(of, grid)
    shapes += _points(of, grid)
    return Picture(of.title, width + MARGIN, bottom + MARGIN, (*shapes, *legend))


class _Axis(FrozenValue):
    """The places along one axis: numbers from `low` to `high`, `unit` from one cell to the next, from `start` on."""

    low: int
    high: int
    unit: int
    start: float

    def at(self, number: int) -> float:
        return self.start + (number - self.low) / self.unit * CELL

    @property
    def cells(self) -> int:
        return (self.high - self.low) // self.unit

    @property
    def ticks(self) -> range:
        """The numbers that are written, not more than about 30."""
        return range(self.low, self.high + 1, self.unit * (1 + self.cells // 30))


class _Grid(FrozenValue):
    """The outer loop downward, the inner one to the right."""

    down: _Axis
    right_: _Axis

    def at(self, place: Place) -> Point:
        return self.right_.at(place[1]), self.down.at(place[0])

    @property
    def right(self) -> float:
        return self.right_.at(self.right_.high) + CELL / 2

    @property
    def bottom(self) -> float:
        return self.down.at(self.down.high) + CELL / 2


def _grid(of: View) -> _Grid:
    down, right = ([place[k] for place in of.numbers] for k in range(2))
    widest = max((len(str(number)) for number in down), default=1)
    left = MARGIN + 34 + max(widest, len(of.axes[0])) * FONT * ADVANCE
    grid = _Grid(_axis(down, MARGIN + 76), _axis(right, left + CELL / 2))
    for name, axis in zip(of.axes, (grid.down, grid.right_), strict=True):
        if axis.cells > MOST_CELLS:
            raise DrawingError(
                f"a drawing with {axis.cells + 1} places for {name} cannot be read: take sizes with at most "
                f"{MOST_CELLS + 1}"
            )
    return grid


def _axis(numbers: Sequence[int], start: float) -> _Axis:
    known = sorted(set(numbers)) or [0]
    unit = math.gcd(*(b - a for a, b in pairwise(known))) or 1
    return _Axis(known[0], known[-1], unit, start)


def _axes(of: View, grid: _Grid) -> Iterator[Shape]:
    """The names of the loops, an arrow along each, and the numbers."""
    left, top = grid.right_.start - CELL / 2, grid.down.start - CELL / 2
    across = ((left, top), (grid.right + 10, top))
    along = ((left, top), (left, grid.bottom + 10))
    for start, end in (across, along):
        yield Curve(start, ((end,),), EDGE, width=1.0)
        yield _head(start, end, EDGE)
    for number in grid.right_.ticks:
        yield Text(grid.right_.at(number), top - 6, str(number), FONT, FAINT, "middle")
    for number in grid.down.ticks:
        yield Text(left - 6, grid.down.at(number) + 4, str(number), FONT, FAINT, "end")
    yield Text((left + grid.right) / 2, top - 22, of.axes[1], FONT + 2, INK, "middle", bold=True)
    yield Text(MARGIN, (top + grid.bottom) / 2 + 4, of.axes[0], FONT + 2, INK, bold=True)


def _points(of: View, grid: _Grid) -> Iterator[Shape]:
    last = max(of.numbers.values(), default=0)
    for place, number in of.numbers.items():
        x, y = grid.at(place)
        share = number / last if last else 0.0
        paper, ink = _colour(share)
        yield Rectangle(x - RADIUS, y - RADIUS, 2 * RADIUS, 2 * RADIUS, paper, INK, RADIUS)
        size = NUMBER if number < 100 else NUMBER - 2
        yield Text(x, y + size * 0.35, str(number), size, ink, "middle")


def _colour(share: float) -> tuple[str, str]:
    """What a point is filled with, and what is readable on it."""
    start, end = (RAMP[0], RAMP[1]) if share < 0.5 else (RAMP[1], RAMP[2])
    part = share * 2 % 1 if share < 1 else 1.0
    mixed = [round(a + (b - a) * part) for a, b in zip(start, end, strict=True)]
    is_dark = mixed[0] * 0.299 + mixed[1] * 0.587 + mixed[2] * 0.114 < 110
    return "#" + "".join(f"{each:02x}" for each in mixed), "#ffffff" if is_dark else INK


def _outline(tile: Iterable[Place], grid: _Grid) -> Curve:
    """The smallest convex outline around the cells of some points."""
    reach = TILE * CELL
    corners = {
        (x + dx, y + dy) for x, y in map(grid.at, tile) for dx in (-reach, reach) for dy in (-reach, reach)
    }  # fmt: skip
    first, *rest = _hull(corners)
    return Curve(first, (*((point,) for point in rest), (first,)), EDGE, width=1.5)


def _hull(points: Iterable[Point]) -> list[Point]:
    """The corners of the convex hull, one after the other."""
    ordered = sorted(points)
    found: list[Point] = []
    for way in (ordered, ordered[::-1]):
        side: list[Point] = []
        for point in way:
            while len(side) > 1 and _turn(side[-2], side[-1], point) <= 0:
                side.pop()
            side.append(point)
        found += side[:-1]
    return found


def _turn(a: Point, b: Point, c: Point) -> float:
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def _arrows(of: View, grid: _Grid) -> Iterator[Shape]:
    """Those between the same two points, in either direction, stand beside each other."""
    between: dict[tuple[Place, Place], list[Arrow]] = {}
    for arrow in of.arrows:
        first, last = sorted((arrow.source, arrow.sink))
        between.setdefault((first, last), []).append(arrow)
    places = [grid.at(place) for place in of.numbers]
    kinds = list(STYLES)
    for (one, other), arrows in between.items():
        start, end = grid.at(one), grid.at(other)
        bend = BEND * CELL if any(_is_over(start, end, place) for place in places) else 0.0
        apart = min(BETWEEN, WIDEST / max(1, len(arrows) - 1))
        arrows.sort(key=lambda arrow: (arrow.source != one, kinds.index(arrow.kind)))
        for k, arrow in enumerate(arrows):
            aside = (k - (len(arrows) - 1) / 2) * apart
            if arrow.source == one:
                yield from _arrow(arrow, start, end, aside, bend)
            else:
                yield from _arrow(arrow, end, start, -aside, -bend)


def _arrow(arrow: Arrow, start: Point, end: Point, aside: float, bend: float) -> Iterator[Shape]:
    """An arrow that is straight, or bent; `aside` of the line between the middles, in its direction to the right."""
    style = STYLES[arrow.kind]
    length = math.dist(start, end)
    along = (end[0] - start[0]) / length, (end[1] - start[1]) / length
    across = -along[1], along[0]
    if not bend:
        inside = math.sqrt(RADIUS**2 - aside**2)  # so that it begins and ends at the edge of the points
        first = _moved(start, along, inside + 1, across, aside)
        last = _moved(end, along, -inside - 1, across, aside)
        yield Curve(first, ((_moved(last, along, -HEAD + 1),),), style.colour, style.dashes, 1.4)
        yield _head(first, last, style.colour)
        return
    far, reach = min(length / 3, CELL), (bend + aside) * 4 / 3
    out, back = _moved(start, along, far, across, reach), _moved(end, along, -far, across, reach)
    first, last = _towards(start, out, RADIUS + 1), _towards(end, back, RADIUS + 1)
    neck = _towards(last, back, HEAD - 1)
    yield Curve(first, ((out, back, neck),), style.colour, style.dashes, 1.4)
    yield _head(neck, last, style.colour)


def _is_over(start: Point, end: Point, place: Point) -> bool:
    """Whether a straight line between two points runs over a third one."""
    if place in (start, end):
        return False
    length = math.dist(start, end)
    share = ((place[0] - start[0]) * (end[0] - start[0]) + (place[1] - start[1]) * (end[1] - start[1])) / length**2
    return 0 < share < 1 and abs(_turn(start, end, place)) / length < RADIUS + 2


def _moved(point: Point, along: Point, far: float, across: Point = (0.0, 0.0), aside: float = 0.0) -> Point:
    return point[0] + along[0] * far + across[0] * aside, point[1] + along[1] * far + across[1] * aside


def _towards(point: Point, other: Point, far: float) -> Point:
    length = math.dist(point, other)
    return _moved(point, ((other[0] - point[0]) / length, (other[1] - point[1]) / length), far)


def _head(start: Point, end: Point, colour: str) -> Triangle:
    """The head of an arrow that comes from start."""
    length = math.dist(start, end)
    along = (end[0] - start[0]) / length, (end[1] - start[1]) / length
    across = -along[1], along[0]
    sides = (_moved(end, along, -HEAD, across, side * HEAD_WIDTH / 2) for side in (1, -1))
    return Triangle((end, *sides), colour)  # type: ignore[arg-type]


def _legend(of: View, top: float, width: float) -> tuple[list[Shape], float]:
    """A line for each kind of arrow that occurs, then the notes; and where it ends."""
    shapes: list[Shape] = []
    y = top + LINE
    used = {arrow.kind for arrow in of.arrows}
    for kind in (kind for kind in STYLES if kind in used):
        style = STYLES[kind]
        shapes.append(Curve((MARGIN, y - 4), (((MARGIN + 26, y - 4),),), style.colour, style.dashes))
        shapes.append(_head((MARGIN, y - 4), (MARGIN + 33, y - 4), style.colour))
        shapes.append(Text(MARGIN + 40, y, style.meaning, FONT, style.colour))
        y += LINE
    if of.paths:
        shapes.append(Curve((MARGIN, y - 4), (((MARGIN + 33, y - 4),),), ORDER, width=5.0))
        shapes.append(Text(MARGIN + 40, y, "the order in which the points run", FONT, FAINT))
        y += LINE
    for note in of.notes:
        for line in wrap(note, int(width / (FONT * ADVANCE))):
            shapes.append(Text(MARGIN, y, line, FONT, FAINT))
            y += LINE
    return shapes, y - LINE
