"""What rules of the canonicalizer give and take: the vocabulary that the tables of all dialects share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from affdsl.frozen import FrozenValue, field
from affdsl.ir.core import Op
from affdsl.ir.expr import Value
from affdsl.passes.cleanup.canonicalize.graph import Graph, OpNode, Payload


class Known(FrozenValue):
    """A result that is a constant."""

    payload: Payload


Folded: TypeAlias = "Value | Known | None"
"""What an operation with one result folds to: another value, a constant, or nothing."""
Fold: TypeAlias = Callable[[Graph, Any], Folded]
"""(graph, operation) -> what its one result is."""
Rule: TypeAlias = Callable[[Graph, OpNode, Any], bool]
"""(graph, node, its operation) -> whether it changed the graph."""


class Rules(FrozenValue):
    """The rules of some dialect, by class of operations; folds come before rules, both in order."""

    folds: Mapping[type[Op], Fold] = field(default_factory=dict)
    rules: Mapping[type[Op], Sequence[Rule]] = field(default_factory=dict)
