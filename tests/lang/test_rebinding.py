"""Names that get another meaning in a with-block, where that is what it says; mistakes/names.txt has the others."""

import numpy as np

import affdsl as af

N = af.symbols("N")


def result(kernel: af.Kernel) -> list[float]:
    x, y = np.arange(1.0, 6.0), np.zeros(5)
    kernel.interpret(x, y)
    return y.tolist()


def test_a_name_may_mean_something_new_in_each_loop():
    @af.kernel
    def f(x: af.f64[N], y: af.f64[N]):
        with af.for_(N) as i:
            t = x[i] * 2
            y[i] = t
        with af.for_(N) as i:
            t = x[i] * 3
            y[i] += t

    assert result(f) == [5, 10, 15, 20, 25]


def test_numbers_add_up_over_statements_of_one_iteration():
    @af.kernel
    def f(x: af.f64[N], y: af.f64[N]):
        first = x[0]
        with af.for_(N) as i:
            total = first + x[i]
            for c in range(3):
                total = total + c
            y[i] = total

    assert result(f) == [5, 6, 7, 8, 9]


def test_numbers_of_python_count_statements():
    @af.kernel
    def f(x: af.f64[N], y: af.f64[N]):
        slot = 0
        with af.for_(N) as i:
            for _ in range(2):
                y[i] = x[i] + slot
                slot += 1

    assert result(f) == [2, 3, 4, 5, 6]


def test_branches_may_use_one_name_for_two_things():
    @af.kernel
    def f(x: af.f64[N], y: af.f64[N]):
        with af.for_(N) as i:
            k = i
            y[k] = 0.0
            with af.if_(x[i] > 2):
                k = N - 1 - i
                y[k] = x[i]
            with af.else_():
                k = i
                y[k] += x[i]

    assert result(f) == [5, 4, 3, 0, 0]


def test_lists_may_be_filled_and_their_variables_changed():
    @af.kernel
    def f(x: af.f64[N], y: af.f64[N]):
        sums, parts = [af.var(af.f64(0)) for _ in range(2)], [None, None]
        table = {"sum": sums[0]}
        with af.for_(N) as i:
            for k in range(2):
                parts[k] = x[i] * k
                sums[k] += parts[k]
            table["sum"] += 1.0
            y[i] = sums[0] + sums[1]

    assert result(f) == [2, 5, 9, 14, 20]


def test_a_name_from_a_block_that_has_ended_is_free():
    @af.kernel
    def f(x: af.f64[N], y: af.f64[N]):
        for c in range(2):
            with af.for_(N) as i:
                if c == 2:
                    y[i] = t  # noqa: F821 - never runs, but comes first in the byte code
                t = x[i] + c
                y[i] = t

    assert result(f) == [2, 3, 4, 5, 6]
