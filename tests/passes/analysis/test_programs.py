"""The generator of small affine programs: what they are made of, and that each runs and is MLIR."""

from __future__ import annotations

from collections import Counter, defaultdict

import pytest

from affdsl.ir.dialects import vector
from affdsl.ir.expr import Value
from affdsl.ir.verifier import verify
from tests.effort import some
from tests.oracles import mlir_opt
from tests.passes.analysis.brute import Brute
from tests.passes.analysis.program_features import FEATURES
from tests.passes.analysis.programs import Program, generate
from tests.passes.analysis.traced import Trace

SEEDS = range(400)
SHARE = 0.05
"""So many of the programs have each feature, at least."""


@pytest.fixture(scope="module")
def traces() -> dict[int, tuple[Program, Trace]]:
    """The first programs, and what each does: they run, so they are in bounds."""
    programs = [generate(seed) for seed in SEEDS]
    for program in programs:
        verify(program.module)
    return {program.seed: (program, program.trace()) for program in programs}


def test_each_feature_is_in_many_programs(traces: dict[int, tuple[Program, Trace]]) -> None:
    counts = Counter(feature for program, _ in traces.values() for feature in program.features)
    counts["transfer beyond the edge"] = sum(beyond_the_edge(found) for _, found in traces.values())
    rare = {feature: counts[feature] for feature in [*FEATURES, "transfer beyond the edge"]
            if counts[feature] < SHARE * len(traces)}  # fmt: skip
    assert rare == {}


def beyond_the_edge(found: Trace) -> bool:
    """Whether some transfer of four lanes touches fewer elements."""
    transfers = (vector.TransferRead, vector.TransferWrite)
    return any(isinstance(i.op, transfers) and len(i.elements) < 4 for i in found.instances)


def test_programs_are_small_and_most_do_something(traces: dict[int, tuple[Program, Trace]]) -> None:
    assert max(len(found.instances) for _, found in traces.values()) <= 2000
    looked_at = some([found for _, found in traces.values()], 120)
    assert sum(bool(Brute(found).dependences) for found in looked_at) > 0.8 * len(looked_at)
    for _, found in traces.values():
        values: dict[tuple[Value, tuple[int, ...]], set[int]] = defaultdict(set)
        for instance in found.instances:
            for depth, iv in enumerate(found.loops[instance.op]):
                values[iv, instance.ivs[:depth]].add(instance.ivs[depth])
        assert max(map(len, values.values()), default=0) <= 6


def test_mlir_opt_reads_the_programs() -> None:
    mlir_opt("\n// -----\n".join(generate(seed).text for seed in SEEDS), "--split-input-file")
