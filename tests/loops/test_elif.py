"""`elif_`: which block runs, what its condition may read, and results."""

import numpy as np
import pytest

import affdsl as af
from affdsl.ir.dialects import affine, scf
from affdsl.ir.traverse import walk
from tests.loops.ways import agree

N = af.symbols("N")


@af.kernel
def clipped(x: af.f64[N], place: af.i32[N], y: af.i32[N]):
    with af.for_(N) as i:
        with af.if_(i == 0):
            y[i] = 7
        with af.elif_(x[place[i]] > x[i - 1]):  # outside of x where i is 0
            y[i] = 1
        with af.elif_((x[i] < 0) & (i < 5)):
            y[i] = -1
        with af.elif_(i < 6):
            y[i] = 3
        with af.else_():
            y[i] = 0


def wanted_of_clipped(x, place, y):
    for i in range(len(x)):
        if i == 0:
            y[i] = 7
        elif x[place[i]] > x[i - 1]:
            y[i] = 1
        elif x[i] < 0 and i < 5:
            y[i] = -1
        elif i < 6:
            y[i] = 3
        else:
            y[i] = 0


@pytest.mark.parametrize("n", [0, 1, 2, 13])
def test_the_first_that_holds_runs(n):
    random = np.random.default_rng(n)
    agree(clipped, wanted_of_clipped, random.normal(size=n), random.integers(0, max(n, 1), n, "i4"), np.zeros(n, "i4"))


def test_conditions_that_are_affine_stay_affine():
    ops = [op for op in walk(clipped.func) if isinstance(op, affine.If | scf.If)]
    assert [type(op) for op in ops] == [affine.If, scf.If, scf.If, affine.If]
    lines = [op.location.line for op in ops if op.location]
    assert lines == sorted(set(lines)), "each has the line of its own condition"


@af.kernel
def chosen(x: af.f64[N], n: af.i32, y: af.f64[1]):
    with af.if_(n == 0, af.f64, af.f64) as (a, b):
        af.yield_(1.0, 10.0)
    with af.elif_(x[n] > 0):
        af.yield_(2.0, x[n])
    with af.elif_(x[n] < -1):
        af.yield_(3.0, -x[n])
    with af.else_():
        af.yield_(4.0, 40.0)
    y[0] = a + b


def test_results():
    def wanted(x, n, y):
        y[0] = 11.0 if n == 0 else 2.0 + x[n] if x[n] > 0 else 3.0 - x[n] if x[n] < -1 else 44.0

    for n in range(4):
        agree(chosen, wanted, np.array([5.0, 5.0, -5.0, 0.5]), n, np.zeros(1))
        agree(chosen, wanted, np.array([5.0, -0.5, 1.0, -1.5]), n, np.zeros(1))


def test_without_an_else():
    @af.kernel
    def fill(y: af.i32[N]):
        s = af.var(af.i32(0))
        with af.for_(N) as i:
            with af.if_(i % 3 == 0):
                s += 1
            with af.elif_(s > 1):
                s += 10
            y[i] = s

    def wanted(y):
        s = 0
        for i in range(len(y)):
            s += 1 if i % 3 == 0 else 10 if s > 1 else 0
            y[i] = s

    agree(fill, wanted, np.zeros(9, "i4"))


def test_an_index_that_is_read_before_the_branch():
    @af.kernel
    def found(x: af.f64[N], place: af.i32[N], y: af.f64[1]):
        k = place[0]
        with af.if_(N > 3):
            y[0] = 1.0
        with af.elif_(x[k] > 0):
            y[0] = 2.0

    def wanted(x, place, y):
        y[0] = 1.0 if len(x) > 3 else 2.0 if x[place[0]] > 0 else y[0]

    for n in (1, 2, 5):
        agree(found, wanted, np.linspace(-1, 1, n), np.arange(n, dtype="i4")[::-1].copy(), np.zeros(1))
