"""A dependence graph in the language of Graphviz."""

from __future__ import annotations

from passes.drawing.diagram import Arrow, Box, Diagram
from passes.drawing.picture import printable
from passes.drawing.style import STYLES


def dot(of: Diagram) -> str:
    """The text of a .dot file: boxes from top to bottom, arrows by kind.

    >>> print(dot(Diagram("f", (Box(0, "for i", ("A[i] = 0",), ("writes A",)),), ())))
    digraph "f" {
      rankdir=TB;
      node [shape=box, style="rounded,filled", fillcolor="#f7f9fb", fontname="monospace", fontsize=11];
      edge [fontname="monospace", fontsize=10];
      0 [label="0  for i\\lA[i] = 0\\lwrites A\\l"];
    }
    <BLANKLINE>
    """
    lines = [f"digraph {_quoted(of.name)} {{", "  rankdir=TB;"]
    lines.append('  node [shape=box, style="rounded,filled", fillcolor="#f7f9fb", fontname="monospace", fontsize=11];')
    lines.append('  edge [fontname="monospace", fontsize=10];')
    lines += [f"  {box.id} [label={_box(box)}];" for box in of.boxes]
    lines += [f"  {arrow.source} -> {arrow.sink} [{_arrow(arrow)}];" for arrow in of.arrows]
    if of.note:
        lines.append(f"  label={_quoted(of.note)};")
    return "\n".join([*lines, "}", ""])


def _box(box: Box) -> str:
    place = f"  {box.place}" if box.place else ""
    return _left(f"{box.id}  {box.title}{place}", *box.lines, *box.touches)


def _arrow(arrow: Arrow) -> str:
    style = STYLES[arrow.kind]
    kind = [f"label={_left(*arrow.lines)}", f'color="{style.colour}"', f'fontcolor="{style.colour}"']
    kind.append(f"style={style.graphviz}")
    if arrow.is_carried:
        kind += ['arrowhead="vee"', "constraint=false"]
    return ", ".join(kind)


def _left(*lines: str) -> str:
    """Lines as one string, each set to the left."""
    return _quoted(*lines, end="\\l")


def _quoted(*lines: str, end: str = "") -> str:
    """A string in double quotes; what is special in one is escaped, so that a name never ends it."""
    return '"' + "".join(_escaped(printable(line)) + end for line in lines) + '"'


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')
