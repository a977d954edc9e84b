"""Vectors, copies that run beside the kernel, prefetches, indices by a basis, constants: programs and mistakes."""

# ruff: noqa: E501 - messages are quoted as they are

import inspect

import numpy as np
import pytest

import affdsl as af
from affdsl.ir.interpreter import run
from affdsl.ir.verifier import verify
from tests.oracles import mlir_opt

M, N = af.symbols("M N")
RNG = np.random.default_rng(3)


def agree(kernel: af.Kernel, *arrays: np.ndarray) -> list[np.ndarray]:
    """The arrays after a call of the compiled kernel, which the interpreter must change in the same way."""
    verify(kernel.module)
    canonical = mlir_opt(kernel.mlir())
    if (
        "#0]" not in canonical and "#0," not in canonical
    ):  # mlir-opt does not read such subscripts, though it prints them
        assert mlir_opt(canonical) == canonical
    first, second = ([a.copy() for a in arrays] for _ in range(2))
    kernel(*first)
    sizes = {e.value.hint: n for x, p in zip(arrays, kernel.program.parameters, strict=True)
             for n, e in zip(x.shape, p.type.shape, strict=True) if e.value is not None}  # fmt: skip
    run(kernel.func, *(sizes[v.hint] for v in kernel.program.sizes), *second, module=kernel.module)
    for a, b in zip(first, second, strict=True):
        np.testing.assert_array_equal(a, b)
    return first


def test_vectors():
    @af.kernel
    def f(A: af.f32[M, N], B: af.f32[M, N], s: af.f32[M, 4]):
        with af.for_(M) as i:
            a = af.vector_load(A, (i, 0), 8)
            b = af.vector_load(B, (i, 4), 8)
            c = af.fma(a, b, 1.0) / 2.0 - a * s[i, 0]
            d = af.select(a > b, a, -b)
            e = af.max(af.min(c, d), 0.25)
            af.vector_store(e, B, (i, 0))
            s[i, 1] = e.sum()
            s[i, 2] = e.max()
            s[i, 3] = c.min()

    a, b = (RNG.standard_normal((3, 16)).astype(np.float32) for _ in range(2))
    s = RNG.standard_normal((3, 4)).astype(np.float32)
    _, got, sums = agree(f, a, b, s)
    x, y = a[:, :8], b[:, 4:12]
    c = ((x.astype(np.float64) * y + 1).astype(np.float32) / np.float32(2)) - x * s[:, :1]
    e = np.maximum(np.minimum(c, np.where(x > y, x, -y)), np.float32(0.25))
    np.testing.assert_array_equal(got[:, :8], e)
    np.testing.assert_array_equal(sums[:, 1], [np.add.accumulate(row)[-1] for row in e])
    np.testing.assert_array_equal(sums[:, 2:], np.stack([e.max(1), c.min(1)], axis=1))


def test_vectors_of_integers_and_of_two_dimensions():
    @af.kernel
    def f(A: af.u8[4, 16], B: af.u8[4, 16], p: af.index):
        a = af.vector_load(A, (1, p), (2, 8))
        b = 3 + a * a // 5
        af.vector_store(af.select(b < 9, 7, b), B, (0, 4))

    a = RNG.integers(0, 256, (4, 16), np.uint8)
    got = np.zeros_like(a)
    f(a, got, 5)
    b = 3 + (a[1:3, 5:13] * a[1:3, 5:13]) // 5
    np.testing.assert_array_equal(got[:2, 4:12], np.where(b < 9, 7, b))


