"""Loops that do something else with every k-th iteration: each lane of several vectors knows its remainders."""

from __future__ import annotations

import numpy as np
import pytest

import affdsl as af
from affdsl.optimize.nests import nests
from affdsl.optimize.unfit import UnfitError
from affdsl.optimize.vector import periods
from affdsl.schedule.schedule import Schedule

K, N = af.symbols("K N")


@af.kernel
def every_third(y: af.f32[N], a: af.f32, b: af.f32):
    with af.for_(N) as i:
        with af.if_(i % 3 == 1):
            y[i] = a
        with af.else_():
            y[i] = b


@af.kernel
def signs(x: af.f64[N], y: af.f64[N], z: af.f64[N]):
    with af.for_(N) as i:
        with af.if_(i % 2 == 0):
            z[i] = x[i] + y[i]
        with af.else_():
            z[i] = x[i] - y[i]


@af.kernel
def one_in_five(y: af.f64[N], a: af.f64):
    with af.for_(N) as i, af.if_((i + 2) % 5 == 0):
        y[i] *= a


@af.kernel
def weighted(x: af.f32[N], w: af.f32[6]):
    with af.for_(N) as i:
        x[i] *= w[i % 6]


@af.kernel
def mosaic(A: af.f32[K, N], gains: af.f32[2, 2]):
    with af.for_(K) as i, af.for_(N) as j:
        A[i, j] *= gains[i % 2, j % 2]


@af.kernel
def board(A: af.f64[K, N], a: af.f64):
    with af.for_(K) as i, af.for_(1, N) as j:
        with af.if_((i + j) % 2 == 0):
            A[i, j] += a
        with af.else_():
            A[i, j] -= a


@pytest.mark.parametrize(
    ("kernel", "vectors", "dtypes"),
    [
        (every_third, 3, "f4 1.5 2.5"),
        (signs, 1, "f8 f8 f8"),
        (one_in_five, 5, "f8 0.3"),
        (weighted, 3, "f4 6f4"),
        (mosaic, 1, "f4 2,2f4"),
        (board, 1, "f8 0.5"),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_lanes_know_their_remainders(kernel, vectors, dtypes):
    fast = kernel.optimize("avx2", threads=1)
    several = f", {vectors} in a row" if vectors > 1 else ""
    assert f"{several}, in which each lane knows its remainders" in fast.explain()
    assert "try:" not in fast.explain()
    for n in (0, 1, 7, 8, 9, 23, 24, 25, 31, 40, 47, 48, 49, 101):
        rng = np.random.default_rng(n)
        arguments = [_argument(word, (n,) if kernel not in (mosaic, board) else (3, n), rng) for word in dtypes.split()]
        wanted = [each.copy() if isinstance(each, np.ndarray) else each for each in arguments]
        kernel.interpret(*wanted)
        fast(*arguments)
        for one, other in zip(arguments, wanted, strict=True):
            assert np.asarray(one).tobytes() == np.asarray(other).tobytes(), n


def _argument(word, shape, rng):
    """A number, an array of the shape of the loops, or one of a shape of its own: 1.5, f4, 2,2f4."""
    size, letter, bytes = word.partition("f")
    if not letter:
        return float(word)
    own = tuple(map(int, size.split(","))) if size else shape
    return rng.standard_normal(own).astype(f"f{bytes}")


@af.kernel
def none(x: af.f32[N]):
    with af.for_(N) as i:
        x[i] += 1.0


@af.kernel
def from_anywhere(x: af.f32[N], w: af.f32[3], first: af.index):
    af.assume(first >= 0)
    with af.for_(first, N) as i:
        x[i] = w[i % 3]


@af.kernel
def halves(x: af.f32[N], y: af.f32[2 * N]):
    with af.for_(2 * N) as i:
        y[i] = x[i // 2]


@af.kernel
def of_a_size(x: af.f32[N], w: af.f32[K]):
    with af.for_(N) as i:
        x[i] = w[i % K]


@af.kernel
def too_long(x: af.f32[N], w: af.f32[11]):
    with af.for_(N) as i:
        x[i] = w[i % 11]


@pytest.mark.parametrize("kernel", [none, from_anywhere, halves, of_a_size, too_long], ids=lambda each: each.name)
def test_it_is_for_remainders_that_come_again_soon(kernel):
    s = Schedule(kernel)
    with pytest.raises(UnfitError):
        periods.take(s, nests(s)[0], 8)
    assert not s.steps
