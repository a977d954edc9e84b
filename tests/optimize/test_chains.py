"""Chains of stencils run as one nest, leave the same to the bit, and kernels that are none stay apart."""

from __future__ import annotations

import numpy as np
import pytest

import affdsl as af
from affdsl.optimize.fuse.overlapped_tiles import set_apart
from benchmarks.fusion import CHAINS
from tests.effort import TRIES_ALL, some

M, N = af.symbols("M N")
SHAPES = [(0, 0), (1, 1), (3, 2), (5, 5), (6, 40), (21, 23)]


ALL = [(name, threads) for name in CHAINS for threads in (1, 2)]


@pytest.mark.parametrize(("name", "threads"), ALL if TRIES_ALL else [("blur", 2), ("unsharp", 1)])
def test_chains_leave_the_same_to_the_bit(name, threads):
    fast = CHAINS[name].kernel.optimize("avx2", threads=threads)
    assert "a chain of nests" in fast.explain()
    if threads > 1:
        assert "its iterations run on threads" in fast.explain()
    assert "memref.alloc(%N" not in fast.mlir(), "no array has as many rows as the image"
    if (name, threads) == ("unsharp", 1):
        steps = [str(step) for step in fast.schedule.steps]
        assert 'fuse("j#1", "j#4", shift=38)' in steps, "four vectors of 8, two columns ahead, from 40 on"
        assert steps[steps.index('fold("rows", 0, 3)') + 1] == 'unroll_jam("i#1", 3)'
    for shape in SHAPES:
        image = np.random.default_rng(7).random(shape, np.float32)
        wanted, found = np.full(shape, -1, np.float32), np.full(shape, -1, np.float32)
        CHAINS[name].kernel.interpret(image, wanted)
        fast(image, found)
        np.testing.assert_array_equal(found, wanted, str(shape))


def test_what_one_place_reads_cheaply_is_computed_there():
    fast = CHAINS["blur"].kernel.optimize("avx2", threads=1)
    assert "elements of rows are computed where they are read" in fast.explain()
    assert "iterations of k run at once" in fast.explain(), "rows have loads in common"
    assert "memref.alloc" not in fast.mlir()


def test_stages_run_row_by_row_each_late_behind_the_one_before():
    @af.kernel
    def three(image: af.f32[M, N], out: af.f32[M, N]):
        first = af.alloc(af.f32[M, N])
        second = af.alloc(af.f32[M, N])
        with af.for_(1, M - 1) as i, af.for_(1, N - 1) as j:
            first[i, j] = image[i - 1, j - 1] - image[i + 1, j + 1] * 0.5 + image[i, j - 1] * image[i, j]
        with af.for_(2, M - 2) as i, af.for_(2, N - 2) as j:
            second[i, j] = first[i - 1, j] * 0.5 - first[i + 1, j - 1] * first[i, j + 1]
        with af.for_(3, M - 3) as i, af.for_(3, N - 3) as j:
            out[i, j] = sum(second[i + p, j + q] * (0.5 - q) for p in (-1, 1) for q in (-1, 1)) + second[i, j]

    fast = three.optimize("avx2", threads=1)
    said = fast.explain()
    assert (
        "its nests run as one, row by row; 6 rows of first are kept at a time, 6 rows of second are kept at a time"
        in said
    )
    assert "4 iterations of i run at once" in said
    steps = [str(step) for step in fast.schedule.steps]
    assert 'fuse("i#1", "i#2", shift=1)' in steps
    assert 'fuse("i#1", "i#3", shift=2)' in steps
    assert 'fuse("j#1", "j#2", shift=38)' in steps, "along rows, too: four vectors of 8, a column ahead, from 40 on"
    for shape in [*SHAPES, (7, 30), (12, 8)]:
        image = np.random.default_rng(3).random(shape, np.float32)
        wanted, found = np.full(shape, -1, np.float32), np.full(shape, -1, np.float32)
        three.interpret(image, wanted)
        fast(image, found)
        np.testing.assert_array_equal(found, wanted, str(shape))


@pytest.mark.parametrize("rows", some([4, 7, 5, 6], 1))
def test_arrays_of_few_rows_are_kept_whole(rows):
    """Six rows would be kept: of an array that has no more, all are."""

    @af.kernel
    def few(image: af.f32[rows + 2, N], out: af.f32[rows, N]):
        first = af.alloc(af.f32[rows, N])
        second = af.alloc(af.f32[rows, N])
        with af.for_(rows) as i, af.for_(1, N - 1) as j:
            first[i, j] = image[i, j - 1] - image[i + 2, j + 1] * 0.5 + image[i + 1, j - 1] * image[i + 1, j]
        with af.for_(1, rows - 1) as i, af.for_(2, N - 2) as j:
            second[i, j] = first[i - 1, j] * 0.5 - first[i + 1, j - 1] * first[i, j + 1]
        with af.for_(1, rows - 1) as i, af.for_(4, N - 4) as j:
            out[i, j] = sum(second[i, j + q] * (0.5 - q) for q in (-2, -1, 1, 2)) + second[i, j]

    fast = few.optimize("avx2", threads=1)
    assert "a chain of nests: " in fast.explain()
    for columns in (0, 8, 9, 40):
        image = np.random.default_rng(rows).random((rows + 2, columns), np.float32)
        wanted, found = (np.full((rows, columns), -1, np.float32) for _ in range(2))
        few.interpret(image, wanted)
        fast(image, found)
        np.testing.assert_array_equal(found, wanted, str(columns))


