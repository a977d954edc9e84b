"""Loops whose bounds come from data, as those over the rows of a sparse matrix: the steps that need no bounds."""

import numpy as np
import pytest

import affdsl as af

K, M, N = af.symbols("K M N")


@pytest.mark.parametrize(
    "bounds", [(0, 0), (3, 2), (-2, 5), (9, -9), (2**62, -(2**62)), (-(2**63), -(2**63) + 5), (2**63 - 3, 2**63 - 1)]
)
@pytest.mark.parametrize("steps", [lambda s: s.unroll("k", 3), lambda s: s.strip_mine("k", 2)])
def test_any_bounds_will_do(steps, bounds):
    """Empty loops, and those from and to negative numbers, also where their difference does not fit into 64 bits."""

    @af.kernel
    def count(ends: af.i64[2], n: af.i64[1], sums: af.i64[1]):
        with af.for_(ends[0], ends[1]) as k:
            n[0] += 1
            sums[0] += af.i64(k + 0)

    s = af.Schedule(count)
    steps(s)
    for kernel in (s.kernel(), s.kernel().interpret):
        n, sums = np.zeros(1, "i8"), np.zeros(1, "i8")
        kernel(np.array(bounds), n, sums)
        every = range(*bounds)
        assert n[0] == len(every)
        assert sums[0] == np.array(list(every), "i8").sum()


def test_an_element_is_stored_only_where_the_loop_runs():
    """Outside of its array it may lie otherwise, and belong to another iteration."""

    @af.kernel
    def sums(row: af.i64[M + 1], val: af.f64[K], y: af.f64[N]):
        with af.for_(M) as i, af.for_(row[i], row[i + 1]) as k:
            y[i] += val[k]

    kernel = af.Schedule(sums).scalar_replace("k").kernel()
    y = np.zeros(2)
    kernel.interpret(np.array([0, 1, 3, 3, 3]), np.ones(3), y)
    assert y.tolist() == [1.0, 2.0]
