"""What recipes choose by the sizes of the caches, without a machine that has them."""

from dataclasses import replace

import numpy as np
import pytest

from affdsl.codegen.targets.avx512 import AVX512
from affdsl.optimize.footprint import has_large_cache
from affdsl.optimize.nests import nests
from affdsl.optimize.options import Options
from affdsl.optimize.recipes import bands_of_rows, rolling, sweeps, vectors
from affdsl.schedule.schedule import Schedule
from benchmarks.everyday import LOOPS
from benchmarks.fusion import harris, unsharp
from benchmarks.polybench.suite import named

SMALL = replace(AVX512, caches=(32 << 10, 1 << 20, 32 << 20))
LARGE = replace(AVX512, caches=(48 << 10, 2 << 20, 260 << 20))


@pytest.mark.parametrize(("kernel", "target", "most"), [
    ("heat-3d", SMALL, 1 << 20),
    ("heat-3d", LARGE, 128 << 10),
    ("jacobi-2d", LARGE, 128 << 10),
    ("fdtd-2d", LARGE, 2 << 20),
    ("heat-3d", AVX512, None),
])  # fmt: skip
def test_from_where_on_sweeps_are_tiled(kernel, target, most):
    assert sweeps.small_enough(Schedule(named(kernel).kernel), "t", target) == most


def test_which_machines_have_a_large_second_cache():
    of_one = replace(AVX512, caches=(4 << 20,))
    assert [has_large_cache(target) for target in (SMALL, LARGE, of_one, AVX512)] == [False, True, False, False]


def test_ways_of_the_nearest_cache():
    assert [vectors.ways(Options(target)) for target in (SMALL, LARGE, AVX512)] == [8, 12, 8]


@pytest.mark.parametrize(("recipe", "kernel"), [(rolling, unsharp), (bands_of_rows, harris)])
def test_the_last_stage_of_a_chain_goes_past_large_caches(recipe, kernel):
    threads = 1 if recipe is rolling else 2
    large, said = recipe.take(Schedule(kernel), Options(LARGE, threads))
    assert "go past the caches where it has 8 MiB or more" in said
    fast = large.kernel()
    for n, m in ((0, 0), (4, 9), (5, 5), (23, 40), (70, 133)):
        image = np.random.default_rng(m).random((n, m)).astype("f4")
        wanted, found = np.zeros_like(image), np.zeros_like(image)
        kernel(image, wanted)
        fast(image, found)
        np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize(("kernel", "target"), [(unsharp, SMALL), (harris, LARGE)])
def test_stages_elsewhere_and_those_that_run_late_have_one_loop_along_a_row(kernel, target):
    made, _ = rolling.take(Schedule(kernel), Options(target))
    assert "stream" not in str(made)


def test_few_operations_on_what_memory_brings_load_each_vector():
    smoothed = next(each.kernel for each in LOOPS if each.name == "batched stencil")
    swept = named("jacobi-1d").kernel
    for kernel, target, splices in ((smoothed, SMALL, True), (smoothed, LARGE, False), (swept, LARGE, True)):
        s = Schedule(kernel)
        made, _ = vectors.take(s, next(iter(nests(s))), Options(target))
        assert ("splice" in str(made)) == splices
        assert (".unroll(" in str(made)) == (not splices)


def test_vectors_of_one_row_begin_in_lines_and_two_of_three_are_loaded():
    kernel = named("jacobi-1d").kernel
    made, said = vectors.take(Schedule(kernel), next(iter(nests(Schedule(kernel)))), Options(LARGE))
    assert "i#1 runs on vectors of 8 that begin where lines of B do; of each row 2 are loaded" in said
    assert '.align("B", "i#1", 8)' in str(made)
    fast = made.kernel()
    for n in (0, 1, 5, 9, 130, 131, 150, 277):
        for first in range(0, 8, 3):
            given = np.random.default_rng(n).random((2, n + 8))
            wanted, found = given.copy(), given.copy()
            for arrays, run in ((wanted, kernel), (found, fast)):
                a, b = arrays[:, first : first + n]
                run(3, a, b)
            np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize(("kernel", "target"), [("jacobi-1d", SMALL), ("jacobi-2d", LARGE)])
def test_planes_and_rows_elsewhere_begin_where_they_did(kernel, target):
    s = Schedule(named(kernel).kernel)
    made, _ = vectors.take(s, next(iter(nests(s))), Options(target))
    assert "align" not in str(made)
