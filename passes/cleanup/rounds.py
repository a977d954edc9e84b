"""What is known at places, and rules on a graph, one after the other until nothing becomes simpler."""

from __future__ import annotations

from collections.abc import Callable

from affdsl.ir.core import Op
from affdsl.ir.dialects.func import Module
from affdsl.passes.cleanup.canonicalize.graph import Graph
from affdsl.passes.simplify import Context, rewrite_within

MOST_ROUNDS = 5
"""More than programs need: a round follows only where the one before made something simpler."""


def in_rounds(
    module: Module, within: Callable[[Op, Context], Op | tuple[()] | None], settle: Callable[[Graph], object]
) -> Module:
    """A module where each operation is as `within` makes it in its context, and `settle` then changes the graph."""
    for _ in range(MOST_ROUNDS):
        graph = Graph(rewrite_within(module, within))
        settle(graph)
        result = graph.result()
        assert isinstance(result, Module)
        if result is module:
            break
        module = result
    return module
