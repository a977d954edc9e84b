"""Strict sums that come out the same in any order run in lanes: extremes, counts, searches, what holds of all."""

import numpy as np
import pytest

import affdsl as af
from affdsl.ir.interpreter import run
from affdsl.ir.traverse import walk
from affdsl.ir.types import VectorType
from tests.effort import some

M, N = af.symbols("M N")


def extreme(function, type, name):
    @af.kernel
    def kernel(x: type[N], o: type[2]):
        o[0] = x[0]
        held = af.var(x[0])
        with af.for_(N) as i:
            o[0] = function(o[0], x[i])
            held.set(function(held, x[i]))
        o[1] = held

    return kernel


@af.kernel
def largest_magnitude(x: af.f64[N], o: af.f64[2]):
    held = af.var(af.f64(0.0))
    with af.for_(N) as i:
        held.set(af.max(held, af.abs(x[i])))
    o[0] = held


@af.kernel
def place(x: af.f64[N], o: af.f64[2]):
    held, at = af.var(x[0]), af.var(af.i64(0))
    with af.for_(N) as i, af.if_(x[i] > held):
        held.set(x[i])
        at.set(af.i64(i))
    o[0], o[1] = held, af.f64(at)


@af.kernel
def rows(x: af.f32[M, N], o: af.f32[M]):
    with af.for_(M) as i:
        held = af.var(x[i, 0])
        with af.for_(N) as j:
            held.set(af.min(held, x[i, j]))
        o[i] = held


EXTREMES = {
    f"{name} {type}": extreme(function, type, name)
    for name, function in (("max", af.max), ("min", af.min), ("fmax", af.fmax), ("fmin", af.fmin))
    for type in (af.f32, af.f64)
}
BY_TURNS = ("max f32", "min f64", "fmax f64", "fmin f32", "max f64", "min f32", "fmax f32", "fmin f64")


def hard(n, dtype, seed):
    """Numbers with both zeros, infinities and NaN among them."""
    found = np.random.default_rng(seed)
    x = found.integers(-3, 4, n).astype(dtype)
    x[found.random(n) < 0.1] = -0.0
    x[found.random(n) < 0.03] = np.inf
    if seed % 2:
        x[found.random(n) < 0.03] = np.nan
    return x


@pytest.mark.parametrize("target", ["native", *some(["avx512", "avx2", "sse4.2"], 1)])
@pytest.mark.parametrize("name", some(BY_TURNS, 4))
def test_extremes_are_made_in_lanes_to_the_bit(name, target):
    kernel = EXTREMES[name]
    found = kernel.optimize(threads=1, target=target)
    assert _has_vectors(found)
    dtype = "f4" if "f32" in name else "f8"
    for n in (1, 9, 131):
        for seed in range(4):
            x, expected, o = hard(n, dtype, seed), np.zeros(2, dtype), np.zeros(2, dtype)
            run(kernel.func, n, x, expected, module=kernel.module)
            run(found.func, n, x, o, module=found.module)
            _assert_same(o, expected)
            if target == "native":
                found(x, o)
                _assert_same(o, expected)


@pytest.mark.parametrize("kernel", [largest_magnitude, place], ids=lambda kernel: kernel.name)
def test_magnitudes_and_places_are_made_in_lanes_to_the_bit(kernel):
    found = kernel.optimize(threads=1)
    assert _has_vectors(found)
    for n in (1, 5, 16, 47, 100):
        for seed in range(6):
            x, expected, o = hard(n, "f8", seed), np.zeros(2), np.zeros(2)
            run(kernel.func, n, x, expected, module=kernel.module)
            found(x, o)
            _assert_same(o, expected)


def test_extremes_of_rows_are_made_in_lanes():
    found = rows.optimize(threads=1)
    assert _has_vectors(found)
    x = hard(37 * 41, "f4", 2).reshape(37, 41)
    o, expected = np.zeros(37, "f4"), np.zeros(37, "f4")
    run(rows.func, 37, 41, x, expected, module=rows.module)
    found(x, o)
    _assert_same(o, expected)


def test_sums_of_floats_stay_in_order():
    @af.kernel
    def total(x: af.f64[N], o: af.f64[1]):
        with af.for_(N) as i:
            o[0] += x[i]

    @af.kernel
    def mixed(x: af.f64[N], o: af.f64[2]):
        with af.for_(N) as i:
            o[0] += x[i]
            o[1] = af.max(o[1], x[i])

    assert not _has_vectors(total.optimize(threads=1))
    found = mixed.optimize(threads=1)
    x = np.random.default_rng(3).random(1001)
    o, expected = np.zeros(2), np.zeros(2)
    run(mixed.func, 1001, x, expected, module=mixed.module)
    found(x, o)
    _assert_same(o, expected)


