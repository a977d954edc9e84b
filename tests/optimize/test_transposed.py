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
