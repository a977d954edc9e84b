"""mlir-opt's choice of what to fuse: producers into their consumers, as deep as redundant computation allows."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import TypeAlias

from affdsl.frozen import FrozenValue
from affdsl.ir.core import Block, Op
from affdsl.ir.dialects import affine, scf
from affdsl.ir.dialects.func import Func, Module
from affdsl.ir.expr import Value
from affdsl.ir.traverse import rewrite, walk
from affdsl.mlir.naming import names_of
from affdsl.passes.analysis.dependence import Dependences, unwarned
from affdsl.passes.analysis.graph import MemRefDependenceGraph, Node
from affdsl.passes.analysis.nodes import ivs_of
from affdsl.passes.analysis.polyhedral import UnknownError
from affdsl.passes.transforms.fuse.alike import Memory
from affdsl.passes.transforms.fuse.costs import Costs, Evaluation, cost_of, costs_of
from affdsl.passes.transforms.fuse.focus import Focus, Outline, outline_of
from affdsl.passes.transforms.fuse.private import FastMemory
from affdsl.passes.transforms.fuse.producers import Fused, FusionCandidate, Loop, Pair, Siblings, Variant
from affdsl.passes.transforms.settle import settled

AROUND = (
    affine.For, affine.Parallel, affine.If,
    scf.For, scf.Parallel, scf.If, scf.While, scf.Case, scf.IndexSwitch, scf.ExecuteRegion,
)  # fmt: skip
"""In whose blocks nests are fused, beside the body of a function: what runs there runs as it is written."""
ROUNDING = 1e-9
"""What 30 % of a whole number may be more than 0.3 of it."""


def affine_loop_fusion(
    module: Module,
    *,
    compute_tolerance: float = 0.3,
    fast_mem_space: int = 0,
    local_buf_threshold: int = 0,
    maximal: bool = False,
    mode: str = "greedy",
    context: Module | None = None,
) -> Module:
    """The same program with loop nests fused into the nests that read what they store.

        for i: { B[i] = P(i) }; for j: { C(B[j]) }      ->      for j: { b = P(j); C(b) }

    Parameters
    ----------
    compute_tolerance
        How much more may be computed: 0.3 is 30 %.
    fast_mem_space, local_buf_threshold
        The memory space of the buffers that a fused nest has for itself, where they have at most so many KiB.
    maximal
        Fuse as deep as it is legal, whatever it costs.
    mode
        "producer": nests into those that read what they store; "sibling": nests that read the same; "greedy": both.
    context
        What the module is a part of: it shows which arguments may be one buffer, and what calls do. By default nothing
        stands around it.
    """
    policy = Policy.of(compute_tolerance, fast_mem_space, local_buf_threshold, maximal, mode)
    around = module if context is None else context

    def rule(op: Op) -> Op | None:
        if not isinstance(op, Func) or op.external:
            return None
        found, _ = fused(op, around, policy)
        return None if found is op else found

    return rewrite(module, rule)


def explained(
    module: Module,
    *,
    compute_tolerance: float = 0.3,
    fast_mem_space: int = 0,
    local_buf_threshold: int = 0,
    maximal: bool = False,
    mode: str = "greedy",
    context: Module | None = None,
) -> Iterator[str]:
    """How `affine_loop_fusion` comes to what it does: of each two nests that it tries, the figures of each depth."""
    policy = Policy.of(compute_tolerance, fast_mem_space, local_buf_threshold, maximal, mode)
    for function in module.functions:
        if not function.external:
            around = module if context is None else context
            yield from map(str, fused(function, around, policy, with_reasons=True)[1])


class Policy(FrozenValue):
    """What may be fused: the options of the pass."""

    tolerance: float = 0.3
    fast: FastMemory | None = None
    maximal: bool = False
    producers: bool = True
    siblings: bool = True

    @staticmethod
    def of(tolerance: float, space: int, threshold: int, maximal: bool, mode: str) -> Policy:
        """That of the options of the pass."""
        fast = FastMemory(space, threshold * 1024)
        return Policy(tolerance, fast, maximal, mode != "sibling", mode != "producer")


@dataclass(eq=False)
class Attempt:
    """What came of one producer and one consumer.

    Attributes
    ----------
    pair
        The two.
    evaluations
        The figures of each depth, the deepest first.
    refusals
        Of depths without figures, or that were not taken: why.
    chosen
        The fusion, if it was done.
    computes_more
        Whether a fusion that was asked about computes more than both nests together did.
    """

    pair: Pair
    costs: Costs
    evaluations: list[Evaluation] = field(default_factory=list)
    refusals: dict[int, str] = field(default_factory=dict)
    chosen: Fused | None = None
    computes_more: bool = False

    def __str__(self) -> str:
        parts = [str(evaluation) for evaluation in self.evaluations]
        parts += [f"depth {depth}: {reason}" for depth, reason in self.refusals.items()]
        return "\n".join([*parts, self._result()])

    def _result(self) -> str:
        names = f"src loop {self._called(self.pair.source)} into dst loop {self._called(self.pair.sink)}"
        if self.chosen is None:
            return f"not fused: {names}"
        best = next(e for e in self.evaluations if e.depth == self.chosen.candidate.depth)
        source, sink = self.costs.memory()
        together = sink + best.slice_region
        less = 100 * (1 - together / max(1, source + sink))
        return (
            "LoopFusion fusion stats:\n"
            f"  best loop depth: {best.depth}\n"
            f"  src loop nest compute cost: {self.costs.source}\n"
            f"  dst loop nest compute cost: {self.costs.sink}\n"
            f"  fused loop nest compute cost: {best.cost}\n"
            f"   src mem: {source}\n"
            f"   dst mem: {sink}\n"
            f"   fused mem: {together}\n"
            f"   slice mem: {best.slice_region}\n"
            f" fusion is most profitable at depth {best.depth} with {100 * best.additional_compute:.0f}% redundant "
            f"computation and a {less:.6f}% storage reduction.\n"
            f"Fused {names} at depth {best.depth}"
            f"{'' if self.chosen.variant.is_removed else ', and the src loop stays'}"
        )

    def _called(self, node: Node) -> str:
        """The number of a node in the graph of the whole block, and what its outermost induction variable is called."""
        focus = self.pair.focus
        return f"{node.id if focus is None else focus.id(node.op)} (%{names_of(self.pair.whole_function)[node.ivs[0]]})"


def fused(function: Func, module: Module, policy: Policy, *, with_reasons: bool = False) -> tuple[Func, list[Attempt]]:
    """A function with producers fused into consumers in all of its blocks, inner ones first, and what was tried.

    Without reasons, that is what had to be tried, and a refusal may speak of two nests that are like the ones refused.
    """
    fusions = _Fusions(function, module, policy, with_reasons=with_reasons)
    with unwarned():  # what the analysis gives up on stays as it is: nobody need hear of it
        for place in [*_places(function), None]:
            fusions.fuse_in(place)
    return fusions.function, fusions.attempts


Place: TypeAlias = frozenset[Value] | None
"""The block where any of some loops stands, of which fusion leaves one or more; None is the body of the function."""
Pairs: TypeAlias = Callable[[Place, Value], Iterator[Pair]]
"""Which pairs of nests of a block may be fused into one of them."""


class _Fusions:
    """A function that is fused step by step."""

    def __init__(self, function: Func, module: Module, policy: Policy, *, with_reasons: bool) -> None:
        self.function = function
        self.module = module
        self.policy = policy
        self.attempts: list[Attempt] = []
        self._tried: set[tuple[type[Pair], Op, Op, int]] = set()
        self._known: dict[tuple[Func, Place], MemRefDependenceGraph] = {}
        self._outcomes: Memory[tuple[int, Variant | None]] = Memory()
        self._inside: tuple[object, dict[Value, Loop]] = None, {}
        self._with_reasons = with_reasons
        self._outline = outline_of(function, module, with_reasons=with_reasons)

    def fuse_in(self, place: Place) -> None:
        """Fuse what stands in a block: first producers with one consumer of each buffer, then siblings, then all
        producers."""
        if self.policy.producers:
            self._fuse_all(place, partial(self._producers, most_users=1))
        if self.policy.siblings:
            self._fuse_all(place, self._siblings)
        if self.policy.producers:
            self._fuse_all(place, self._producers)

    def _fuse_all(self, place: Place, pairs: Pairs) -> None:
        """Fuse into all nests of a block, the last one first."""
        for sink in reversed(self._loops(place)):
            while self._fuse_into(place, sink, pairs):
                pass

    def _fuse_into(self, place: Place, iv: Value, pairs: Pairs) -> bool:
        """Fuse one nest into another, the last one for which that is legal and pays; whether there was one."""
        loops = self._loops(place)
        if len(loops) < 2 or iv not in loops:
            return False
        for pair in pairs(place, iv):
            key = type(pair), pair.source.op, pair.whole, len(pair.graph.consumers(pair.source))
            if key in self._tried or pair.obstacle:
                continue
            self._tried.add(key)
            if pair.is_placeless and not self._with_reasons:
                continue
            if (chosen := self._outcome(pair)) is not None:
                self.function = settled(chosen.function, self.function).function
                return True
        return False

    def _outcome(self, pair: Pair) -> Fused | None:
        """What comes of a pair: what came of one that is like it.

        Figures and proofs follow from the small function of the two, but for the cost of all else in the consumer: with
        that they are kept, unless nothing would be computed more.
        """
        focus = None if self._with_reasons else pair.focus
        questions = [pair.question(0, cost) for cost in (None, cost_of(pair.whole))]
        recalled = (self._outcomes.recall(question, focus.form) for question in questions if focus is not None)
        known = next((each for each in recalled if each is not None), None)
        if known is not None:
            depth, variant = known[1]
            found = None if variant is None else pair.fused(pair.candidate(depth), variant)
            if found is None or isinstance(found, Fused):
                return found
        attempt = attempted(pair, self.policy)
        self.attempts.append(attempt)
        chosen = attempt.chosen
        if focus is not None:
            outcome = (0, None) if chosen is None else (chosen.candidate.depth, chosen.variant)
            self._outcomes.keep(questions[attempt.computes_more], focus.form, outcome)
        return chosen

    def _producers(self, place: Place, iv: Value, most_users: int | None = None) -> Iterator[Pair]:
        """A nest with the nests that store what it loads, the last first.

        `most_users` is how many consumers each buffer has at most that such a nest stores to and this one loads from.
        """
        for graph, sink, only, focus in self._graphs(place, iv, Outline.sources):
            for source in reversed(graph.producers(sink)):
                if only not in (None, source.op):
                    continue
                shared = [b for b in source.writes if b in sink.reads]
                if most_users is None or all(len(graph.consumers(source, b)) <= most_users for b in shared):
                    yield Pair(graph, source, sink, self.module, self.policy.fast, focus=focus)

    def _siblings(self, place: Place, iv: Value) -> Iterator[Pair]:
        """A nest with the nests that load what it loads, the last first."""
        for graph, sink, only, focus in self._graphs(place, iv, Outline.siblings):
            for source in reversed(graph.siblings(sink)):
                if only in (None, source.op):
                    yield Siblings(graph, source, sink, self.module, focus=focus)

    def _graphs(
        self, place: Place, iv: Value, related: Callable[[Outline, Func, Op], list[Op]]
    ) -> Iterator[tuple[MemRefDependenceGraph, Node, Op | None, Focus | None]]:
        """Graphs with a nest and those that are related to it: one of a block, or for each of them one, if possible of
        what bears on the two."""
        if place is not None or self._outline is None:
            graph = self._graph(place)
            yield graph, graph.node(iv), None, None
            return
        function = self.function
        whole = self._loops(None)[iv]
        for source in related(self._outline, function, whole):
            focus = self._outline.focus(function, source, whole)
            if focus is None:
                graph = self._graph(None)
                yield graph, graph.node(iv), source, None
            else:
                yield focus.graph, focus.graph.node(focus.sink), source, focus

    def _graph(self, place: Place) -> MemRefDependenceGraph:
        """The graph of a block of the function as it is now."""
        key = self.function, place
        if key not in self._known:
            self._known = {key: MemRefDependenceGraph(Dependences(self.function, self.module), self._block(place))}
        return self._known[key]

    def _loops(self, place: Place) -> dict[Value, Loop]:
        """The loops of a block of the function as it is now, by their first induction variables."""
        key = self.function, place
        if self._inside[0] != key:
            self._inside = key, _loops_of(self._block(place))
        return self._inside[1]

    def _block(self, place: Place) -> Block:
        """The body of the function, or the block in which one of some loops stands; empty where none is left."""
        if place is None:
            return self.function.body
        blocks = (block for op in walk(self.function) for block in op.blocks())
        return next((block for block in blocks if not place.isdisjoint(_loops_of(block))), ())


def attempted(pair: Pair, policy: Policy) -> Attempt:
    """What comes of a producer and a consumer: the most profitable fusion that is legal, if there is one."""
    costs = costs_of(pair)
    attempt = Attempt(pair, costs)
    candidates: list[tuple[Evaluation, FusionCandidate]] = []
    for depth in range(len(pair.loops), 0, -1):
        try:
            candidate = pair.candidate(depth)
        except UnknownError as error:
            attempt.refusals[depth] = str(error)
            continue
        evaluation = costs.of(candidate)
        attempt.evaluations.append(evaluation)
        candidates.append((evaluation, candidate))
    if not policy.maximal:
        candidates.sort(key=lambda each: (-each[0].storage_reduction, each[0].cost, -each[0].depth))
    for evaluation, candidate in candidates:
        for variant in pair.variants:
            more = costs.additional(evaluation, is_removed=variant.is_removed)
            attempt.computes_more |= more > 0
            if more > _most(pair, evaluation, variant, policy):
                what = "" if variant.is_removed else ", as the src loop stays"
                attempt.refusals.setdefault(evaluation.depth, f"{100 * more:.2f}% more would be computed{what}")
                continue
            found = pair.fused(candidate, variant)
            if isinstance(found, Fused):
                attempt.chosen = found
                return attempt
            attempt.refusals[evaluation.depth] = found.why
    return attempt


def _most(pair: Pair, evaluation: Evaluation, variant: Variant, policy: Policy) -> float:
    """How much more may be computed by a fusion: nothing where no memory can be saved by that, now or later."""
    if policy.maximal:
        return math.inf
    saves = variant.is_private and evaluation.storage_reduction > 1
    repeats_in_vain = not saves and any(b in pair.source.writes for b in pair.source.reads)
    others = pair.graph.consumers(pair.source)
    stays_forever = not variant.is_removed and not all(isinstance(n.op, Loop) for n in others)
    if isinstance(pair, Siblings) or repeats_in_vain or stays_forever:
        return ROUNDING
    return policy.tolerance + ROUNDING


def _loops_of(block: Block) -> dict[Value, Loop]:
    """The loops of a block by their first induction variables; of those over nothing there is none."""
    return {iv: op for op in block if isinstance(op, Loop) for iv in ivs_of(op)[:1]}


def _places(function: Func) -> list[frozenset[Value]]:
    """The loops of each block with several loops, but for the body of the function, inner blocks first."""
    around = (op for op in walk(function) if isinstance(op, AROUND))
    blocks = [block for op in around for block in op.blocks()]
    return [frozenset(loops) for block in reversed(blocks) if len(loops := _loops_of(block)) > 1]
