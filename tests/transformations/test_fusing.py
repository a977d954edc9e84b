"""Random requests to fuse: what is accepted changes nothing, and most of what a counterexample refuses would."""

from __future__ import annotations

import pytest

from affdsl.ir.verifier import verify
from affdsl.passes.transforms.fuse import loops
from tests.effort import some
from tests.transformations.fusing import Counts, ask, stencils, subject
from tests.transformations.primitives import Setting

SEEDS = some([*range(2001, 2009), *range(2010, 2300), 2000, 2009], 13)
"""The last ones take longest."""


def test_what_is_accepted_is_right_and_most_of_what_is_refused_is_not() -> None:
    counts = Counts()
    for seed in SEEDS:
        ask(seed, counts)
    assert counts.failures == []
    assert counts.share >= 0.85
    assert all(counts.counts[verb]["accepted"] for verb in ("fuse", "compute_at", "fold", "inline"))


def test_a_step_that_nobody_checks_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loops, "require_order", lambda *_, **__: None)
    counts = Counts()
    for seed in range(2, 12, 3):
        ask(seed, counts)
    assert any("other numbers" in failure for failure in counts.failures)


@pytest.mark.parametrize("seed", range(6))
def test_the_sweeps_are_programs_with_a_meaning(seed: int) -> None:
    assert "affine.for" in stencils(seed)
    given = subject(3 * seed + 2)
    verify(given.module)
    assert not any(len(outcome) == 1 for outcome in given.expected)
    assert Setting(given.function, given.module).loops
