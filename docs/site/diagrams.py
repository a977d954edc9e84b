"""Graphs that pages give in the language of Mermaid, drawn when the site is built: no script has to be loaded."""

import re
from html import escape
from itertools import pairwise

import networkx
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform

CHARACTER, HEIGHT, GAP_X, GAP_Y, PADDING, MARGIN = 8.0, 30.0, 28.0, 44.0, 12.0, 4.0
ARROW = re.compile(r"\s+(\S+) --> (\S+)")


class Diagrams(SphinxTransform):
    """A block of Mermaid becomes a drawing."""

    default_priority = 400

    def apply(self, **_: object) -> None:
        """Change the blocks of this page."""
        for block in list(self.document.findall(nodes.literal_block)):
            if block.get("language") == "mermaid":
                block.replace_self(nodes.raw("", svg(block.astext()), format="html"))


def svg(text: str) -> str:
    """The drawing of `graph TD` with an arrow `a --> b` on each line: whatever has an arrow stands above its target.

    Raises ValueError for anything else of Mermaid.

    >>> svg("graph TD\\n    a --> b").count("<rect")
    2
    >>> svg("pie\\n    a --> b")
    Traceback (most recent call last):
    ValueError: of Mermaid, only `graph TD` with arrows is drawn, not: pie
    """
    first, *lines = text.strip().splitlines()
    arrows = [ARROW.fullmatch(line) for line in lines]
    wrong = [first] * (first != "graph TD") + [
        line for line, arrow in zip(lines, arrows, strict=True) if arrow is None and not re.fullmatch(r"\s+\S+", line)
    ]
    if wrong:
        raise ValueError(f"of Mermaid, only `graph TD` with arrows is drawn, not: {wrong[0]}")
    graph = networkx.DiGraph([(arrow[1], arrow[2]) for arrow in arrows if arrow is not None])
    graph.add_nodes_from(line.strip() for line, arrow in zip(lines, arrows, strict=True) if arrow is None)
    return _drawn(graph)


def _drawn(graph: "networkx.DiGraph[str]") -> str:
    # From the bottom, so that each stands right above what it leads to.
    layers = [sorted(layer) for layer in networkx.topological_generations(graph.reverse())][::-1]
    for above, layer in pairwise(layers):
        # Below what leads to it, on the average.
        places = {name: place for place, name in enumerate(above)}
        layer.sort(key=lambda name: _mean([places[a] for a in graph.predecessors(name) if a in places]))
    widths = [sum(map(_width, layer)) + GAP_X * (len(layer) - 1) for layer in layers]
    whole, shapes, middles = max(widths), [], {}
    for depth, (layer, width) in enumerate(zip(layers, widths, strict=True)):
        x, y = MARGIN + (whole - width) / 2, MARGIN + depth * (HEIGHT + GAP_Y)
        for name in layer:
            middle = x + _width(name) / 2
            middles[name] = middle, y
            shapes.append(
                f'<rect x="{x:.0f}" y="{y:.0f}" width="{_width(name):.0f}" height="{HEIGHT:.0f}" rx="5"/>'
                f'<text x="{middle:.0f}" y="{y + HEIGHT / 2 + 5:.0f}">{escape(name)}</text>'
            )
            x += _width(name) + GAP_X
    lines = []
    for source, target in graph.edges:
        (x1, top), (x2, y2) = middles[source], middles[target]
        y1, half = top + HEIGHT, (y2 - top - HEIGHT) / 2
        curve = f"{x1:.0f},{y1 + half:.0f} {x2:.0f},{y2 - half - 7:.0f} {x2:.0f},{y2 - 7:.0f}"
        lines.append(
            f'<path d="M{x1:.0f},{y1:.0f} C{curve}"/>'
            f'<polygon points="{x2 - 4:.0f},{y2 - 8:.0f} {x2 + 4:.0f},{y2 - 8:.0f} {x2:.0f},{y2:.0f}"/>'
        )
    width, height = whole + 2 * MARGIN, len(layers) * (HEIGHT + GAP_Y) - GAP_Y + 2 * MARGIN
    return (
        f'<svg class="diagram" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" '
        f'width="{width:.0f}" role="img"><title>An arrow goes to what is imported</title>'
        f"{''.join(lines)}{''.join(shapes)}</svg>"
    )


def _width(name: str) -> float:
    return len(name) * CHARACTER + 2 * PADDING


def _mean(numbers: list[int]) -> float:
    return sum(numbers) / len(numbers) if numbers else 0.0


def setup(app: Sphinx) -> dict[str, bool]:
    """Draw what pages give in the language of Mermaid."""
    app.add_transform(Diagrams)
    return {"parallel_read_safe": True}