def test_a_tile_through_a_fast_memory():
    @af.kernel
    def f(A: af.f64[M, N], B: af.f64[M, N]):
        tag = af.alloc(af.i32[1])
        tile = af.alloc(af.f64[4, 8], space=1)
        with af.for_(M - 3, step=4) as i, af.for_(N - 7, step=8) as j:
            af.dma_start(A, (i, j), tile, (0, 0), tag, 0, 32, stride=N, per_stride=8)
            af.dma_wait(tag, 0, 32)
            with af.for_(4) as k, af.for_(8) as m:
                tile[k, m] = tile[k, m] + 1.0
            af.dma_start(tile, (0, 0), B, (i, j), tag, 0, 32, stride=N, per_stride=8)
            af.dma_wait(tag, 0, 32)

    assert "memref<4x8xf64, 1>" in f.mlir()
    a = RNG.standard_normal((8, 24))
    _, b = agree(f, a, np.zeros_like(a))
    np.testing.assert_array_equal(b, a + 1)


def test_prefetches():
    @af.kernel
    def f(A: af.f32[N], c: af.i32[N]):
        with af.for_(N) as i:
            af.prefetch(A, i + 16)
            af.prefetch(A, c[i], write=True, locality=0)
            A[i] += 1.0

    text = f.mlir()
    assert "affine.prefetch %A[%i + 16], read, locality<3>, data : memref<?xf32>" in text
    assert "write, locality<0>, data : memref<?xf32>" in text
    assert "affdsl_prefetch(A, i + 16, 0, 3);" in f.c()
    a, _ = agree(f, np.zeros(5, np.float32), np.int32([9, -9, 0, 0, 0]))
    np.testing.assert_array_equal(a, np.ones(5))


def test_indices_by_a_basis():
    @af.kernel
    def f(A: af.i64[M, N], B: af.i64[M * N]):
        with af.for_(M * N) as n:
            i, j = af.delinearize_index(n, (M, N))
            back = af.linearize_index((i, j), (N,), disjoint=False)
            B[back] = A[i, j] * 2

    assert "%i, %j = affine.delinearize_index %n into (%M, %N) : index, index" in f.mlir()
    a = RNG.integers(-9, 9, (3, 5))
    _, b = agree(f, a, np.zeros(15, np.int64))
    np.testing.assert_array_equal(b, 2 * a.reshape(-1))


def test_constants():
    taps = np.float32([0.25, 0.5, 0.25])
    signs = np.array([[True, False], [False, True]])

    @af.kernel
    def weigh(A: af.f32[N + 2], B: af.f32[N]):
        weights = af.constant(taps)
        with af.for_(N) as i:
            B[i] = 0.0
            with af.for_(3) as k:
                B[i] += weights[k] * A[i + k]

    @af.kernel
    def f(A: af.f32[N + 2], B: af.f32[N], C: af.u8[2, 2]):
        weights = af.constant(np.uint8([[200, 3], [4, 255]]))
        flags = af.constant(signs)
        weigh(A, B)
        with af.for_(2) as i, af.for_(2) as j:
            C[i, j] = af.select(flags[i, j], weights[i, j], 0)

    source = f.c()
    assert "static const float weigh_weights[3] = {0.25f, 0.5f, 0.25f};" in source
    taps[:] = 0
    a = RNG.standard_normal(9).astype(np.float32)
    _, b, c = agree(f, a, np.zeros(7, np.float32), np.zeros((2, 2), np.uint8))
    np.testing.assert_array_equal(c, [[200, 0], [0, 255]])
    np.testing.assert_array_equal(b, (a[:-2] * np.float32(0.25) + a[1:-1] * np.float32(0.5)) + a[2:] * np.float32(0.25))


