"""Products, quotients and remainders with sizes and arguments: a call that would go wrong is refused, no other one."""

import re
import threading

import numpy as np
import pytest

import affdsl as af
from affdsl.codegen.c.allowed import REMEMBERED
from affdsl.codegen.c.emit import emit_jit
from affdsl.codegen.errors import SizeError
from affdsl.errors import ProgramIndexError
from affdsl.passes.analysis.bounds import Bounds
from affdsl.passes.analysis.relations import forget
from tests.oracles import call_by

M, N = af.symbols("M N")


@pytest.fixture(params=["compiled", "ctypes", "interpret"])
def calls(request, monkeypatch):
    """Calls a kernel in one of the three ways."""
    if request.param == "interpret":
        return lambda kernel, *arguments: kernel.interpret(*arguments)
    call_by(request.param, monkeypatch)
    return lambda kernel, *arguments: af.kernel(kernel.__wrapped__)(*arguments)


def refused(call) -> str:
    with pytest.raises(SizeError) as caught:
        call()
    return str(caught.value)


def line(function, offset: int) -> str:
    return f"tests/lang/test_semi_affine.py:{function.__wrapped__.__code__.co_firstlineno + offset}"


@af.kernel
def every_pth(x: af.f64[N], p: af.index):
    with af.for_(N) as i:
        with af.if_(i % p == 0):
            x[i] = 1.0


@pytest.mark.parametrize("p", [0, -3])
def test_a_division_by_an_argument_that_is_not_positive_is_refused(calls, p):
    message = refused(lambda: calls(every_pth, np.zeros(8), p))
    assert message == (
        f"every_pth: i % p ({line(every_pth, 3)}) divides by p, which must be at least 1: it needs N == 0 or p >= 1, "
        f"but N = 8, p = {p}: it would divide by {p} when i = 0; write affdsl.assume(p >= 1), or put it into "
        "affdsl.if_(p >= 1)"
    )
    calls(every_pth, np.zeros(0), p)  # nothing is divided
    x = np.zeros(8)
    calls(every_pth, x, 3)
    assert x.tolist() == [1, 0, 0, 1, 0, 0, 1, 0]


def test_check_says_that_a_divisor_must_be_positive():
    assert str(every_pth.check()).splitlines()[0] == (
        "every_pth: 1 proved, 1 inside for some sizes, which each call checks"
    )
    assert [str(f) for f in every_pth.check().findings] == [
        "i % p: conditional: defined where N == 0 or p >= 1",
        "writes x[i]: proved",
    ]


@af.kernel
def around(A: af.f64[N], count: af.index):
    with af.for_(count) as i:
        A[i % N] += 1.0


