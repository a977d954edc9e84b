"""Which loops threads share where those around must run one iteration after the other."""

from __future__ import annotations

import numpy as np
import pytest

import affdsl as af
from affdsl.optimize.choices import Choices
from affdsl.optimize.options import Options, targets
from affdsl.optimize.recipes import blocked
from benchmarks.polybench.suite import named

M, N, K = af.symbols("M N K")


def assert_same(kernel, fast, given):
    """Both kernels leave the same in arrays."""
    wanted, found = [x.copy() for x in given], [x.copy() for x in given]
    kernel(*wanted)
    fast(*found)
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(one, other)


@af.kernel
def batched(A: af.f32[K, N, N], B: af.f32[K, N, N], C: af.f32[K, N, N]):
    with af.for_(K) as b, af.for_(N) as i, af.for_(N) as j, af.for_(N) as k:
        C[b, i, j] += A[b, i, k] * B[b, k, j]


@af.kernel
def lower(A: af.f64[N, N], B: af.f64[N, M], C: af.f64[N, M]):
    with af.for_(N) as i, af.for_(M) as j, af.for_(i) as k:
        C[i, j] += A[i, k] * B[k, j]


@af.kernel
def in_place(A: af.f64[N, N], B: af.f64[N, M]):
    with af.for_(N) as i, af.for_(M) as j, af.for_(i) as k:
        B[i, j] += A[i, k] * B[k, j]


@af.kernel
def column_sums(A: af.f64[N, M], x: af.f64[M]):
    with af.for_(M) as j, af.for_(N) as i:
        x[j] += A[i, j]


@pytest.mark.parametrize(
    ("kernel", "shapes", "shared", "said"),
    [
        (batched, ((50, 21, 21),) * 3, 'parallel("b")', "threads share its batch"),
        (lower, ((150, 150), (150, 37), (150, 37)), 'parallel("i_strip")', "threads share its blocks of rows"),
        (in_place, ((150, 150), (150, 300)), 'parallel("j_tile")', "threads share its columns"),
        (column_sums, ((700, 3000), (3000,)), 'parallel("j_strip")', "threads share chunks of j"),
    ],
)
def test_the_outermost_loop_that_may_be_shared_has_chunks_for_threads(kernel, shapes, shared, said):
    numbers = np.random.default_rng(7)
    arrays = [numbers.normal(size=shape).astype(np.float32 if kernel is batched else float) for shape in shapes]
    wanted = [each.copy() for each in arrays]
    kernel(*wanted)
    fast = kernel.optimize("avx2", threads=2)
    assert shared in str(fast.schedule)
    assert said in fast.explain()
    fast(*arrays)
    for one, other in zip(arrays, wanted, strict=True):
        np.testing.assert_array_equal(one, other)


@af.kernel
def product(A: af.f64[M, K], B: af.f64[K, N], C: af.f64[M, N]):
    with af.for_(M) as i, af.for_(N) as j, af.for_(K) as k:
        C[i, j] += A[i, k] * B[k, j]


def test_threads_share_the_columns_of_a_product_of_few_rows():
    """Each of them has panels of B of its own, so none writes again what the other one has just read."""
    fast = product.optimize("avx2", threads=2)
    steps = str(fast.schedule)
    assert 'specialize("i", N - 8 * M >= 0)' in steps
    assert 'parallel("j_tile")' in steps
    assert 'parallel("i_else_2_tile")' in steps
    assert steps.count('copy("B", "i", ') == 1  # inside of what is shared
    said = "threads share its columns for N of at least 8 * M, and its rows for others; smaller ones "
    assert said in fast.explain()
    assert "8 * M" not in str(product.optimize("avx2", threads=1).schedule)
    numbers = np.random.default_rng(5)
    for m, n, k in ((128, 1024, 11), (129, 1024, 11), (9, 1023, 11), (21, 1037, 401), (1, 2100, 9), (1027, 8216, 9)):
        a, b, c = (numbers.normal(size=shape) for shape in ((m, k), (k, n), (m, n)))
        wanted = c.copy()
        product(a, b, wanted)
        fast(a, b, c)
        np.testing.assert_array_equal(c, wanted)


def test_a_product_whose_rows_are_known_to_be_few_has_one_version():
    few = product.specialize(M=200).optimize("avx2", threads=2)
    assert "threads share its columns" in few.explain()
    assert "8 *" not in str(few.schedule)
    many = product.specialize(M=300).optimize("avx2", threads=2)
    assert "threads share its rows" in many.explain()
    assert "8 *" not in str(many.schedule)


