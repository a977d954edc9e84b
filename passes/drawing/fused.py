"""One picture of a function before and after its nests run as one: the graphs, and what lies between the nests."""

from __future__ import annotations

from dataclasses import replace

from affdsl.frozen import Frozen
from affdsl.ir.dialects import func
from affdsl.ir.expr import Value
from affdsl.passes.analysis.graph import MemRefDependenceGraph, block_of
from affdsl.passes.drawing.diagram import Diagram, diagram
from affdsl.passes.drawing.dot import dot_of_several
from affdsl.passes.drawing.layout import FONT, GAP_Y, INK, LINE, MARGIN, DrawingError, layout
from affdsl.passes.drawing.picture import ADVANCE, Picture, Shape, Text, moved
from affdsl.passes.drawing.png import png
from affdsl.passes.drawing.svg import svg
from affdsl.passes.optimize.figures import Goal
from affdsl.passes.optimize.fusion import Fusion, fusion
from affdsl.passes.optimize.program import Program
from affdsl.passes.optimize.storage import Extent, storage


class DrawnFusion(Frozen):
    """A fusion that draws itself: what was to the left, what came of it to the right, the storage below each.

    `loop` is the loop whose body is drawn, by its name; None for the body of the function.
    """

    fusion: Fusion
    loop: Value | str | None = None

    def diagrams(self, *, complete: bool = False) -> tuple[Diagram, Diagram]:
        """The graphs before and after."""
        before, after = (self._diagram(each, complete) for each in (self.fusion.start, self.fusion.program))
        return replace(before, name=f"{before.name} before"), replace(after, name=f"{after.name} after")

    def _diagram(self, program: Program, complete: bool) -> Diagram:
        graph = MemRefDependenceGraph(program.dependences, block_of(program.function, self.loop))
        return diagram(program.function, graph.nodes, graph.edges, complete=complete)

    def storage(self) -> tuple[list[str], list[str]]:
        """What the function makes for itself, before and after: a line for each array, and how much it is in all."""
        stored = storage(self.fusion)
        after = [(each.name, each.after) for each in stored if each.after is not None]
        return _lines([(each.name, each.before) for each in stored]), _lines(after)

    def to_svg(self, *, complete: bool = False) -> str:
        """The picture as the text of an SVG file."""
        return svg(self.picture(complete=complete))

    def to_png(self, *, complete: bool = False) -> bytes:
        """The picture in pixels. Raises DrawingError without matplotlib."""
        return png(self.picture(complete=complete))

    def to_dot(self, *, complete: bool = False) -> str:
        """Both graphs in the language of Graphviz, each in a frame with the storage."""
        both = zip(self.diagrams(complete=complete), self.storage(), strict=True)
        return dot_of_several(self.fusion.start.function.symbol, list(both))

    def picture(self, *, complete: bool = False) -> Picture:
        """The shapes of both graphs side by side, and of the storage below them."""
        left, right = map(layout, self.diagrams(complete=complete))
        stored = self.storage()
        bottom = max(left.height, right.height)
        wide = [
            max(picture.width, 2 * MARGIN + max(map(len, lines)) * FONT * ADVANCE)
            for picture, lines in zip((left, right), stored, strict=True)
        ]
        shapes: list[Shape] = [*left.shapes, *(moved(shape, wide[0]) for shape in right.shapes)]
        for x, lines in zip((0.0, wide[0]), stored, strict=True):
            for k, line in enumerate(lines):
                shapes.append(Text(x + MARGIN, bottom + LINE * (k + 1), line, FONT, INK, bold=k == 0))
        height = bottom + LINE * max(map(len, stored)) + GAP_Y
        return Picture(f"{left.title}, and after", sum(wide), height, tuple(shapes))

    def _repr_svg_(self) -> str | None:
        try:
            return self.to_svg()
        except DrawingError:  # nobody could read it: notebooks show the words then
            return None


def drawn_fusion(function: func.Func, module: func.Module, loop: Value | str | None = None) -> DrawnFusion:
    """What `kernel.fuse()` makes of a function, as a picture.

    Raises GraphError where the function has no such loop, or has none any more after it.
    """
    return DrawnFusion(fusion(function, module, Goal()), loop)


def _lines(stored: list[tuple[str, Extent]]) -> list[str]:
    total = sum(each.bytes for _, each in stored)
    return [f"storage: {total} bytes", *(f"{name}: {each.shape}, {each.bytes} bytes" for name, each in stored)]
