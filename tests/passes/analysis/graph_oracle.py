"""Dependence graphs next to runs: which edges there must be."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from affdsl.ir.core import Block
from affdsl.ir.dialects import affine, func, scf
from affdsl.ir.expr import Value
from affdsl.ir.traverse import walk
from affdsl.passes.analysis.dependence import Dependence, dependences
from affdsl.passes.analysis.graph import MemRefDependenceGraph
from tests.passes.analysis.brute import Brute, Query
from tests.passes.analysis.compare import sizes_of
from tests.passes.analysis.programs import generate


@dataclass
class Report:
    """What was looked at, and all that was wrong.

    `real` are dependences of runs, `exact` those of ours that are certain.
    """

    blocks: int = 0
    real: int = 0
    exact: int = 0
    kinds: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)


def blocks_of(function: func.Func) -> Iterator[Block]:
    """The body of a function, and those of the loops and conditions in it, where two operations stand in one."""
    for op in walk(function):
        if isinstance(op, func.Func | affine.For | affine.Parallel | scf.For | affine.If):
            yield from (block for block in op.blocks() if len([o for o in block if not o.is_terminator]) > 1)


def compare_blocks(seeds: Iterable[int], report: Report) -> Report:
    """Every dependence of a run between operations of a block has an edge; every edge that is exact has one."""
    for program in map(generate, seeds):
        trace = program.trace()
        brute = Brute(trace)
        found = dependences(program.function, program.module)
        sizes = sizes_of(program, found, trace)
        for block in blocks_of(program.function):
            graph = MemRefDependenceGraph(found, block)
            report.blocks += 1
            _compare_block(program.seed, graph, brute, sizes, report)
    return report


def _compare_block(
    seed: int, graph: MemRefDependenceGraph, brute: Brute, sizes: Mapping[Value, int], report: Report
) -> None:
    node_of = {op: node for node in graph.nodes for op in walk(node.op)}
    around = len(graph.loops)
    have = {(e.source, e.sink, e.kind, graph.loops.index(e.loop) + 1 if e.is_carried else around + 1): e
            for e in graph.edges if e.kind not in ("value", "order")}  # fmt: skip
    for query in brute.dependences:
        a, b = node_of.get(query.source), node_of.get(query.sink)
        if query.kind == "input" or a is None or b is None or query.depth > around + (a is not b):
            continue
        report.real += 1
        report.kinds[query.kind] += 1
        if (a, b, query.kind, query.depth) not in have and (a, b, "free", query.depth) not in have:
            report.wrong.append(f"seed {seed}: no edge {a} -> {b} {query.kind} at depth {query.depth}")
    for edge in graph.edges:
        if edge.kind == "free" or not edge.dependences:
            continue
        for each in edge.dependences:
            if not each.is_exact or not _has_sizes(each, sizes):
                continue
            report.exact += 1
            query = Query(each.source.op, each.sink.op, each.kind, each.depth)
            if each.at_sizes(sizes) is not None and query not in brute.dependences:
                report.wrong.append(f"seed {seed}: {edge}: {each} is not what happens")


def _has_sizes(each: Dependence, sizes: Mapping[Value, int]) -> bool:
    return all(v in sizes for v in (*each.source.relation.params, *each.sink.relation.params))
