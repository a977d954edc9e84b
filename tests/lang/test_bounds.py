"""Accesses out of bounds are refused by the call that would do it; mistakes/bounds.txt has those refused before."""

import numpy as np
import pytest

import affdsl as af
from affdsl.codegen.errors import SizeError
from affdsl.errors import ProgramIndexError
from affdsl.ir.interpreter import InterpreterError
from tests.oracles import call_by

M, N, K = af.symbols("M N K")


def refused(kind, call) -> str:
    with pytest.raises(kind) as caught:
        call()
    return str(caught.value)


def test_what_is_right_for_few_sizes_is_taken_for_these():
    @af.kernel
    def once(A: af.f64[N]):
        af.assume(N == 1)
        with af.for_(N) as i:
            A[2 * i] = 0.0

    assert once.check().are_proved


class Filter:
    """Has a kernel as a method, which is wrong for some of its objects."""

    def __init__(self, width: int) -> None:
        self.width = width

    @af.kernel
    def moved(self, A: af.f64[N + 2]):
        with af.for_(N) as i:
            A[i] = A[i + self.width]


def test_a_method_is_checked_when_it_is_built_for_an_object():
    assert Filter(2).moved.check().are_proved
    assert "A[i + 3] reads A[N + 2] when i = N - 1" in refused(ProgramIndexError, lambda: Filter(3).moved)


@af.kernel
def copied(x: af.f64[N], y: af.f64[M]):
    with af.for_(N) as i:
        y[i] = x[i]


@af.kernel
def at(n: af.index, x: af.f64[N]):
    x[n] = 1.0


@pytest.mark.parametrize("how", ["__call__", "interpret"])
@pytest.mark.parametrize("caller", ["compiled", "ctypes"])
def test_a_call_with_sizes_that_lead_out_of_bounds_is_refused(how, caller, monkeypatch):
    call_by(caller, monkeypatch)
    kernel = af.kernel(copied.__wrapped__)
    run = getattr(kernel, how)
    y = np.zeros(4)
    run(np.ones(4), y)
    assert y.tolist() == [1, 1, 1, 1]
    run(np.full(3, 2.0), y)
    assert y.tolist() == [2, 2, 2, 1]
    message = refused(SizeError, lambda: run(np.ones(5), y))
    assert message.startswith("copied: y[i] (")
    assert message.endswith(
        ") is in bounds only where M >= N, but N = 5, M = 4: "
        "it would write y[4] when i = 4, but dimension 0 of y has size 4"
    )
    assert y.tolist() == [2, 2, 2, 1]


@pytest.mark.parametrize("how", ["__call__", "interpret"])
@pytest.mark.parametrize("n", [-1, 3, 2**63 - 1, -(2**63)])
def test_an_index_argument_is_checked(how, n):
    x = np.zeros(3)
    message = refused(SizeError, lambda: getattr(at, how)(n, x))
    assert "x[n] (" in message
    assert f"it would write x[{n}], but dimension 0 of x " in message
    getattr(at, how)(2, x)
    assert x.tolist() == [0, 0, 1]


@af.kernel
def spread(n: af.index, x: af.f64[N]):
    with af.for_(n) as i:
        x[2 * i] = 1.0


@pytest.mark.parametrize("how", ["__call__", "interpret"])
def test_a_condition_that_64_bits_cannot_compute_refuses(how):
    message = refused(SizeError, lambda: getattr(spread, how)(-(2**63), np.zeros(3)))
    assert message == f"spread: n * 2 - N - 2 >= 0 cannot be checked for n = {-(2**63)}, N = 3"


@af.kernel
def paired(x: af.f64[N]):
    with af.for_(0, N, step=2) as i:
        x[i + 1] = x[i]


@pytest.mark.parametrize("how", ["__call__", "interpret"])
def test_a_condition_may_be_about_a_remainder(how):
    x = np.arange(6.0)
    getattr(paired, how)(x)
    assert x.tolist() == [0, 0, 2, 2, 4, 4]
    assert "in bounds only where N % 2 == 0, but N = 5" in refused(SizeError, lambda: getattr(paired, how)(np.zeros(5)))


@pytest.mark.parametrize("how", ["__call__", "interpret"])
def test_a_caller_checks_what_its_callees_need(how):
    @af.kernel
    def outer(x: af.f64[N], y: af.f64[M]):
        at(M, x)

    message = refused(SizeError, lambda: getattr(outer, how)(np.zeros(3), np.zeros(3)))
    assert message.startswith("outer: the call of at (")
    assert message.endswith("is in bounds only where N > M, but N = 3, M = 3: it would call it with n = 3, N = 3")
    x = np.zeros(3)
    getattr(outer, how)(x, np.zeros(2))
    assert x.tolist() == [0, 0, 1]


def test_a_call_in_a_loop_is_proved():
    @af.kernel
    def outer(x: af.f64[N]):
        with af.for_(N) as i:
            at(i, x)

    assert outer.check().are_proved


def test_a_callee_may_get_an_array_that_is_too_small_for_its_size():
    @af.kernel
    def first(x: af.f64[N + 2]):
        x[0] = 1.0

    assert first.check().are_proved

    @af.kernel
    def outer(x: af.f64[M]):
        first(x)

    assert "outer: it assumes M - 2 >= 0, but M = 1" in refused(SizeError, lambda: outer(np.zeros(1)))
    outer(np.zeros(2))


def test_arrays_that_a_callee_makes_have_the_sizes_that_it_gives_them():
    @af.kernel
    def longer(x: af.f64[N]):
        y = af.alloc(af.f64[N + 1])
        with af.for_(N + 1) as i:
            y[i] = 1.0
        return y

    @af.kernel
    def inside(x: af.f64[N]):
        y = longer(x)
        with af.for_(N) as i:
            x[i] = y[i + 1]

    assert inside.check().are_proved


def test_check_tells_what_is_known_of_each_access():
    @af.kernel
    def scattered(x: af.f64[N], y: af.f64[M], place: af.i32[N]):
        with af.for_(N) as i:
            y[i] = x[i]
            y[place[i]] = 0.0

    lines = str(scattered.check()).splitlines()
    assert lines[0] == ("scattered: 2 proved, 1 inside for some sizes, which each call checks, 1 not proved")
    assert [line.split("  ")[-1] for line in lines[1:]] == [
        "reads x[i]: proved",
        "writes y[i]: conditional: inside where M >= N",
        "reads place[i]: proved",
        "writes y[...]: unknown: an index is not affine: it comes from place[i], and nothing can be promised of data",
    ]
    place = np.array([0, 9], np.int32)
    with pytest.raises(InterpreterError, match="out of bounds"):
        scattered.interpret(np.zeros(2), np.zeros(2), place)
