"""Loops over arrays of one dimension begin where a line of one does: right wherever that is, and only where it pays."""

from __future__ import annotations

import numpy as np
import pytest

import affdsl as af
from affdsl.optimize.memory.lines import LEAST
from tests.passes.transforms.placed import at

N = af.symbols("N")


@af.kernel
def updated(a: af.f64, x: af.f64[N], y: af.f64[N]):
    with af.for_(1, N) as i:
        y[i] += a * x[i - 1]


@af.kernel
def clipped(x: af.u8[N], y: af.u8[N]):
    with af.for_(N) as i, af.if_(x[i] > 9):
        y[i] = x[i] // 2


@af.kernel
def total(x: af.i32[N], out: af.i32[1]):
    with af.for_(N) as i:
        out[0] += x[i]


@af.kernel
def greatest(x: af.f32[N], out: af.f32[1]):
    with af.for_(2, N) as i:
        out[0] = af.max(out[0], x[i])


@af.kernel
def marked(x: af.i32[N], m: af.bool_[N], out: af.i32[1]):
    with af.for_(N) as i, af.if_(m[i]):
        out[0] += x[i]


@af.kernel
def steps(x: af.i32[N], out: af.i32[1]):
    """What an iteration hands on has no mask."""
    last = af.var(af.i32(7))
    with af.for_(N) as i:
        out[0] += (x[i] - last) * (x[i] - last)
        last.set(x[i])


@af.kernel
def running(x: af.i64[N], y: af.i64[N]):
    s = af.var(af.i64(0))
    with af.for_(N) as i:
        s += x[i]
        y[i] = s


@af.kernel
def shifted(x: af.f32[N]):
    with af.for_(N - 1) as i:
        x[i] = x[i + 1]


@af.kernel
def three_points(x: af.f64[N], y: af.f64[N]):
    """The array that it stores is in one place, so its vectors begin in lines; those that are loaded lie anywhere."""
    with af.for_(1, N - 1) as i:
        y[i] = x[i - 1] + x[i] + x[i + 1]


@af.kernel
def differences(x: af.i16[N], y: af.i16[N]):
    with af.for_(N - 1) as i:
        y[i + 1] = x[i + 1] - x[i]


@af.kernel
def two_apart(x: af.f32[N], y: af.f32[N]):
    """No vector of what it stores, in two places, begins in a line where the other does."""
    with af.for_(N - 1) as i:
        y[i] = x[i + 1]
        y[i + 1] = x[i]


CASES = (
    (updated, "f8 f8"),
    (clipped, "u1 u1"),
    (total, "i4 1"),
    (greatest, "f4 1"),
    (marked, "i4 ? 1"),
    (steps, "i4 1"),
    (running, "i8 i8"),
    (shifted, "f4"),
    (three_points, "f8 f8"),
    (differences, "i2 i2"),
    (two_apart, "f4 f4"),
)
"""Kernels, with the types of their arrays: 1 for one element of the type before."""
LENGTHS = ((0, 0), (0, 1), (3, 5), (LEAST, 0), (LEAST, 2), (LEAST + 1, 3), (2 * LEAST, 7))
"""So many vectors, and elements behind them."""


@pytest.mark.parametrize("target", ["avx512", "avx2"])
@pytest.mark.parametrize(("kernel", "types"), CASES, ids=lambda each: getattr(each, "name", ""))
def test_results_are_the_same_bits_wherever_arrays_lie(kernel, types, target):
    fast = kernel.optimize(target, threads=1)
    assert (", from where a line of " in fast.explain()) == (kernel not in (running, shifted, two_apart))
    random = np.random.default_rng(3)
    element, *_ = types.split()
    lanes = 64 // np.dtype(element).itemsize
    for places in ((0, 0), (16, 16), (48, 8), (8, 40), (56, 24)):
        for vectors, more in LENGTHS:
            each = [(1, element) if type == "1" else (vectors * lanes + more, type) for type in types.split()]
            given = [at(place, *like) for place, like in zip((*places, 0), each, strict=False)]
            for array in given:
                array[:] = random.integers(0, 100, array.size)
            found, wanted = given, [array.copy() for array in given]
            scalars = (1.25,) if kernel is updated else ()
            kernel(*scalars, *wanted)
            fast(*scalars, *found)
            for a, b in zip(found, wanted, strict=True):
                np.testing.assert_array_equal(a, b, strict=True)


def test_sums_in_another_order_are_near_wherever_arrays_lie():
    @af.kernel
    def dot(x: af.f64[N], y: af.f64[N], out: af.f64[1]):
        with af.for_(N) as i:
            out[0] += x[i] * y[i]

    for target in ("avx512", "avx2"):
        fast = dot.optimize(target, threads=1, reassociate=True)
        for place in (0, 16, 40):
            for n in (0, 1, 500, 512, 520, 1025):
                x, y, out = at(place, n, "f8"), at(place, n, "f8"), np.zeros(1)
                x[:], y[:] = np.random.default_rng(n).normal(size=(2, n))
                fast(x, y, out)
                np.testing.assert_allclose(out[0], x @ y, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("target", ["baseline", "neon"])
def test_registers_that_never_lie_in_two_lines_begin_where_they_did(target):
    assert "line of" not in updated.optimize(target, threads=1).explain()


def test_loops_that_run_seldom_begin_where_they_did():
    @af.kernel
    def few(x: af.f64[500], y: af.f64[500]):
        with af.for_(500) as i:
            y[i] = x[i] + 1.0

    assert "line of" not in few.optimize("avx512", threads=1).explain()


def test_what_is_stored_where_a_counter_says_begins_where_it_did():
    """Before the line, it would be stored lane by lane, each under a condition; without that, the counter is 2 i."""

    @af.kernel
    def side_by_side(a: af.f32[N], b: af.f32[N], c: af.f32[2 * N]):
        with af.for_(N, iter_args=af.i64(0)) as (i, k):
            c[k] = a[i]
            c[k + 1] = b[i]
            af.yield_(k + 2)

    made = side_by_side.optimize("avx512")
    assert "aligned_pointer" not in made.mlir()
    assert "vector.shuffle" in made.mlir()
