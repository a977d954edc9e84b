"""Places of extremes and other choices among iterations, in parallel: the bits of the loop, for ties, NaN and zeros."""

import numpy as np
import pytest

import affdsl as af
from tests.harness.judges import copied
from tests.loops.ways import lowered
from tests.schedule.kernels import replayed

N, M = af.symbols("N M")
ROW = 4096
"""How many iterations a part takes in a row, of 64 parts that take turns."""


@af.kernel
def place_of_greatest(x: af.f64[N], out: af.i64[1], most: af.f64[1]):
    best, place = af.var(most[0]), af.var(af.i64(-1))
    with af.for_(N) as i:
        with af.if_(x[i] > best):
            best.set(x[i])
            place.set(af.i64(i))
    out[0] = place
    most[0] = best


@af.kernel
def last_of_the_least(x: af.f64[N], out: af.i64[1], most: af.f64[1]):
    with af.for_(N, iter_args=[most[0], out[0]]) as (i, best, place):
        found = x[i] <= best
        af.yield_(af.select(found, x[i], best), af.select(found, 3 * af.i64(i) + 1, place))
    out[0] = place
    most[0] = best


@af.kernel
def what_goes_with_the_greatest(x: af.f64[N], out: af.i64[3], most: af.f64[1]):
    """Every second one, with what another array has there, and a count and a maximum beside it."""
    with af.for_(3, N, 2, iter_args=[out[0], out[1], af.i64(0), af.f64(-1.0)]) as (i, best, other, count, high):
        value = af.i64(x[i] * 4.0)
        found = value > best
        with af.if_(x[i] > 0.5, af.i64) as more:
            af.yield_(count + 1)
        with af.else_():
            af.yield_(count)
        af.yield_(
            af.select(found, value, best), af.select(found, af.i64(x[i] * 1000.0), other), more, af.max(high, x[i])
        )
    out[0] = best
    out[1] = other
    out[2] = count
    most[0] = high


@af.kernel
def last_that_is_negative(x: af.f64[N], out: af.i64[1], most: af.f64[1]):
    last, found = af.var(most[0]), af.var(out[0])
    with af.for_(N) as i:
        with af.if_(x[i] < 0.0):
            last.set(x[i])
            found.set(77)
    most[0] = last
    out[0] = found


KERNELS = (place_of_greatest, last_of_the_least, what_goes_with_the_greatest, last_that_is_negative)


def numbers(n, seed=0):
    """Few different numbers, so that many are equal; zeros of both signs, NaN, infinities."""
    random = np.random.default_rng(seed + n)
    x = random.integers(-2, 3, n) / 2
    x = np.where(random.random(n) < 0.3, -x, x)
    special = random.random(n)
    x[special < 0.02] = np.nan
    x[special > 0.98] = np.inf * random.choice([-1, 1], int((special > 0.98).sum()))
    return x


def same(found, wanted):
    for a, b in zip(found, wanted, strict=True):
        assert a.tobytes() == b.tobytes(), (found[1:], wanted[1:])


def check(way, kernel, x, first):
    given = x, np.arange(5, 5 + (3 if kernel is what_goes_with_the_greatest else 1)), np.array([first])
    found, wanted = copied(given), copied(given)
    if kernel is what_goes_with_the_greatest:
        for each in (found, wanted):
            each[0][:] = np.nan_to_num(x, nan=0.25, posinf=7, neginf=-7)
    kernel(*wanted)
    way(*found)
    same(found, wanted)


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)
def test_a_choice_is_parallel(kernel):
    s = af.Schedule(kernel).parallel("i")
    made = s.kernel()
    assert "affine.parallel" in made.mlir()
    for n in (0, 1, 7, 3 * ROW + 5):
        for first in (0.0, -0.0, np.nan, np.inf, -np.inf):
            check(made, kernel, numbers(n), first)
    check(made, kernel, numbers(64 * ROW * 3 + 17), 0.0)  # all parts, several rows each
    check(made.interpret, kernel, numbers(ROW + 70), -0.0)
    check(made.interpret, kernel, numbers(2), np.nan)
    assert replayed(s).mlir() == made.mlir()
    check(lowered(made), kernel, numbers(2 * ROW + 7), 0.0)


@pytest.mark.parametrize("kernel", KERNELS[:2], ids=lambda kernel: kernel.name)
def test_loops_of_a_part_run_on_vectors(kernel):
    made = af.Schedule(kernel).parallel("i").vectorize("i", 8, tail="masked").kernel()
    for n in (0, 5, ROW + 3, 200_000):
        check(made, kernel, numbers(n), -0.0)


def test_ties_are_of_the_first_part():
    x = np.zeros(5 * ROW)
    x[[2 * ROW + 3, 4 * ROW]] = 1.0
    out, most = np.zeros(1, np.int64), np.zeros(1)
    af.Schedule(place_of_greatest).parallel("i").kernel()(x, out, most)
    assert (out[0], most[0]) == (2 * ROW + 3, 1.0)


@af.kernel
def sees_the_best(x: af.f64[N], y: af.f64[N]):
    best = af.var(x[0])
    with af.for_(N) as i:
        with af.if_(x[i] > best):
            best.set(x[i])
        y[i] = best


@af.kernel
def not_comparable(x: af.f64[N], out: af.f64[1]):
    """Not the best, but twice what was better: which one is kept depends on all before."""
    best = af.var(out[0])
    with af.for_(N) as i:
        with af.if_(x[i] > best):
            best.set(x[i] * 2.0)
    out[0] = best


@af.kernel
def summed_in_order(x: af.f64[N], out: af.f64[1], place: af.i64[1]):
    with af.for_(N, iter_args=[x[0], af.i64(0), out[0]]) as (i, best, at, total):
        found = x[i] > best
        af.yield_(af.select(found, x[i], best), af.select(found, af.i64(i), at), total + x[i])
    place[0] = at
    out[0] = total


@pytest.mark.parametrize("kernel", [sees_the_best, not_comparable, summed_in_order], ids=lambda kernel: kernel.name)
def test_what_depends_on_the_order_is_refused(kernel):
    with pytest.raises(af.IllegalTransform, match="cannot make i parallel"):
        af.Schedule(kernel).parallel("i")


def test_a_sum_of_floats_beside_it_is_asked_for():
    made = af.Schedule(summed_in_order).parallel("i", reassociate=True).kernel()
    x, out, place = np.arange(3000.0) % 71, np.array([3.0]), np.zeros(1, np.int64)
    made(x, out, place)
    assert (out[0], place[0]) == (3.0 + x.sum(), 70)


@af.kernel
def of_each_row(x: af.f64[N, M], out: af.i64[N]):
    with af.for_(N) as r:
        with af.for_(M, iter_args=[x[r, 0], af.i64(0)]) as (i, best, place):
            found = x[r, i] > best
            af.yield_(af.select(found, x[r, i], best), af.select(found, af.i64(i), place))
        out[r] = place


def test_rows_are_parallel_as_before_or_each_by_itself():
    """Arrays of parts lie outside of the loop over rows, and in it where rows run at once."""
    x = np.random.default_rng(1).integers(0, 9, (6, 2000)).astype(float)
    inner = af.Schedule(of_each_row).parallel("i")
    assert inner.kernel().mlir().index("alloca") < inner.kernel().mlir().index("affine.for %r")
    for s in (inner, af.Schedule(of_each_row).parallel("r").parallel("i"), af.Schedule(of_each_row).parallel("r")):
        out = np.zeros(6, np.int64)
        s.kernel()(x, out)
        assert (out == x.argmax(1)).all()
