"""raise-scf-to-affine: what lower-affine made of random programs becomes affine again, and bounds that wrap stay."""

import numpy as np
import pytest

from affdsl.ir.dialects import affine, memref, scf
from affdsl.ir.interpreter import run
from affdsl.ir.traverse import walk
from affdsl.mlir.readers import parse
from affdsl.optimize.functions import affdsl_optimize
from affdsl.passes.cleanup.raise_scf_to_affine import raise_scf_to_affine
from affdsl.passes.pipeline.language import run_pipeline
from tests.effort import some
from tests.fuzz.check import UNTOUCHED, check_seeds
from tests.fuzz.generator import generate
from tests.fuzz.mlir import mlir
from tests.passes.compare import ENDS, all_shown, parsed

LOWERED = "builtin.module(func.func(lower-affine))"
RAISED = "builtin.module(func.func(lower-affine),raise-scf-to-affine)"
SEEDS = some(range(1100, 1130), 6)


def test_random_programs_do_the_same_when_they_are_lowered_and_raised():
    report = check_seeds(SEEDS, [UNTOUCHED, RAISED], ["interpreter"])
    assert not report.failures
    assert report.changed[RAISED] > report.programs / 2


def test_most_loops_and_accesses_of_random_programs_are_raised():
    """What was lowered is affine; arithmetic that may wrap, and conditions, keep some from being so again."""
    kinds = (affine.For, scf.For, affine.Load, memref.Load, affine.Store, memref.Store)
    counts = dict.fromkeys(kinds, 0)
    made = []
    for seed in SEEDS:
        made.append(run_pipeline(parse(mlir(generate(seed))), RAISED))
        for op in walk(made[-1]):
            if type(op) in counts:
                counts[type(op)] += 1
    assert counts[affine.For] > 3 * counts[scf.For]
    assert counts[affine.Store] > 2 * counts[memref.Store]
    assert len(all_shown(made)) == len(SEEDS)  # mlir-opt accepts them


BOUNDS = {
    "one below": "%l = arith.subi %n, %c1 : index %u = arith.addi %n, %c0 : index",
    "one above": "%l = arith.addi %n, %c0 : index %u = arith.addi %n, %c1 : index",
    "twice": "%l = arith.muli %n, %c2 : index %u = arith.addi %l, %c1 : index",
    "the smaller one": """%m = arith.addi %n, %c2 : index
      %u = arith.minsi %m, %c2 : index %l = arith.subi %u, %c1 : index""",
    "the larger one": """%m = arith.subi %n, %c2 : index
      %l = arith.maxsi %m, %n : index %u = arith.addi %l, %c1 : index""",
}


@pytest.mark.parametrize("place", ["outside", "inside"])
@pytest.mark.parametrize("name", BOUNDS)
def test_bounds_that_wrap_are_what_they_were(name, place):
    """The first iterations are counted at the ends of 64 bits, where n - 1 may be larger than n."""
    loop = f"""{BOUNDS[name]}
      scf.for %i = %l to %u step %c1 {{
        %x = memref.load %A[%c0] : memref<2xindex>
        %y = arith.addi %x, %c1 : index
        memref.store %y, %A[%c0] : memref<2xindex>
        memref.store %i, %A[%c1] : memref<2xindex>
      }}"""
    around = f"affine.for %k = 0 to 2 {{ {loop} }}" if place == "inside" else loop
    module = parsed(f"""func.func @f(%n: index, %A: memref<2xindex>) {{
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      {around}
      return
    }}""")
    raised = raise_scf_to_affine(module)
    all_shown([raised])
    for n in ENDS:
        found = []
        for each in (module, raised):
            A = np.zeros(2, np.int64)
            run(each.functions[0], n, A, module=each)
            found.append(A.tolist())
        assert found[0] == found[1], n
        assert found[0][0] <= 2


def test_bounds_that_are_used_again_and_again_are_looked_at_once():
    steps = " ".join(f"%v{k + 1} = arith.subi %v{k}, %v{k} : index" for k in range(40))
    module = parsed(f"""func.func @f(%A: memref<?xf32>, %x: f32) {{
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      affine.for %v0 = 0 to 8 {{
        {steps}
        scf.for %i = %v40 to %v0 step %c1 {{ memref.store %x, %A[%i] : memref<?xf32> }}
      }}
      return
    }}""")
    assert "affine.for %i = 0 to #map(%v0)" in str(raise_scf_to_affine(module))


def test_optimize_leaves_what_it_does_not_make_faster():
    text = "func.func @f(%n: index, %A: memref<?xf32>) { %c1 = arith.constant 1 : index "
    text += "scf.for %i = %c1 to %n step %c1 { %0 = arith.subi %i, %c1 : index %x = memref.load %A[%0] : memref<?xf32> "
    text += "%y = arith.mulf %x, %x : f32 memref.store %y, %A[%i] : memref<?xf32> } return }"
    module = parsed(text)
    assert affdsl_optimize(module, target="avx2", threads=1) is module
