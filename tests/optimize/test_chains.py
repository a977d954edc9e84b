"""Chains of stencils run as one nest, leave the same to the bit, and kernels that are none stay apart."""

from __future__ import annotations

import numpy as np
import pytest

import affdsl as af
from affdsl.optimize.fuse.chains import set_apart
from benchmarks.fusion import CHAINS
from tests.effort import some

N = af.symbols("N")


@pytest.mark.parametrize("rows", some([4, 7, 5, 6], 1))
def test_arrays_of_few_rows_are_kept_whole(rows):
    """Six rows would be kept: of an array that has no more, all are."""

    @af.kernel
    def few(image: af.f32[rows + 2, N], out: af.f32[rows, N]):
        first = af.alloc(af.f32[rows, N])
        second = af.alloc(af.f32[rows, N])
        with af.for_(rows) as i, af.for_(1, N - 1) as j:
            first[i, j] = image[i, j - 1] - image[i + 2, j + 1] * 0.5 + image[i + 1, j - 1] * image[i + 1, j]
        with af.for_(1, rows - 1) as i, af.for_(2, N - 2) as j:
            second[i, j] = first[i - 1, j] * 0.5 - first[i + 1, j - 1] * first[i, j + 1]
        with af.for_(1, rows - 1) as i, af.for_(4, N - 4) as j:
            out[i, j] = sum(second[i, j + q] * (0.5 - q) for q in (-2, -1, 1, 2)) + second[i, j]

    fast = few.optimize("avx2", threads=1)
    assert "a chain of nests: " in fast.explain()
    for columns in (0, 8, 9, 40):
        image = np.random.default_rng(rows).random((rows + 2, columns), np.float32)
        wanted, found = (np.full((rows, columns), -1, np.float32) for _ in range(2))
        few.interpret(image, wanted)
        fast(image, found)
        np.testing.assert_array_equal(found, wanted, str(columns))


def test_rows_with_vectors_that_may_go_on_behind_them_stay_where_they_are():
    s = af.Schedule(CHAINS["blur"].kernel)
    set_apart(s, "rows")
    assert [step.call.verb for step in s.steps] == ["pad"]
    s = af.Schedule(CHAINS["blur"].kernel).vectorize("j", 4)
    set_apart(s, "rows")
    assert [step.call.verb for step in s.steps] == ["vectorize"]
