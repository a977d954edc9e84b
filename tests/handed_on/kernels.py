"""Kernels of all kinds whose text is handed on to other tools, and arguments to run them with.

As written, scheduled, optimized, vectorized, masked, fused, strided, sparse, with short floats and complex numbers,
with arrays that are given back. `CASES` makes each when it is asked for; those with `sizes` are also there for these
sizes alone, with loops over scalars, for tools without sizes that are known at run time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

import affdsl as af
from examples.cholesky import cholesky

K, M, N, NNZ = af.symbols("K M N NNZ")
Arguments = Callable[[np.random.Generator], tuple[object, ...]]


@dataclass(frozen=True)
class Case:
    """A kernel to be handed on, and how its arguments are made."""

    name: str
    made: Callable[[], af.Kernel]
    drawn: Arguments
    sizes: Mapping[str, int] = field(default_factory=dict)
    """Numbers for all sizes, those of its arguments, if it is among those of fixed size."""

    @cached_property
    def kernel(self) -> af.Kernel:
        """The kernel for all sizes."""
        return self.made()

    @cached_property
    def fixed(self) -> af.Kernel:
        """The kernel for the sizes of its arguments alone."""
        return self.kernel.specialize(**self.sizes)

    def arguments(self) -> tuple[object, ...]:
        """New arrays and numbers, the same ones each time, as a call from Python takes them: without sizes."""
        return self.drawn(np.random.default_rng(33))

    def __str__(self) -> str:
        return self.name


def floats(rng: np.random.Generator, *shape: int, dtype: type = np.float32) -> np.ndarray:
    """Numbers around 0 with both signs, some of them -0.0."""
    found = rng.normal(size=shape)
    found[rng.random(shape) < 0.05] = -0.0
    return found.astype(dtype)


# As written --------------------------------------------------------------------------------------------------------


@af.kernel
def axpy(a: af.f32, x: af.f32[N], y: af.f32[N]):
    with af.for_(N) as i:
        y[i] += a * x[i]


@af.kernel
def gemm(A: af.f64[M, K], B: af.f64[K, N], C: af.f64[M, N]):
    with af.for_(M) as i, af.for_(N) as j, af.for_(K) as k:
        C[i, j] += A[i, k] * B[k, j]


@af.kernel
def seidel(A: af.f64[N, N], steps: af.index):
    with af.for_(steps) as t, af.for_(1, N - 1) as i, af.for_(1, N - 1) as j:  # noqa: F841 - a loop is named by it
        A[i, j] = (A[i - 1, j] + A[i, j - 1] + A[i, j] + A[i, j + 1] + A[i + 1, j]) / 5


@af.kernel
def jacobi(A: af.f32[M, N], B: af.f32[M, N]):
    with af.for_(1, M - 1) as i, af.for_(1, N - 1) as j:
        B[i, j] = 0.25 * (A[i - 1, j] + A[i + 1, j] + A[i, j - 1] + A[i, j + 1])


@af.kernel
def conv2d(X: af.f32[M + 2, N + 2], W: af.f32[3, 3], Y: af.f32[M, N]):
    with af.for_(M) as i, af.for_(N) as j, af.for_(3) as p, af.for_(3) as q:
        Y[i, j] += W[p, q] * X[i + p, j + q]


@af.kernel
def column_sums(A: af.f32[M, N], sums: af.f32[N]):
    with af.for_(N) as j, af.for_(M) as i:
        sums[j] += A[i, j]


@af.kernel
def dot(x: af.f64[N], y: af.f64[N]):
    with af.for_(N, iter_args=[af.f64(0)]) as (i, s):
        af.yield_(s + x[i] * y[i])
    return s


@af.kernel
def softmax(X: af.f32[M, N]):
    Y = af.alloc(af.f32[M, N])
    with af.parallel(M) as i:
        with af.for_(N, iter_args=[af.f32(-float("inf"))]) as (j, largest):
            af.yield_(af.max(largest, X[i, j]))
        with af.for_(N, iter_args=[af.f32(0)]) as (j, total):
            Y[i, j] = af.exp(X[i, j] - largest)
            af.yield_(total + Y[i, j])
        with af.for_(N) as j:
            Y[i, j] /= total
    return Y


@af.kernel
def histogram(image: af.u8[M, N], counts: af.i64[256]):
    with af.for_(M) as i, af.for_(N) as j:
        counts[image[i, j]] += 1


@af.kernel
def damp(x: af.f32[N], y: af.f32[N], limit: af.f32):
    with af.for_(N) as i:
        with af.if_(x[i] > limit):
            y[i] = limit
        with af.else_():
            y[i] = x[i] / limit


@af.kernel
def roots(a: af.f64[N], r: af.f64[N]):
    """Square roots by Newton's method: a loop that ends when it has converged."""
    with af.parallel(N) as i:
        with af.while_(lambda x, last: x < last, iter_args=[0.5 * (1 + a[i]), 1 + a[i]]) as (x, _):
            af.yield_(0.5 * (x + a[i] / x), x)
        r[i] = x


