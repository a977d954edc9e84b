"""Passes on random programs: each does what it did before, in any order of parallel iterations, and enough change."""

import pytest

from tests.effort import some
from tests.fuzz.check import check_seeds, pipelines

SWEEPS = [
    ("affine-loop-normalize", "affine-loop-coalescing", some(range(900, 930), 5), 1 / 6),
    ("test-affine-loop-unswitch", some(range(800, 840), 13), 1 / 20),
    ("affine-loop-unroll{unroll-factor=3}", "affine-loop-unroll{unroll-factor=-1}",
     "affine-loop-unroll{unroll-factor=2 unroll-num-reps=2 unroll-up-to-factor=true}",
     "affine-loop-unroll{unroll-factor=-1 unroll-full-threshold=4}", some(range(700, 712), 3), 1 / 3),
    ("affine-loop-normalize{promote-single-iter=true}", some(range(400, 425), 8), 2 / 5),
    ("lower-affine", some(range(300, 330), 5), 0.99),
    ("affine-raise-from-memref", some(range(600, 630), 10), 1 / 6),
    ("affine-simplify-structures", some(range(500, 530), 5), 1 / 3),
    ("affine-scalrep", some(range(725, 750), 4), 1 / 3),
    ("affine-simplify-min-max", some(range(400, 430), 5), 1 / 3),
    ("affine-super-vectorize{virtual-vector-size=4}", "affine-super-vectorize{virtual-vector-size=3}",
     some(range(60), 8), 1 / 5),
    ("affine-loop-tile{tile-size=3}", "affine-loop-unroll-jam", "affine-loop-invariant-code-motion",
     "affine-parallelize{parallel-reductions=1}", some(range(60, 80), 6), 1 / 10),
    ("cse", "canonicalize", some(range(2000, 2060), 14), 1 / 3),
]  # fmt: skip
"""Passes, tried alone and one after the other; seeds of programs; and of what share of them each changes more."""


@pytest.mark.parametrize("sweep", SWEEPS, ids=lambda sweep: ", ".join(sweep[:-2]))
def test_random_programs_do_the_same(sweep):
    *passes, seeds, share = sweep
    untouched, *changing = pipelines(passes)
    report = check_seeds(seeds, [untouched, *changing], ["interpreter", "backwards"])
    assert not report.failures
    assert min(report.changed[pipeline] for pipeline in changing) > share * report.programs
