"""What recipes choose by the sizes of the caches, without a machine that has them."""

from copy import copy
from dataclasses import replace

import numpy as np
import pytest

import affdsl as af
from affdsl.codegen.targets.avx512 import AVX512
from affdsl.optimize.fuse import chains
from affdsl.optimize.machine import has_large_cache, usual
from affdsl.optimize.nests import nests
from affdsl.optimize.options import Options
from affdsl.optimize.order import time_tiles
from affdsl.optimize.registers import matrix_products
from affdsl.optimize.search import Candidate
from affdsl.optimize.unfit import UnfitError
from affdsl.optimize.vector import inner_loops, sums
from affdsl.schedule.schedule import Schedule
from benchmarks.everyday import LOOPS
from benchmarks.fusion import unsharp
from benchmarks.polybench.suite import named

M, N, K = af.symbols("M N K")
SMALL = replace(AVX512, caches=(32 << 10, 1 << 20, 32 << 20))
LARGE = replace(AVX512, caches=(48 << 10, 2 << 20, 260 << 20))
FEW_WAYS = replace(AVX512, caches=(32 << 10, 2 << 20, 32 << 20))


@pytest.mark.parametrize(("kernel", "target", "most"), [
    ("heat-3d", SMALL, 4 << 20),
    ("fdtd-2d", SMALL, 1 << 20),
    ("heat-3d", LARGE, 128 << 10),
    ("jacobi-2d", LARGE, 128 << 10),
    ("fdtd-2d", LARGE, 2 << 20),
    ("heat-3d", AVX512, None),
])  # fmt: skip
def test_from_where_on_sweeps_are_tiled(kernel, target, most):
    assert time_tiles.small_enough(Schedule(named(kernel).kernel), "t", target) == most


def test_tiles_are_judged_by_sizes_for_which_they_are_made_too():
    """With all sizes 300 the arrays lie in the second cache, and tiles gain nothing by the model."""
    before, options = Schedule(named("jacobi-2d").kernel), Options(LARGE)
    tiled = Candidate("sweeps", time_tiles.take(before, "t", options), before, (), usual(LARGE))
    assert tiled.ratio > 1
    assert not tiled.is_slower
    worse = Candidate("by columns", copy(before).interchange("i#1", "j#1"), before, (), usual(LARGE))
    assert worse.ratio > 1.05
    assert worse.is_slower


@pytest.mark.parametrize("caches", [SMALL.caches, LARGE.caches, ()], ids=str)
def test_rows_in_which_each_element_waits_for_the_one_before_are_no_sweeps(caches):
    """Tiles of time keep them in a cache, but lanes that are made one after the other gain nothing."""
    options = Options(replace(AVX512, caches=caches))
    with pytest.raises(UnfitError, match="needs the one before"):
        time_tiles.take(Schedule(named("seidel-2d").kernel), "t", options)


def test_which_machines_have_a_large_second_cache():
    of_one = replace(AVX512, caches=(4 << 20,))
    assert [has_large_cache(target) for target in (SMALL, LARGE, of_one, AVX512)] == [False, True, False, False]


def test_ways_of_the_nearest_cache():
    assert [inner_loops.ways(Options(target)) for target in (SMALL, LARGE, AVX512)] == [8, 12, 8]


@af.kernel
def late(image: af.f32[M, N], out: af.f32[M, N]):
    first = af.alloc(af.f32[M, N])
    with af.for_(1, M - 1) as i, af.for_(1, N - 1) as j:
        first[i, j] = image[i - 1, j - 1] - image[i + 1, j + 1] * 0.5 + image[i, j - 1] * image[i, j]
    with af.for_(2, M - 2) as i, af.for_(2, N - 2) as j:
        out[i, j] = first[i - 1, j] * 0.5 - first[i + 1, j - 1] * first[i, j + 1]


@pytest.mark.parametrize(("kernel", "target"), [(unsharp, SMALL), (unsharp, LARGE), (late, LARGE)])
def test_stages_have_one_loop_along_a_row_and_none_goes_past_the_caches(kernel, target):
    made, said = chains.row_by_row(Schedule(kernel), Options(target))
    assert "row by row" in said
    assert "stream" not in str(made)


