"""Nests along rows of one array and columns of another run in blocks of lines."""

import numpy as np
import pytest

import affdsl as af

M, N = af.symbols("M N")


def copied(type):
    @af.kernel
    def kernel(a: type[M, N], b: type[N, M]):
        with af.for_(M) as i, af.for_(N) as j:
            b[j, i] = a[i, j]

    return kernel


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


def test_squares_of_a_block_are_turned_in_registers():
    """Each row of a block is loaded once, also where an array is read in both ways; complex numbers have no lanes."""

    @af.kernel
    def symmetric(a: af.f64[N, N], b: af.f64[N, N]):
        with af.for_(N) as i, af.for_(N) as j:
            b[i, j] = 0.5 * (a[i, j] + a[j, i])

    @af.kernel
    def added(a: af.f32[M, N], b: af.f32[N, M]):
        with af.for_(M) as i, af.for_(N) as j:
            a[i, j] += b[j, i]

    for kernel in (symmetric, added, copied(af.i16), copied(af.u8), copied(af.f32)):
        assert ", and turned in registers" in kernel.optimize(threads=1, target="avx512").explain(), kernel.name
    assert "turned" not in copied(af.c128).optimize(threads=1, target="avx2").explain()
    for target in ("avx2", "native"):
        for n in (0, 1, 8, 25):
            a = np.random.default_rng(n).normal(size=(n, n))
            b = np.zeros((n, n))
            made = symmetric.optimize(threads=1, target=target)
            made.interpret(a, b) if target != "native" else made(a, b)
            np.testing.assert_array_equal(b, 0.5 * (a + a.T))


def test_an_array_that_is_turned_in_place_stays_as_it_is():
    @af.kernel
    def swapped(a: af.f64[N, N]):
        with af.for_(N) as i, af.for_(N) as j:
            a[i, j] = a[j, i] + 1.0

    assert "turned" not in swapped.optimize(threads=1, target="avx512").explain()
