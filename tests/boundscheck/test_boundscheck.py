"""A kernel with `boundscheck=True` raises where an access would leave its array, with all that is needed to find it."""

import inspect
import os
import pickle
import threading
from pathlib import Path

import numpy as np
import pytest

import affdsl as af
from affdsl.codegen.errors import SizeError
from affdsl.errors import AffdslError, ProgramTypeError
from affdsl.ir.interpreter.environment import InterpreterError
from tests.harness.guarded import SIDES, guarded
from tests.harness.judges import copied

M, N = af.symbols("M N")
HERE = Path(__file__)


def line_of(kernel: af.Kernel, text: str) -> int:
    """Where a kernel of this file says so first."""
    lines, first = inspect.getsourcelines(kernel)
    return next(n for n, line in enumerate(lines, first) if line.strip() == text)


def in_bounds(kernel: af.Kernel, *arguments: object) -> None:
    """A call does what the interpreter does, and nothing is found."""
    expected = copied(arguments)
    kernel.interpret(*expected)
    kernel(*arguments)
    for a, b in zip(arguments, expected, strict=True):
        np.testing.assert_array_equal(a, b)


def refused(kernel: af.Kernel, *arguments: object, kind: type[AffdslError] = af.OutOfBoundsError) -> AffdslError:
    """The error of a call, which the interpreter raises, too, at the same line."""
    given = copied(arguments)
    with pytest.raises(kind) as caught:
        kernel(*(guarded(x, "end") if isinstance(x, np.ndarray) else x for x in arguments))
    with pytest.raises(InterpreterError) as ours:
        kernel.interpret(*given)
    place = str(caught.value).split(": ", 1)[0]
    assert str(ours.value).startswith(f"{place}:")
    return caught.value


@af.kernel(boundscheck=True)
def scatter(A: af.f64[N], ix: af.i64[M]):
    with af.for_(M) as i:
        A[ix[i]] = 5.0


@pytest.mark.parametrize("wrong", [-1, 8, 9, 2**40, 2**62, 2**63 - 1, -(2**63)])
@pytest.mark.parametrize("side", SIDES)
def test_a_store_by_data_is_found_with_its_line_array_index_and_size(wrong, side):
    place = f"{os.path.relpath(HERE)}:{line_of(scatter, 'A[ix[i]] = 5.0')}"
    words = f"{place}: A[ix[i]] = ...: index {wrong} is out of bounds for dimension 0 of A, which has size 8"
    A = guarded(np.zeros(8), side)
    with pytest.raises(IndexError) as caught:
        scatter(A, np.array([3, 7, wrong, 2]))
    error = caught.value
    assert isinstance(error, af.OutOfBoundsError)
    assert str(error) == words
    assert (error.array, error.index, error.sizes, error.dimension) == ("A", (wrong,), (8,), 0)
    assert A.tolist() == [0, 0, 0, 5, 0, 0, 0, 5], "what came before is written, nothing after"
    in_bounds(scatter, np.zeros(8), np.array([0, 7, 3]))


@af.kernel(boundscheck=True)
def histogram(image: af.i32[M, N], counts: af.i64[8]):
    with af.parallel(M) as i:
        with af.for_(N) as j:
            with af.if_(image[i, j] != 100):
                counts[image[i, j]] = 1


def test_in_a_parallel_loop_one_of_the_failures_is_told_and_none_is_made():
    image = np.zeros((64, 5), "i4")
    in_bounds(histogram, image, np.zeros(8, "i8"))
    image[7, 3] = 100
    in_bounds(histogram, image, np.zeros(8, "i8"))
    image[3:60, 2] = range(8, 65)
    error = refused(histogram, image, np.zeros(8, "i8"))
    assert error.array == "counts"
    assert error.index[0] in range(8, 65)
    assert f": counts[image[i, j]] = ...: index {error.index[0]} is out" in str(error)
    assert "goto next" in histogram.c(), "the region is not left by a jump"


@af.kernel(boundscheck=True)
def reads(A: af.f64[N], ix: af.i64[M], out: af.f64[M], c: af.i64[M]):
    with af.for_(M) as i:
        with af.if_(c[i] > 0):
            A[ix[i]]
        out[i] = af.select(c[i] > 1, A[ix[i] * 2], 0.0)


def test_a_value_that_nobody_reads_is_checked_as_the_interpreter_does():
    A, out = np.ones(8), np.zeros(2)
    in_bounds(reads, A, np.array([0, 3]), out, np.array([1, 1]))
    error = refused(reads, A, np.array([0, -4]), out, np.array([0, 0]))
    assert ": A[ix[i] * 2]: index -8 is out of bounds" in str(error), "both arms of a select are computed"
    error = refused(reads, A, np.array([0, 8]), out, np.array([0, 1]))
    assert f":{line_of(reads, 'A[ix[i]]')}: A[ix[i]]: index 8" in str(error)


