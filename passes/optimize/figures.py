"""What a fusion of two nests costs and saves: computation, storage, and by way of which cache its data go."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field

from affdsl.frozen import Frozen, FrozenValue
from affdsl.ir.expr import Value
from affdsl.passes.analysis.graph import MemRefDependenceGraph, Node
from affdsl.passes.analysis.polyhedral import UnknownError
from affdsl.passes.optimize.program import Program
from affdsl.passes.transforms.fuse.costs import Costs, Evaluation, costs_of
from affdsl.passes.transforms.fuse.producers import Pair

USUAL_CACHES = (32 * 1024, 1024 * 1024)
"""Bytes of the caches of a machine that nobody asked, the nearest first."""


class Goal(FrozenValue):
    """What is aimed at.

    Attributes
    ----------
    sizes
        What the arguments of these names are taken to be; the others are taken to be as large as `costs.SIZE`.
    caches
        Bytes of the caches of the target, the nearest first.
    tolerance
        How much more may be computed, where rows cannot roll: 0.3 is 30 %.
    """

    sizes: Mapping[str, int] = field(default_factory=dict)
    caches: tuple[int, ...] = USUAL_CACHES
    tolerance: float = 0.3

    def numbers(self, program: Program) -> Mapping[Value, int]:
        """The sizes as values of a function."""
        return {arg: self.sizes[arg.hint] for arg in program.function.args if arg.hint in self.sizes}

    def level(self, bytes: int) -> str:
        """Where so many bytes stay until they are used again.

        >>> Goal(caches=(32768, 1 << 20)).level(50_000)
        'L2'
        """
        return next((f"L{k}" for k, size in enumerate(self.caches, 1) if bytes <= size), "memory")


class Figures(Frozen):
    """The figures of a producer and a consumer.

    Attributes
    ----------
    pair
        The two nests.
    costs
        Of both as they are.
    evaluations
        Of the producer's slice at each depth of the consumer, the deepest first.
    unknown
        Why there are no figures, by depth; by 0 if it holds for all depths.
    """

    pair: Pair
    costs: Costs
    evaluations: tuple[Evaluation, ...]
    unknown: Mapping[int, str]
    goal: Goal

    @property
    def apart(self) -> int:
        """How many bytes are touched between what is stored and where it is loaded, while the nests are apart."""
        return sum(self.costs.memory())

    def at(self, depth: int) -> Evaluation | None:
        """The figures of one depth."""
        return next((each for each in self.evaluations if each.depth == depth), None)

    def lines(self) -> Sequence[str]:
        """As text of the reference has them, with what goes by way of which cache."""
        found = [line for each in self.evaluations for line in str(each).splitlines()]
        found += [f"depth {depth}: {why}" if depth else why for depth, why in self.unknown.items()]
        level = self.goal.level(self.apart)
        return [*found, f"apart: {self.costs.region} bytes go by way of {level}, as both touch {self.apart} bytes"]


def figures_of(program: Program, graph: MemRefDependenceGraph, source: Node, sink: Node, goal: Goal) -> Figures:
    """The figures of two nests of a block."""
    pair = Pair(graph, source, sink, program.module)
    costs = costs_of(pair, goal.numbers(program))
    evaluations: list[Evaluation] = []
    unknown: dict[int, str] = {}
    if pair.obstacle:
        return Figures(pair, costs, (), {0: pair.obstacle}, goal)
    for depth in range(len(pair.loops), 0, -1):
        try:
            evaluations.append(costs.of(pair.candidate(depth)))
        except UnknownError as error:
            unknown[depth] = str(error)
    return Figures(pair, costs, tuple(evaluations), unknown, goal)
