"""Sums that may be made in any order: in how many lanes, and of how many rows at once."""

from __future__ import annotations

import numpy as np

import affdsl as af
from benchmarks.polybench.suite import named

M, N = af.symbols("M N")


def test_a_triangular_system_takes_rows_at_once_in_lanes():
    trisolv = named("trisolv")
    fast = trisolv.kernel.optimize("avx2", threads=1, reassociate=True)
    assert "in strips of i" in fast.explain()
    assert "4 iterations of i run at once, and each sums up in 4 lanes" in fast.explain()
    for n in (1, 3, 4, 5, 8, 33):
        given = trisolv.random_arguments({"N": n}, np.random.default_rng(n))
        lower, b = np.tril(np.nan_to_num(given["L"])), given["b"]
        fast(*given.values())
        np.testing.assert_allclose(given["x"], np.linalg.solve(lower, b), rtol=1e-12)


@af.kernel
def products_with_columns(A: af.f64[N, M], x: af.f64[N], y: af.f64[M]):
    """A sum in a variable for each column."""
    with af.for_(M) as i:
        total = af.var(af.f64(0.5))
        with af.for_(N) as j:
            total += A[j, i] * x[j]
        y[i] = total


@af.kernel
def short_columns(A: af.f64[9, M], y: af.f64[M]):
    with af.for_(M) as i:
        total = af.var(af.f64(0))
        with af.for_(9) as j:
            total += A[j, i]
        y[i] = total


@af.kernel
def seen_twice(A: af.f64[N, M], y: af.f64[M]):
    """What the sum was before is needed after a store: it has no element for itself."""
    with af.for_(M) as i:
        total = af.var(af.f64(0))
        y[i] = 1.0
        with af.for_(N) as j:
            total += A[j, i] * y[i]
        y[i] = total


def test_sums_of_columns_are_kept_where_they_are_stored_and_rows_added():
    """To the bit: each sum is made in the order of the text, from where it begins."""
    fast = products_with_columns.optimize("avx2", threads=1)
    assert "i runs innermost" in fast.explain()
    assert 'merge("total' in str(fast.schedule)
    assert "merge" not in str(short_columns.optimize("avx2", threads=1).schedule)
    assert "merge" not in str(seen_twice.optimize("avx2", threads=1).schedule)
    random = np.random.default_rng(3)
    for n, m in ((0, 5), (1, 1), (7, 40), (33, 33), (40, 9), (8, 64)):
        A, x = random.normal(size=(n, m)), random.normal(size=n)
        found, wanted = np.full((2, m), np.nan)
        fast(A, x, found)
        products_with_columns.interpret(A, x, wanted)
        assert found.tobytes() == wanted.tobytes(), (n, m)


@af.kernel
def by_four_variables(x: af.f64[4 * N], out: af.f64[4]):
    parts = [af.var(af.f64(k)) for k in range(4)]
    with af.for_(N) as i:
        for k, part in enumerate(parts):
            part += x[4 * i + k]
    for k, part in enumerate(parts):
        out[k] = part


@af.kernel
def even_and_odd(x: af.f32[2 * N], out: af.f32[2]):
    """Products, and what both are multiplied with."""
    even, odd = af.var(af.f32(1)), af.var(af.f32(2))
    with af.for_(N) as i:
        even.set(even * x[2 * i])
        odd.set(odd * x[2 * i + 1])
    out[0] = even
    out[1] = odd


@af.kernel
def apart(x: af.f64[N], y: af.f64[N], out: af.f64[2]):
    """What they add does not lie side by side."""
    a, b = af.var(af.f64(0)), af.var(af.f64(0))
    with af.for_(N) as i:
        a += x[i]
        b += y[i]
    out[0] = a
    out[1] = b


def test_sums_of_neighbours_are_lanes_each_in_the_order_of_the_text():
    random = np.random.default_rng(4)
    for kernel, each in ((by_four_variables, 4), (even_and_odd, 2)):
        fast = kernel.optimize("avx2", threads=1)
        assert f"side by side in vectors of {each}" in fast.explain()
        for n in (0, 1, 2, 7, 33):
            x = random.normal(size=each * n).astype("f8" if each == 4 else "f4")
            found, wanted = np.zeros((2, each), x.dtype)
            fast(x, found)
            kernel.interpret(x, wanted)
            assert found.tobytes() == wanted.tobytes(), (kernel.name, n)
    assert "side by side" not in apart.optimize("avx2", threads=1).explain()
