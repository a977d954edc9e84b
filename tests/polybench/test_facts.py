"""What the analyses find in PolyBench is what the documentation says."""

from pathlib import Path

import pytest

from affdsl.passes.analysis.bounds import bounds
from affdsl.passes.analysis.dependence import Dependences
from affdsl.passes.analysis.graph import MemRefDependenceGraph
from benchmarks.polybench.facts import page
from benchmarks.polybench.suite import SUITE

PAGE = Path(__file__).parents[2] / "docs" / "polybench.md"


def test_the_page_is_what_the_analyses_find():
    assert PAGE.read_text(encoding="utf-8") == page(), "python -m benchmarks.polybench.facts > docs/polybench.md"


@pytest.mark.parametrize("benchmark", SUITE, ids=lambda b: b.name)
def test_nothing_is_unknown(benchmark):
    found = Dependences(benchmark.kernel.func, benchmark.kernel.module)
    assert all(access.is_exact for access in found.compared)
    assert all(dependence.is_exact for dependence in found.all())
    assert all(edge.is_exact for edge in MemRefDependenceGraph(found).edges)
    assert not bounds(benchmark.kernel.func, benchmark.kernel.module).unknown
