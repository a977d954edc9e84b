"""Blocks of a loop each of whose iterations changes all rows and columns, also those that it reads."""

from dataclasses import replace

import numpy as np
import pytest

import affdsl as af
from affdsl.codegen.targets.avx2 import AVX2
from affdsl.optimize.options import Choices, Options
from affdsl.optimize.order import blocks
from affdsl.optimize.registers import products_in_loops
from tests.effort import some

N, M = af.symbols("N M")
SMALL = Options(AVX2, choices=replace(Choices(), block_rows=8))
"""For blocks of 4 iterations, from 33 on."""


@af.kernel
def shortest(p: af.f64[N, N]):
    """Shortest paths; infinities of both signs come to no number, and there are cycles that get ever shorter."""
    with af.for_(N) as k, af.for_(N) as i, af.for_(N) as j:
        p[i, j] = af.min(p[i, j], p[i, k] + p[k, j])


@af.kernel
def wrapped(p: af.i32[N, N]):
    with af.for_(N) as k, af.for_(N) as i, af.for_(N) as j:
        p[i, j] = af.min(p[i, j], p[i, k] + p[k, j])


@af.kernel
def reached(p: af.i8[N, N]):
    """Transitive closure, of several relations at once: one in each bit."""
    with af.for_(N) as k, af.for_(N) as i, af.for_(N) as j:
        p[i, j] = p[i, j] | (p[i, k] & p[k, j])


@af.kernel
def widest(p: af.f32[N, N]):
    with af.for_(N) as k, af.for_(N) as i, af.for_(N) as j:
        p[i, j] = af.max(p[i, j], af.min(p[i, k], p[k, j]))


@af.kernel
def apart(p: af.strided(af.f32[N, N])):
    """The same in a matrix whose elements lie apart."""
    with af.for_(N) as k, af.for_(N) as i, af.for_(N) as j:
        p[i, j] = af.max(p[i, j], af.min(p[i, k], p[k, j]))


@af.kernel
def eliminated(p: af.f64[N, N], b: af.f64[N, M]):
    """Gauss and Jordan: each row is subtracted from all others."""
    with af.for_(N) as k:
        with af.for_(k + 1, N) as j:
            p[k, j] = p[k, j] / p[k, k]
        with af.for_(M) as j:
            b[k, j] = b[k, j] / p[k, k]
        with af.for_(N) as i, af.if_(i != k):
            with af.for_(k + 1, N) as j:
                p[i, j] = p[i, j] - p[i, k] * p[k, j]
            with af.for_(M) as j:
                b[i, j] = b[i, j] - p[i, k] * b[k, j]


KERNELS = (wrapped, shortest, eliminated, apart, reached, widest)
SIZES = some((33, 1, 0, 39, 4, 32, 36), 3)


def numbers(kernel: af.Kernel, n: int) -> list[np.ndarray]:
    """Arguments of all values that are hard, so few that numbers are left."""
    rng = np.random.default_rng(n)
    if kernel is eliminated:
        return [rng.random((n, n)) + n * np.eye(n), rng.random((n, 5))]
    if kernel in (wrapped, reached):
        type = np.int32 if kernel is wrapped else np.int8
        given = rng.integers(np.iinfo(type).min, np.iinfo(type).max, (n, n), type, endpoint=True)
        return [given & rng.integers(0, 2, (n, n), type) if kernel is reached else given]
    found = rng.standard_normal((n, n)).astype(np.float64 if kernel is shortest else np.float32)
    for value in (np.nan, np.inf, -np.inf, -0.0, 0.0):
        found[rng.random((n, n)) < 0.4 / max(n, 1)] = value
    if kernel is apart:
        around = np.zeros((2 * n + 1, 3 * n + 2), np.float32)
        around[1::2, 2::3] = found
        return [around[1::2, 2::3]]
    return [found]


@pytest.mark.parametrize("kernel", some(KERNELS, 1), ids=lambda kernel: kernel.name)
def test_all_elements_get_the_same_numbers_in_the_same_order(kernel: af.Kernel) -> None:
    made, notes = products_in_loops.take(af.Schedule(kernel), "k", SMALL)
    assert "in blocks of 4, of which all but rows and columns" in notes[0].done
    assert "for N of 33 and more" in notes[0].done or "for N of 33 and more" in str(notes[0])
    products = [note for note in notes if "a product of matrices: " in note.done]
    assert len(products) == (2 if kernel is eliminated else 4)
    optimized = made.kernel()
    for n in SIZES:
        given = numbers(kernel, n)
        expected = [array.copy() for array in given]
        kernel.interpret(*expected)
        optimized(*given)
        for found, right in zip(given, expected, strict=True):
            np.testing.assert_array_equal(found, right)
            if found.dtype.kind == "f":
                kept = ~np.isnan(right)
                assert (np.signbit(found) == np.signbit(right))[kept].all()


def test_what_each_element_reads_is_crossed() -> None:
    """Loops over what the iterations of k are among, but for those that begin behind k, and where others are read."""

    @af.kernel
    def of_another(p: af.f64[N, N], q: af.f64[N, N]):
        with af.for_(N) as k, af.for_(N) as i, af.for_(N) as j:
            p[i, j] = af.min(p[i, j], q[i, k] + q[k, j])

    @af.kernel
    def behind(p: af.f64[N, N]):
        with af.for_(N) as k, af.for_(k + 1, N) as i, af.for_(k + 1, N) as j:
            p[i, j] = p[i, j] - p[i, k] * p[k, j]

    assert [blocks.crossed(af.Schedule(each), "k") for each in (shortest, of_another, behind)] == [
        {"i", "j"},
        set(),
        set(),
    ]