def test_an_operation_is_done_where_its_result_is_read_if_that_touches_less():
    @af.kernel
    def squares(image: af.f32[M, N], out: af.f32[M, N]):
        slope = af.alloc(af.f32[M, N])
        square = af.alloc(af.f32[M, N])
        with af.for_(1, M - 1) as i, af.for_(N) as j:
            slope[i, j] = image[i - 1, j] * 2.0 - image[i + 1, j] * 3.0 + image[i, j] * image[i, j] / 7.0
        with af.for_(1, M - 1) as i, af.for_(N) as j:
            square[i, j] = slope[i, j] * slope[i, j]
        with af.for_(2, M - 2) as i, af.for_(1, N - 1) as j:
            out[i, j] = sum(square[i + p, j + q] + slope[i + p, j + q] for p in (-1, 1) for q in (-1, 0, 1))

    fast = squares.optimize("avx2", threads=1)
    assert 'inline("square")' in map(str, fast.schedule.steps)


def test_threads_have_bands_of_rows_and_rows_of_their_own():
    @af.kernel
    def slopes(image: af.f32[M, N], out: af.f32[M, N]):
        down = af.alloc(af.f32[M, N])
        with af.for_(1, M - 1) as i, af.for_(N) as j:
            down[i, j] = image[i - 1, j] * 2.0 - image[i + 1, j] * 3.0 + image[i, j] * image[i, j] / 7.0
        with af.for_(2, M - 2) as i, af.for_(1, N - 1) as j:
            out[i, j] = sum(down[i + p, j + q] * (p + 2.0) for p in (-1, 0, 1) for q in (-1, 0, 1))

    fast = slopes.optimize("avx2", threads=2)
    assert "it runs in bands of 32 rows, each of which computes what it reads of down, 4 rows at once" in fast.explain()
    assert 'parallel("i_strip")' in [str(each) for each in fast.schedule.steps]
    steps = [str(step) for step in fast.schedule.steps]
    assert [s for s in steps if '"down", "i' in s] == ['compute_at("down", "i_strip")', 'privatize("down", "i_strip")']
    for shape in [(0, 0), (4, 2), (37, 9), (70, 11)]:
        image = np.random.default_rng(3).random(shape, np.float32)
        wanted, found = np.full(shape, -1, np.float32), np.full(shape, -1, np.float32)
        slopes.interpret(image, wanted)
        fast(image, found)
        np.testing.assert_array_equal(found, wanted, str(shape))
    few = slopes.specialize(M=32, N=9).optimize("avx2", threads=2)
    image = np.random.default_rng(4).random((32, 9), np.float32)
    wanted, found = np.zeros_like(image), np.zeros_like(image)
    slopes.interpret(image, wanted)
    few(image, found)
    np.testing.assert_array_equal(found, wanted, "all of its rows are one band")


def test_nests_that_sum_up_are_no_chain():
    @af.kernel
    def centred(x: af.f64[M, N], y: af.f64[M, N]):
        means = af.alloc(af.f64[M])
        with af.for_(M) as i:
            means[i] = 0.0
        with af.for_(M) as i, af.for_(N) as j:
            means[i] += x[i, j] / af.f64(N)
        with af.for_(M) as i, af.for_(N) as j:
            y[i, j] = x[i, j] - means[i]

    fast = centred.optimize("avx2", threads=1)
    assert "a chain of nests" not in fast.explain()
    x = np.random.default_rng(0).normal(size=(5, 9))
    wanted, found = np.zeros_like(x), np.zeros_like(x)
    centred.interpret(x, wanted)
    fast(x, found)
    assert wanted.tobytes() == found.tobytes()


def test_a_loop_over_rows_that_runs_once_where_others_join_it_is_no_chain():
    @af.kernel
    def f(A: af.i64[9], B: af.i64[9]):
        C = af.alloc(af.i64[10, 11])
        with af.for_(10) as i, af.for_(8) as j:
            C[i, j] = af.cast(i + 2 * j - 1, af.i64) + B[j]
        with af.for_(1, 5) as i, af.for_(8) as j:
            A[i] = B[j + 1] * af.cast(j, af.i64)
            C[j, i] = C[i, j]
            B[i] = af.cast(i, af.i64)
        with af.for_(10) as i, af.for_(6) as j:
            A[j] = C[i, j]

    given = [np.arange(9), np.arange(9) + 3]
    wanted, found = [each.copy() for each in given], [each.copy() for each in given]
    f(*wanted)
    f.optimize("avx512", threads=1)(*found)
    np.testing.assert_array_equal(found, wanted)


def test_rows_with_vectors_that_may_go_on_behind_them_stay_where_they_are():
    s = af.Schedule(CHAINS["blur"].kernel)
    set_apart(s, "rows")
    assert [step.call.verb for step in s.steps] == ["pad"]
    s = af.Schedule(CHAINS["blur"].kernel).vectorize("j", 4)
    set_apart(s, "rows")
    assert [step.call.verb for step in s.steps] == ["vectorize"]
