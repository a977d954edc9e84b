"""Products of matrices whose sizes are small numbers: sums in registers, no copies, and one batch after the other."""

import numpy as np
import pytest

import affdsl as af
from affdsl.ir.dialects import memref
from affdsl.ir.traverse import walk

B, N = af.symbols("B N")


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
    [((16, 16, 16), True), ((6, 24, 5), True), ((7, 9, 3), True), ((17, 8, 20), True), ((16, 16, 16), False)],
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