def _mistakes(A, B, C, i, x):
    """Each mistake as a function, with what its message says after file and line."""
    v = af.vector_load(A, (i, 0), 4)
    tag = af.alloc(af.i32[1])
    near = af.alloc(af.f32[4, 8], space=1)
    return [
        (lambda: af.vector_load(A, (i, 0), 0), "vector_load takes a positive number of lanes, got 0"),
        (lambda: af.vector_load(C, 0, (2, 4)), "a vector of 2 x 4 lanes has 2 dimensions, C has 1"),
        (lambda: af.vector_load(x, 0, 4), "vector_load takes an array, got x (f32)"),
        (lambda: af.vector_load(A, i, 4), "A has 2 dimensions and needs as many indices, got 1"),
        (lambda: af.vector_store(x, A, (i, 0)), "vector_store takes a vector, got x (f32)"),
        (lambda: af.vector_store(v, C, 0), "C holds i32 and cannot store v (a f32 vector of 4 lanes)"),
        (lambda: af.vector_store(v, B, (0, 0)), "B is declared const and cannot be stored to"),
        (lambda: v + af.vector_load(A, (i, 0), 8), "they differ"),
        (lambda: v + i, "+ of v (a f32 vector of 4 lanes) and i (index): the types differ"),
        (lambda: v % 2.0, "v (a f32 vector of 4 lanes) has no operator %"),
        (lambda: v // 2.0, "f32 has no operator //"),
        (lambda: A.__setitem__((0, 0), v), "v (a f32 vector of 4 lanes) is no single number"),
        (lambda: bool(v > 0.0), "the truth of a bool_ vector of 4 lanes is not known while the kernel is built"),
        (lambda: af.select(x > 0.0, v, C[0]), "select of v (a f32 vector of 4 lanes) and a number of type i32: the types differ"),
        (lambda: (v > 0.0).sum(), "sum of a bool_ vector of 4 lanes has no meaning here"),
        (lambda: af.exp(v), "v (a f32 vector of 4 lanes) is no single number"),
        (lambda: af.alloc(af.f32[4], space="fast"), "a memory space is a number, 0 or more, got 'fast'"),
        (lambda: af.dma_start(A, (i, 0), C, 0, tag, 0, 4), "the types of the elements differ"),
        (lambda: af.dma_start(A, (i, 0), A, (0, 0), tag, 0, 4), "dma_start of A to itself"),
        (lambda: af.dma_start(A, (i, 0), near, (0, 0), tag, 0, 4, stride=8), "dma_start has a stride without per_stride"),
        (lambda: af.dma_start(A, (i, 0), near, (C[0], 0), tag, 0, 4), "which is computed from data"),
        (lambda: af.dma_start(A, (i, 0), near, (0, 0), tag, 0, 4.5), "elements of the copy must be a whole number, got 4.5"),
        (lambda: af.dma_wait(x, 0, 4), "the tag of dma_wait is an array, got x (f32)"),
        (lambda: af.prefetch(A, (i, 0), locality=4), "the locality of prefetch is a number from 0 to 3, got 4"),
        (lambda: af.delinearize_index(i, (4, 0)), "delinearize_index has 0 in its basis"),
        (lambda: af.delinearize_index(i, ()), "delinearize_index needs a number for each digit, got none"),
        (lambda: af.linearize_index((i, i), (1, 2, 3)), "linearize_index has 2 digits, but 3 numbers in its basis"),
        (lambda: af.linearize_index(i, (4,)), "indices and numbers of a basis stand in parentheses, got i"),
        (lambda: af.constant([1.0, 2.0]), "constant takes a NumPy array, got [1.0, 2.0]"),
        (lambda: af.constant(np.zeros(2, np.clongdouble)), "constant takes an array of a type that kernels know"),
        (lambda: af.constant(np.zeros(2)).__setitem__(0, 1.0), "is declared const and cannot be stored to"),
    ]  # fmt: skip


COUNT = 31


@pytest.mark.parametrize("number", range(COUNT))
def test_mistakes(number):
    seen = []

    def f(A: af.f32[4, 16], B: af.const(af.f32[4, 16]), C: af.i32[4], x: af.f32):
        with af.for_(4) as i:
            cases = _mistakes(A, B, C, i, x)
            seen.append(len(cases))
            make, message = cases[number]
            seen.append((message, inspect.getsourcelines(make)[1]))
            make()

    with pytest.raises(af.ProgramError) as caught:
        af.kernel(f)
    assert seen[0] == COUNT
    message, line = seen[1]
    place, _, text = str(caught.value).partition(": ")
    assert place == f"tests/lang/test_more_ops.py:{line}"
    assert message in text
