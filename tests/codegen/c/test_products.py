"""Products beside sums and differences round twice, whatever the compiler makes of neighbours."""

import numpy as np
import pytest

import affdsl as af

N = af.symbols("N")


def of_pairs(dtype):
    @af.kernel
    def pairs(a: dtype[2 * N], b: dtype[2 * N], c: dtype[2 * N]):
        with af.for_(N) as i:
            c[2 * i] = a[2 * i] * b[2 * i] - a[2 * i + 1] * b[2 * i + 1]
            c[2 * i + 1] = a[2 * i] * b[2 * i + 1] + a[2 * i + 1] * b[2 * i]

    return pairs


def of_named(dtype):
    @af.kernel
    def named(a: dtype[2 * N], b: dtype[2 * N], c: dtype[2 * N]):
        with af.for_(N) as i:
            first = a[2 * i] * b[2 * i]
            second = a[2 * i + 1] * b[2 * i + 1]
            c[2 * i] = first - a[2 * i + 1]
            c[2 * i + 1] = a[2 * i] + second

    return named


def of_kept(dtype):
    @af.kernel
    def kept(a: dtype[2 * N], b: dtype[2 * N], c: dtype[2 * N]):
        with af.for_(N) as i:
            s = af.var(a[2 * i] * b[2 * i])
            c[2 * i + 1] = a[2 * i + 1] * b[2 * i + 1]
            s -= b[2 * i + 1]
            c[2 * i] = s
            c[2 * i + 1] += b[2 * i]

    return kept


def of_negated(dtype):
    @af.kernel
    def negated(a: dtype[2 * N], b: dtype[2 * N], c: dtype[2 * N]):
        with af.for_(N) as i:
            c[2 * i] = -b[2 * i + 1] + a[2 * i] * b[2 * i]
            c[2 * i + 1] = a[2 * i + 1] * b[2 * i + 1] + b[2 * i]

    return negated


@pytest.mark.parametrize("dtype", [af.f32, af.f64], ids=str)
@pytest.mark.parametrize("make", [of_pairs, of_named, of_kept, of_negated])
def test_a_product_is_rounded_before_something_is_subtracted(make, dtype):
    kernel, random = make(dtype), np.random.default_rng(3)
    a, b = random.standard_normal((2, 64)).astype(dtype.numpy)
    found, wanted = np.zeros((2, 64), dtype.numpy)
    kernel(a, b, found)
    kernel.interpret(a, b, wanted)
    np.testing.assert_array_equal(found, wanted)
    assert "ROUNDED(" in kernel.c()


def test_most_differences_are_left_as_a_person_writes_them():
    @af.kernel
    def areas(a: af.f64[N, 2], b: af.f64[N, 2], c: af.f64[N], d: af.bf16[N]):
        with af.for_(N) as i:
            c[i] = a[i, 0] * b[i, 1] - a[i, 1] * b[i, 0]
            d[i] = d[i] * d[i] + d[i] - d[i] * d[i]

    assert "c[i] = a[i * 2] * b[i * 2 + 1] - a[i * 2 + 1] * b[i * 2];" in areas.c()
    assert "ROUNDED" not in areas.c()
