"""What loops compute of each element with a number is computed once, and every result stays the same to the bit."""

from __future__ import annotations

import numpy as np
import pytest

import affdsl as af

M, N, K = af.symbols("M N K")


@af.kernel
def product(alpha: af.f64, A: af.f64[M, K], B: af.f64[K, N], C: af.f64[M, N]):
    with af.for_(M) as i, af.for_(N) as j, af.for_(K) as k:
        C[i, j] += alpha * A[i, k] * B[k, j]


@af.kernel
def lower(alpha: af.f64, A: af.f64[N, K], C: af.f64[N, N]):
    with af.for_(N) as i, af.for_(i + 1) as j, af.for_(K) as k:
        C[i, j] += alpha * A[i, k] * A[j, k]


def test_the_factor_is_scaled_once():
    s = af.Schedule(product).precompute("A", "i")
    rows = [(row.names[0], row.depth) for row in s.loops()]
    assert [depth for _, depth in rows] == [0, 1, 0, 1, 2]
    assert 's.precompute("A", "i")' in str(s)
    made = s.kernel(validate=True)
    for m, n, k in ((0, 2, 3), (2, 0, 3), (2, 3, 0), (1, 1, 1), (4, 5, 3)):
        random = np.random.default_rng(m + n)
        a, b, c = random.normal(size=(m, k)), random.normal(size=(k, n)), random.normal(size=(m, n))
        wanted, found = c.copy(), c.copy()
        product.interpret(0.1, a, b, wanted)
        made(0.1, a, b, found)
        assert wanted.tobytes() == found.tobytes()


def test_an_array_that_is_both_factors():
    made = af.Schedule(lower).precompute("A", "i").kernel(validate=True)
    for n, k in ((0, 1), (1, 0), (5, 4)):
        a, c = np.random.default_rng(n).normal(size=(n, k)), np.zeros((n, n))
        wanted, found = c.copy(), c.copy()
        lower.interpret(0.3, a, wanted)
        made(0.3, a, found)
        assert wanted.tobytes() == found.tobytes()


def test_a_product_does_so_where_it_is_optimized():
    assert ".precompute(" in str(product.optimize("avx2", threads=1).schedule)


def refused(kernel: af.Kernel, array: str, loop: str) -> str:
    with pytest.raises(af.IllegalTransform) as caught:
        af.Schedule(kernel).precompute(array, loop)
    return str(caught.value)


def test_what_is_written_is_not_computed_before():
    @af.kernel
    def smoothed(A: af.f64[N + 1], B: af.f64[N, N]):
        with af.for_(N) as i, af.for_(N) as j:
            B[i, j] = A[i] * 2.0
            A[j] = 1.0

    assert "it may write to A" in refused(smoothed, "A", "i")


def test_bounds_that_move_with_a_loop_that_the_element_does_not_depend_on():
    @af.kernel
    def triangle(A: af.f64[N], B: af.f64[N, N]):
        with af.for_(N) as i, af.for_(i) as j:
            B[i, j] = A[j] * 2.0

    assert "move with loops that it does not depend on" in refused(triangle, "A", "i")


def test_what_is_used_twice_or_under_a_condition_or_not_at_all():
    @af.kernel
    def used(A: af.f64[N], B: af.f64[N, N], C: af.f64[N]):
        with af.for_(N) as i, af.for_(N) as j:
            B[i, j] = A[j] * A[i]
            with af.if_(i > j):
                B[i, j] = C[j] * 2.0

    assert "no load of it is used in one operation alone" in refused(used, "A", "i")
    assert "the load stands under a condition" in refused(used, "C", "i")
    s = af.Schedule(product)
    with pytest.raises(af.IllegalTransform, match="no load of it is used"):
        s.precompute("B", "i")


def test_a_loop_that_calls_keeps_what_it_computes():
    @af.kernel
    def one(x: af.f64[N]):
        x[0] = 1.0

    @af.kernel
    def calls(A: af.f64[N], B: af.f64[N, N], x: af.f64[N]):
        af.assume(N >= 1)
        with af.for_(N) as i, af.for_(N) as j:
            one(x)
            B[i, j] = A[j] * 2.0

    assert "which does more than to compute, load and store" in refused(calls, "A", "i")
