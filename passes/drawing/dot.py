"""A dependence graph in the language of Graphviz."""

from __future__ import annotations

from collections.abc import Sequence

from affdsl.passes.drawing.diagram import Arrow, Box, Diagram
from affdsl.passes.drawing.picture import printable
from affdsl.passes.drawing.style import STYLES


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
    note = [f"  label={_quoted(of.note)};"] if of.note else []
    return _digraph(of.name, [*_content(of), *note])


def dot_of_several(name: str, parts: Sequence[tuple[Diagram, Sequence[str]]]) -> str:
    """The text of a .dot file with several drawings beside each other, each in a frame with some lines of its own.

    >>> parts = [(Diagram(title, (Box(0, "for i", (), ()),), ()), ["3 bytes"]) for title in ("before", "after")]
    >>> print(*dot_of_several("f", parts).splitlines()[4:9], sep="\\n")
      subgraph cluster_0 {
        label="before\\l3 bytes\\l";
        p0_0 [label="0  for i\\l"];
      }
      subgraph cluster_1 {
    """
    lines: list[str] = []
    for k, (diagram, own) in enumerate(parts):
        inside = [f"  label={_left(diagram.name, *own)};", *_content(diagram, f"p{k}_")]
        lines += [f"  subgraph cluster_{k} {{", *(f"  {line}" for line in inside), "  }"]
    return _digraph(name, lines)


def _digraph(name: str, content: Sequence[str]) -> str:
    lines = [f"digraph {_quoted(name)} {{", "  rankdir=TB;"]
    lines.append('  node [shape=box, style="rounded,filled", fillcolor="#f7f9fb", fontname="monospace", fontsize=11];')
    lines.append('  edge [fontname="monospace", fontsize=10];')
    return "\n".join([*lines, *content, "}", ""])


def _content(of: Diagram, prefix: str = "") -> list[str]:
    """The boxes and arrows, each box called by its number with something before it."""
    boxes = [f"  {prefix}{box.id} [label={_box(box)}];" for box in of.boxes]
    return [*boxes, *(f"  {prefix}{a.source} -> {prefix}{a.sink} [{_arrow(a)}];" for a in of.arrows)]


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
