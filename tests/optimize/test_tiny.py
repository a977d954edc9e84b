"""Products of matrices whose sizes are small numbers: sums in registers, no copies, and one batch after the other."""

import numpy as np
import pytest

import affdsl as af
from affdsl.ir.dialects import memref
from affdsl.ir.traverse import walk

B, N, M, K = af.symbols("B N M K")


def products(rows, columns, terms, *, batch=True):
    """So many products, or one, of matrices of these sizes."""
    many = (B,) if batch else ()

    @af.kernel
    def multiply(
        a: af.f32[(*many, rows, terms)], b: af.f32[(*many, terms, columns)], c: af.f32[(*many, rows, columns)]
    ):
        def one(*n):
            with af.for_(rows) as i, af.for_(columns) as j:
                total = af.var(af.f32(0))
                with af.for_(terms) as k:
                    total += a[(*n, i, k)] * b[(*n, k, j)]
                c[(*n, i, j)] = total

        if batch:
            with af.for_(B) as n:
                one(n)
        else:
            one()

    return multiply


@pytest.mark.parametrize(
    ("sizes", "batch"),
    [((16, 64, 17), True), ((6, 48, 5), True), ((7, 49, 3), True), ((17, 56, 20), True), ((16, 64, 16), False)],
)
def test_tiny_products_need_no_copies(sizes, batch):
    kernel = products(*sizes, batch=batch)
    fast = kernel.optimize("avx2", threads=1)
    assert "a product of small matrices, where they stand" in fast.explain()
    assert not any(isinstance(op, memref.Allocation) for op in walk(fast.func))
    rows, columns, terms = sizes
    for count in (0, 1, 5) if batch else (1,):
        lead = (count,) if batch else ()
        random = np.random.default_rng(count)
        a, b = (random.normal(size=(*lead, *shape)).astype("f4") for shape in ((rows, terms), (terms, columns)))
        wanted, found = (np.full((*lead, rows, columns), np.nan, "f4") for _ in "ab")
        kernel(a, b, wanted)
        fast(a, b, found)
        assert wanted.tobytes() == found.tobytes()


def test_matrices_that_the_nearest_cache_does_not_hold_are_copied():
    said = products(100, 100, 100).optimize("avx2", threads=1).explain()
    assert "on copies of" in said


def rows_of_products(terms, columns):
    """A product with many rows."""

    @af.kernel
    def multiply(a: af.f64[M, terms], b: af.f64[terms, columns], c: af.f64[M, columns]):
        with af.for_(M) as i, af.for_(columns) as j:
            c[i, j] = 0.0
            with af.for_(terms) as k:
                c[i, j] += a[i, k] * b[k, j]

    return multiply


@pytest.mark.parametrize(("target", "most"), [("avx2", 4), ("avx512", 8), ("neon", 2)])
@pytest.mark.parametrize("columns", [2, 3, 7, 8, 11, 40])
def test_few_columns_are_rows_of_vectors(columns, target, most):
    kernel = rows_of_products(K, columns)
    fast = kernel.optimize(target, threads=1)
    lanes = min(most, 1 << (columns - 1).bit_length())
    assert f"a product of small matrices, where they stand: vectors of {lanes}" in fast.explain()
    for rows, terms in ((0, 3), (1, 0), (1, 1), (9, 5), (19, 8)):
        random = np.random.default_rng(rows)
        a, b = random.normal(size=(rows, terms)), random.normal(size=(terms, columns))
        wanted, found = (np.full((rows, columns), np.nan) for _ in "ab")
        kernel.interpret(a, b, wanted)
        fast.interpret(a, b, found)
        assert wanted.tobytes() == found.tobytes()


@pytest.mark.parametrize("kernel", [rows_of_products(4, 5), products(4, 4, 4), products(16, 16, 16, batch=False)])
def test_few_columns_and_terms_are_left_to_the_compiler(kernel):
    said = kernel.optimize("avx512", threads=1).explain()
    assert "as written: compilers make straight code, on vectors" in said
    assert "try:" not in said


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize(("columns", "terms", "lanes"), [(3, 3, 4), (4, 2, 4), (6, 16, 8), (7, 7, 8)])
def test_a_row_is_one_register_where_columns_are_gathered_or_odd(columns, terms, lanes, turned):
    @af.kernel
    def turn(a: af.f64[M, terms], b: af.f64[(columns, terms) if turned else (terms, columns)], c: af.f64[M, columns]):
        with af.for_(M) as i, af.for_(columns) as j:
            total = af.var(af.f64(0))
            with af.for_(terms) as k:
                total += a[i, k] * (b[j, k] if turned else b[k, j])
            c[i, j] = total

    fast = turn.optimize("avx512", threads=1)
    is_one = turned or columns > 5
    assert (f"j is one vector of {lanes}, k is straight code" in fast.explain()) == is_one
    is_whole = turned and columns == 4  # without masks
    assert ("is one vector" in turn.optimize("avx2", threads=1).explain()) == is_whole
    for rows in (0, 1, 9):
        random = np.random.default_rng(rows)
        a, b = random.normal(size=(rows, terms)), random.normal(size=(columns, terms) if turned else (terms, columns))
        wanted, found, run = (np.full((rows, columns), np.nan) for _ in range(3))
        turn.interpret(a, b, wanted)
        fast.interpret(a, b, found)
        fast(a, b, run)
        assert wanted.tobytes() == found.tobytes() == run.tobytes()


def test_several_products_of_few_columns_and_terms_are_left_to_the_compiler_too():
    @af.kernel
    def transformed(x: af.f32[B, 8, 8], c: af.f32[8, 8], y: af.f32[B, 8, 8]):
        t = af.alloca(af.f32[8, 8])
        with af.for_(B) as n:
            with af.for_(8) as i, af.for_(8) as j:
                total = af.var(af.f32(0))
                with af.for_(8) as k:
                    total += c[i, k] * x[n, k, j]
                t[i, j] = total
            with af.for_(8) as i, af.for_(8) as j:
                total = af.var(af.f32(0))
                with af.for_(8) as k:
                    total += t[i, k] * c[j, k]
                y[n, i, j] = total

    fast = transformed.optimize("avx512", threads=1)
    assert "as written: compilers make straight code, on vectors" in fast.explain()
    x, c = (np.random.default_rng(1).normal(size=shape).astype("f4") for shape in ((3, 8, 8), (8, 8)))
    y = np.zeros_like(x)
    fast(x, c, y)
    assert np.allclose(y, c @ x @ c.T, atol=1e-4)


def test_a_loop_that_runs_once_is_none():
    fast = rows_of_products(K, 1).optimize("avx2", threads=1)
    assert "8 iterations of i run at once" in fast.explain()
    a, b, c = np.arange(30.0).reshape(10, 3), np.arange(3.0).reshape(3, 1), np.zeros((10, 1))
    fast(a, b, c)
    assert (c == a @ b).all()
