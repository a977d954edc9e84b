"""The interface of kernels in C is what their author wrote: sizes as arguments name them, results by their names."""

from __future__ import annotations

import itertools
import pickle
import re

import numpy as np
import pytest

import affdsl as af

WORDS = ("M", "N", "K")


def product(sizes: dict[str, object]):
    M, N, K = (sizes[word] for word in WORDS)

    @af.kernel
    def product(A: af.f32[M, K], B: af.f32[K, N], C: af.f32[M, N], W: af.f32[N + K + M]):
        with af.for_(M) as i, af.for_(N) as j, af.for_(K) as k:
            C[i, j] += A[i, k] * B[k, j] * W[i + j]

    return product


def test_the_order_of_sizes_is_that_of_the_arguments_in_whatever_order_symbols_were_made():
    made = [product({word: af.symbols(word) for word in order}) for order in itertools.permutations(WORDS)]
    assert len({kernel.c() for kernel in made}) == 1
    assert len({str(kernel.func) for kernel in made}) == 1
    assert "product(int64_t M, int64_t K, int64_t N, " in made[0].header()


def summed(sizes: dict[str, object]):
    A, B, C = (sizes[word] for word in "ABC")

    @af.kernel
    def summed(x: af.f64[A + B + C], y: af.f64[C], z: af.f64[B], w: af.f64[A]):
        with af.for_(A) as i:
            x[i + B] = w[i]

    return summed


def test_sizes_that_one_dimension_names_first_are_in_the_order_of_their_names():
    made = [summed({word: af.symbols(word) for word in order}) for order in itertools.permutations("ABC")]
    assert len({kernel.c() for kernel in made}) == 1
    assert "summed(int64_t A, int64_t B, int64_t C, " in made[0].header()


N = af.symbols("N")


@af.kernel(results="sums, largest  double")
def measured(x: af.f64[N]):
    """An array and two numbers, of which C knows one name by itself."""
    af.assume(N >= 1)
    running = af.alloc(af.f64[N])
    total, most = af.var(x[0] * 0), af.var(x[0])
    with af.for_(N) as i:
        total += x[i]
        most.set(af.max(most, x[i]))
        running[i] = total
    return running, most, af.f16(total)


HEADER = """\
 *   sums      double[N], a result: memory of the caller
 *   largest   double, a result: it is written where this points to
 *   double_   uint16_t, a result: it is written where this points to, the bits of f16 (called "double" in the kernel)
"""


def test_results_are_called_as_their_author_says():
    for kernel in (
        measured,
        measured.optimize(threads=1),
        pickle.loads(pickle.dumps(measured.with_module(measured.module))),  # noqa: S301
    ):
        text = re.sub(r" +", " ", kernel.header())
        assert re.sub(r" +", " ", HEADER) in text
        assert (
            "MEASURED_RESTRICT sums, double *MEASURED_RESTRICT largest, uint16_t *MEASURED_RESTRICT double_)"
            in re.sub(r"\s+", " ", text)
        )
    sums, largest, total = measured(np.array([1.0, 4.0, 2.0]))
    assert (sums.tolist(), largest, total) == ([1, 5, 7], 4, 7)


def test_a_number_that_c_returns_has_its_name_in_the_comment():
    @af.kernel(results="mean")
    def halved(x: af.f64):
        return x / 2

    assert " *   returns  double, mean\n" in halved.header()


def test_names_that_are_not_those_of_results_are_refused():
    def returns(count, **options):
        @af.kernel(**options)
        def given(x: af.f64[N], y: af.f64):
            return tuple(y + k for k in range(count)) if count else None

        return given

    for names, count, said in (
        ("a", 2, "kernel given has 2 results, and results names 1: a"),
        ("a b", 1, "kernel given has 1 result, and results names 2: a, b"),
        ("a", 0, "kernel given has no result, and results names 1: a"),
        ("x b", 2, "kernel given has a result and an argument or a size that are both called x"),
        ("N b", 2, "kernel given has a result and an argument or a size that are both called N"),
        ("a a", 2, "results has the name a twice"),
        ("a 2b", 2, "results has '2b', which is no name"),
        ("a lambda", 2, "results has 'lambda', which is no name"),
        (("a", "b"), 2, "results is ('a', 'b')"),
    ):
        with pytest.raises(af.ProgramError) as error:
            returns(count, results=names)
        assert said in str(error.value)
        assert re.match(r"\S*test_c_interface\.py:\d+: ", str(error.value))
