"""Squares whose columns are lanes are loaded by rows, unless something may be stored in between: what they do stays."""

import numpy as np
import pytest

import affdsl as af
from affdsl.ir.dialects import vector
from affdsl.ir.traverse import walk

N = af.symbols("N")


def loaded_by_lanes(kernel):
    """How many vectors are put together of numbers, and how many shuffles there are."""
    ops = [*walk(kernel.func)]
    return [sum(isinstance(op, kind) for op in ops) for kind in (vector.FromElements, vector.Shuffle)]


@af.kernel
def copied(a: af.f32[32, 36], b: af.f32[36, 32]):
    with af.for_(36) as j, af.for_(32) as i:
        b[j, i] = a[i, j]


@af.kernel
def shifted(a: af.f32[32, 36], b: af.f32[36, 32]):
    with af.for_(35) as j, af.for_(32) as i:
        b[j, i] = a[i, j + 1] - 0.5 * a[i, j]


@af.kernel
def stored_behind(a: af.f32[32, 80]):
    with af.for_(36) as j, af.for_(32) as i:
        a[j // 4, i + 40] = a[i, j] + 1.0


@af.kernel
def stored_where_data_says(a: af.f32[32, 36], b: af.f32[36, 32], at: af.index[32]):
    with af.for_(36) as j:
        with af.for_(32) as i:
            b[j, i] = a[i, j]
        a[at[3], at[j % 32]] = 7.0


@pytest.mark.parametrize(("lanes", "factor"), [(2, 3), (4, 4), (4, 8), (8, 6)])
@pytest.mark.parametrize("kernel", [copied, shifted, stored_behind, stored_where_data_says], ids=lambda k: k.name)
def test_what_is_turned_does_the_same(kernel, lanes, factor):
    s = af.Schedule(kernel)
    s.vectorize("i", lanes)
    if kernel is stored_where_data_says:
        s.unroll("i")
        s.unroll("j", factor)
    else:
        s.unroll_jam("j", factor)
    made = s.kernel()
    is_square = factor >= lanes and kernel in (copied, shifted)
    assert (loaded_by_lanes(made)[1] > 0) == is_square
    random = np.random.default_rng(0)
    sizes = [[e.constant for e in p.type.shape] for p in kernel.program.parameters]
    given = [random.normal(size=size).astype("f4") for size in sizes]
    if kernel is stored_where_data_says:
        given[2] = random.integers(0, 32, 32)
    wanted, found = [np.copy(x) for x in given], [np.copy(x) for x in given]
    kernel.interpret(*wanted)
    made(*found)
    for a, b in zip(wanted, found, strict=True):
        np.testing.assert_array_equal(a, b)


def test_columns_that_are_not_enough_stay_lanes():
    s = af.Schedule(copied)
    s.vectorize("i", 8).unroll_jam("j", 12)
    by_lanes, shuffles = loaded_by_lanes(s.kernel())
    assert (by_lanes, shuffles) == (4, 8 * 3)


def test_a_row_is_no_square():
    @af.kernel
    def rows(a: af.f32[64], b: af.f32[8, 32]):
        with af.for_(8) as j, af.for_(32) as i:
            b[j, i] = a[2 * i]

    s = af.Schedule(rows)
    s.vectorize("i", 4).unroll("j", 4)
    kernel = s.kernel()
    a, b = np.arange(64, dtype="f4"), np.zeros((8, 32), "f4")
    kernel(a, b)
    np.testing.assert_array_equal(b, [a[::2]] * 8)
