"""Lanes that choose which elements are updated: from memory, in their order, with what each update has left."""

import numpy as np
import pytest

import affdsl as af
from affdsl.ir.interpreter import run

N = af.symbols("N")


@af.kernel
def histogram(x: af.f64[N], counts: af.i64[5]):
    with af.for_(N) as i:
        counts[af.index(af.i64(x[i] * 5))] += 1


@af.kernel
def permuted(x: af.f64[N], y: af.f64[N]):
    with af.for_(N) as i:
        y[af.index(af.i64(x[i]))] = 1.0


@pytest.mark.parametrize("n", [0, 1, 7, 8, 40, 300])
def test_each_update_sees_the_one_before(n):
    made, few = histogram.optimize("avx512", threads=1), af.Schedule(histogram).vectorize("i", 8).kernel()
    assert "spilled_" not in made.c(), "many lanes are a loop over a buffer"
    assert "spilled_i64x8(" in few.c()
    x = np.random.default_rng(n).random(n)
    for kernel in (made, few):
        found, wanted = np.zeros(5, "i8"), np.zeros(5, "i8")
        kernel(x, found)
        run(histogram.func, n, x, wanted)
        assert found.tobytes() == wanted.tobytes()


def test_lanes_stay_in_registers_where_nothing_is_loaded_again_or_they_are_few():
    assert "spilled_" not in permuted.optimize("avx512", threads=1).c()
    assert "spilled_" not in af.Schedule(histogram).vectorize("i", 2).kernel().c()
