"""Regions and copies of arrays whose subscripts hide dimensions: tiles of `A[i * M + j]`."""

from __future__ import annotations

import numpy as np
import pytest

import affdsl as af
from affdsl.passes.analysis.access import Accesses
from affdsl.passes.analysis.region import region_of
from affdsl.passes.analysis.stride import strides

N, M, K, L = af.symbols("N M K L")


@af.kernel
def matmul(A: af.f64[N * K], B: af.f64[K * M], C: af.f64[N * M], n: N, m: M, k: K):
    with af.for_(N) as i, af.for_(M) as j, af.for_(K) as k_:
        C[i * M + j] += A[i * K + k_] * B[k_ * M + j]


def tiled():
    return af.Schedule(matmul).tile(("i", "j", "k_"), (4, 2, 3))


def assert_multiplies(kernel):
    random = np.random.default_rng(1)
    for n, m, k in ((5, 7, 8), (4, 2, 3), (1, 1, 1), (0, 3, 2), (2, 3, 0)):
        a, b, c = random.integers(9, size=n * k), random.integers(9, size=k * m), np.ones(n * m)
        kernel(a.astype("f8"), b.astype("f8"), c, n, m, k)
        assert (c.reshape(n, m) == a.reshape(n, k) @ b.reshape(k, m) + 1).all()


def test_tiles_are_copied_to_buffers_of_constant_size():
    s = tiled().copy("A", "i").copy("B", "i").copy("C", "k__tile")
    kernel = s.kernel()
    text = kernel.mlir()
    assert "%A_fast = memref.alloc() : memref<4x3xf64>" in text
    assert "affine.load %A[%A1 + %A0 * symbol(%K)]" in text
    assert "affine.load %A_fast[%i - %i_tile, %k_ - %k__tile]" in text
    assert "affine.store %0, %C[%C1_2 + %C0_2 * symbol(%M)]" in text
    assert_multiplies(kernel)


def test_panels_are_packed():
    s = tiled().copy("B", "i", panels={1: 2}, layout=(1, 0)).copy("A", "i", layout=(1, 0))
    text = s.kernel().mlir()
    assert "memref<1x3x2xf64>" in text
    assert "memref<3x4xf64>" in text
    assert_multiplies(s.kernel())


def test_the_region_of_a_row():
    of = Accesses(matmul.func)
    loop = matmul.func.body[0]
    written = region_of(of, [a for a in of.inside(loop) if a.kind == "write"], 1)
    assert str(written).endswith("{ [i] -> [m0 = i, m1] : K > 0 and 0 <= i < N and 0 <= m1 < M }")
    assert (str(written.box), written.unknown) == ("[i, i + 1) x [0, M)", ())
    assert written.hidden == 1


def test_strides_along_a_row_and_from_row_to_row():
    of = Accesses(matmul.func)
    found = {a.buffer.name: [str(s) for s in strides(a, of.scope).values()] for a in of.all}
    assert found == {
        "A": ["stride (1, 0)", "invariant", "contiguous"],
        "B": ["invariant", "contiguous", "stride (1, 0)"],
        "C": ["stride (1, 0)", "contiguous", "invariant"],
    }


def test_vectors_of_a_row():
    @af.kernel
    def double(A: af.f64[N * M], n: N, m: M):
        with af.for_(N) as i, af.for_(0, M - 3, 4) as j:
            v = af.vector_load(A, (i * M + j,), 4)
            af.vector_store(v + v, A, (i * M + j,))

    kernel = af.Schedule(double).copy("A", "j").kernel()
    assert "affine.vector_load %A_fast[0, %j]" in kernel.mlir()
    a = np.arange(27.0)
    kernel(a, 3, 9)
    expected = np.arange(27.0).reshape(3, 9)
    expected[:, :8] *= 2
    assert (a.reshape(3, 9) == expected).all()


def test_an_array_that_is_larger_than_its_rows():
    """What lies behind them is neither brought nor taken back."""

    @af.kernel
    def larger(A: af.f64[L], n: N, m: M):
        af.assume(n * m <= L)
        with af.for_(N) as i, af.for_(M) as j:
            A[i * M + j] += 1.0

    kernel = af.Schedule(larger).copy("A", "j").kernel()
    a = np.zeros(8)
    kernel(a, 2, 3)
    assert a.tolist() == [1.0] * 6 + [0.0] * 2


def test_a_subscript_that_goes_on_in_the_next_row():
    @af.kernel
    def wrapping(A: af.f64[N * M], n: N, m: M):
        with af.for_(N) as i, af.for_(M) as j, af.if_(i * M + j >= 1):
            A[i * M + j] = A[i * M + j - 1]

    with pytest.raises(af.IllegalTransform, match="cannot copy A for loop i") as caught:
        af.Schedule(wrapping).copy("A", "i")
    assert "the subscripts of A may go on in the next row" in str(caught.value)
    assert f"{__file__.rpartition('/')[2]}:" in str(caught.value)


def test_a_column_that_is_not_proved_to_be_in_its_row():
    @af.kernel
    def any_column(A: af.f64[N * M], n: N, m: M, k: K):
        with af.for_(N) as i, af.for_(K) as j, af.if_(i * M + j < N * M):
            A[i * M + j] = 1.0

    with pytest.raises(af.IllegalTransform, match="cannot copy A for loop j") as caught:
        af.Schedule(any_column).copy("A", "j")
    assert "M * i is semi-affine" in str(caught.value)


def test_a_dma_needs_rows_that_are_known():
    @af.kernel
    def corner(A: af.f64[N * M], n: N, m: M):
        af.assume(N >= 4, M >= 8)
        with af.for_(4) as i, af.for_(8) as j:
            A[i * M + j] += 1.0

    with pytest.raises(af.IllegalTransform, match=r"how far the rows of %?A lie apart is known only at run time"):
        af.Schedule(corner).copy("A", "i", space=1, dma=True)
