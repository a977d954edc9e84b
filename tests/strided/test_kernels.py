"""Kernels on arrays with random strides: NumPy, the interpreter, C and MLIR agree, at sizes 0, 1 and odd ones.

Unless all is tried, every second kernel is compiled, and every tenth one is lowered by mlir-opt.
"""

from collections.abc import Sequence

import numpy as np
import pytest

import affdsl as af
from tests.effort import TRIES_ALL
from tests.loops.ways import WAYS, Way
from tests.strided.kernels import CASES, Case
from tests.strided.views import View, contiguous

SIZES = (0, 1, 2, 7, 13)


@pytest.mark.parametrize("position", range(len(CASES)), ids=[str(case) for case in CASES])
def test_they_do_what_numpy_does(position: int):
    case = CASES[position]
    ways = WAYS if TRIES_ALL or position % 10 == 0 else WAYS[: 2 - position % 2]
    for size in SIZES:
        agree(case, case.drawn(100 * position + size, size), ways)
    assert str(af.parse(case.kernel.mlir())) == case.kernel.mlir()


@pytest.mark.parametrize("position", range(0, len(CASES), 4), ids=[str(case) for case in CASES[::4]])
def test_contiguous_arrays_are_strided_ones(position: int):
    case = CASES[position]
    given = [contiguous(x) if isinstance(x, np.ndarray) else x for x in case.arguments(np.random.default_rng(1), 5)]
    agree(case, given, WAYS[:2])


def agree(case: Case, given: Sequence[object], ways: Sequence[Way]) -> None:
    """Fail unless the kernel leaves in all memory what NumPy leaves there, and gives the same."""
    expected = [x.copy() if isinstance(x, View) else x for x in given]
    result = case.wanted(*map(plain, expected))
    for way in ways:
        own = [x.copy() if isinstance(x, View) else x for x in given]
        found = way(case.kernel)(*map(plain, own))
        for a, b in zip(expected, own, strict=True):
            if isinstance(a, View):
                np.testing.assert_array_equal(b.memory, a.memory)
        if result is not None:
            np.testing.assert_array_equal(found, result)


def plain(x: object) -> object:
    """What is passed."""
    return x.array if isinstance(x, View) else x