def searching(type, start, value):
    @af.kernel
    def kernel(x: af.f32[N], o: type[1], limit: af.f32):
        held = af.var(type(start))
        with af.for_(N) as i, af.if_(x[i] > limit):
            held.set(type(value))
        o[0] = held

    return kernel


@af.kernel
def any_of(x: af.f32[N], o: af.bool_[1], limit: af.f32):
    held = af.var(af.bool_(False))
    with af.for_(N) as i:
        held |= x[i] > limit
    o[0] = held


@af.kernel
def all_of(x: af.f32[N], o: af.bool_[1], limit: af.f32):
    held = af.var(af.bool_(True))
    with af.for_(N) as i:
        held &= x[i] <= limit
    o[0] = held


@af.kernel
def one_of_two(x: af.f32[N], o: af.f32[1], limit: af.f32):
    """What is set is an argument, and two are set where the same holds."""
    first, second = af.var(af.f32(1.0)), af.var(af.f32(2.0))
    with af.for_(N) as i, af.if_(x[i] > limit):
        first.set(limit)
        second.set(5.0)
    o[0] = first * second


SEARCHES = {
    "true": searching(af.bool_, False, True),
    "false": searching(af.bool_, True, False),
    "number": searching(af.i32, 3, 7),
    "wide": searching(af.f64, 0.5, -1.5),
    "any": any_of,
    "all": all_of,
    "two": one_of_two,
}


@pytest.mark.parametrize("name", some(["two", "all", "false", "wide", "true", "any", "number"], 4))
def test_what_is_found_is_found_in_lanes(name):
    kernel = SEARCHES[name]
    found = kernel.optimize(threads=1)
    assert _has_vectors(found)
    masked = af.Schedule(kernel).scalar_replace("i").vectorize("i", 8, tail="masked").kernel()
    dtype = {"i1": "?", "i32": "i4", "f64": "f8", "f32": "f4"}[str(kernel.func.args[2].type.element)]
    for n in (1, 8, 17, 100):
        x = np.random.default_rng(n).random(n, np.float32)
        for limit in (-1.0, 0.5, float(x.max()), np.float32(np.sort(x)[-2:][0]), 2.0):
            expected = np.zeros(1, dtype)
            run(kernel.func, n, x, expected, np.float32(limit), module=kernel.module)
            for each in (found, masked):
                o = np.zeros(1, dtype)
                each(x, o, limit)
                np.testing.assert_array_equal(o, expected)


def _has_vectors(kernel):
    return any(isinstance(v.type, VectorType) for op in walk(kernel.func) for v in op.defines())


def _assert_same(found, expected):
    """To the bit, but for which NaN."""
    found, expected = (np.where(np.isnan(each), np.array(np.nan, each.dtype), each) for each in (found, expected))
    assert found.tobytes() == expected.tobytes(), (found, expected)


@af.kernel
def last_two(x: af.f32[N], y: af.f32[N], o: af.f32[2]):
    with af.for_(N, iter_args=(o[0], o[1])) as (i, last, older):
        y[i] = (x[i] + last) * older
        af.yield_(x[i] * 3.0, last)
    o[0], o[1] = last, older


@af.kernel
def made_of_each_other(x: af.f32[N], y: af.f32[N], o: af.f32[2]):
    with af.for_(N, iter_args=(o[0], o[1])) as (i, a, b):
        y[i] = a + b
        af.yield_(b * 0.5, a + x[i])
    o[0], o[1] = a, b


@pytest.mark.parametrize(("kernel", "on_vectors"), [(last_two, True), (made_of_each_other, False)])
def test_what_an_iteration_hands_on_is_on_vectors_unless_it_is_made_of_itself(kernel, on_vectors):
    fast = kernel.optimize("avx2", threads=1)
    assert ("vectors of 32" in fast.explain()) == on_vectors
    for n in (0, 1, 2, 31, 32, 33, 200):
        x, o = np.random.default_rng(n).normal(size=(2, n + 2)).astype(np.float32)
        found, wanted = [np.zeros(n, np.float32), o[:2].copy()], [np.zeros(n, np.float32), o[:2].copy()]
        fast(x[:n], *found)
        kernel.interpret(x[:n], *wanted)
        assert [a.tobytes() for a in found] == [a.tobytes() for a in wanted]
