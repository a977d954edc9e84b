"""Loops that end early, and do nothing before, on vectors: what is found, and which loops are none."""

from collections.abc import Callable

import numpy as np
import pytest

import affdsl as af
from affdsl.ir.dialects import affine
from affdsl.ir.traverse import walk
from affdsl.ir.types import VectorType
from tests.effort import TRIES_ALL
from tests.harness.judges import copied
from tests.loops.ways import WAYS, lowered

M, N = af.symbols("M N")


@af.kernel
def first_above(x: af.f64[N], t: af.f64):
    found = af.var(af.i64(-1))
    with af.for_(N) as i, af.if_(x[i] > t):
        found.set(af.i64(i))
        af.break_()
    return found


@af.kernel
def first_byte(text: af.u8[N], a: af.u8, b: af.u8, which: af.i32[1]):
    """Two ways out, and another number kept for each."""
    found = af.var(af.i64(-1))
    with af.for_(N) as i:
        with af.if_(text[i] == a):
            which[0] = 1
            found.set(af.i64(i))
            af.break_()
        with af.elif_(text[i] == b):
            which[0] = 2
            found.set(af.i64(i))
            af.break_()
    return found


@af.kernel
def mismatch(a: af.f32[N], b: af.f32[N], start: af.index, at: af.i64[1]):
    """What it carries is what it was when it began; NaN differs from itself. It begins and ends somewhere."""
    af.assume(start >= 0)
    with af.for_(start, N - 2, iter_args=af.f32(7)) as (i, s):
        with af.if_((a[i] != b[i]) | (a[i] * 2 > 150)):
            at[0] = af.i64(i)
            af.break_()
        af.yield_(s)
    return s


@af.kernel
def in_rows(A: af.i32[M, N], t: af.i32, first: af.i64[M]):
    """The loop around is an ordinary one, and skips some of its own."""
    with af.for_(M) as r:
        first[r] = -1
        with af.if_(A[r, 0] == 3):
            af.continue_()
        with af.for_(1, N) as i:
            with af.if_(A[r, i] < t):
                af.continue_()
            with af.if_(A[r, i] % 2 == 0):
                af.continue_()
            first[r] = af.i64(i)
            af.break_()


SEARCHES: dict[str, tuple[af.Kernel, int, Callable[[np.random.Generator, int], tuple[object, ...]]]] = {
    "first_above": (first_above, 8, lambda r, n: (r.random(n), 1 - 2 / (n + 1))),
    "first_byte": (first_byte, 16, lambda r, n: (r.integers(0, 90, n, "u1"), 1, 2, np.zeros(1, "i4"))),
    "mismatch": (mismatch, 4, lambda r, n: (*_nearly_equal(r, n), int(r.integers(0, 5)), np.zeros(1, "i8"))),
    "in_rows": (in_rows, 8, lambda r, n: (r.integers(0, 100, (3, n + 1), "i4"), 90, np.zeros(3, "i8"))),
}


def _nearly_equal(r: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    a = r.integers(0, 76, n).astype("f4")
    b = a.copy()
    where = int(r.integers(0, n + 9))
    a[where : where + 1] = b[where : where + 1] = r.choice([0.5, np.nan])
    return a, b


@pytest.mark.parametrize("name", SEARCHES)
def test_they_find_what_the_loops_as_written_find(name: str):
    kernel, width, arguments = SEARCHES[name]
    searched = af.Schedule(kernel).vectorize("i", width).kernel()
    assert any(isinstance(v.type, VectorType) for op in walk(searched.func) for v in op.defines())
    ways = [searched.interpret, searched]
    if TRIES_ALL or name == "first_byte":
        ways.append(lowered(searched))
    rng = np.random.default_rng(5)
    for n in (0, 1, 3, 4 * width - 1, 4 * width, 4 * width + 1, 8 * width, 11 * width + 3):
        for _ in range(4 if TRIES_ALL else 2):
            given = arguments(rng, n)
            expected = copied(given)
            wanted = kernel.interpret(*expected)
            for way in ways:
                changed = copied(given)
                assert way(*changed) == wanted, (name, n)
                for a, b in zip(expected, changed, strict=True):
                    np.testing.assert_array_equal(a, b)


def test_each_place_of_a_hit_is_found_and_nothing_behind_it_counts():
    searched = af.Schedule(first_above).vectorize("i", 4).kernel()
    for n in (40, 16, 15):
        for place in range(n):
            x = np.zeros(n)
            x[place:] = 1.0
            assert searched(x, 0.5) == place
            x[place + 1 :] = np.nan
            assert searched(x, 0.5) == place
        assert searched(np.zeros(n), 0.5) == -1


def test_no_element_behind_the_end_is_looked_at():
    """The last page of memory is the array's end: a vector that reaches further would end the process."""
    searched = first_above.optimize()
    page = np.zeros(4096 * 3, "u1")
    x = page[: 8 * 100].view("f8")
    page[8 * 100 :].view("f8")[:] = 9.0
    assert searched(x, 1.0) == -1


def test_sizes_that_each_call_checks_are_promised():
    """What lies inside of its array where the call is let through may be looked at (decision 76)."""

    @af.kernel
    def first_zero(x: af.f64[M], n: N):
        found = af.var(af.i64(-1))
        with af.for_(N) as i, af.if_(x[i] == 0):
            found.set(af.i64(i))
            af.break_()
        return found

    searched = af.Schedule(first_zero).vectorize("i", 4).kernel()
    assert "Requires M - N >= 0." in searched.c()
    x = np.ones(50)
    x[37] = 0
    assert searched(x, 50) == searched(x, 38) == 37
    assert searched(x, 37) == -1
    with pytest.raises(af.SizeError):
        searched(x, 51)


def test_optimize_looks_through_blocks_and_says_so():
    made = first_above.optimize()
    assert "i searches, " in str(made.explain())
    assert any(isinstance(op, affine.VectorLoad) for op in walk(made.func))

    @af.kernel
    def short(x: af.f64[N, 5], first: af.i64[N]):
        with af.for_(N) as i, af.for_(5) as k, af.if_(x[i, k] > 0):
            first[i] = af.i64(k)
            af.break_()

    assert "k searches" not in str(short.optimize().explain()), "less than one block"
    for way in WAYS[:2]:
        x = np.linspace(0, 1, 1000)
        assert way(made)(x, 0.7) == 700
