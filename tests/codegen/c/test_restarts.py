"""Counters that go on or begin anew: by a mask, with the same numbers, also where they wrap."""

import numpy as np
import pytest

import affdsl as af
from affdsl.ir.interpreter import run
from tests.harness.judges import same_but_nan

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


@pytest.mark.parametrize("kind", [af.u32, af.i32, af.i64])
@pytest.mark.parametrize("least", [7, 2**30, 2**31 - 1])
def test_of_two_integers_that_differ_by_a_number_one_is_masked(kind, least):
    @af.kernel
    def back(x: kind[N], y: kind[N], out: kind[N]):
        with af.for_(N) as i:
            a, b = x[i], y[i]
            out[i] = af.select(a >= b, a - b, a + least - b)

    assert "& -(int" in back.c()
    ends = np.iinfo(kind.numpy)
    some = np.array([0, 1, 6, 7, 8, least, ends.max, ends.min, ends.max - 3], kind.numpy)
    x, y = (a.ravel() for a in np.meshgrid(some, some))
    for made in (back, back.optimize("avx2", threads=1)):
        found, wanted = np.zeros(x.size, kind.numpy), np.zeros(x.size, kind.numpy)
        made(x, y, found)
        run(back.func, x.size, x, y, wanted)
        assert found.tobytes() == wanted.tobytes()


def test_integers_of_which_one_is_made_of_the_other_stay():
    @af.kernel
    def reduced(x: af.i32[N], y: af.i32[N], z: af.i32[N]):
        with af.for_(N) as i:
            total = x[i] + y[i]
            y[i] = af.select(total > 9, total - 10, total)
            z[i] = af.select(x[i] > 0, x[i] - z[i], x[i] + z[i])
            x[i] = af.select(z[i] > 0, x[i], x[i] + 3)

    assert "& -(" not in reduced.c()


SPECIAL = (0.0, -0.0, np.nan, np.inf, -np.inf, 1.5, -2.5, 5e-324)


@pytest.mark.parametrize(("sign", "kind"), [("+", af.f64), ("-", af.f32), ("*", af.f64)])
def test_what_conditions_add_in_order_is_masked_with_the_same_bits(sign, kind):
    @af.kernel
    def summed(chosen: af.bool_[N], x: kind[N], out: kind[1]):
        total = af.var(kind(1))
        with af.for_(N) as i, af.if_(chosen[i]):
            total.set(total + x[i] if sign == "+" else total - x[i] if sign == "-" else total * x[i])
        out[0] = total

    made = summed.optimize("avx2", threads=1)
    assert f"masked_{kind.name}(" in made.c()
    assert "masked_" not in summed.c()
    for n in (0, 1, 2, 9, 40):
        for numbers in (SPECIAL, (0.1, -0.7, 3.0)):
            random = np.random.default_rng(n)
            x, chosen = random.choice(numbers, n).astype(kind.numpy), random.integers(0, 2, n).astype(bool)
            found, wanted = np.zeros(1, kind.numpy), np.zeros(1, kind.numpy)
            made(chosen, x, found)
            run(summed.func, n, chosen, x, wanted)
            assert same_but_nan(found, wanted)


def test_choices_among_what_is_not_known_stay():
    @af.kernel
    def either(chosen: af.bool_[N], x: af.f64[N], y: af.f64[N], out: af.f64[1]):
        total = af.var(af.f64(0))
        with af.for_(N) as i:
            total += af.select(chosen[i], x[i], y[i])
        out[0] = total

    assert "masked_" not in either.optimize("avx2", threads=1).c()


@pytest.mark.parametrize(("by", "has_condition"), [(1, False), (-3, False), (None, True)])
def test_counts_of_truths_that_differ_have_no_condition(by, has_condition):
    @af.kernel
    def crossings(x: af.f64[N], step: af.i64, out: af.i64[1]):
        count = af.var(af.i64(2**63 - 2))  # it wraps
        with af.for_(1, N) as i, af.if_((x[i] < 0) != (x[i - 1] < 0)):
            count += by if by is not None else step
        out[0] = count

    assert ("if (" in crossings.c().partition("void crossings")[2]) == has_condition
    for n in (0, 1, 2, 9, 70):
        x, found, wanted = np.random.default_rng(n).choice(SPECIAL, n), np.zeros(1, "i8"), np.zeros(1, "i8")
        crossings(x, 5, found)
        run(crossings.func, n, x, 5, wanted)
        assert found[0] == wanted[0]
