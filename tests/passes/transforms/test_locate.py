"""locate: the first of equal extremes is found, whatever their number is, and what is no such loop is refused."""

from __future__ import annotations

import numpy as np
import pytest

import affdsl as af

N = af.symbols("N")
STRIP = 8
DTYPES = {"i1": af.i8, "u1": af.u8, "i2": af.i16, "u4": af.u32, "i8": af.i64}


def least(dtype: af.DType) -> af.Kernel:
    @af.kernel
    def least(x: dtype[N], first: dtype[1], out: af.i64[3]):
        best, place, twice = af.var(first[0]), af.var(af.i64(-1)), af.var(af.i64(-2))
        with af.for_(1, N) as i:
            with af.if_(x[i] < best):
                best.set(x[i])
                place.set(af.i64(i))
                twice.set(af.i64(x[i - 1]) + af.i64(i))
        out[0] = place
        out[1] = twice
        out[2] = af.i64(best)

    return least


@pytest.mark.parametrize("name", DTYPES)
def test_the_first_of_equal_ones_is_found(name):
    plain = least(DTYPES[name])
    made = af.Schedule(plain).scalar_replace("i").locate("i", STRIP)
    assert "scf.if" in made.kernel().mlir()
    fast = plain.optimize("avx512", threads=1)
    assert ("looked for" in fast.explain()) == (name != "i8")
    random = np.random.default_rng(5)
    for n in (0, 1, 2, STRIP, STRIP + 1, STRIP + 2, 3 * STRIP + 1, 70, 1025, 1026, 2500):
        for high in (2, 100):
            x = random.integers(0, high, n).astype(name)
            for first in (0, 1, 120):
                start = np.full(1, first, name)
                wanted, stripped, found = np.zeros((3, 3), "i8")
                plain.interpret(x, start, wanted)
                made.kernel()(x, start, stripped)
                fast(x, start, found)
                assert (stripped == wanted).all(), (n, first)
                assert (found == wanted).all(), (n, first)
