"""Loads under conditions that lie inside of their arrays anyway: lanes load them without a mask, and once."""

from __future__ import annotations

import numpy as np
import pytest

import affdsl as af

M, N = af.symbols("M N")


@af.kernel
def formulas(kind: af.i32[N], x: af.f64[N], y: af.f64[N]):
    with af.for_(N) as i:
        with af.if_(kind[i] == 0):
            y[i] = x[i] + 1
        with af.elif_(kind[i] == 1):
            y[i] = x[i] * 2
        with af.else_():
            y[i] = -x[i]


@af.kernel
def before(kind: af.i32[N], x: af.f64[N], y: af.f64[N]):
    with af.for_(N) as i:
        with af.if_(i >= 1):
            y[i] += x[i - 1]
        with af.if_(kind[i] > 0):
            y[i] += x[i]


@af.kernel
def of_another_size(kind: af.i32[N], x: af.f64[M], y: af.f64[N]):
    with af.for_(N) as i, af.if_(kind[i] + i < M):
        y[i] = x[i]


@af.kernel
def stored_there(kind: af.i32[N], x: af.f64[N], y: af.f64[N]):
    with af.for_(N) as i, af.if_(kind[i] > 0):
        x[i] = x[i] * y[i]


@af.kernel
def below_another(kind: af.i32[N], x: af.f64[N], y: af.f64[N]):
    with af.for_(N) as i:
        with af.if_(kind[i] > 0):
            with af.if_(x[i] > 0):
                y[i] += x[i]
            with af.else_():
                y[i] -= x[i]


@pytest.mark.parametrize(("kernel", "masked", "plain"), [
    (formulas, 0, 1), (before, 1, 1), (of_another_size, 1, 0), (stored_there, 1, 0), (below_another, 0, 1),
])  # fmt: skip
def test_loads_that_may_run_anyway_have_no_mask(kernel, masked, plain):
    text = af.Schedule(kernel).vectorize("i", 4, tail="scalar").kernel().mlir()
    assert (text.count("vector.maskedload %x"), text.count("affine.vector_load %x")) == (masked, plain), text


@pytest.mark.parametrize("tail", ["scalar", "masked", "folded"])
@pytest.mark.parametrize("kernel", [formulas, before, of_another_size, stored_there, below_another])
def test_the_same_is_left(kernel, tail):
    fast = af.Schedule(kernel).vectorize("i", 4, tail=tail).kernel()
    for n in (0, 1, 3, 4, 9, 16):
        random = np.random.default_rng(n)
        kind, x, y = random.integers(0, 3, n, "i4"), random.normal(size=n), random.normal(size=n)
        given, wanted = (kind, x.copy(), y.copy()), (kind, x.copy(), y.copy())
        fast(*given)
        kernel(*wanted)
        for a, b in zip(given, wanted, strict=True):
            np.testing.assert_array_equal(a, b)


def test_what_another_thread_may_store_to_is_not_loaded_for_nothing():
    @af.kernel
    def shared(kind: af.i32[N, N], x: af.f64[N, N], y: af.f64[N, N]):
        with af.parallel(N) as j, af.for_(N) as i:
            with af.if_(kind[j, i] > 0):
                y[j, i] += x[j, i]
            x[j, i] = 0.0

    text = af.Schedule(shared).vectorize("i", 4, tail="scalar").kernel().mlir()
    assert "vector.maskedload %x" in text
