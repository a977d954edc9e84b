"""The policy of fusion on random chains of nests: what it makes does the same, and much of it is fused."""

from affdsl.ir.verifier import verify
from affdsl.mlir.readers import parse
from passes.optimize.explained import explained
from passes.optimize.fusion import fusion
from passes.optimize.storage import storage
from passes.validation.pipeline import require_same
from tests.effort import TRIES_ALL
from tests.passes.mlir_opt.fusion_programs import program

PROGRAMS = 1000 if TRIES_ALL else 15


def test_random_chains():
    fused = 0
    for seed in range(PROGRAMS):
        module = parse(program(seed))
        found = fusion(module.functions[-1], module)
        verify(found.program.module)
        steps = [str(step) for step, _ in found.steps]
        require_same(module, [(f"seed {seed}: {steps}", found.program.module)], reassociated=False, replay="")
        assert all(step in explained(found, steps) for step in steps if step.startswith(("fuse", "compute_at")))
        assert all(each.after is None or each.after.bytes <= each.before.bytes for each in storage(found))
        fused += bool(steps)
    assert fused > 0.6 * PROGRAMS