@af.kernel
def first_above(x: af.f32[N], bound: af.f32, found: af.i64[1]):
    found[0] = -1
    with af.for_(N) as i, af.if_(x[i] > bound):
        found[0] = af.i64(i)
        af.break_()


@af.kernel
def shares(a: af.i32[N], b: af.i32[N], c: af.i32[N]):
    """Quotients, remainders and shifts by anything, 0 and negative numbers too."""
    with af.for_(N) as i:
        c[i] = a[i] // b[i] + a[i] % b[i] + (a[i] << b[i])


@af.kernel
def row_ranges(A: af.f32[M, N], least: af.f32[M], most: af.f32[M]):
    """Variables in threads: the least and the largest number of each row."""
    with af.parallel(M) as i:
        low, high = af.var(A[i, 0]), af.var(A[i, 0])
        with af.for_(1, N) as j:
            low.set(af.min(low, A[i, j]))
            high.set(af.max(high, A[i, j]))
        least[i] = low
        most[i] = high


@af.kernel
def total_energy(x: af.f64[M, N]):
    """A sum over iterations in any order; all terms are whole numbers, so that it is exact."""
    with af.parallel(M, N, reduce=[("addf", af.f64)]) as (i, j, energy):
        af.yield_(x[i, j] * x[i, j])
    return energy


@af.kernel
def blur(x: af.f64[M, N], y: af.f64[M, N]):
    t = af.alloc(af.f64[M, N])
    with af.for_(M) as i, af.for_(1, N) as j:
        t[i, j] = x[i, j] + x[i, j - 1]
    with af.for_(1, M) as k, af.for_(1, N) as m:
        y[k, m] = t[k, m] + t[k - 1, m]


@af.kernel
def outer(x: af.f32[M], y: af.f32[N]):
    """Two arrays that are given back: products, and which of the numbers is larger."""
    A, larger = af.alloc(af.f32[M, N]), af.alloc(af.bool_[M, N])
    with af.for_(M) as i, af.for_(N) as j:
        A[i, j] = x[i] * y[j]
        larger[i, j] = x[i] > y[j]
    return A, larger


@af.kernel
def strided_axpy(a: af.f64, x: af.strided(af.f64[N]), y: af.strided(af.f64[N])):
    with af.for_(N) as i:
        y[i] += a * x[i]


@af.kernel
def columns_added(A: af.f64[M, N], x: af.f64[M]):
    with af.parallel(N) as j:
        strided_axpy(3.0, x, A[:, j])


@af.kernel
def transposed(A: af.strided(af.f32[M, N]), B: af.strided(af.f32[N, M])):
    with af.for_(N) as j, af.for_(M) as i:
        B[j, i] = 2 * A[i, j]


@af.kernel
def spmv(rowptr: af.i32[M + 1], colidx: af.i32[NNZ], values: af.f64[NNZ], x: af.f64[N], y: af.f64[M]):
    with af.parallel(M) as i:
        with af.for_(rowptr[i], rowptr[i + 1], iter_args=[af.f64(0)]) as (p, total):
            af.yield_(total + values[p] * x[colidx[p]])
        y[i] = total


@af.kernel
def halves(x: af.f16[N], y: af.f16[N], scale: af.f16):
    with af.for_(N) as i:
        y[i] = af.max(scale * x[i] + y[i], af.f16(0))


