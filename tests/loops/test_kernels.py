"""Kernels that end when they are done, by the interpreter, compiled, and as MLIR, at sizes 0, 1 and odd ones."""

import pytest

from tests.effort import TRIES_ALL
from tests.loops.kernels import CASES, Case, arguments
from tests.loops.ways import WAYS, agree

SIZES = (0, 1, 2, 7, 13)


@pytest.mark.parametrize("position", range(len(CASES)), ids=[str(case) for case in CASES])
def test_they_do_what_python_does(position: int):
    case: Case = CASES[position]
    ways = WAYS if TRIES_ALL or position % 6 == 0 else WAYS[:2]
    for given in arguments(case, SIZES):
        agree(case.kernel, case.wanted, *given, ways=ways)
