"""Kernels that are compiled by themselves, beside what takes the arguments of a call apart."""

import re

import pytest

import affdsl as af
from affdsl.codegen.c.emit import emit_jit

M, N, K = af.symbols("M N K")


@af.kernel
def product(A: af.f64[M, K], B: af.f64[K, N], C: af.f64[M, N]):
    with af.for_(M) as i, af.for_(N) as j, af.for_(K) as k:
        C[i, j] += A[i, k] * B[k, j]


def in_tiles(rows, vectors=2, **panels):
    s = af.Schedule(product)
    for array, axis in panels.items():
        s.copy(array, "i", layout=(axis, 1 - axis), panels={axis: rows})
    return s.register_tile("i", "j", "k", rows=rows, vectors=vectors, lanes=4)


FOR_ALL = r"__GNUC__\)\n__attribute__\(\(noinline\)\)\n#endif\nstatic \w+ {}\("
FOR_CLANG = FOR_ALL.replace("GNUC", "clang")


@pytest.mark.parametrize(("rows", "how", "is_alone"), [
    (8, {}, True), (6, {}, True), (4, {}, False), (8, {"A": 0}, False), (8, {"B": 1}, True), (8, {"vectors": 1}, False),
])  # fmt: skip
def test_many_rows_of_an_array_that_is_read(rows, how, is_alone):
    kernel = in_tiles(rows, **how).kernel()
    text = emit_jit(kernel.module, kernel.name, sizes=3)
    assert bool(re.search(FOR_ALL.format("product"), text)) == is_alone
    assert bool(re.search(FOR_CLANG.format("product"), text)) != is_alone
    assert "static" in text.partition(" product(")[0].rpartition("\n")[2], "it has no other caller"
    assert "noinline" not in kernel.c()


def test_rows_of_the_result_have_addresses_anyway():
    @af.kernel
    def factors(A: af.f64[M, M]):
        with af.for_(8, M) as i, af.for_(8, M) as j, af.for_(8) as k:
            A[i, j] -= A[i, k] * A[k, j]

    s = af.Schedule(factors).register_tile("i", "j", "k", rows=8, vectors=2, lanes=4)
    kernel = s.kernel()
    assert not re.search(FOR_ALL.format("factors"), emit_jit(kernel.module, kernel.name, sizes=1))
