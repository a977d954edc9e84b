"""What messages propose is tried: the advice for a mistake, followed, gives a kernel or a call that is accepted."""

import numpy as np
import pytest

import affdsl as af
from affdsl.codegen.errors import ArgumentError

N = af.symbols("N")
W = np.arange(4.0)


@af.kernel
def filled(A: af.f64[N], s: af.f64):
    with af.for_(N) as i:
        A[i] = s


@af.kernel
def summed(A: af.f64[N], total: af.f64[1], k: af.i32):
    total[0] = 0.0
    with af.for_(N) as i:
        total[0] += A[i] + af.f64(k)


def copied(array: np.ndarray, k: object = 1) -> None:
    summed(array, np.zeros(1), k)


Z = np.ones(3, complex)
CALLS = {
    "complex for floats": (lambda: copied(Z), "pass np.ascontiguousarray(A.real), or let",
                           lambda: copied(np.ascontiguousarray(Z.real))),
    "single for double": (lambda: copied(np.ones(3, "f4")), "pass A.astype(np.float64)",
                          lambda: copied(np.ones(3, "f4").astype(np.float64))),
    "words": (lambda: copied(np.array(["a"])), "its elements are no numbers", None),
    "a fraction for an integer": (lambda: copied(W, 2.5), "pass int(k) if", lambda: copied(W, int(2.5))),
    "None": (lambda: filled(np.ones(2), None), "got None; pass a number", lambda: filled(np.ones(2), 1.0)),
    "2j": (lambda: filled(np.ones(2), 2j), "pass s.real or abs(s)", lambda: filled(np.ones(2), (2j).real)),
    "a numeral": (lambda: filled(np.ones(2), "1.5"), "pass float(s)", lambda: filled(np.ones(2), float("1.5"))),
    "a word": (lambda: filled(np.ones(2), "x"), "got 'x' (str); pass a number", None),
    "a list": (lambda: filled(np.ones(2), [1]), "pass one element of it, s[i]", lambda: filled(np.ones(2), [1][0])),
    "an array": (lambda: filled(np.ones(2), W), "pass one element of it, s[i]", lambda: filled(np.ones(2), W[0])),
}  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
def test_advice_of_calls(name):
    wrong, advice, right = CALLS[name]
    with pytest.raises(ArgumentError) as caught:
        wrong()
    assert advice in str(caught.value)
    if right is not None:
        right()


def half(A, i):
    A[i] = A[i] * 0.5


def half_by_advice(A, i):
    A[i] = af.i32(af.f64(A[i]) * 0.5)


def twice(A, i):
    A[i] = A[i] * 2.0


def twice_by_advice(A, i):
    A[i] = A[i] * 2


def captured(A, i):
    A[i] = af.i32(W[i])


def captured_by_advice(A, i):
    w = af.constant(W)
    with af.if_(i < 4):
        A[i] = af.i32(w[i])


def whole_array(A, i):
    A[i] = A[i] * W


def imaginary(A, i):
    A[i] = A[i] * 2j


def imaginary_by_advice(A, i):
    A[i] = af.i32((af.c128(A[i]) * 2j).imag)


KERNELS = {
    "half": (half, "write a whole number, or compute with floats and convert the result: affdsl.i32(affdsl",
             half_by_advice),
    "twice": (twice, "write 2, or compute with floats", twice_by_advice),
    "a captured array": (captured, "write table = affdsl.constant(W) before the loop, and then table[i]",
                         captured_by_advice),
    "a captured array as a number": (whole_array, "as w = affdsl.constant(w) in the kernel", captured_by_advice),
    "an imaginary number": (imaginary, "compute with complex numbers: affdsl.c128(x)", imaginary_by_advice),
}  # fmt: skip


@pytest.mark.parametrize("name", KERNELS)
def test_advice_of_kernels(name):
    def made(body):
        @af.kernel
        def kernel(A: af.i32[N]):
            with af.for_(N) as i:
                body(A, i)

        return kernel

    wrong, advice, right = KERNELS[name]
    with pytest.raises(af.ProgramTypeError) as caught:
        made(wrong)
    assert advice in str(caught.value)
    if right is not None:
        made(right)(np.ones(3, "i4"))


def test_an_argument_is_not_told_to_be_privatized():
    @af.kernel
    def wrapped(A: af.f64[3], B: af.f64[N]):
        with af.for_(N) as i:
            A[i % 3] = B[i]

    with pytest.raises(af.IllegalTransform) as caught:
        af.Schedule(wrapped).parallel("i")
    assert "privatize" not in str(caught.value)
    assert "the last one's are what the caller gets: let each store to elements of its own" in str(caught.value)

    @af.kernel
    def by_advice(A: af.f64[N, 3], B: af.f64[N]):
        with af.for_(N) as i:
            A[i, i % 3] = B[i]

    af.Schedule(by_advice).parallel("i")


def test_names_that_other_tools_have_for_steps():
    s = af.Schedule(filled)
    for name in ("optimize", "optimise"):
        with pytest.raises(AttributeError, match=f"a Schedule has no {name} yet"):
            getattr(s, name)
    for name, ours in {
        "reorder": "permute",
        "fission": "distribute",
        "fusion": "fuse",
        "parallelise": "parallel",
        "vectorise": "vectorize",
        "vectorization": "vectorize",
        "simd": "vectorize",
        "tille": "tile",
    }.items():
        with pytest.raises(AttributeError, match=f"did you mean s.{ours}[?]"):
            getattr(s, name)
        assert hasattr(s, ours)
    with pytest.raises(AttributeError, match=r"a Schedule has no version$"):
        s.version
