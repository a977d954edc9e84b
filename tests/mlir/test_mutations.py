"""Mistakes in valid programs are refused where mlir-opt refuses them; no text whatever makes us fail."""

import pytest

from tests.effort import TRIES_ALL
from tests.mlir import edits, mutate
from tests.mlir.batches import judge

TEXT = """func.func @f(%A: memref<8xf32>, %n: index) {
  affine.for %i = 0 to %n {
    %0 = affine.load %A[%i] : memref<8xf32>
    affine.store %0, %A[%i + 1] : memref<8xf32>
  }
  return
}
"""

COUNT = 300 if TRIES_ALL else 120


def test_mutants_follow_from_the_seed():
    assert edits.mutants(TEXT, 5, 50) == edits.mutants(TEXT, 5, 50) != edits.mutants(TEXT, 6, 50)
    assert edits.byte_mutants(TEXT, 5, 50) == edits.byte_mutants(TEXT, 5, 50) != edits.byte_mutants(TEXT, 6, 50)


@pytest.mark.parametrize("kind", edits.EDITS)
def test_every_edit_changes_something(kind):
    text = TEXT.replace("%i + 1", "3") + "#map = affine_map<(d0) -> (d0)>\n"
    assert kind in {mutant.kind for mutant in edits.mutants(text, 1, 1000)}
    assert all(mutant.text.split() != text.split() for mutant in edits.mutants(text, 1, 1000))


def test_the_programs_are_valid():
    verdicts = judge(mutate.programs(), "--allow-unregistered-dialect")
    assert all(verdict.output is not None for verdict in verdicts)


def test_mlir_opt_and_we_agree():
    found = [o for o in mutate.outcomes(mutate.sample(seed=7, count=COUNT)) if o.refused_by and not o.known]
    assert not found, "\n".join(f"{o.mutant.kind}; only {o.refused_by}: {o.says}\n{o.mutant.text}" for o in found)