@af.kernel
def matmul(A: af.f64[M, K], B: af.f64[K, N], C: af.f64[M, N]):
    with af.for_(M) as i, af.for_(N) as j, af.for_(K) as k:
        C[i, j] += A[i, k] * B[k, j]


@af.kernel
def turned(A: af.f64[K, M], B: af.f64[K, N], C: af.f64[M, N]):
    with af.for_(M) as i, af.for_(N) as j, af.for_(K) as k:
        C[i, j] += A[k, i] * B[k, j]


@af.kernel
def changed(A: af.f64[M, K], B: af.f64[K, N], C: af.f64[M, N]):
    with af.for_(M) as i, af.for_(N) as j, af.for_(K) as k:
        C[i, j] += A[i, k] * B[k, j]
    with af.for_(M) as i, af.for_(K) as k:
        A[i, k] = -1.0


@pytest.mark.parametrize(("kernel", "target", "contract", "copies"), [
    (matmul, LARGE, True, "B"), (matmul, LARGE, False, "B and A"), (matmul, SMALL, True, "B and A"),
    (matmul, AVX512, True, "B and A"), (matmul, FEW_WAYS, True, "B and A"),
    (turned, LARGE, True, "B and A"), (changed, LARGE, True, "B"),
])  # fmt: skip
def test_rows_of_a_factor_are_read_where_they_stand(kernel, target, contract, copies):
    s = Schedule(kernel)
    made, said = matrix_products.take(s, nests(s)[0], Options(target, contract=contract))
    assert f", on copies of {copies} in panels" in said
    if copies == "B":
        fast = made.kernel()
        for m, n, k in ((0, 50, 9), (3, 50, 0), (1, 48, 9), (70, 95, 200), (8, 64, 193), (133, 520, 12)):
            random = np.random.default_rng(m)
            a, b, c = (random.integers(-9, 9, shape).astype("f8") for shape in ((m, k), (k, n), (m, n)))
            wanted = c + a @ b  # small whole numbers: exact in every order
            fast(a, b, c)
            np.testing.assert_array_equal(c, wanted)


def test_few_operations_on_what_memory_brings_load_each_vector():
    smoothed = next(each.kernel for each in LOOPS if each.name == "batched stencil")
    swept = named("jacobi-1d").kernel
    for kernel, target, splices in ((smoothed, SMALL, True), (smoothed, LARGE, False), (swept, LARGE, True)):
        s = Schedule(kernel)
        made, _ = inner_loops.take(s, next(iter(nests(s))), Options(target))
        assert ("splice" in str(made)) == splices
        assert (".unroll(" in str(made)) == (not splices)


@af.kernel
def once(A: af.f64[N], B: af.f64[N]):
    with af.for_(1, N - 1) as i:
        B[i] = A[i - 1] + A[i] + A[i + 1]


def test_a_row_that_memory_brings_once_begins_where_a_line_of_what_is_stored_does():
    made, said = inner_loops.take(Schedule(once), next(iter(nests(Schedule(once)))), Options(LARGE))
    assert 'align("B", "i"' in str(made)
    assert "since it waits for memory" in said


@af.kernel
def linear(A: af.f64[M * N], B: af.f64[M * N], x: af.f64[N], y: af.f64[M]):
    with af.for_(M) as i, af.for_(N) as j:
        y[i] += A[i * N + j] * x[j] + B[i * N + j] * x[j]


@af.kernel
def along(A: af.f64[M + N], x: af.f64[N], y: af.f64[M]):
    with af.for_(M) as i, af.for_(N) as j:
        y[i] += A[i + j] * x[N - 1 - j]


durbin = named("durbin").kernel


def test_one_row_that_both_loops_move_along_is_no_matrix():
    def said(kernel, target):
        s = Schedule(kernel)
        nest = next(each for each in nests(s) if sums.is_sum(each, each.innermost))
        return inner_loops.take(s, nest, Options(target, reassociate=True))[1]

    assert said(linear, SMALL) == said(linear, LARGE) == "j sums up in 16 lanes"
    assert said(along, LARGE) == "8 iterations of i run at once, and each sums up in 8 lanes"
    assert (said(durbin, SMALL), said(durbin, LARGE)) == ("i#1 sums up in 16 lanes", "i#1 sums up in 32 lanes")