@af.kernel
def stretched(A: af.f64[N], B: af.f64[M]):
    with af.for_(M) as i:
        A[i // N] += B[i]


@af.kernel
def quotients(A: af.f64[N], B: af.f64[M]):
    with af.for_(M // N) as i:
        B[i] = 1.0


def test_a_division_by_a_size_that_is_zero_is_refused(calls):
    for kernel, more in ((around, 2), (stretched, np.zeros(2)), (quotients, np.zeros(2))):
        assert "must be at least 1" in refused(lambda kernel=kernel, more=more: calls(kernel, np.zeros(0), more))
    calls(around, np.zeros(0), 0)
    calls(stretched, np.zeros(0), np.zeros(0))
    A = np.zeros(3)
    calls(around, A, 7)
    assert A.tolist() == [3, 2, 2]
    calls(stretched, A, np.ones(9))
    assert A.tolist() == [6, 5, 5]
    message = refused(lambda: calls(stretched, A, np.ones(10)))
    assert "A[i // N] (" in message
    assert message.endswith(
        "is out of bounds with N = 3, M = 10: it would read A[3] when i = 9, but dimension 0 of A has size 3"
    )
    assert A.tolist() == [6, 5, 5]


@af.kernel
def numbers(x: af.i64[N], p: af.index):
    with af.for_(N) as i:
        x[i] = af.i64(i % p)


def test_a_remainder_as_a_number_needs_a_positive_divisor(calls):
    for p in (0, -3):
        assert "numbers: i % p" in refused(lambda p=p: calls(numbers, np.zeros(4, np.int64), p))
    x = np.zeros(4, np.int64)
    calls(numbers, x, 3)
    assert x.tolist() == [0, 1, 2, 0]


@af.kernel
def guarded(x: af.f64[N], p: af.index, q: af.index):
    with af.for_(N) as i:
        with af.if_(p >= 1):
            x[i % p] += 1.0
        with af.if_((q >= 1) & (i % q == 0)):
            x[i] += 10.0
        with af.else_():
            x[i] += 100.0


def test_a_guard_around_a_division_is_honoured(calls):
    x = np.zeros(3)
    calls(guarded, x, 0, -2)
    assert x.tolist() == [100, 100, 100]
    calls(guarded, x, 2, 2)
    assert x.tolist() == [112, 201, 110]


@af.kernel
def digits_of(x: af.f64[N], p: af.index):
    with af.for_(N) as n:
        _, j = af.delinearize_index(n, (p, p))
        x[j] += 1.0


def test_a_basis_must_be_positive(calls):
    assert "n (" in (message := refused(lambda: calls(digits_of, np.zeros(4), 0)))
    assert "divides by p, which must be at least 1" in message
    calls(digits_of, np.zeros(4), 2)


@af.kernel
def parts(x: af.f64[N], p: af.index):
    t = af.alloc(af.f64[N // p])
    with af.for_(N // p) as i:
        t[i] = x[p * i]
    return t


def test_a_size_that_is_returned_needs_a_positive_divisor(calls):
    assert (
        refused(lambda: calls(parts, np.zeros(4), 0))
        == "parts: N floordiv p needs a positive divisor, but N = 4, p = 0"
    )
    assert calls(parts, np.arange(7.0), 2).tolist() == [0, 2, 4]


def test_a_divisor_that_is_never_positive_is_an_error_at_its_line():
    def never(x: af.f64[N], p: af.index):
        af.assume(p <= 0)
        with af.for_(N) as i:
            x[i] = af.f64(i // p)

    with pytest.raises(ProgramIndexError) as caught:
        af.kernel(never)
    first, second, third = str(caught.value).splitlines()
    assert re.fullmatch(r"tests/.*:\d+: i // p divides by a number that is not positive", first)
    assert second.strip() == "for example with N = 1, p = 0 it divides by 0 when i = 0"
    assert third.strip() == "write affdsl.assume(p >= 1), or put it into affdsl.if_(p >= 1)"


@af.kernel
def filled(A: af.f64[N], p: af.index, q: af.index):
    with af.for_(p * q) as i:
        A[i] = 1.0


def test_a_bound_that_is_a_product_is_checked_at_the_call(calls):
    memory = np.zeros(16)
    message = refused(lambda: calls(filled, memory[:8], 3, 4))
    assert message == (
        f"filled: A[i] ({line(filled, 3)}) is out of bounds with N = 8, p = 3, q = 4: it would write A[11] "
        "when i = 11, but dimension 0 of A has size 8"
    )
    assert not memory.any()
    for p, q in ((2, 4), (-2, -4), (-3, 4), (0, 100)):
        calls(filled, memory[:8], p, q)
    assert memory.tolist() == [1.0] * 8 + [0.0] * 8


@pytest.mark.parametrize("p", [2**31, 2**32, 2**62, -(2**63)])
def test_a_product_that_does_not_fit_is_refused_and_does_not_wrap(calls, p):
    assert "fits into 64 bits" in refused(lambda: calls(filled, np.zeros(8), p, 2**32))


def test_check_says_what_the_numbers_of_a_call_decide():
    assert str(filled.check()).splitlines()[0] == "filled: 1 decided by the numbers of each call"
    (finding,) = filled.check().findings
    assert str(finding) == "writes A[i]: by numbers: p * q is semi-affine"
    assert filled.check().by_numbers == (finding,)
    assert not filled.check().are_proved


@af.kernel
def one(A: af.f64[N], p: af.index, q: af.index):
    with af.if_(p * q < N):
        A[p * q] = 1.0


@af.kernel
def turned(A: af.f64[N], p: af.index):
    A[p % N] = 1.0


def test_an_element_at_a_product_or_remainder_is_checked_at_the_call(calls):
    assert "it would write A[-3], but dimension 0 of A begins at 0" in refused(lambda: calls(one, np.zeros(8), -1, 3))
    assert "must be at least 1" in refused(lambda: calls(turned, np.zeros(0), 5))
    A = np.zeros(8)
    calls(one, A, 3, 3)
    assert not A.any()
    calls(one, A, -1, -3)
    calls(turned, A, -1)
    calls(turned, A, 2**60 - 1)
    assert A.tolist() == [0, 0, 0, 1, 0, 0, 0, 1]


@af.kernel
def wrong_stride(A: af.f64[N * M], B: af.f64[N, M]):
    with af.for_(N) as i, af.for_(M) as j:
        A[i * N + j] = B[i, j]


@af.kernel
def further(A: af.f64[N * M], B: af.f64[N, M], k: af.index):
    with af.for_(N) as i, af.for_(M) as j:
        A[i * M + j + k] = B[i, j]


def test_linearized_subscripts_that_leave_their_array_are_refused(calls):
    message = refused(lambda: calls(further, np.zeros(12), np.zeros((3, 4)), 1))
    assert "it would write A[12] when i = 2, j = 3, but dimension 0 of A has size 12" in message
    calls(further, np.zeros(12), np.zeros((3, 4)), 0)
    calls(further, np.zeros(0), np.zeros((3, 0)), 1)
    message = refused(lambda: calls(wrong_stride, np.zeros(12), np.zeros((4, 3))))
    assert "it would write A[14] when i = 3, j = 2, but dimension 0 of A has size 12" in message
    A = np.zeros(12)
    calls(wrong_stride, A, np.arange(12.0).reshape(3, 4))
    assert A.tolist() == [0, 1, 2, 4, 5, 6, 8, 9, 10, 11, 0, 0]


@af.kernel
def fits(A: af.f64[N], p: af.index, q: af.index):
    af.assume(p * q <= N)
    with af.for_(p * q) as i:
        A[i] = 1.0


def test_an_assumption_about_a_product_is_checked_first(calls):
    assert "it assumes" in refused(lambda: calls(fits, np.zeros(8), 3, 3))
    calls(fits, np.zeros(8), 2, 4)
    assert "must lie between" in refused(lambda: calls(fits, np.zeros(8), 2**62, -8))


@af.kernel
def promised(A: af.f64[N], p: af.index, q: af.index):
    af.assume(p * q <= N)
    A[N - 1] = 1.0


def test_an_assumption_that_64_bits_cannot_compute_refuses(calls):
    calls(promised, np.zeros(8), 2**61, -1)
    message = refused(lambda: calls(promised, np.zeros(8), 2**62, -8))
    assert message == f"promised: N - p * q >= 0 cannot be checked for N = 8, p = {2**62}, q = -8"


@af.kernel
def strided(x: af.f64[N], k: af.index, s: af.index):
    x[k * s] += 1.0
    x[k % s] += 1.0


@af.kernel
def caller(A: af.f64[N], count: af.index, s: af.index):
    with af.for_(count) as i:
        strided(A, i, s)


@af.kernel
def caller_of_number(A: af.f64[N], count: af.index):
    with af.for_(count) as i:
        strided(A, i, 3)


def test_what_a_callee_needs_is_asked_with_the_loops_and_numbers_of_its_caller(calls):
    assert "must be at least 1" in refused(lambda: strided(np.zeros(4), 1, 0))
    assert {f.verdict for f in caller_of_number.check().findings} == {"conditional", "proved"}
    A = np.zeros(7)
    calls(caller, A, 3, 3)
    calls(caller_of_number, A, 3)
    assert A.tolist() == [4, 2, 2, 2, 0, 0, 2]
    message = refused(lambda: calls(caller, A, 4, 3))
    assert f"x[k * s] ({line(strided, 2)})" in message
    assert "when i = 3, but dimension 0 of x has size 7" in message
    assert "the call of strided (" in refused(lambda: calls(caller, A, 4, 0))
    assert "it would" in refused(lambda: calls(caller_of_number, A, 4))


@af.kernel
def of_two(x: af.f64[N], i: af.index, j: af.index):
    x[i * j] = 1.0


def test_what_not_even_numbers_decide_is_said():
    @af.kernel
    def square(A: af.f64[N], count: af.index):
        with af.for_(count) as i:
            of_two(A, i, i)

    assert [f.verdict for f in square.check().findings] == ["unknown"]
    assert "1 not proved" in str(square.check())

    @af.kernel
    def through(A: af.f64[N], count: af.index):
        square(A, count)

    (finding,) = through.check().findings
    assert str(finding) == "the call of square: unknown: writes x[i * j] in square is not proved"


def test_a_derived_kernel_refuses_what_the_kernel_refuses(calls):
    for made in (
        filled.apply("affine-loop-tile{tile-size=4},canonicalize"),
        af.Schedule(filled).unroll("i", 2).kernel(),
    ):
        assert "A[i] (" in refused(lambda made=made: made(np.zeros(8), 3, 4))
        A = np.zeros(8)
        made(A, 2, 4)
        assert A.all()


def test_numbers_are_asked_about_once(monkeypatch):
    asked = []
    ask = Bounds.refusal_by_numbers
    monkeypatch.setattr(Bounds, "refusal_by_numbers", lambda *given: asked.append(given) or ask(*given))
    kernel = af.kernel(filled.__wrapped__)
    A = np.zeros(64)
    pairs = [(p, 2) for p in range(REMEMBERED)]
    for _ in range(3):
        for p, q in pairs:
            kernel(A, p, q)
    assert len(asked) == REMEMBERED
    for p in range(2, 30):  # more than the library remembers, many times around
        A[:] = 0
        kernel(A, p, 2)
        assert A.sum() == 2 * p
    assert "A[65]" in refused(lambda: kernel(A, 33, 2))
    assert "A[65]" in refused(lambda: kernel(A, 33, 2))


def test_each_thread_has_its_own_numbers():
    kernel = af.kernel(filled.__wrapped__)
    wrong = []

    def work(p: int) -> None:
        A = np.zeros(8)
        for q in (1, 2, 9, 0):
            try:
                kernel(A, p, q)
            except SizeError:
                if p * q <= 8:
                    wrong.append((p, q))
            else:
                if p * q > 8:
                    wrong.append((p, q))

    threads = [threading.Thread(target=work, args=(p,)) for p in range(1, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_kernels_without_such_expressions_ask_nothing():
    @af.kernel
    def plain(A: af.f64[N], p: af.index):
        with af.for_(p) as i:
            A[i] = 1.0

    assert not plain.check().needs_numbers
    assert "allow" not in emit_jit(plain.module, "plain", sizes=1, against=plain.check().against())


def test_sizes_of_empty_arrays_may_be_too_large_for_a_product(calls):
    @af.kernel
    def corner(A: af.f64[N], B: af.f64[M, 0]):
        with af.if_(N * M <= 5):
            A[N * M] = 1.0

    huge = np.empty((2**59, 0))
    message = refused(lambda: calls(corner, np.zeros(8), huge))
    assert message == f"corner: what it computes with N = 8, M = {2**59} does not fit into 64 bits"


def test_what_takes_too_long_to_decide_is_refused():
    function = filled.func
    forget()
    Bounds(function, filled.module)  # what is asked when a kernel is built is remembered from here on
    found = Bounds(function, filled.module, 3)
    n, _, p, q = function.args
    message = found.refusal_by_numbers({n: 8, p: 3, q: 4})
    assert "cannot be decided within the budget for N = 8, p = 3, q = 4; say more about the sizes" in message


def test_a_product_that_divides_is_asked_with_the_numbers_of_the_call():
    @af.kernel
    def parts(A: af.f64[N], p: af.index, q: af.index):
        with af.for_(N) as i:
            A[i // (p * q)] = 1.0

    parts(np.zeros(5), 1, 2)
    parts(np.zeros(5), -1, -2)
    with pytest.raises(
        SizeError, match=r"divides by p \* q, which must be at least 1, but with N = 5, p = 2, q = -1 it"
    ):
        parts(np.zeros(5), 2, -1)
