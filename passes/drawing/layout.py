"""Where everything in the drawing of a dependence graph stands: layers of boxes from top to bottom, and a legend."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from affdsl.errors import AffdslError, public
from affdsl.passes.drawing.diagram import Arrow, Box, Diagram
from affdsl.passes.drawing.layers import Vertex, place, ranks
from affdsl.passes.drawing.picture import ADVANCE, Curve, Picture, Point, Rectangle, Shape, Text, Triangle
from affdsl.passes.drawing.style import DISTANCES, STYLES, UNKNOWN

FONT, LABEL_FONT = 12.0, 10.5
LINE, LABEL_LINE = 16.0, 13.5
MOST_ARROWS = 1000
MARGIN, PADDING = 24.0, 10.0
GAP_X, GAP_Y = 22.0, 26.0
MOST_GAP = 60.0
"""How much wider the gap below a layer is at most, with one for each arrow through it."""
BETWEEN_PORTS = 22.0
LOOP = 26.0
"""How far the arrow from a box to itself reaches to the right."""
HEAD, HEAD_WIDTH = 8.0, 7.0
INK, FAINT, PAPER, EDGE = "#1b2733", "#5f6b7a", "#f7f9fb", "#9aa7b5"
WARNING_PAPER, WARNING_EDGE = "#fff6e5", "#c98a00"


@public
class DrawingError(AffdslError):
    """A drawing cannot be made, or not here.

    >>> import numpy as np, affdsl as af
    >>> N = af.symbols("N")
    >>> @af.kernel
    ... def chain(x: af.f64[N]):
    ...     with af.for_(1, N) as i:
    ...         x[i] = x[i - 1]
    >>> try:
    ...     chain.picture("i", "j", {"N": 4})
    ... except af.DrawingError as error:
    ...     print("none is called j" in str(error))
    True
    """


def layout(of: Diagram) -> Picture:
    """The shapes of a drawing. No box or label covers another, and no arrow crosses a box.

    Raises DrawingError where there are so many arrows that nobody could read it.
    """
    if len(of.arrows) > MOST_ARROWS:
        raise DrawingError(
            f"a drawing of {len(of.arrows)} arrows cannot be read: leave out those that follow from others, draw the "
            "body of one loop, or take the DOT or networkx form"
        )
    placed = _Placed(of)
    shapes = list(placed.shapes())
    right = max((b.vertex.x + b.vertex.right for b in placed.boxes), default=0.0)
    right = max([right, *(v.x + v.right for v in placed.vertices)])
    legend, width, height = _legend(of, MARGIN, placed.bottom + GAP_Y, max(right, 420.0))
    title = Text(MARGIN, MARGIN + 6, f"dependences of @{of.name}", 14.0, INK, bold=True)
    total = max(right, width, len(title.text) * 14 * ADVANCE)
    return Picture(title.text, total + 2 * MARGIN, height + MARGIN, (title, *shapes, *legend))


@dataclass(eq=False)
class _Placed:
    """The boxes and arrows of a diagram with their places; x counts from the left margin."""

    of: Diagram
    boxes: list[_Box] = field(init=False)
    routes: list[_Route] = field(init=False)
    vertices: list[Vertex] = field(init=False)
    tops: list[float] = field(init=False)
    bottoms: list[float] = field(init=False)

    def __post_init__(self) -> None:
        number = {box.id: k for k, box in enumerate(self.of.boxes)}
        loops = [a for a in self.of.arrows if a.source == a.sink]
        others = [a for a in self.of.arrows if a.source != a.sink]
        self.boxes = [_Box(box, [a for a in loops if a.source == box.id]) for box in self.of.boxes]
        ends = [(number[a.source], number[a.sink]) for a in others]
        rank = ranks(len(self.boxes), [(min(e), max(e)) for e in ends])
        for box, own in zip(self.boxes, rank, strict=True):
            box.vertex.layer = 2 * own
        self.vertices = [box.vertex for box in self.boxes]
        self.routes = []
        taken = [0.0] * (2 * max(rank, default=0) + 1)
        for arrow, (source, sink) in zip(others, ends, strict=True):
            route = _Route(arrow, self.boxes[min(source, sink)], self.boxes[max(source, sink)], source > sink)
            self.vertices += route.chain(taken)
            self.routes.append(route)
        self._place()

    def _place(self) -> None:
        layers = place(self.vertices, GAP_X)
        for vertex in self.vertices:
            vertex.x += MARGIN
        self.tops, self.bottoms = [], []
        y = MARGIN + 34
        for layer in layers:
            self.tops.append(y)
            y += max((v.height for v in layer), default=0.0)
            self.bottoms.append(y)
            y += GAP_Y + min(MOST_GAP, sum(len(v.below) for v in layer))
        for box in self.boxes:
            box.y = self.tops[box.vertex.layer]
            box.below = sorted((r for r in self.routes if r.upper is box), key=lambda r: r.vertices[0].x)
            box.above = sorted((r for r in self.routes if r.lower is box), key=lambda r: r.vertices[-1].x)

    @property
    def bottom(self) -> float:
        """Where the last layer ends."""
        return max([MARGIN + 34, *self.bottoms])

    def shapes(self) -> Iterator[Shape]:
        """Arrows first, then what stands on them."""
        for route in self.routes:
            yield from route.line(self.tops, self.bottoms)
        for route in self.routes:
            label = route.label
            middle = (self.tops[label.layer] + self.bottoms[label.layer]) / 2
            yield from _label(route.arrow, label.x, middle, label)
        for box in self.boxes:
            yield from box.shapes()


class _Box:
    """A node with its place; its vertex has room for arrows to itself on the right."""

    def __init__(self, box: Box, loops: Sequence[Arrow]) -> None:
        self.box = box
        self.loops = loops
        rows = [f"{box.id}  {box.title}  {box.place}", *box.lines, *box.touches]
        self.width = max(len(row) for row in rows) * FONT * ADVANCE + 2 * PADDING
        self.height = len(rows) * LINE + 2 * PADDING + (4 if len(rows) > 1 else 0)
        beside = [_label_size(arrow) for arrow in loops]
        self.loop_height = max((height for _, height in beside), default=0.0) + 8
        self.height = max(self.height, len(loops) * self.loop_height + 8)
        room = LOOP + max(width for width, _ in beside) + 6 if beside else 0.0
        self.vertex = Vertex(self.width / 2, self.width / 2 + room, self.height, is_box=True)
        self.y = 0.0
        self.above: list[_Route] = []
        self.below: list[_Route] = []

    def port(self, route: _Route) -> float:
        """Where a route leaves or enters: routes stand side by side in the order of where they come from and go."""
        routes = self.below if route.upper is self else self.above
        step = min(BETWEEN_PORTS, (self.width - 2 * PADDING) / max(len(routes), 1))
        return self.vertex.x + (routes.index(route) - (len(routes) - 1) / 2) * step

    def shapes(self) -> Iterator[Shape]:
        box, left, y = self.box, self.vertex.x - self.width / 2, self.y
        paper, edge = (WARNING_PAPER, WARNING_EDGE) if box.is_barrier else (PAPER, EDGE)
        yield from self._loops()
        yield Rectangle(left, y, self.width, self.height, paper, edge, 6.0)
        base = y + PADDING + FONT - 1
        yield Text(left + PADDING, base, f"{box.id}  {box.title}", FONT, INK, bold=True)
        if box.place:
            yield Text(left + self.width - PADDING, base, box.place, FONT - 1.5, FAINT, "end")
        base += 4
        for row in box.lines:
            base += LINE
            yield Text(left + PADDING, base, row, FONT, INK)
        for row in box.touches:
            base += LINE
            yield Text(left + PADDING, base, row, FONT - 1, FAINT)

    def _loops(self) -> Iterator[Shape]:
        """The arrows from the box to itself."""
        right, y = self.vertex.x + self.width / 2, self.y + 8
        for arrow in self.loops:
            style = STYLES[arrow.kind]
            high, low = y + 4, y + self.loop_height - 12
            far = right + LOOP
            yield Curve(
                (right, high), (((far, high), (far, low), (right + HEAD, low)),), style.colour, style.dashes, 1.5
            )
            yield Triangle(((right, low), (right + HEAD, low - HEAD_WIDTH / 2), (right + HEAD, low + HEAD_WIDTH / 2)),
                           style.colour)  # fmt: skip
            width, _ = _label_size(arrow)
            yield from _label(arrow, far + width / 2, (high + low) / 2, None)
            y += self.loop_height


class _Route:
    """An arrow between two boxes with the vertices that it passes, from top to bottom."""

    def __init__(self, arrow: Arrow, upper: _Box, lower: _Box, is_upward: bool) -> None:
        self.arrow = arrow
        self.upper, self.lower = upper, lower
        self.is_upward = is_upward
        self.vertices: list[Vertex] = []
        self.label = Vertex(0, 0, 0)

    def chain(self, taken: list[float]) -> list[Vertex]:
        """The new vertices: one in each layer between; the label stands where the layer has most room left."""
        first, last = self.upper.vertex.layer + 1, self.lower.vertex.layer
        width, height = _label_size(self.arrow)
        odd = range(first, last, 2)
        middle = (first + last - 1) / 2
        chosen = min(odd, key=lambda layer: (taken[layer], abs(layer - middle)))
        taken[chosen] += width + GAP_X
        for layer in range(first, last):
            if layer == chosen:
                vertex = self.label = Vertex(width / 2, width / 2, height, layer)
            else:
                vertex = Vertex(0.0, 0.0, 0.0, layer)
            self.vertices.append(vertex)
        every = [self.upper.vertex, *self.vertices, self.lower.vertex]
        for vertex in self.vertices:
            vertex.chain = every
        for above, below in pairwise(every):
            above.below.append(below)
            below.above.append(above)
        return self.vertices

    def line(self, tops: Sequence[float], bottoms: Sequence[float]) -> Iterator[Shape]:
        """The line and its head: straight down through the layers, curved between them."""
        style = STYLES[self.arrow.kind]
        start_x, end_x = self.upper.port(self), self.lower.port(self)
        start: Point = (start_x, self.upper.y + self.upper.height + (HEAD if self.is_upward else 0))
        pieces: list[tuple[Point, ...]] = []
        x, y = start_x, bottoms[self.upper.vertex.layer]
        if y > start[1]:
            pieces.append(((x, y),))
        else:
            y = start[1]
        for vertex in self.vertices:
            pieces.append(_bend((x, y), (vertex.x, tops[vertex.layer])))
            x, y = vertex.x, bottoms[vertex.layer]
            if y > tops[vertex.layer]:
                pieces.append(((x, y),))
        end: Point = (end_x, self.lower.y - (0 if self.is_upward else HEAD))
        pieces.append(_bend((x, y), end))
        yield Curve(start, tuple(pieces), style.colour, style.dashes, 2.0 if self.arrow.is_carried else 1.5)
        yield _head(start if self.is_upward else end, -HEAD if self.is_upward else HEAD, style.colour)


def _bend(start: Point, end: Point) -> tuple[Point, ...]:
    if abs(start[0] - end[0]) < 0.05:
        return (end,)
    middle = (start[1] + end[1]) / 2
    return ((start[0], middle), (end[0], middle), end)


def _head(base: Point, length: float, colour: str) -> Triangle:
    x, y = base
    return Triangle(((x, y + length), (x - HEAD_WIDTH / 2, y), (x + HEAD_WIDTH / 2, y)), colour)


def _label_size(arrow: Arrow) -> tuple[float, float]:
    wide = max((len(line) for line in arrow.lines), default=0)
    return wide * LABEL_FONT * ADVANCE + 8, len(arrow.lines) * LABEL_LINE + 4


def _label(arrow: Arrow, x: float, middle: float, over: Vertex | None) -> Iterator[Shape]:
    """The words of an arrow around a point; on white where they stand over the line."""
    width, height = _label_size(arrow)
    top = middle - height / 2
    if over is not None:
        yield Rectangle(x - width / 2, top, width, height, "#ffffff")
    for k, line in enumerate(arrow.lines):
        base = top + 2 + LABEL_LINE * (k + 1) - 3.5
        yield Text(x, base, line, LABEL_FONT, STYLES[arrow.kind].colour, "middle")


def _legend(of: Diagram, left: float, top: float, width: float) -> tuple[list[Shape], float, float]:
    """What the kinds that occur look like and mean, from left to right in rows; with its width and where it ends."""
    shapes: list[Shape] = []
    x, y, right = left, top + LINE, 0.0
    used = {arrow.kind for arrow in of.arrows}
    for kind in (k for k in STYLES if k in used):
        style = STYLES[kind]
        wide = 40 + len(style.meaning) * LABEL_FONT * ADVANCE + GAP_X
        if x > left and x + wide > left + width:
            x, y = left, y + LINE
        shapes.append(Curve((x, y - 4), (((x + 26, y - 4),),), style.colour, style.dashes))
        shapes.append(Triangle(((x + 32, y - 4), (x + 25, y - 7.5), (x + 25, y - 0.5)), style.colour))
        shapes.append(Text(x + 40, y, style.meaning, LABEL_FONT, style.colour))
        x += wide
        right = max(right, x - left)
    notes = []
    if any("(" in line for arrow in of.arrows for line in arrow.lines):
        notes.append(DISTANCES)
    if any(not arrow.is_exact for arrow in of.arrows):
        notes.append(UNKNOWN)
    for note in (*notes, *([of.note] if of.note else [])):
        y += LINE if shapes else 0.0
        shapes.append(Text(left, y, note, LABEL_FONT, FAINT))
        right = max(right, len(note) * LABEL_FONT * ADVANCE)
    return shapes, right, y
