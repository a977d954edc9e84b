"""The kernels that are handed on: as many as the table of tools says, and each does the same in all ways to run it."""

import numpy as np
import pytest

from tests.handed_on.kernels import CASES, Case
from tests.harness.judges import copied
from tests.loops.ways import WAYS


def test_there_are_33_of_which_14_have_a_fixed_size() -> None:
    assert len(CASES) == len({case.name for case in CASES}) == 33
    assert sum(bool(case.sizes) for case in CASES) == 14
    assert all("?" not in case.fixed.mlir() for case in CASES if case.sizes)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_they_do_the_same_in_all_ways(case: Case) -> None:
    """The interpreter, C, what mlir-opt lowers; and, if there is one, the kernel for the sizes of its arguments."""
    expected = copied(case.arguments())
    wanted = case.kernel.interpret(*expected)
    for run in (*(way(case.kernel) for way in WAYS[1:]), *([case.fixed] if case.sizes else [])):
        given = copied(case.arguments())
        found = run(*given)
        for a, b in zip((*expected, *several(wanted)), (*given, *several(found)), strict=True):
            np.testing.assert_array_equal(a, b)


def several(result: object) -> tuple[object, ...]:
    return () if result is None else result if isinstance(result, tuple) else (result,)