@af.kernel(boundscheck=True)
def wide(A: af.f32[M, N], at: af.i64[2], out: af.f32[8]):
    v = af.vector_load(A, (at[0], at[1]), 8)
    af.vector_store(v, out, (0,))
    af.vector_store(v, A, (at[1], at[0]))


def test_a_vector_is_checked_as_a_whole():
    A, out = np.arange(60, dtype="f4").reshape(5, 12), np.zeros(8, "f4")
    in_bounds(wide, A.copy(), np.array([4, 4]), out)
    for place, lane, index, axis in [
        ((2, 5), 7, (2, 12), 1), ((2, -1), 0, (2, -1), 1), ((5, 0), 0, (5, 0), 0),
        ((0, 2**63 - 1), 0, (0, 2**63 - 1), 1), ((0, -(2**63)), 0, (0, -(2**63)), 1),
    ]:  # fmt: skip
        error = refused(wide, A, np.array(place), out)
        assert (error.index, error.dimension, error.sizes) == (index, axis, (5, 12))
        assert f"A[at[0], at[1]] (8 lanes): index {index[axis]} of ({index[0]}, {index[1]}) in lane {lane} is" in str(
            error
        )


@af.kernel
def put(dst: af.i64[N], idx: af.i64[M]):
    with af.for_(M) as i:
        dst[idx[i]] = af.i64(7)


@af.kernel(boundscheck=True)
def puts(A: af.i64[N], B: af.i64[2 * N], ix: af.i64[M]):
    with af.parallel(2) as i:
        with af.if_(i == 1):
            put(B, ix)
    put(A, ix)


def test_a_callee_is_checked_too_and_names_its_own_argument():
    ix = np.array([3, 5])
    in_bounds(puts, np.zeros(8, "i8"), np.zeros(16, "i8"), ix)
    for wrong, size in [(8, 8), (16, 16), (-1, 16)]:
        ix[1] = wrong
        error = refused(puts, np.zeros(8, "i8"), np.zeros(16, "i8"), ix)
        line = line_of(put, "dst[idx[i]] = af.i64(7)")
        words = f":{line}: dst[idx[i]] = ...: index {wrong} is out of bounds for dimension 0 of dst, which has size"
        assert f"{words} {size}" in str(error)


@af.kernel(boundscheck=True)
def local(ix: af.i64[M]) -> object:
    t = af.alloc(af.i64[M, 4])
    r = af.alloc(af.i64[M])
    with af.for_(M) as i:
        t[i, ix[i]] = af.i64(1)
        r[i] = t[i, ix[i]]
    return r


def test_arrays_of_the_kernel_are_checked_and_given_back_where_it_fails():
    assert local(np.array([0, 3])).tolist() == [1, 1]
    error = refused(local, np.array([0, 4]))
    assert "t[i, ix[i]] = ...: index 4 of (1, 4) is out of bounds for dimension 1 of t, which has size 4" in str(error)
    lines = [line.strip() for line in local.c().splitlines()]
    ends = [n for n, line in enumerate(lines) if line == "return 3;"]
    inside = [n for n in ends if lines[n - 1] == "free(t);"]
    assert len(inside) >= 2, "the buffer is freed before the function ends"


@af.kernel(boundscheck=True)
def every(x: af.f64[N], p: af.index, is_wanted: af.bool_[N]):
    with af.for_(N) as i:
        with af.if_(is_wanted[i]):  # otherwise the call would be refused: only data decide whether anything is divided
            with af.if_(i % p == 0):
                x[i] = 1.0


def test_a_divisor_that_is_not_positive_is_found_where_it_is_computed_with():
    wanted = np.array([False, True, True, True, False, False, True])
    in_bounds(every, np.zeros(7), 3, wanted)
    for p in (0, -3):
        error = refused(every, np.zeros(7), p, wanted, kind=af.DivisorError)
        assert isinstance(error, ZeroDivisionError)
        line = line_of(every, "with af.if_(i % p == 0):")
        words = f":{line}: p is the divisor of a floor division or remainder, and must be positive, but is {p}"
        assert words in str(error)
    in_bounds(every, np.zeros(7), 0, np.zeros(7, np.bool_))  # it is not computed


