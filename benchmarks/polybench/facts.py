"""What the analyses find in each kernel, with symbolic sizes: its graph, its loops, its reductions and its bounds.

python -m benchmarks.polybench.facts > docs/polybench.md
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from affdsl.ir.expr import Value
from affdsl.passes.analysis.bounds import bounds
from affdsl.passes.analysis.dependence import Dependences
from affdsl.passes.analysis.graph import MemRefDependenceGraph
from affdsl.passes.analysis.parallelism import Parallelism, of_loops, table
from benchmarks.polybench.benchmark import Benchmark
from benchmarks.polybench.suite import SUITE

OPENING = """# What the analyses find in PolyBench

Each of the 30 kernels of `benchmarks/polybench/kernels/` as it is written there, in the order of PolyBench, with all
sizes symbolic: nothing below holds only for some n. This page is printed by `python -m benchmarks.polybench.facts`.

* *graph*: the top-level statements of the kernel (mostly loop nests), and the edges of its `MemRefDependenceGraph`.
* *parallel*: loops whose iterations may run in any order; *with reductions*: those that only combine numbers;
  *privatized*: those whose iterations may run in any order if each has its own copy of a scratch array.
  A name stands as often as there are such loops.
* *reductions*: what the loops combine, with the arrays or `iter_args` that hold it. Sums and products of floats are
  reassociated only where the caller allows it.
* *bounds*: how many accesses are proved to lie inside of their arrays for all sizes that the kernel takes.
"""


def page(suite: Iterable[Benchmark] = SUITE) -> str:
    """The whole page."""
    rows = [["kernel", "graph", "parallel", "with reductions", "privatized", "sequential", "reductions", "bounds"]]
    details = []
    for benchmark in suite:
        found = Dependences(benchmark.kernel.func, benchmark.kernel.module)
        graph, loops = MemRefDependenceGraph(found), of_loops(found)
        rows.append(_row(benchmark, graph, loops))
        details.append(_details(benchmark, graph, loops))
    return "\n".join([OPENING, *_markdown(rows), "", *details])


def _row(benchmark: Benchmark, graph: MemRefDependenceGraph, loops: tuple[Parallelism, ...]) -> list[str]:
    def named(verdict: str) -> str:
        return " ".join(_name(p.iv) for p in loops if p.verdict == verdict)

    reductions = dict.fromkeys(str(r) for p in loops for r in p.reductions)
    proofs = bounds(benchmark.kernel.func, benchmark.kernel.module)
    proved = sum(f.verdict == "proved" for f in proofs.findings)
    counted = f"{proved} of {len(proofs.findings)} proved"
    conditions = "; ".join(dict.fromkeys(str(f).partition(": ")[2] for f in proofs.conditions))
    edges = len(graph.edges)
    return [
        benchmark.name,
        f"{_count(len(graph.nodes), 'statement')}, {_count(edges, 'edge')}",
        named("parallel"),
        named("parallel with reductions"),
        named("parallel if privatized"),
        " ".join(_name(p.iv) for p in loops if p.verdict in ("sequential", "unknown")),
        ", ".join(reductions),
        f"{counted}{f' ({conditions})' if conditions else ''}",
    ]


def _details(benchmark: Benchmark, graph: MemRefDependenceGraph, loops: tuple[Parallelism, ...]) -> str:
    edges = [f"{edge}" for edge in graph.edges]
    return "\n".join([f"## {benchmark.name}", "", "```text", table(loops), *([""] if edges else []), *edges, "```", ""])


def _markdown(rows: list[list[str]]) -> Iterator[str]:
    head, *rest = rows
    yield f"| {' | '.join(head)} |"
    yield f"|{'---|' * len(head)}"
    for row in rest:
        yield f"| {' | '.join(row)} |"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _name(value: Value) -> str:
    return value.hint


if __name__ == "__main__":
    print(page(), end="")
