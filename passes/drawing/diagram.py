"""What a drawing of a dependence graph says: boxes and arrows with their words, wherever they will stand."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from affdsl.frozen import FrozenValue
from affdsl.ir.dialects import func
from affdsl.ir.types import MemRefType
from affdsl.passes.analysis.dependence import Distance
from affdsl.passes.analysis.nodes import Edge, EdgeKind, Node
from affdsl.passes.analysis.storage import Buffer
from affdsl.passes.drawing.summary import OpSummaries, wrap

LABEL = 26
"""How many characters a line beside an arrow has at most."""
MOST_ARROWS = 150
"""Where more arrows are left, those of flow that follow from others are left out too."""
FARTHEST = 9
"""Distances in a wider range than from -FARTHEST to FARTHEST are shown as *: they vary."""


class Box(FrozenValue):
    """One node: its number, a title, what it does, the buffers that it touches, and where it was written."""

    id: int
    title: str
    lines: tuple[str, ...]
    touches: tuple[str, ...]
    place: str = ""
    is_barrier: bool = False


class Arrow(FrozenValue):
    """All edges of one kind from one box to another, which one loop carries or none: with what is said of each."""

    source: int
    sink: int
    kind: EdgeKind
    lines: tuple[str, ...]
    is_exact: bool = True
    is_carried: bool = False


class Diagram(FrozenValue):
    """Boxes in the order of the program, arrows in that of their sources and sinks, and what is not shown."""

    name: str
    boxes: tuple[Box, ...]
    arrows: tuple[Arrow, ...]
    note: str = ""


def diagram(function: func.Func, nodes: Sequence[Node], edges: Sequence[Edge], *, complete: bool = False) -> Diagram:
    """The words of a graph.

    Unless it is complete, some things are only counted in its note: nodes that make buffers and values of nothing that
    memory holds; and arrows, but for flow, value and carried ones, where other arrows lead the same way by way of a
    third box (where very many are left, flow and value ones too). That a node uses a buffer is said only where nothing
    else connects it with the node that makes it.
    """
    words = _Words(function)
    shown = set(nodes) if complete else _shown(nodes, edges)
    groups: dict[tuple[Node, Node, EdgeKind, object], list[Edge]] = {}
    for edge in edges:
        if edge.source in shown and edge.sink in shown:
            groups.setdefault((edge.source, edge.sink, edge.kind, edge.loop), []).append(edge)
    arrows = list(groups.values())
    if not complete:
        arrows = [some for some in map(_without_buffers, arrows, [arrows] * len(arrows)) if some]
    needed = arrows if complete else _needed(arrows)
    boxes = tuple(words.box(node) for node in nodes if node in shown)
    note = _note(len(nodes) - len(shown), len(arrows) - len(needed))
    return Diagram(function.symbol, boxes, tuple(map(words.arrow, needed)), note)


def distances_text(distances: Sequence[Distance]) -> str:
    """Distances as a vector: a number, a short range, or * where it varies.

    >>> distances_text([Distance(0, 0), Distance(-1, 1), Distance(None, 5)])
    '(0, -1..1, *)'
    """
    return f"({', '.join(map(_distance, distances))})" if distances else ""


def _distance(distance: Distance) -> str:
    low, high = distance.low, distance.high
    if low is not None and low == high:
        return str(low)
    if low is None or high is None or max(abs(low), abs(high)) > FARTHEST:
        return "*"
    return f"{low}..{high}"


def _shown(nodes: Iterable[Node], edges: Iterable[Edge]) -> set[Node]:
    """The nodes that touch memory, may do anything or hold others, and those that use a value of one of them."""
    found = {n for n in nodes if n.accesses or n.barrier or next(n.op.blocks(), None) is not None}
    for edge in edges:  # in the order of their sources, and a source comes before its sinks
        if edge.kind == "value" and edge.source in found:
            found.add(edge.sink)
    return found


def _without_buffers(arrow: list[Edge], arrows: Sequence[list[Edge]]) -> list[Edge]:
    """The edges of an arrow but for those that say that a buffer is used, where another arrow goes the same way."""
    first = arrow[0]
    if first.kind != "value":
        return arrow
    if not any(other[0].source is first.source and other[0].sink is first.sink for other in arrows if other != arrow):
        return arrow
    return [e for e in arrow if e.value is None or not isinstance(e.value.type, MemRefType)]


def _needed(arrows: Sequence[list[Edge]]) -> list[list[Edge]]:
    """The arrows but for those that others imply."""
    after: dict[Node, set[Node]] = {}
    for first, *_ in arrows:
        if not first.is_carried:
            after.setdefault(first.source, set()).add(first.sink)
    reached: dict[Node, set[Node]] = {}
    for source in sorted(after, key=lambda node: -node.id):  # a sink has a higher number than its source
        reached[source] = after[source].union(*(reached.get(sink, set()) for sink in after[source]))

    def is_implied(edge: Edge) -> bool:
        between = after[edge.source] - {edge.sink}
        return any(edge.sink in reached.get(third, ()) for third in between)

    kept = ("flow", "value")
    few = [some for some in arrows if some[0].kind in kept or some[0].is_carried or not is_implied(some[0])]
    if len(few) <= MOST_ARROWS:
        return few
    return [some for some in few if some[0].is_carried or not is_implied(some[0])]


def _note(nodes: int, arrows: int) -> str:
    parts = []
    if nodes:
        parts.append(f"{nodes} {'operation that only makes a buffer or value' if nodes == 1 else _MAKERS}")
    if arrows:
        parts.append(f"{arrows} {'arrow that follows' if arrows == 1 else 'arrows that follow'} from others")
    return f"not shown: {', '.join(parts)}" if parts else ""


_MAKERS = "operations that only make buffers or values"


class _Words:
    """Says what the nodes and edges of one function are."""

    def __init__(self, function: func.Func) -> None:
        self.summaries = OpSummaries(function)

    def box(self, node: Node) -> Box:
        title, lines = self.summaries.of(node.op)
        touches = []
        for word, buffers in (("reads", node.reads), ("writes", node.writes), ("frees", _buffers_freed(node))):
            if buffers:
                touches += wrap(f"{word} {', '.join(map(self.buffer, buffers))}")
        if node.barrier:
            touches += wrap(node.barrier)
        at = node.op.location
        place = at.brief if at is not None and at.line > 0 else ""
        return Box(node.id, title, lines, tuple(touches), place, bool(node.barrier))

    def arrow(self, edges: Sequence[Edge]) -> Arrow:
        """What is said of edges that differ in their buffers or values only: those with the same distances at once."""
        first = edges[0]
        by_distance: dict[str, list[Edge]] = {}
        for edge in edges:
            distance = "" if edge.kind in ("free", "value") else distances_text(edge.distances)
            unknown = "?" if edge.unknown else ""
            by_distance.setdefault(f"{distance} {unknown}".strip(), []).append(edge)
        text = [f"{', '.join(self.what(some))} {distance}".strip() for distance, some in by_distance.items()]
        lines = wrap(f"{first.kind} {text[0]}".strip(), LABEL)
        lines += [part for line in text[1:] for part in wrap(line, LABEL)]
        if first.loop is not None:
            lines.append(f"carried by {self.summaries.words.name(first.loop)}")
        is_exact = all(edge.is_exact for edge in edges)
        return Arrow(first.source.id, first.sink.id, first.kind, tuple(lines), is_exact, first.is_carried)

    def what(self, edges: Sequence[Edge]) -> list[str]:
        """The buffers or values of some edges; `A/B` where a buffer is called B at the sink and A at the source."""
        sources: dict[str, dict[str, None]] = {}
        for edge in edges:
            if edge.value is not None:
                sources[self.summaries.words.name(edge.value)] = {}
            elif edge.buffer is not None:
                names = {self.buffer(d.source.buffer): None for d in edge.dependences}
                sources.setdefault(self.buffer(edge.buffer), {}).update(names)
        return [f"{next(iter(of))}/{sink}" if len(of) == 1 and sink not in of else sink for sink, of in sources.items()]

    def buffer(self, buffer: Buffer) -> str:
        return buffer.name if buffer.kind == "global" else self.summaries.words.name(buffer.root)


def _buffers_freed(node: Node) -> tuple[Buffer, ...]:
    return tuple(dict.fromkeys(access.buffer for access in node.frees))
