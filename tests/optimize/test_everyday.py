"""The loops of `benchmarks.everyday` do, optimized, what they do in Python; and which recipes they have shown."""

from __future__ import annotations

import numpy as np
import pytest

import affdsl as af
from affdsl.ir.dialects import affine, arith
from affdsl.ir.traverse import walk
from affdsl.ir.types import VectorType
from affdsl.optimize.model.compiled import share_done_again
from affdsl.optimize.nests import nests
from affdsl.schedule.schedule import Schedule
from benchmarks.everyday import LOOPS
from tests.effort import TRIES_ALL
from tests.harness.rows import Program
from tests.optimize.recipes import kernels

M, N = af.symbols("M N")
ALL = dict.fromkeys(("contract", "reassociate", "reciprocal", "approximate"), True)
FEW = ("fir filter", "standardized columns", "tridiagonal systems", "julia set")
SIZE = 41


def loop_of(name):
    """The loop of the benchmark of that name."""
    return next(each for each in LOOPS if each.name == name)


@pytest.mark.parametrize("name", [each.name for each in LOOPS] if TRIES_ALL else FEW)
def test_it_does_what_python_does(name):
    """Unless all is tried, loops take turns at what may be rounded in another way: nothing, or all that there is."""
    loop = loop_of(name)
    given = loop.arguments(np.random.default_rng(0), SIZE)
    results = []
    allowed = [{}, ALL] if TRIES_ALL else [ALL if FEW.index(name) % 2 else {}]
    with np.errstate(all="ignore"):
        for call in (loop.function, *(loop.kernel.optimize(threads=1, **each) for each in allowed)):
            results.append([np.copy(a) if isinstance(a, np.ndarray) else a for a in given])
            call(*results[-1])
    for found in results[1:]:
        for a, b in zip(found, results[0], strict=True):
            far = 1e-5 if np.asarray(b).dtype == np.float32 else 1e-9
            np.testing.assert_allclose(a, b, rtol=far, atol=far * float(np.max(np.abs(b), initial=0)), err_msg=name)


def test_exponentials_are_approximated_where_that_is_allowed():
    @af.kernel
    def decay(x: af.f64[N], y: af.f64[N]):
        with af.for_(N) as i:
            y[i] = af.exp(-x[i])

    strict, free = decay.optimize("avx2", threads=1), decay.optimize("avx2", threads=1, approximate=True)
    assert "math.exp" in strict.mlir()
    assert "math.exp" not in free.mlir()
    assert 'approximate("i' in str(free.schedule)
    x, y = np.linspace(0, 50, 101), np.zeros(101)
    free(x, y)
    np.testing.assert_array_max_ulp(y, np.exp(-x), 3)


def test_of_rows_it_is_known_how_much_each_does_again():
    nest = nests(Schedule(kernels("registers")["middle"]))[0]
    assert share_done_again(nest, nest.band[0]) == 2 / 5


def test_bytes_are_indices_without_a_sign_in_lanes_too():
    mapped = kernels("vector")["mapped"]
    wide = Schedule(mapped).vectorize("c", 16, tail="masked").kernel()
    assert Program("mapped", mapped, ["M", "N"], [(3, 70)]).difference(wide) == ""


@af.kernel
def shares(x: af.f64[M, N]):
    with af.for_(M) as i:
        total = af.var(af.f64(0))
        with af.for_(N) as j:
            total += x[i, j]
        with af.for_(N) as j:
            x[i, j] /= total


def constants(kernel: af.Kernel) -> set:
    return {op.result for op in walk(kernel.func) if isinstance(op, arith.Constant)}


def test_what_a_row_is_divided_by_is_divided_by_once():
    strict, free = shares.optimize("avx512", threads=1), shares.optimize("avx512", threads=1, reciprocal=True)
    for fast, divides in ((strict, True), (free, False)):
        loops = [op for op in walk(fast.func) if isinstance(op, affine.For)]
        divided = [op for loop in loops for op in loop.body if isinstance(op, arith.Binary) and op.kind == "divf"]
        on_rows = [op for op in divided if isinstance(op.left.type, VectorType) and op.left not in constants(fast)]
        assert bool(on_rows) == divides
    for m, n in ((0, 9), (5, 0), (3, 41)):
        given = np.random.default_rng(n).random((m, n)) + 1
        wanted, found = given.copy(), given.copy()
        shares(wanted)
        free(found)
        np.testing.assert_allclose(found, wanted, rtol=4e-16)
