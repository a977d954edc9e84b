"""Random programs, printed and read back: the text holds all that the IR means."""

import copy

import numpy as np
import pytest

from affdsl.ir.interpreter import run
from affdsl.ir.verifier import verify
from affdsl.mlir.readers import parse
from affdsl.mlir.writers import print_op
from tests.differential.generator import generate
from tests.effort import some


@pytest.mark.parametrize("seed", some(range(0, 120, 6), 5))
def test_a_program_that_is_read_back_computes_the_same(seed):
    for program in map(generate, range(seed, seed + 6)):
        read = parse(print_op(program.module))
        verify(read)
        again = print_op(read)
        assert print_op(parse(again)) == again
        before, after = (
            next(f for f in module.functions if f.symbol == program.entry) for module in (program.module, read)
        )
        for arguments in program.calls:
            given, too = copy.deepcopy(arguments), copy.deepcopy(arguments)
            results = run(before, *given, module=program.module)
            others = run(after, *too, module=read)
            for x, y in zip((*given, *results), (*too, *others), strict=True):
                assert np.asarray(x).tobytes() == np.asarray(y).tobytes(), f"seed {program.seed}"