@af.kernel
def rotated(z: af.c64[N], w: af.c64[N], r: af.f32[N]):
    with af.for_(N) as i:
        w[i] = z[i] * w[i].conj() + af.complex(af.f32(i), -0.5)
        r[i] = z[i].real * w[i].imag


@af.kernel
def brightness(image: af.u8[M, N], out: af.u8[M, N], by: af.i32):
    """What does not fit is cut off: narrow numbers that are computed as wide ones."""
    with af.for_(M) as i, af.for_(N) as j:
        out[i, j] = af.u8(af.min(af.max(af.i32(image[i, j]) + by, 0), 255))


# Their arguments ---------------------------------------------------------------------------------------------------


def _gemm(rng: np.random.Generator) -> tuple[object, ...]:
    return floats(rng, 6, 5, dtype=np.float64), floats(rng, 5, 9, dtype=np.float64), floats(rng, 6, 9, dtype=np.float64)


def _two(dtype: type, *shape: int) -> Arguments:
    return lambda rng: (floats(rng, *shape, dtype=dtype), floats(rng, *shape, dtype=dtype))


def _positive_definite(rng: np.random.Generator) -> tuple[object, ...]:
    b = rng.uniform(-1, 1, (7, 7))
    return (b @ b.T + 7 * np.eye(7),)


def _sparse(rng: np.random.Generator) -> tuple[object, ...]:
    dense = rng.random((8, 11)) < 0.3
    dense[3] = False
    rowptr = np.concatenate([[0], np.cumsum(dense.sum(axis=1))]).astype(np.int32)
    colidx = np.nonzero(dense)[1].astype(np.int32)
    return rowptr, colidx, rng.normal(size=len(colidx)), rng.normal(size=11), np.full(8, np.nan)


def _integers(rng: np.random.Generator) -> tuple[object, ...]:
    a, b = np.meshgrid(np.array([-(2**31), 2**31 - 1, -7, -1, 0, 1, 7, 33], np.int32), np.arange(-2, 4, dtype=np.int32))
    return np.ascontiguousarray(a.ravel()), np.ascontiguousarray(b.ravel()), np.zeros(a.size, np.int32)


def _complex(rng: np.random.Generator) -> tuple[object, ...]:
    z, w = ((floats(rng, 13) + 1j * floats(rng, 13)).astype(np.complex64) for _ in range(2))
    return z, w, np.zeros(13, np.float32)


def _views(rng: np.random.Generator) -> tuple[object, ...]:
    return 2.5, floats(rng, 40, dtype=np.float64)[1::3], floats(rng, 26, dtype=np.float64)[::-2]


def _damp(rng: np.random.Generator) -> tuple[object, ...]:
    return floats(rng, 29), np.zeros(29, np.float32), np.float32(0.4)


def _image(rng: np.random.Generator) -> tuple[object, ...]:
    return rng.integers(0, 256, (5, 21), np.uint8), np.zeros((5, 21), np.uint8), np.int32(70)


def _conv2d(rng: np.random.Generator) -> tuple[object, ...]:
    return floats(rng, 8, 11), floats(rng, 3, 3), floats(rng, 6, 9)


_MN = {"M": 6, "N": 9}

# All of them -------------------------------------------------------------------------------------------------------


def _scheduled(kernel: af.Kernel, steps: Callable[[af.Schedule], object]) -> Callable[[], af.Kernel]:
    def made() -> af.Kernel:
        schedule = af.Schedule(kernel)
        steps(schedule)
        return schedule.kernel()

    return made


def _optimized(kernel: af.Kernel, **options: object) -> Callable[[], af.Kernel]:
    return lambda: kernel.optimize("avx2", **options)  # type: ignore[arg-type]


