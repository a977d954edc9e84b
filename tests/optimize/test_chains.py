"""Chains of stencils run as one nest, leave the same to the bit, and kernels that are none stay apart."""

from __future__ import annotations

import numpy as np
import pytest

import affdsl as af
from benchmarks.fusion import CHAINS
from tests.effort import TRIES_ALL

M, N = af.symbols("M N")
SHAPES = [(0, 0), (1, 1), (3, 2), (5, 5), (6, 40), (21, 23)]


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("name", CHAINS if TRIES_ALL else ("blur", "unsharp"))
def test_chains_leave_the_same_to_the_bit(name, threads):
    fast = CHAINS[name].kernel.optimize("avx2", threads=threads)
    assert "a chain of nests" in fast.explain()
    if threads > 1:
        assert "its iterations run on threads" in fast.explain()
    if threads == 1 or name != "harris":
        assert "memref.alloc(%N" not in fast.mlir(), "no array has as many rows as the image"
    for shape in SHAPES:
        image = np.random.default_rng(7).random(shape, np.float32)
        wanted, found = np.full(shape, -1, np.float32), np.full(shape, -1, np.float32)
        CHAINS[name].kernel.interpret(image, wanted)
        fast(image, found)
        np.testing.assert_array_equal(found, wanted, str(shape))


def test_what_one_place_reads_cheaply_is_computed_there():
    fast = CHAINS["blur"].kernel.optimize("avx2", threads=1)
    assert "rows: computed where they are read" in fast.explain()
    assert "iterations of k run at once" in fast.explain(), "rows have loads in common"
    assert "memref.alloc" not in fast.mlir()


def test_nests_that_sum_up_are_no_chain():
    @af.kernel
    def centred(x: af.f64[M, N], y: af.f64[M, N]):
        means = af.alloc(af.f64[M])
        with af.for_(M) as i:
            means[i] = 0.0
        with af.for_(M) as i, af.for_(N) as j:
            means[i] += x[i, j] / af.f64(N)
        with af.for_(M) as i, af.for_(N) as j:
            y[i, j] = x[i, j] - means[i]

    fast = centred.optimize("avx2", threads=1)
    assert "a chain of nests" not in fast.explain()
    x = np.random.default_rng(0).normal(size=(5, 9))
    wanted, found = np.zeros_like(x), np.zeros_like(x)
    centred.interpret(x, wanted)
    fast(x, found)
    assert wanted.tobytes() == found.tobytes()
