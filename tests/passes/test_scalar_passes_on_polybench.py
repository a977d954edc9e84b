"""Invariant code motion and scalar replacement on the kernels of PolyBench: the same to the bit, at small odd sizes."""

from contextlib import suppress
from dataclasses import replace

import numpy as np
import pytest

from affdsl.codegen.jit import interpret_program
from affdsl.ir.dialects import affine
from affdsl.ir.traverse import walk
from affdsl.ir.verifier import verify
from affdsl.passes.cleanup.affine_scalrep import affine_scalrep
from affdsl.passes.legality.refusal import IllegalTransform
from affdsl.passes.mlir_opt.affine_loop_invariant_code_motion import affine_loop_invariant_code_motion
from affdsl.passes.transforms.scalar_replace.carried import scalar_replace
from benchmarks.polybench.suite import SUITE


def variants(kernel):
    """What each of the passes makes of a kernel, where it changes it, and the primitive of each of its loops."""
    for module in (affine_loop_invariant_code_motion(kernel.module), affine_scalrep(kernel.module)):
        if module is not kernel.module:
            yield next(f for f in module.functions if f.symbol == kernel.func.symbol)
    for op in walk(kernel.func):
        if isinstance(op, affine.For):
            with suppress(IllegalTransform):
                yield scalar_replace(kernel.func, op.iv, module=kernel.module)


@pytest.mark.parametrize("benchmark", SUITE, ids=lambda benchmark: benchmark.name)
def test_the_same_to_the_bit(benchmark):
    sizes = {name: 4 + k for k, name in enumerate(benchmark.sizes["MINI"])}
    given = benchmark.random_arguments(sizes, np.random.default_rng(5))

    def copied():
        return {name: np.copy(x) if isinstance(x, np.ndarray) else x for name, x in given.items()}

    wanted = copied()
    benchmark.run(wanted, "interpreter")
    for function in variants(benchmark.kernel):
        verify(function)
        found = copied()
        program = replace(benchmark.kernel.program, func=function)
        interpret_program(program, benchmark.kernel.check(), tuple(found.values()), {})
        for name in benchmark.live_out:
            assert found[name].tobytes() == wanted[name].tobytes(), f"{name} differs:\n{function}"


def test_most_kernels_change():
    assert sum(any(True for _ in variants(benchmark.kernel)) for benchmark in SUITE) >= 24
