"""locate: the first of equal extremes, and the last of all, are found; what is no such loop is refused."""

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


M = af.symbols("M")


@af.kernel
def last_of_two(x: af.i32[N], y: af.f64[N], out: af.i64[2]):
    """Two arrays decide, and what is kept needs a third element; it begins and ends somewhere."""
    at, behind = af.var(af.i64(-1)), af.var(af.i64(-7))
    with af.for_(2, N - 1) as i, af.if_((x[i] == 0) & ~(y[i] < 1.0)):
        at.set(af.i64(i))
        behind.set(af.i64(x[i + 1]) + af.i64(i))
    out[0] = at
    out[1] = behind


@af.kernel
def last_of_rows(x: af.i32[M, N], out: af.i64[M]):
    """A triangle, one condition inside of another, and elements from the last one on."""
    with af.for_(M) as r:
        out[r] = -1
        with af.for_(r, N) as i, af.if_(x[r, i] < 50), af.if_(x[r, N - 1 - i] > 10):
            out[r] = af.i64(i)


@af.kernel
def first_while_negative(x: af.i32[N], y: af.f64[N], out: af.i64[2]):
    """The place itself says whether it was found, and may be what it was: the lower bound may be negative."""
    at, behind = af.var(out[0]), af.var(af.i64(-7))
    with af.for_(2, N - 1) as i, af.if_((at < 3) & (x[i] == 0) & (y[i] < 1.0)):
        at.set(af.i64(i))
        behind.set(af.i64(x[i + 1]) + af.i64(i))
    out[0] = at
    out[1] = behind


@af.kernel
def first_of_rows(x: af.i32[M, N], out: af.i64[M]):
    """A truth value says whether it was found."""
    with af.for_(M) as r:
        out[r] = -1
        found = af.var(af.bool_(False))
        with af.for_(r, N) as i, af.if_(~found), af.if_(x[r, i] < 9):
            out[r] = af.i64(i)
            found.set(True)


def numbers(random: np.random.Generator, n: int, high: int) -> tuple[np.ndarray, np.ndarray]:
    return random.integers(0, high, n, "i4"), random.choice([0.5, 2, np.nan], n)


ONE = {
    "two": (last_of_two, lambda r, n, high: (*numbers(r, n, high), np.zeros(2, "i8"))),
    "rows": (last_of_rows, lambda r, n, high: (r.integers(0, 10 * high, (5, n), "i4"), np.zeros(5, "i8"))),
    "first": (first_while_negative, lambda r, n, high: (*numbers(r, n, high), r.integers(0, 4, 2))),
    "flags": (first_of_rows, lambda r, n, high: (r.integers(0, 10 * high, (5, n), "i4"), np.zeros(5, "i8"))),
}  # fmt: skip


@pytest.mark.parametrize("name", ONE)
def test_the_first_or_last_one_is_found(name):
    plain, arguments = ONE[name]
    made = af.Schedule(plain).scalar_replace("i").locate("i", STRIP)
    ways = [
        made.kernel(),
        af.Schedule(plain).scalar_replace("i").locate("i", STRIP).vectorize("i", 4).kernel(),
        plain.optimize("avx512", threads=1),
    ]
    assert ways[1].c() != ways[0].c()
    assert "looks for one iteration" in ways[2].explain()
    random = np.random.default_rng(6)
    for n in (2, 3, 4, STRIP + 2, STRIP + 3, STRIP + 4, 67, 68, 150, 300):
        for high in (2, 20, 1000):
            given = arguments(random, n, high)
            *arrays, wanted = (each.copy() for each in given)
            plain.interpret(*arrays, wanted)
            for way in ways:
                out = given[-1].copy()
                way(*arrays, out)
                assert (out == wanted).all(), (n, high, out, wanted)


@af.kernel
def depends_on_it(x: af.i32[N], out: af.i64[1]):
    at = af.var(af.i64(0))
    with af.for_(N) as i, af.if_(af.i64(x[i]) > at):
        at.set(af.i64(i))
    out[0] = at


@af.kernel(boundscheck=True)
def by_data(x: af.i32[N], j: af.i64[N], out: af.i64[1]):
    """Where j points outside of x is an error in each iteration, also in those before the last one."""
    at = af.var(af.i64(0))
    with af.for_(N) as i, af.if_(x[af.index(j[i])] == 0):
        at.set(af.i64(i))
    out[0] = at


@af.kernel
def two_ends(x: af.i32[N], m: af.index, out: af.i64[1]):
    at = af.var(af.i64(0))
    with af.for_(0, af.min(N, m)) as i, af.if_(x[i] == 0):
        at.set(af.i64(i))
    out[0] = at


@af.kernel
def floats(x: af.f32[N], out: af.i64[1]):
    best, place = af.var(x[0]), af.var(af.i64(0))
    with af.for_(1, N) as i, af.if_(x[i] > best):
        best.set(x[i])
        place.set(af.i64(i))
    out[0] = place


@af.kernel
def last(x: af.i32[N], out: af.i64[1]):
    best, place = af.var(x[0]), af.var(af.i64(0))
    with af.for_(1, N) as i, af.if_(x[i] >= best):
        best.set(x[i])
        place.set(af.i64(i))
    out[0] = place


@af.kernel
def and_a_sum(x: af.i32[N], out: af.i64[2]):
    best, place, total = af.var(x[0]), af.var(af.i64(0)), af.var(af.i64(0))
    with af.for_(1, N) as i:
        total += af.i64(x[i])
        with af.if_(x[i] > best):
            best.set(x[i])
            place.set(af.i64(i))
    out[0] = place
    out[1] = total


@af.kernel
def and_stores(x: af.i32[N], y: af.i32[N], out: af.i64[1]):
    best, place = af.var(x[0]), af.var(af.i64(0))
    with af.for_(1, N) as i:
        y[i] = 0
        with af.if_(x[i] > best):
            best.set(x[i])
            place.set(af.i64(i))
    out[0] = place


@af.kernel
def alone(x: af.i32[N], out: af.i32[1]):
    best = af.var(x[0])
    with af.for_(1, N) as i, af.if_(x[i] > best):
        best.set(x[i])
    out[0] = best


@pytest.mark.parametrize(
    ("kernel", "reason"),
    [
        (floats, "not the first of the least or greatest of some integers"),
        (last, "not the first of the least or greatest of some integers"),
        (and_a_sum, "it carries something that is not chosen together with one extreme"),
        (and_stores, "it does more than to choose"),
        (alone, "nothing goes with the extreme"),
        (depends_on_it, "it carries something that is not chosen together with one extreme"),
        (by_data, "data chooses what it loads"),
        (two_ends, "its end is not one number, or it has a step"),
    ],
    ids=lambda each: getattr(each, "name", ""),
)
def test_other_loops_are_refused(kernel, reason):
    with pytest.raises(af.IllegalTransform, match=reason):
        af.Schedule(kernel).scalar_replace("i").locate("i", 16)
    with pytest.raises(af.ScheduleError, match="how many iterations a strip has"):
        af.Schedule(last).locate("i", 1)
