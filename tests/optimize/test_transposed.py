"""Nests along rows of one array and columns of another run in blocks of lines."""

import numpy as np
import pytest

import affdsl as af
from affdsl.codegen.targets.avx2 import AVX2
from affdsl.optimize.nests import nests
from affdsl.optimize.options import Options
from affdsl.optimize.order import transposes
from affdsl.optimize.unfit import UnfitError
from affdsl.schedule.schedule import Schedule

K, M, N = af.symbols("K M N")


def copied(type):
    @af.kernel
    def kernel(a: type[M, N], b: type[N, M]):
        with af.for_(M) as i, af.for_(N) as j:
            b[j, i] = a[i, j]

    return kernel


@af.kernel
def reversed_axes(a: af.f64[M, N, K], b: af.f64[K, N, M]):
    with af.for_(M) as i, af.for_(N) as j, af.for_(K) as k:
        b[k, j, i] = a[i, j, k]


@af.kernel
def mirrored(a: af.f64[N, N], b: af.f64[N, N]):
    with af.for_(N) as i, af.for_(N) as j:
        b[i, j] = a[i, j] + a[j, i]


@af.kernel
def waiting(a: af.f64[N, N]):
    with af.for_(1, N) as i, af.for_(1, N) as j:
        a[j, i] = a[i - 1, j]


@pytest.mark.parametrize(
    ("type", "dtype", "size"), [(af.f64, "f8", 8), (af.f32, "f4", 16), (af.u8, "u1", 64), (af.c128, "c16", 4)]
)
def test_blocks_are_lines_of_both_arrays(type, dtype, size):
    kernel = copied(type)
    found = kernel.optimize(threads=1, target="avx2")
    assert f"in blocks of {size} x {size}" in found.explain()
    for m, n in ((1, 1), (3, 70), (64, 64), (67, 129), (130, 8)):
        a = np.arange(m * n).reshape(m, n).astype(dtype)
        b = np.zeros((n, m), a.dtype)
        found(a, b)
        np.testing.assert_array_equal(b, a.T)


def test_other_loops_run_around_the_blocks():
    found = reversed_axes.optimize(threads=1, target="avx2")
    a = np.random.default_rng(0).random((9, 10, 11))
    b = np.zeros((11, 10, 9))
    found(a, b)
    np.testing.assert_array_equal(b, a.T)


@af.kernel
def triangle(a: af.f64[N, N], b: af.f64[N, N]):
    with af.for_(N) as i, af.for_(i) as j:
        b[j, i] = a[i, j]


@pytest.mark.parametrize("kernel", [mirrored, waiting, triangle], ids=lambda kernel: kernel.name)
def test_it_is_for_other_arrays_along_both_loops(kernel):
    s = Schedule(kernel)
    with pytest.raises(UnfitError):
        transposes.take(s, nests(s)[0], Options(AVX2))
