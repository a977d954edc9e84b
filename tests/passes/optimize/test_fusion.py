"""The policy of fusion on random programs: what it makes does the same, and much of it is fused."""

from affdsl.ir.verifier import verify
from affdsl.passes.optimize.explained import explained
from affdsl.passes.optimize.fusion import fusion
from affdsl.passes.optimize.storage import storage
from tests.effort import TRIES_ALL
from tests.transformations.check import difference
from tests.transformations.fusing import subject

PROGRAMS = 600 if TRIES_ALL else 15


def test_random_programs():
    fused = 0
    for seed in range(PROGRAMS):
        given = subject(seed).mixed
        if any(len(outcome) == 1 and isinstance(outcome[0], str) for outcome in given.expected):
            continue  # it has no meaning
        found = fusion(given.function, given.module)
        verify(found.program.module)
        steps = [str(step) for step, _ in found.steps]
        assert not difference(given, found.program.module), f"seed {seed}: {steps}"
        assert all(step in explained(found, steps) for step in steps if step.startswith(("fuse", "compute_at")))
        assert all(each.after is None or each.after.bytes <= each.before.bytes for each in storage(found))
        fused += bool(steps)
    assert fused > 0.5 * PROGRAMS
