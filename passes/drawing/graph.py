"""The dependence graph of a block with its drawings."""

from __future__ import annotations

from affdsl.ir.dialects import func
from affdsl.ir.expr import Value
from affdsl.passes.analysis.dependence import Dependences
from affdsl.passes.analysis.graph import MemRefDependenceGraph, block_of
from affdsl.passes.drawing.diagram import Diagram, diagram
from affdsl.passes.drawing.dot import dot
from affdsl.passes.drawing.layout import DrawingError, layout
from affdsl.passes.drawing.png import png
from affdsl.passes.drawing.svg import svg


class DrawnGraph(MemRefDependenceGraph):
    """A `MemRefDependenceGraph` that draws itself."""

    def diagram(self, *, complete: bool = False) -> Diagram:
        """What a drawing shows: boxes and arrows with their words.

        Anti, output, free and order edges between nodes between which other arrows already lead by way of a third one
        are left out, and counted in a note, unless it is to be complete. So are nodes that only make buffers or values.
        """
        return diagram(self.function, self.nodes, self.edges, complete=complete)

    def to_dot(self, *, complete: bool = False) -> str:
        """The graph in the language of Graphviz."""
        return dot(self.diagram(complete=complete))

    def to_svg(self, *, complete: bool = False) -> str:
        """The graph as a drawing, layer by layer: the text of an SVG file."""
        return svg(layout(self.diagram(complete=complete)))

    def to_png(self, *, complete: bool = False) -> bytes:
        """The graph as the drawing of `to_svg`, in pixels. Raises DrawingError without matplotlib."""
        return png(layout(self.diagram(complete=complete)))

    def _repr_svg_(self) -> str | None:
        try:
            return self.to_svg()
        except DrawingError:  # nobody could read it: notebooks show the words then
            return None


def drawn_graph(function: func.Func, module: func.Module | None = None, loop: Value | str | None = None) -> DrawnGraph:
    """The graph of a block as `dependence_graph` gives it, with its drawings.

    Raises GraphError as that does.
    """
    return DrawnGraph(Dependences(function, module), block_of(function, loop))
