"""The benchmark of strided kernels: they do the same with both kinds of arguments, and it prints what it says."""

import re

import numpy as np
import pytest

from benchmarks.strided import main, pairs
from tests.effort import some

PAIRS = pairs()


@pytest.mark.parametrize("pair", some(PAIRS, 3), ids=[pair.contiguous.name for pair in some(PAIRS, 3)])
def test_both_do_the_same(pair):
    arrays = [np.random.default_rng(2).random(shape) for shape in pair.shapes(40)]
    first, second = ([x.copy() for x in arrays] for _ in range(2))
    pair.contiguous(*first)
    pair.strided(*second)
    for a, b in zip(first, second, strict=True):
        np.testing.assert_array_equal(a, b)


def test_it_prints_ratios(capsys):
    main(["--kernels", "roots", "--pairs", "1", "--seconds", "0", "--largest", "1000"])
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 4
    for line, how in zip(lines, ("as written", "optimized"), strict=False):
        assert re.fullmatch(rf"roots +in the first cache +{how} +[\d.]+ us, strided +[\d.]+x", line)
    assert re.fullmatch(r"all: [\d.]+x, at most [\d.]+x", lines[2])
    assert re.fullmatch(r"a warm call of one element: \d+ ns, strided [\d.]+x", lines[3])
