"""While loops in several iterations of a loop around them at once: lanes leave them one after the other."""

from __future__ import annotations

import numpy as np
import pytest

import affdsl as af
from affdsl.ir.traverse import walk
from tests.effort import by_turns
from tests.loops.kernels import CASES, N

ON_VECTORS = ("newton", "collatz", "bisect", "mandelbrot", "divisors", "root_of_cubic", "power_mod")
"""Those whose while loops stand in a loop that may run as vectors."""


def copies(arguments: tuple[object, ...]) -> list[object]:
    return [np.copy(a) if isinstance(a, np.ndarray) else a for a in arguments]


def lanes_of(kernel: af.Kernel, tail: str, width: int = 4) -> af.Kernel:
    """A kernel with vectors of the innermost loop around its while loop."""
    s = af.Schedule(kernel)
    return s.vectorize([*s.loops()][-1].names[0], width, tail=tail).kernel()


@pytest.mark.parametrize(("name", "tail"), by_turns(ON_VECTORS, ("scalar", "masked", "folded")))
def test_lanes_leave_one_after_the_other(name, tail):
    case = next(each for each in CASES if str(each) == name)
    fast = lanes_of(case.kernel, tail)
    assert "scf.while" in fast.mlir()
    assert "vector<4x" in fast.mlir()
    for n in (1, 4, 11):
        arguments = case.arguments(np.random.default_rng(n), n)
        wanted, run, compiled = copies(arguments), copies(arguments), copies(arguments)
        case.kernel.interpret(*wanted)
        fast.interpret(*run)
        fast(*compiled)
        for a, b, c in zip(wanted, run, compiled, strict=True):
            np.testing.assert_array_equal(a, b)
            np.testing.assert_array_equal(a, c)


def test_a_loop_that_all_lanes_leave_at_once_has_no_mask():
    @af.kernel
    def grown(x: af.f64[N], limit: af.i32):
        with af.for_(N) as i:
            k = af.var(af.i32(1))
            y = af.var(x[i])
            with af.while_(lambda: k < limit):
                k.set(k * 3)
                y.set(y * 1.5 + 1)
            x[i] = y

    fast = af.Schedule(grown).vectorize("i", 4).kernel()
    assert not [op for op in walk(fast.func) if op.name == "vector.reduction"]
    for n in (0, 3, 9):
        wanted = np.random.default_rng(n).normal(size=n)
        found = wanted.copy()
        grown.interpret(wanted, 50)
        fast(found, 50)
        assert wanted.tobytes() == found.tobytes()


def test_lanes_that_are_done_load_nothing():
    """A walk through a table that ends at its end: a lane that went on would leave it."""

    @af.kernel
    def ends(start: af.i64[N], table: af.i64[N], end: af.i64[N]):
        with af.for_(N) as i:
            with af.while_(lambda p: p < N, iter_args=start[i]) as p:
                af.yield_(p + table[p])
            end[i] = p

    n = 13
    fast = lanes_of(ends, "masked")
    random = np.random.default_rng(0)
    start, table = random.integers(0, n, n), random.integers(1, 5, n)
    wanted, found = np.zeros(n, "i8"), np.zeros(n, "i8")
    ends.interpret(start, table, wanted)
    fast.interpret(start, table, found)  # the interpreter reports what lies outside of an array
    np.testing.assert_array_equal(wanted, found)
    fast(start, table, found)
    np.testing.assert_array_equal(wanted, found)


def test_a_loop_that_carries_nothing_is_refused():
    @af.kernel
    def halved(x: af.f64[N], n: af.i64[N]):
        with af.for_(N) as i, af.while_(lambda: x[i] > 1.0):
            x[i] *= 0.5
            n[i] += 1

    with pytest.raises(af.IllegalTransform, match="carries nothing that a lane could keep") as caught:
        af.Schedule(halved).vectorize("i", 4)
    assert "legal: iter_args" in str(caught.value)
    assert "zip" not in halved.optimize(threads=1).explain()
