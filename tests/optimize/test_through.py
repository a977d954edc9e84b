"""Strips of rows through products and what is between them, on threads."""

from __future__ import annotations

import numpy as np
import pytest

import affdsl as af
from affdsl.codegen.targets.avx2 import AVX2
from affdsl.optimize.fuse import row_strips
from affdsl.optimize.options import Options
from affdsl.passes.advice.alternatives import without_alternatives
from affdsl.passes.validation import validate
from affdsl.passes.validation.execution import MOST_ITERATIONS
from benchmarks.layers import attention
from tests.effort import TRIES_ALL, some

D, E, T = af.symbols("D E T")
ALL = {"contract": True, "reassociate": True, "reciprocal": True, "approximate": True}


@af.kernel
def normed(a: af.f64[T, D], b: af.f64[D, E], c: af.f64[E, D], mid: af.f64[T, E], out: af.f64[T, D]):
    """Products of what is written in rows, with sums over rows of the first result between them."""
    with af.for_(T) as i, af.for_(E) as j, af.for_(D) as k:
        mid[i, j] += a[i, k] * b[k, j]
    with af.for_(T) as i:
        squares = af.var(af.f64(0.5))
        with af.for_(E) as j:
            squares += mid[i, j] * mid[i, j]
        with af.for_(E) as j:
            mid[i, j] = mid[i, j] / af.sqrt(squares)
    with af.for_(T) as i, af.for_(D) as j, af.for_(E) as k:
        out[i, j] += mid[i, k] * c[k, j]


@af.kernel
def handed_on(a: af.f64[T, D], b: af.f64[D, E], c: af.f64[E, D], mid: af.f64[T, E], out: af.f64[T, D]):
    """The same, but that a row needs the one before."""
    with af.for_(T) as i, af.for_(E) as j, af.for_(D) as k:
        mid[i, j] += a[i, k] * b[k, j]
    with af.for_(1, T) as i:
        total = af.var(af.f64(0))
        with af.for_(E) as j:
            total += mid[i - 1, j]
        with af.for_(E) as j:
            mid[i, j] = mid[i, j] + total * 0.001
    with af.for_(T) as i, af.for_(D) as j, af.for_(E) as k:
        out[i, j] += mid[i, k] * c[k, j]


@af.kernel
def two_products(a: af.f64[T, D], b: af.f64[D, E], c: af.f64[E, D], mid: af.f64[T, E], out: af.f64[T, D]):
    with af.for_(T) as i, af.for_(E) as j, af.for_(D) as k:
        mid[i, j] += a[i, k] * b[k, j]
    with af.for_(T) as i, af.for_(D) as j, af.for_(E) as k:
        out[i, j] += mid[i, k] * c[k, j]


def rows(t, d):
    numbers = np.random.default_rng(t + 7 * d)
    return [numbers.normal(size=shape).astype(np.float32) for shape in (*[(t, d)] * 3, (t, t), (t, d))]


def matrices(t, d, e):
    numbers = np.random.default_rng(t + 7 * d + 31 * e)
    return [numbers.normal(size=shape) for shape in ((t, d), (d, e), (e, d), (t, e), (t, d))]


SIZES = [(1, 1, 1), (3, 200, 1), (16, 64, 64), (17, 70, 61), (49, 48, 47), (5, 96, 50), (130, 33, 40), (33, 1, 120)]


def test_strips_of_rows_with_products_are_made_in_each_run():
    """What they compute is for longer runs; the steps alone take little time."""
    with without_alternatives():
        s, small, note = row_strips.take(af.Schedule(normed), Options(AVX2, threads=2, reassociate=True))
    steps = str(s)
    assert small.startswith("i_")
    assert "its nests run as one, in strips of 16 rows, which threads share; products of " in note.done
    assert 'parallel("i_strip")' in steps
    assert steps.count("register_tile") or steps.count("vectorize(") > 1


@pytest.mark.parametrize("target", some(["avx2", "avx512", "neon"], 1))
def test_attention_is_one_loop_over_strips_of_rows(target):
    fast = attention.optimize(target, threads=2, **ALL)
    said = fast.explain()
    assert (
        "for T + D of 96 and more: its nests run as one, in strips of 16 rows, which threads share; products of "
        in said
    )
    steps = str(fast.schedule)
    assert 'parallel("i_strip")' in steps
    assert steps.count('copy("k", "i_strip"') == steps.count('copy("v", "i_strip"') == 1
    assert steps.count(".parallel(") == 1
    if target == "neon":
        return
    for t, d, _ in some([(17, 70, 0), (130, 33, 0), (1, 1, 0), *SIZES], 3):
        given = rows(t, d)
        wanted, found = [x.copy() for x in given], [x.copy() for x in given]
        attention(*wanted)
        fast(*found)
        for one, other in zip(found, wanted, strict=True):
            np.testing.assert_allclose(one, other, rtol=2e-4, atol=1e-5)


def test_sums_of_rows_stand_between_products_of_any_kind():
    fast = normed.optimize("avx2", threads=3, reassociate=True)
    assert "in strips of 16 rows" in fast.explain()
    most = MOST_ITERATIONS if TRIES_ALL else 20_000
    report = validate(normed.module, fast.module, reassociated=True, most_iterations=most)
    assert report.failure is None
    assert not report.unchecked
    for sizes in SIZES:
        wanted, found = matrices(*sizes), matrices(*sizes)
        normed(*wanted)
        fast(*found)
        for one, other in zip(found, wanted, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize(
    ("kernel", "options"),
    [
        (normed, {**ALL, "threads": 1}),
        (normed, {"threads": 2}),
        (handed_on, {**ALL, "threads": 2}),
        (two_products, {**ALL, "threads": 2}),
    ],
    ids=["one thread", "strict", "rows that wait", "no sums of rows"],
)
def test_where_it_does_not_fit_other_recipes_do(kernel, options):
    fast = kernel.optimize("avx2", **options)
    assert "strips of 16 rows" not in fast.explain()
    assert "a product of matrices" in fast.explain()
    wanted, found = matrices(40, 50, 60), matrices(40, 50, 60)
    kernel(*wanted)
    fast(*found)
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_allclose(one, other, rtol=2e-4, atol=1e-5)