def fresh(**options: bool) -> af.Kernel:
    """A kernel that nobody has called yet."""

    @af.kernel(**options)
    def scattered(A: af.f64[N], ix: af.i64[M]):
        with af.for_(M) as i:
            A[ix[i]] = 5.0

    return scattered


def is_checked(kernel: af.Kernel) -> bool:
    """Whether it finds an access one element behind the array, which lies inside of a larger one."""
    whole = np.zeros(9)
    try:
        kernel(whole[:8], np.array([8]))
    except af.OutOfBoundsError:
        assert whole[8] == 0
        return True
    assert whole[8] == 5
    return False


@pytest.mark.parametrize("asked", [False, True])
@pytest.mark.parametrize(("variable", "decides"), [(None, None), ("", None), ("0", False), ("1", True)])
def test_the_environment_decides_where_it_says_something(monkeypatch, asked, variable, decides):
    if variable is None:
        monkeypatch.delenv("AFFDSL_BOUNDSCHECK", raising=False)
    else:
        monkeypatch.setenv("AFFDSL_BOUNDSCHECK", variable)
    kernel = fresh(boundscheck=asked)
    plain = fresh().c()
    assert is_checked(kernel) is (asked if decides is None else decides)
    assert (kernel.c() == plain) is not asked, "the C to be shipped is what the decorator says"
    monkeypatch.setenv("AFFDSL_BOUNDSCHECK", "0" if variable == "1" else "1")
    assert is_checked(kernel) is (asked if decides is None else decides), "what is compiled stays"


def test_another_value_of_the_variable_is_refused(monkeypatch):
    monkeypatch.setenv("AFFDSL_BOUNDSCHECK", "yes")
    with pytest.raises(ValueError, match="AFFDSL_BOUNDSCHECK is 'yes'; set it to 0 or 1, or unset it"):
        fresh()(np.zeros(2), np.array([0]))


def test_boundscheck_is_a_truth_value():
    with pytest.raises(ProgramTypeError, match="boundscheck is 1\n    it is True or False"):
        af.kernel(boundscheck=1)


def test_what_is_made_of_a_checked_kernel_is_checked():
    kernel = fresh(boundscheck=True)
    s = af.Schedule(kernel)
    s.strip_mine("i", 2)
    for made in (s.kernel(), kernel.apply("canonicalize,cse"), kernel.with_module(kernel.module)):
        assert made.boundscheck
        assert is_checked(made)
    assert is_checked(pickle.loads(pickle.dumps(kernel)))  # noqa: S301 - our own
    assert not fresh().apply("canonicalize").boundscheck


def test_a_kernel_that_calls_a_checked_one_is_checked():
    inner = fresh(boundscheck=True)

    @af.kernel
    def outer(A: af.f64[N], ix: af.i64[M]):
        inner(A, ix)

    assert outer.boundscheck
    assert is_checked(outer)


def test_a_method_is_checked():
    class Thing:
        @af.kernel(boundscheck=True)
        def put(self, A: af.f64[N], ix: af.i64[M]):
            with af.for_(M) as i:
                A[ix[i]] = 5.0

    assert Thing.put.boundscheck
    assert is_checked(Thing().put)


def test_the_decorator_finds_the_names_around_it():
    def make(size):
        S = size

        @af.kernel(boundscheck=True)
        def fill(A: "af.f64[S]"):
            with af.for_(S) as i:
                A[i] = 1.0

        return fill, S

    kernel, _ = make(3)
    kernel(np.zeros(3))
    assert list(inspect.signature(kernel).parameters) == ["A"]


def test_sizes_that_do_not_fit_are_refused_by_the_call_as_before():
    @af.kernel(boundscheck=True)
    def copy(x: af.f64[N], y: af.f64[M]):
        with af.for_(N) as i:
            y[i] = x[i]

    with pytest.raises(SizeError, match="is in bounds only where"):
        copy(np.zeros(3), np.zeros(2))


def test_the_caller_by_ctypes_raises_the_same(monkeypatch):
    monkeypatch.setenv("AFFDSL_CALLER", "ctypes")
    assert is_checked(fresh(boundscheck=True))


def test_threads_are_told_of_their_own_failures():
    kernel = fresh(boundscheck=True)
    kernel(np.zeros(8), np.array([0]))
    found: dict[int, set[int]] = {}

    def call(wrong: int) -> None:
        for _ in range(200):
            try:
                kernel(np.zeros(8), np.array([wrong]))
            except af.OutOfBoundsError as error:
                found.setdefault(wrong, set()).add(error.index[0])

    threads = [threading.Thread(target=call, args=(n,)) for n in range(8, 12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {n: {n} for n in range(8, 12)}