CASES = (
    # As written.
    Case("axpy", lambda: axpy, lambda rng: (np.float32(1.5), floats(rng, 17), floats(rng, 17)), {"N": 17}),
    Case("gemm", lambda: gemm, _gemm, {**_MN, "K": 5}),
    Case("jacobi", lambda: jacobi, _two(np.float32, 6, 9), _MN),
    Case("conv2d", lambda: conv2d, _conv2d, _MN),
    Case("dot", lambda: dot, _two(np.float64, 17), {"N": 17}),
    Case("cholesky", lambda: cholesky, _positive_definite, {"N": 7}),
    Case(
        "histogram",
        lambda: histogram,
        lambda rng: (rng.integers(0, 256, (6, 9), np.uint8), np.zeros(256, np.int64)),
        _MN,
    ),
    Case("damp", lambda: damp, _damp, {"N": 29}),
    Case("roots", lambda: roots, lambda rng: (rng.uniform(0, 9, 11), np.zeros(11)), {"N": 11}),
    Case("first_above", lambda: first_above, lambda rng: (floats(rng, 40), np.float32(1.1), np.zeros(1, np.int64))),
    Case("shares", lambda: shares, _integers, {"N": 48}),
    Case("row_ranges", lambda: row_ranges, lambda rng: (floats(rng, 6, 9), *np.zeros((2, 6), np.float32)), _MN),
    Case("total_energy", lambda: total_energy, lambda rng: (rng.integers(-9, 10, (6, 9)).astype(np.float64),)),
    # Scheduled.
    Case(
        "gemm tiled",
        _scheduled(gemm, lambda s: s.tile(("i", "j", "k"), (4, 4, 2)).parallel("i_tile")),
        _gemm,
        {**_MN, "K": 5},
    ),
    Case(
        "seidel skewed",
        _scheduled(seidel, lambda s: s.skew("t", "i", 1).tile(("t", "i"), (2, 3))),
        lambda rng: (floats(rng, 8, 8, dtype=np.float64), 3),
        {"N": 8},
    ),
    Case(
        "conv2d jammed",
        _scheduled(conv2d, lambda s: s.unroll("q").unroll("p").scalar_replace("j").unroll_jam("i", 2)),
        _conv2d,
        _MN,
    ),
    # Optimized.
    Case(
        "gemm optimized",
        _optimized(gemm),
        lambda rng: (
            floats(rng, 21, 19, dtype=np.float64),
            floats(rng, 19, 35, dtype=np.float64),
            floats(rng, 21, 35, dtype=np.float64),
        ),
    ),
    Case("softmax optimized", _optimized(softmax), lambda rng: (floats(rng, 5, 21),)),
    Case(
        "column_sums optimized",
        _optimized(column_sums, threads=1),
        lambda rng: (floats(rng, 9, 21), np.zeros(21, np.float32)),
    ),
    Case("blur optimized", _optimized(blur), _two(np.float64, 9, 21)),
    # On vectors, and under masks.
    Case("gemm on vectors", _scheduled(gemm, lambda s: s.interchange("j", "k").vectorize("j", 4)), _gemm),
    Case(
        "dot on vectors",
        _scheduled(dot, lambda s: s.vectorize("i", 4, reassociate=True)),
        lambda rng: (rng.integers(-9, 10, 17).astype(np.float64), rng.integers(-9, 10, 17).astype(np.float64)),
    ),
    Case("brightness on vectors", _scheduled(brightness, lambda s: s.vectorize("j", 16, tail="overlapped")), _image),
    Case("damp masked", _scheduled(damp, lambda s: s.vectorize("i", 8, tail="masked")), _damp),
    Case("shares folded", _scheduled(shares, lambda s: s.vectorize("i", 8, tail="folded")), _integers),
    # Fused.
    Case("blur fused", lambda: blur.fuse(), _two(np.float64, 9, 21)),
    # Of any strides, and with parts.
    Case("strided_axpy", lambda: strided_axpy, _views),
    Case(
        "columns_added",
        lambda: columns_added,
        lambda rng: (floats(rng, 6, 9, dtype=np.float64), floats(rng, 6, dtype=np.float64)),
    ),
    Case(
        "transposed on vectors",
        _scheduled(transposed, lambda s: s.vectorize("i", 4)),
        lambda rng: (floats(rng, 6, 18)[:, ::2], floats(rng, 6, 9).T),
    ),
    # Sparse, short floats, complex numbers, arrays that are given back.
    Case("spmv", lambda: spmv, _sparse),
    Case(
        "halves",
        lambda: halves,
        lambda rng: (floats(rng, 23, dtype=np.float16), floats(rng, 23, dtype=np.float16), np.float16(1.25)),
    ),
    Case("rotated", lambda: rotated, _complex),
    Case("outer", lambda: outer, lambda rng: (floats(rng, 6), floats(rng, 9))),
)
