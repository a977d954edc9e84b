"""Rows that are stored after others have read what is read for them: their lines are asked for ahead."""

import re

import numpy as np
import pytest

import affdsl as af

M, N = af.symbols("M N")
ALLOWED = {"contract": True, "reassociate": True, "reciprocal": True}


@af.kernel
def layer_norm(x: af.f32[M, N], gain: af.f32[N], bias: af.f32[N], y: af.f32[M, N]):
    with af.for_(M) as i:
        mean = af.var(af.f32(0))
        with af.for_(N) as j:
            mean += x[i, j]
        mean.set(mean / af.f32(N))
        square = af.var(af.f32(0))
        with af.for_(N) as j:
            square += (x[i, j] - mean) * (x[i, j] - mean)
        scale = 1 / af.sqrt(square / af.f32(N) + 1e-5)
        with af.for_(N) as j:
            y[i, j] = (x[i, j] - mean) * scale * gain[j] + bias[j]


@af.kernel
def centred(x: af.f32[M, N], y: af.f32[M, N]):
    with af.for_(M) as i:
        mean = af.var(af.f32(0))
        with af.for_(N) as j:
            mean += x[i, j]
        mean.set(mean / af.f32(N))
        with af.for_(N) as j:
            y[i, j] = x[i, j] - mean


@af.kernel
def added(x: af.f32[M, N], y: af.f32[M, N]):
    with af.for_(M) as i:
        mean = af.var(af.f32(0))
        with af.for_(N) as j:
            mean += x[i, j]
        mean.set(mean / af.f32(N))
        square = af.var(af.f32(0))
        with af.for_(N) as j:
            square += (x[i, j] - mean) * (x[i, j] - mean)
        with af.for_(N) as j:
            y[i, j] += (x[i, j] - mean) * square


def test_lines_are_asked_for_and_what_all_rows_read_is_copied():
    fast = layer_norm.optimize("avx512", threads=1, **ALLOWED)
    steps = str(fast.schedule)
    assert '.prefetch("y", "j#2", "j#3")' in steps
    assert steps.index(".prefetch(") < steps.index('.load_ahead("x", "j#3")') < steps.index(".copy(")
    assert steps.count(".load_ahead(") == 1
    assert '.specialize("i", M >= 64)' in steps
    copied = [f'.{verb}("{array}' for array in ("gain", "bias") for verb in ("copy", "displace")]
    made = ["M >= 64", *copied]
    assert made == sorted(made, key=steps.index)
    asked = r"lines of y are asked for in j \(line \d+\), before j \(line \d+\) stores them"
    assert re.search(f"{asked}, and loads x an iteration ahead", fast.explain())
    copies = "vectors of gain and bias come from copies that begin where lines do"
    assert f"{copies}, half a page away from y, for M of 64 and more" in fast.explain()
    numbers = np.random.default_rng(1)
    for m, n in ((3, 200), (63, 5), (64, 15), (64, 64), (65, 331), (70, 0), (0, 70)):
        x, gain, bias = (numbers.normal(size=shape).astype(np.float32) for shape in ((m, n), n, n))
        found = np.full((m, n), 7, np.float32)
        wanted = found.copy()
        layer_norm(x, gain, bias, wanted)
        fast(x, gain, bias, found)
        np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(("rows", "copies"), [(32, 0), (100, 2)])
def test_known_numbers_of_rows_have_one_version(rows, copies):
    steps = str(layer_norm.specialize(M=rows).optimize("avx512", threads=1, **ALLOWED).schedule)
    assert ".prefetch(" in steps
    assert "M >=" not in steps
    assert steps.count(".copy(") == copies


def test_vectors_shorter_than_lines_need_no_copies():
    steps = str(layer_norm.optimize("avx2", threads=1, **ALLOWED).schedule)
    assert ".prefetch(" in steps
    assert ".load_ahead(" not in steps
    assert ".copy(" not in steps


@pytest.mark.parametrize("kernel", [centred, added])
def test_nothing_is_asked_for_where_the_loop_before_waits_itself_or_the_row_is_read(kernel):
    assert ".prefetch(" not in str(kernel.optimize("avx512", threads=1, **ALLOWED).schedule)


@af.kernel
def two_rows(x: af.f32[M, N], y: af.f32[M, N], z: af.f32[M, N]):
    with af.for_(M) as i:
        mean = af.var(af.f32(0))
        with af.for_(N) as j:
            mean += x[i, j]
        square = af.var(af.f32(0))
        with af.for_(N) as j:
            square += (x[i, j] - mean) * (x[i, j] - mean)
        with af.for_(N) as j:
            y[i, j] = x[i, j] - mean
            z[i, j] = x[i, j] * square


def test_two_rows_are_asked_for_in_one_loop():
    fast = two_rows.optimize("avx512", threads=1, **ALLOWED)
    steps = str(fast.schedule)
    assert steps.count(".prefetch(") == 2
    said = r"lines of y and z are asked for in j \(line \d+\), before j \(line \d+\) stores them"
    assert re.search(said, fast.explain())
    x = np.random.default_rng(2).normal(size=(5, 203)).astype(np.float32)
    found, wanted = [np.zeros_like(x) for _ in "yz"], [np.zeros_like(x) for _ in "yz"]
    fast(x, *found)
    two_rows(x, *wanted)
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-3, atol=1e-3)


def test_sums_in_the_order_of_the_text_ask_for_nothing():
    assert ".prefetch(" not in str(layer_norm.optimize("avx512", threads=1).schedule)
