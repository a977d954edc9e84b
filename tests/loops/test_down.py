"""Loops with a negative step: the iterations of Python's range, exact dependences, and schedules by the loop's name."""

import numpy as np
import pytest

import affdsl as af
from affdsl.ir.dialects import affine, scf
from affdsl.ir.traverse import walk
from tests.effort import TRIES_ALL
from tests.loops.ways import WAYS, agree

M, N = af.symbols("M N")


@af.kernel
def backward(U: af.f64[N, N], x: af.f64[N]):
    """Solve U x = b for an upper triangle."""
    with af.for_(N - 1, -1, -1) as i:
        with af.for_(N - 1, i, -1) as j:
            x[i] -= U[i, j] * x[j]
        x[i] = x[i] / U[i, i]


def wanted_of_backward(U, x):
    for i in range(len(x) - 1, -1, -1):
        for j in range(len(x) - 1, i, -1):
            x[i] -= U[i, j] * x[j]
        x[i] = x[i] / U[i, i]


@pytest.mark.parametrize("n", [0, 1, 2, 7])
def test_back_substitution(n):
    random = np.random.default_rng(n)
    agree(backward, wanted_of_backward, random.uniform(1, 2, (n, n)), random.normal(size=n))


def listing(*bounds):
    """A kernel that lists the iterations of a loop with these bounds, and the same in Python."""

    @af.kernel
    def listed(n: af.index, x: af.i64[64]):
        k = af.var(af.i64(0))
        with af.for_(*(b(n) if callable(b) else b for b in bounds)) as i:
            x[k] = af.i64(i)
            k += 1
        x[63] = k

    def wanted(n, x):
        numbers = list(range(*(b(n) if callable(b) else b for b in bounds)))
        x[: len(numbers)] = numbers
        x[63] = len(numbers)

    return listed, wanted


@pytest.mark.parametrize(
    "bounds",
    [(lambda n: n, 0, -1), (lambda n: n - 1, -1, -3), (9, lambda n: n, -2), (5, 5, -1), (lambda n: 2 * n, 3, -4),
     (lambda n: -n, lambda n: -2 * n - 1, -2), (0, 5, -1)],
)  # fmt: skip
def test_the_iterations_are_those_of_range(bounds):
    listed, wanted = listing(*bounds)
    for n in (0, 1, 2, 7, 10):
        agree(listed, wanted, n, np.zeros(64, "i8"), ways=WAYS if TRIES_ALL else WAYS[:1])


@af.kernel
def between(n: af.index, m: af.index, x: af.i64[64]):
    k = af.var(af.i64(0))
    with af.for_(af.min(n, 9, 2 * m), af.max(m - 4, 0), -3) as i:
        x[k] = af.i64(i)
        k += 1


def test_extremes_as_bounds():
    def wanted(n, m, x):
        numbers = list(range(min(n, 9, 2 * m), max(m - 4, 0), -3))
        x[: len(numbers)] = numbers

    for n in (0, 5, 12):
        for m in (0, 1, 6, 11):
            agree(between, wanted, n, m, np.zeros(64, "i8"))


@af.kernel
def rows(starts: af.i32[M + 1], x: af.f64[N], last: af.f64[M], first: af.i64[M]):
    """The bounds are data: the loop is an scf.for."""
    with af.for_(M) as r, af.for_(starts[r + 1] - 1, starts[r] - 1, -1, iter_args=[af.f64(0)]) as (i, s):
        first[r] = af.i64(i)
        last[r] = s + x[i]
        af.yield_(s + x[i])


def test_bounds_that_are_data():
    def wanted(starts, x, last, first):
        for r in range(len(last)):
            s = 0.0
            for i in range(starts[r + 1] - 1, starts[r] - 1, -1):
                first[r], last[r] = i, s + x[i]
                s += x[i]

    starts = np.array([0, 3, 3, 4, 9], "i4")
    agree(rows, wanted, starts, np.random.default_rng(1).normal(size=9), np.zeros(4), np.zeros(4, "i8"))
    assert any(isinstance(op, scf.For) for op in walk(rows.func))


def test_dependences_are_exact_and_the_loop_has_its_name():
    @af.kernel
    def shift(a: af.f64[N]):
        with af.for_(N - 1, 1, -1) as i:
            a[i] = a[i - 2]

    assert [str(d) for d in shift.dependences().all()] == ["anti dependence of a at depth 1: [2, 2]"]
    (loop,) = [op for op in walk(shift.func) if isinstance(op, affine.For)]
    assert loop.iv.hint == "i"

    s = af.Schedule(shift, validate=True).strip_mine("i", 2).unroll("i", 2)
    a, b = np.arange(11.0), np.arange(11.0)
    shift(a)
    s.kernel()(b)
    assert a.tolist() == b.tolist() == [0, 1, *np.arange(9.0)]


def test_a_loop_that_runs_down_may_run_up_where_its_order_is_free():
    @af.kernel
    def scale(x: af.f64[N], y: af.f64[N]):
        with af.for_(N - 1, -1, -1) as i:
            y[i] = 2 * x[i]

    assert [loop.verdict for loop in scale.loops()] == ["parallel"]
    s = af.Schedule(scale, validate=True).reverse("i")
    assert "y[i] = 2.0 * x[i]" in s.kernel().c()
