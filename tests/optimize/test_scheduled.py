"""When isl's scheduler is asked for an order of loops; which ones it finds, `recipes/order.txt` says."""

from __future__ import annotations

from contextlib import suppress

import pytest

import affdsl as af
from affdsl.optimize.options import Options, targets
from affdsl.optimize.order import polyhedral as recipe
from affdsl.optimize.unfit import UnfitError
from affdsl.passes.analysis import scheduler
from tests.optimize.recipes import kernels

M, N = af.symbols("M N")


def test_isl_has_a_limit(monkeypatch):
    monkeypatch.setattr(scheduler, "BUDGET", 50)
    fast = kernels("order")["sheared"].optimize("avx2", threads=1)
    assert "as written: " in fast.explain()
    assert "isl's scheduler finds no order: isl needs more than 50 operations" in fast.explain()


@pytest.mark.parametrize(("factor", "is_asked"), [(1, True), (3, False)])
def test_isl_is_not_asked_for_an_order_in_one_loop_with_factors(factor, is_asked, monkeypatch):
    """It looked for one without an end in such a loop, and counts no operations meanwhile."""

    @af.kernel
    def parts(x: af.f64[3 * M + 3], y: af.f64[M + 1]):
        with af.for_(M) as i:
            y[i] = x[i * factor]
            x[i + 2] = y[i + 1]

    asked, ask = [], recipe.schedule_of
    monkeypatch.setattr(recipe, "schedule_of", lambda *given: asked.append(given) or ask(*given))
    with suppress(UnfitError):
        recipe.take_loop(af.Schedule(parts), "i", Options(targets()["baseline"], 1))
    assert bool(asked) == is_asked


@pytest.mark.parametrize(("wraps", "is_asked"), [(False, True), (True, False)])
def test_isl_is_not_asked_for_an_order_of_what_divides(wraps, is_asked, monkeypatch):
    """In a random program with a remainder in a subscript it took 17 s for each of two questions."""

    @af.kernel
    def around(A: af.f64[M + 1, N + 4]):
        with af.for_(1, M) as i, af.for_(1, N) as j:
            A[i, j % 4 if wraps else j] = A[i - 1, j] + A[i, j - 1]

    asked, ask = [], recipe.schedule_of
    monkeypatch.setattr(recipe, "schedule_of", lambda *given: asked.append(given) or ask(*given))
    with suppress(UnfitError):
        recipe.take_loop(af.Schedule(around), "i", Options(targets()["baseline"], 1))
    assert bool(asked) == is_asked
