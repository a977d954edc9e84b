"""What recipes choose by the sizes of the caches, without a machine that has them."""

from dataclasses import replace

import pytest

from affdsl.codegen.targets.avx512 import AVX512
from affdsl.optimize.options import Options
from affdsl.optimize.recipes import sweeps, vectors
from affdsl.schedule.schedule import Schedule
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


def test_ways_of_the_nearest_cache():
    assert [vectors.ways(Options(target)) for target in (SMALL, LARGE, AVX512)] == [8, 12, 8]
