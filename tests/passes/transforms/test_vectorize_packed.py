"""What a loop keeps of what it sees: the lanes of a mask, one behind the other, and nothing behind the last one."""

import numpy as np
import pytest

import affdsl as af
from affdsl.ir.dialects import vector
from affdsl.ir.traverse import walk
from tests.loops.ways import agree, lowered

N, M = af.symbols("N M")
SIZES = (0, 1, 7, 8, 9, 64, 203)
WAYS = (lambda kernel: kernel.interpret, lambda kernel: kernel)


@af.kernel
def positive(x: af.f64[N], y: af.f64[N], count: af.i64[1]):
    n = af.var(af.index(0))
    with af.for_(N) as i, af.if_(x[i] > 0.0):
        y[n] = x[i]
        n += 1
    count[0] = af.i64(n)


@af.kernel
def places(x: af.f64[N], y: af.i32[N], count: af.i64[1]):
    """Counted by an integer that starts at what is given, in every second iteration from the third on."""
    n = af.var(count[0])
    with af.for_(2, N, 2) as i, af.if_((x[i] > 0.0) & (x[i] < 1.0)):
        y[n] = af.i32(i)
        n += 1
    count[0] = n


@af.kernel
def twice(x: af.f32[N], y: af.f32[N], z: af.f32[2, N], count: af.i64[1]):
    """Two arrays, one of them a row of a matrix, and what is stored without a condition beside."""
    n = af.var(af.index(0))
    with af.for_(N) as i:
        with af.if_(x[i] < 0.0):
            y[n] = x[i]
            z[1, n] = x[i] * 2.0
            n += 1
        z[0, i] = -x[i]
    count[0] = af.i64(n)


@af.kernel
def apart(x: af.f64[N], low: af.f64[N], high: af.f64[N], count: af.i64[2]):
    """Both sides of a partition, each with a number of its own."""
    a, b = af.var(af.index(0)), af.var(af.index(0))
    with af.for_(N) as i:
        with af.if_(x[i] < 0.25):
            low[a] = x[i]
            a += 1
        with af.if_(x[i] >= 0.25):
            high[b] = x[i]
            b += 1
    count[0] = af.i64(a)
    count[1] = af.i64(b)


GIVEN = {
    positive: lambda n: (np.zeros(n), np.zeros(1, np.int64)),
    places: lambda n: (np.zeros(n, np.int32), np.zeros(1, np.int64)),
    twice: lambda n: (np.zeros(n, np.float32), np.zeros((2, n), np.float32), np.zeros(1, np.int64)),
    apart: lambda n: (np.zeros(n), np.zeros(n), np.zeros(2, np.int64)),
}


def arguments(kernel, n):
    x = np.random.default_rng(n).normal(size=n)
    x[::11] = np.nan
    return [x.astype(np.float32 if kernel is twice else np.float64), *GIVEN[kernel](n)]


def packed(made):
    return sum(isinstance(op, vector.CompressStore) for op in walk(made.func))


@pytest.mark.parametrize("tail", ["masked", "scalar"])
@pytest.mark.parametrize("kernel", GIVEN, ids=lambda kernel: kernel.name)
def test_lanes_are_packed(kernel, tail):
    lanes = 16 if kernel is twice else 8
    made = af.Schedule(kernel).scalar_replace("i").vectorize("i", lanes, tail=tail).kernel()
    assert packed(made) == (2 if tail == "masked" else 1) * (1 + (kernel in (twice, apart)))
    for n in SIZES:
        agree(made, kernel.interpret, *arguments(kernel, n), ways=WAYS)
    if tail == "masked" and kernel in (places, twice):
        agree(made, kernel.interpret, *arguments(kernel, 77), ways=[lowered])


def test_the_end_of_an_array_is_not_passed():
    """The array has room for what is kept, and not for one more: memory behind it stays as it is."""
    made = af.Schedule(positive).scalar_replace("i").vectorize("i", 8, tail="masked").kernel()
    x = -np.ones(64)
    x[60:] = 1.0
    room = np.full(72, 7.0)
    count = np.zeros(1, np.int64)
    made(x, room[:64], count)
    assert count[0] == 4
    assert (room[4:] == 7.0).all()


@af.kernel
def in_place(x: af.f64[N], count: af.i64[1]):
    n = af.var(af.index(0))
    with af.for_(N) as i, af.if_(x[i] > 0.0):
        x[n] = x[i]
        n += 1
    count[0] = af.i64(n)


@af.kernel
def seen(x: af.f64[N], y: af.f64[N], z: af.i64[N], count: af.i64[1]):
    """How many there are so far is stored, too."""
    n = af.var(af.index(0))
    with af.for_(N) as i:
        with af.if_(x[i] > 0.0):
            y[n] = x[i]
            n += 1
        z[i] = af.i64(n)
    count[0] = af.i64(n)


@af.kernel
def by_two(x: af.f64[N], y: af.f64[2 * N], count: af.i64[1]):
    n = af.var(af.index(0))
    with af.for_(N) as i, af.if_(x[i] > 0.0):
        y[n] = x[i]
        n += 2
    count[0] = af.i64(n)


def test_other_loops_are_not_packed_and_stay_right():
    for kernel, room in ((in_place, 0), (seen, 1), (by_two, 2)):
        s = af.Schedule(kernel).scalar_replace("i")
        try:
            made = s.vectorize("i", 8, tail="masked").kernel()
        except af.IllegalTransform:
            made = s.kernel()
        assert not packed(made)
        for n in (0, 1, 9, 50):
            x, _, count = arguments(positive, n)
            arrays = [[], [np.zeros(n), np.zeros(n, np.int64)], [np.zeros(2 * n)]][room]
            agree(made, kernel.interpret, x, *arrays, count, ways=WAYS)


@pytest.mark.parametrize("target", ["avx512", "avx2"])
def test_optimize_takes_it_where_there_is_an_instruction(target):
    for kernel in (positive, places) if target == "avx512" else (positive,):
        made = kernel.optimize(target, threads=1)
        assert bool(packed(made)) == (target == "avx512")
        assert ("kept are stored side by side" in made.explain()) == (target == "avx512")
        for n in SIZES:
            agree(made, kernel.interpret, *arguments(kernel, n), ways=[lambda made: made])