def test_threads_share_the_rows_of_a_block_of_a_factorization():
    """Each row waits for blocks before it, and for no other row of its own; the last block is not whole."""
    kernel, a = named("cholesky").kernel, np.random.default_rng(3).normal(size=(207, 207))
    given = a @ a.T + 207 * np.eye(207)
    wanted, found = given.copy(), given.copy()
    kernel(wanted)
    made, _ = blocked.in_blocks(af.Schedule(kernel), "i", (), 64, Choices(), threads=2)
    assert 'strip_mine("i", 32, name="i_strip_2")' in str(made)
    assert str(made).count(".parallel(") == 1
    made.kernel()(found)
    np.testing.assert_array_equal(found, wanted)
    _, said = blocked.take(af.Schedule(kernel), "i", Options(targets()["avx2"], threads=2))
    assert any(each.done == "threads share the rows of each block" for each in said)
    alone, _ = blocked.in_blocks(af.Schedule(kernel), "i", (), 64, Choices(), threads=1)
    assert ".parallel(" not in str(alone)


def test_threads_share_a_loop_inside_of_one_whose_iterations_wait_for_each_other():
    kernel, numbers = named("gramschmidt").kernel, np.random.default_rng(4)
    fast = kernel.optimize("avx2", threads=2)
    assert "threads share j inside of it\n        why: an iteration reads " in fast.explain()
    for m, n in ((300, 231), (1, 5), (40, 1)):
        given = numbers.normal(size=(m, n)), np.zeros((n, n)), np.zeros((m, n))
        assert_same(kernel, fast, given)


def test_a_nest_that_steps_for_another_one_take_in_is_left_out():
    durbin, r = named("durbin").kernel, 0.4 ** np.arange(1.0, 41.0)
    wanted, found = np.zeros(40), np.zeros(40)
    durbin(r, wanted)
    durbin.optimize("native", threads=2, contract=True, reassociate=True, reciprocal=True)(r, found)
    np.testing.assert_allclose(found, wanted, atol=1e-9)


def test_threads_share_a_loop_around_whose_iterations_use_one_argument_anew():
    """What the last iteration leaves in it is there in the end, and what was there where none runs."""
    kernel = named("doitgen").kernel
    fast = kernel.optimize("avx2", threads=2)
    assert "its iterations run on threads; each iteration has its own sum" in fast.explain()
    assert str(fast.schedule).count(".parallel(") == 1
    for nr, nq, np_ in ((0, 5, 7), (5, 0, 7), (3, 4, 0), (1, 1, 1), (9, 13, 50), (40, 3, 9)):
        numbers = np.random.default_rng(np_)
        given = numbers.random((nr, nq, np_)), numbers.random((np_, np_)), numbers.random(np_)
        assert_same(kernel, fast, given)


@af.kernel
def handed_on(A: af.f64[K, M, N], B: af.f64[N, N], t: af.f64[N]):
    with af.for_(K) as r, af.for_(M) as q:
        with af.for_(N) as p:
            t[p] = t[p] * 0.5
            with af.for_(N) as s:
                t[p] += A[r, q, s] * B[s, p]
        with af.for_(N) as p:
            A[r, q, p] = t[p]


def test_what_one_iteration_leaves_for_the_next_is_not_its_own():
    fast = handed_on.optimize("avx2", threads=2)
    assert "each iteration has its own" not in fast.explain()
    given = [np.random.default_rng(1).random(shape) for shape in ((6, 7, 50), (50, 50), (50,))]
    assert_same(handed_on, fast, given)


@af.kernel
def symmetric(A: af.f64[N, K], C: af.f64[N, N]):
    with af.for_(N) as i, af.for_(i, N) as j, af.for_(K) as k:
        C[i, j] += A[i, k] * A[j, k]


@af.kernel
def twice(A: af.f64[M, K], B: af.f64[K, N], C: af.f64[M, N], D: af.f64[M, N]):
    with af.for_(M) as i, af.for_(N) as j, af.for_(K) as k:
        C[i, j] += A[i, k] * B[k, j]
    with af.for_(M) as i, af.for_(N) as j, af.for_(K) as k:
        D[i, j] += A[i, k] * B[k, j]


@pytest.mark.parametrize("kernel", [symmetric, twice])
def test_squares_and_kernels_of_several_products_have_one_version(kernel):
    """No square has few rows and many columns, and each version of each of several products is code."""
    fast = kernel.optimize("avx2", threads=2)
    assert "threads share its " in fast.explain()
    assert "8 *" not in str(fast.schedule)
