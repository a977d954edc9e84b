"""Counters that go on or begin anew: by a mask, with the same numbers, also where they wrap."""

import numpy as np
import pytest

import affdsl as af
from affdsl.ir.interpreter import run

N = af.symbols("N")


def streaks(kind, start, step):
    """How far each element is in a run of equal ones."""

    @af.kernel
    def count(x: af.i32[N], y: kind[N]):
        length = af.var(kind(start))
        with af.for_(1, N) as i:
            length.set(af.select(x[i] == x[i - 1], length + step, start))
            y[i] = length

    return count


@pytest.mark.parametrize(("kind", "start"), [(af.i32, 1), (af.i64, 1), (af.i32, 2**31 - 1), (af.i64, -3)])
def test_what_begins_anew_is_masked(kind, start):
    kernel = streaks(kind, start, start)
    assert f"& -(int{kind.numpy.itemsize * 8}_t)" in kernel.c()
    for made in (kernel, kernel.optimize("avx2", threads=1)):
        for n in (0, 1, 2, 40):
            x = np.random.default_rng(n).integers(0, 2, n, "i4")
            found, wanted = np.zeros(n, kind.numpy), np.zeros(n, kind.numpy)
            made(x, found)
            run(kernel.func, n, x, wanted)
            assert found.tobytes() == wanted.tobytes()


def test_other_choices_stay():
    @af.kernel
    def other(x: af.i32[N], y: af.i32[N]):
        with af.for_(N) as i:
            y[i] = af.select(x[i] > 0, x[i] + 1, 1)

    for kernel in (streaks(af.i32, 1, 2), streaks(af.i16, 1, 1), other):
        assert "& -(" not in kernel.c()
