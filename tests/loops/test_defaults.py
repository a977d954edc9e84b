"""Default values of numbers and sizes: called, by name, in the interpreter, in other kernels, and pickled."""

import inspect
import pickle

import numpy as np
import pytest

import affdsl as af
from affdsl.codegen.errors import ArgumentError

M, N = af.symbols("M N")


@af.kernel
def smooth(x: af.f64[N], y: af.f64[N], weight: af.f64 = 0.25, steps: af.index = 2, block: M = 4):
    with af.for_(steps), af.for_((N + M - 1) // M) as b, af.for_(b * M, af.min(N, b * M + M)) as i:
        y[i] = y[i] + weight * x[i]


def ran(call, *arguments, **keywords):
    y = np.zeros(9)
    call(np.ones(9), y, *arguments, **keywords)
    assert (y == y[0]).all()
    return y[0]


def made_by_a_schedule():
    return af.Schedule(smooth).strip_mine("i#2", 2).kernel()


def pickled(kernel):
    return pickle.loads(pickle.dumps(kernel))  # noqa: S301


@pytest.mark.parametrize(
    "call",
    [smooth, smooth.interpret, made_by_a_schedule(), pickled(made_by_a_schedule())],
    ids=["called", "interpreted", "scheduled", "pickled"],
)
def test_what_a_call_does_not_give_has_its_default(call):
    assert ran(call) == 0.5
    assert ran(call, 1.0) == 2
    assert ran(call, 1.0, 3) == 3
    assert ran(call, steps=3) == 0.75
    assert ran(call, 2, block=1) == 4
    assert ran(call, 2, 1, 5) == 2
    y = np.zeros(2)
    call(y=y, x=np.ones(2), block=100)
    assert y.tolist() == [0.5, 0.5]


def test_in_another_kernel():
    @af.kernel
    def twice(x: af.f64[N], y: af.f64[N]):
        smooth(x, y)
        smooth(x, y, 1.0, block=3)

    assert ran(twice) == ran(twice.interpret) == 2.5


def test_what_has_no_default_is_asked_for():
    with pytest.raises(ArgumentError, match=r"^smooth: takes 2 to 5 arguments .*, got 1; pass also 'y'"):
        smooth(np.ones(3))
    with pytest.raises(ArgumentError, match=r"there is no argument 'weigth'"):
        smooth(np.ones(3), np.ones(3), weigth=1.0)


def test_they_are_shown():
    assert str(inspect.signature(smooth).parameters["weight"].default) == "0.25"
    assert repr(smooth).endswith("weight: f64 = 0.25, steps: index = 2, block: M = 4)>")


def test_a_method():
    class Filter:
        @af.kernel
        def run(self, x: af.f64[N], by: af.f64 = 2.0):
            with af.for_(N) as i:
                x[i] *= by

    x = np.ones(2)
    Filter().run(x)
    Filter().run(x, by=3.0)
    assert x.tolist() == [6, 6]
