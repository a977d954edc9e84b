"""The colour and the dashes of each kind of edge: either alone tells them apart."""

from __future__ import annotations

from collections.abc import Mapping

from affdsl.frozen import FrozenValue
from affdsl.passes.analysis.nodes import EdgeKind


class Style(FrozenValue):
    """How the arrows of one kind are drawn, what Graphviz calls it, and what the legend says."""

    colour: str
    dashes: tuple[int, ...]
    graphviz: str
    meaning: str


STYLES: Mapping[EdgeKind, Style] = {
    "flow": Style("#0b5fa5", (), "solid", "flow: reads what was written"),
    "anti": Style("#c2410c", (7, 4), "dashed", "anti: overwrites what was read"),
    "output": Style("#7b3294", (2, 3), "dotted", "output: overwrites what was written"),
    "free": Style("#7c5a00", (10, 3, 2, 3), "dashed", "free: the buffer ends"),
    "value": Style("#5f6b7a", (1, 2), "dotted", "value: uses what was computed"),
    "order": Style("#111111", (14, 5), "dashed", "order: nothing is known of either"),
}
UNKNOWN = "?: may be there, which counts as a dependence"
DISTANCES = "(0, 1, *): how much larger each loop is at the sink, the outermost first"
