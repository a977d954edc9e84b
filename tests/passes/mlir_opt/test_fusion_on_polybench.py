"""The kernels of PolyBench after fusion: the same to the bit, at small odd sizes; and how many are fused."""

from dataclasses import replace

import numpy as np
import pytest

from affdsl.codegen.jit import interpret_program
from affdsl.ir.verifier import verify
from affdsl.passes.mlir_opt.affine_loop_fusion import Policy, fused
from benchmarks.polybench.suite import SUITE
from tests.effort import by_turns


def fused_kernel(benchmark, **options):
    """The function of a kernel after fusion, and how many times two nests became one."""
    function, attempts = fused(benchmark.kernel.func, benchmark.kernel.module, Policy(**options))
    return function, sum(attempt.chosen is not None for attempt in attempts)


@pytest.mark.parametrize(
    ("benchmark", "options"), by_turns(SUITE, [{}, {"maximal": True}]), ids=lambda each: getattr(each, "name", None)
)
def test_the_same_to_the_bit(benchmark, options):
    function, count = fused_kernel(benchmark, **options)
    assert (count == 0) == (function is benchmark.kernel.func)
    if count == 0:
        return
    verify(function)
    sizes = {name: 4 + k for k, name in enumerate(benchmark.sizes["MINI"])}
    given = benchmark.random_arguments(sizes, np.random.default_rng(5))
    wanted, found = ({n: np.copy(x) if isinstance(x, np.ndarray) else x for n, x in given.items()} for _ in range(2))
    benchmark.run(wanted, "interpreter")
    program = replace(benchmark.kernel.program, func=function)
    interpret_program(program, benchmark.kernel.check(), tuple(found.values()), {})
    for name in benchmark.live_out:
        assert found[name].tobytes() == wanted[name].tobytes(), f"{name} differs:\n{function}"
