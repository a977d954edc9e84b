"""Where recipes change their mind: just at the number that they name, and just beside it."""

from dataclasses import replace

import numpy as np
import pytest

import affdsl as af
from affdsl.codegen.targets.avx512 import AVX512
from affdsl.optimize.fuse import chains
from affdsl.optimize.nests import nests
from affdsl.optimize.options import Options
from affdsl.optimize.order import fronts
from affdsl.optimize.registers import matrix_products
from affdsl.optimize.unfit import UnfitError
from affdsl.optimize.vector import scalar_expansion
from affdsl.schedule.schedule import Schedule
from tests.optimize.recipes import kernels
from tests.optimize.test_caches import LARGE, matmul

M, N, K = af.symbols("M N K")


@pytest.mark.parametrize(("registers", "vectors", "jams"), [(4, 2, True), (3, 2, False), (4, 1, False)])
def test_two_vectors_of_searches_where_operations_are_no_more_than_registers(registers, vectors, jams):
    choices = replace(Options(AVX512).choices, outer_vectors=vectors)
    made, _ = scalar_expansion.take(
        Schedule(kernels("vector")["nearest"]), "i", Options(replace(AVX512, registers=registers), choices=choices)
    )
    assert ("unroll_jam" in str(made)) == jams


def test_a_factor_is_read_where_it_stands_where_a_cache_has_more_ways_than_a_tile_has_rows():
    def copies(ways):
        target = replace(LARGE, caches=(ways * 4096, *LARGE.caches[1:]))
        s = Schedule(matmul)
        return matrix_products.take(s, nests(s)[0], Options(target, contract=True))[1]

    tile = 8
    assert f"{tile} x " in copies(tile)
    assert "copies of B and A" in copies(tile)
    assert "copies of B in" in copies(tile + 1)


@af.kernel
def in_batches(x: af.f64[K, M, N], y: af.f64[K, M, N]):
    with af.for_(K) as b, af.for_(M) as i, af.for_(1, N) as j:
        y[b, i, j] = 0.5 * y[b, i, j - 1] + x[b, i, j]


def test_what_vectors_take_in_another_order_of_statements_is_not_jammed():
    @af.kernel
    def fluxes(u: af.f64[M, N], flux: af.f64[M, N], change: af.f64[M, N]):
        with af.for_(M) as i, af.for_(1, N) as j:
            change[i, j] = flux[i, j - 1] - u[i, j]
            flux[i, j] = 0.25 * u[i, j]

    assert "on vectors of 8" in fluxes.optimize("avx512", threads=1).explain()


def test_recurrences_of_the_nearest_loop_around_are_jammed():
    s = Schedule(in_batches)
    made, said = fronts.take(s, nests(s)[0], Options(AVX512))
    assert said.startswith("8 iterations of i run at once")
    x, wanted, found = np.random.default_rng(0).random((3, 2, 19, 7))
    in_batches(x, wanted)
    found[:] = 0
    found[:, :, 0] = wanted[:, :, 0]
    made.kernel()(x, found)
    assert found.tobytes() == wanted.tobytes()


SWEEPS = {
    1: lambda A, i, j: A[i - 1, j] + A[i, j - 1] + A[i, j + 1] + A[i + 1, j],
    2: lambda A, i, j: A[i - 1, j] + A[i + 1, j + 1],
    3: lambda A, i, j: A[i - 1, j] + A[i + 1, j + 1] + A[i + 2, j + 1],
}


@pytest.mark.parametrize("skew", SWEEPS)
def test_the_smallest_skew_that_allows_it(skew):
    @af.kernel
    def sweep(A: af.f64[N, N], steps: af.index):
        with af.for_(steps), af.for_(2, N - 2) as i, af.for_(2, N - 2) as j:
            A[i, j] = 0.25 * SWEEPS[skew](A, i, j)

    s = Schedule(sweep)
    if skew > max(fronts.SKEWS):
        with pytest.raises(UnfitError, match="no skew makes it legal"):
            fronts.take(s, nests(s)[0], Options(AVX512))
        return
    _, said = fronts.take(s, nests(s)[0], Options(AVX512))
    assert f"each {skew} of i" in said


def test_stages_of_many_conditions_are_in_no_bands():
    n = af.symbols("n")

    @af.kernel
    def chain(a: af.f64[n], b: af.f64[n]):
        t = af.alloc(af.f64[n])
        with af.for_(n) as i:
            t[i] = a[i]
            for k in range(chains.MOST_CONDITIONS + 1):
                with af.if_(i < 3 * k + 2):
                    t[i] = t[i] * 0.5
        with af.for_(1, n - 1) as j:
            b[j] = t[j - 1] + t[j + 1]

    with pytest.raises(UnfitError, match="its nests hold more than 8 conditions"):
        chains.in_bands(af.Schedule(chain), Options(AVX512, threads=2))
