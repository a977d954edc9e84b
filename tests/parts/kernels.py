"""Kernels that give parts of arrays to others, and the same in NumPy. Floats are whole numbers, so sums are exact."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

import affdsl as af

K, L, M, N, P = af.symbols("K L M N P")
T = af.dtypes("T", af.f32, af.f64, af.i32)
Numbers = np.random.Generator


@dataclass(frozen=True)
class Case:
    """A kernel, what does the same, and arguments for a size."""

    kernel: af.Kernel
    wanted: Callable[..., object]
    arguments: Callable[[Numbers, int], tuple[object, ...]]

    def __str__(self) -> str:
        return self.kernel.name

    def drawn(self, seed: int, size: int) -> tuple[object, ...]:
        return self.arguments(np.random.default_rng(seed), size)


CASES: list[Case] = []


def case(kernel: af.Kernel, arguments: Callable[[Numbers, int], tuple[object, ...]]):
    """Says that the function below does the same as a kernel."""

    def made(wanted: Callable[..., object]) -> Callable[..., object]:
        CASES.append(Case(kernel, wanted, arguments))
        return wanted

    return made


def whole(rng: Numbers, *shape: int, dtype: type = np.float64) -> np.ndarray:
    return rng.integers(-4, 5, shape).astype(dtype)


# What is called ----------------------------------------------------------------------------------------------------


@af.kernel
def axpy(a: af.f64, x: af.f64[N], y: af.f64[N]):
    with af.for_(N) as i:
        y[i] += a * x[i]


@af.kernel
def strided_axpy(a: af.f64, x: af.strided(af.f64[N]), y: af.strided(af.f64[N])):
    with af.for_(N) as i:
        y[i] += a * x[i]


@af.kernel
def scaled(x: T[N], by: T):
    with af.for_(N) as i:
        x[i] *= by


@af.kernel
def strided_scaled(x: af.strided(T[...]), by: T):
    with af.elements(x) as e:
        x[e] *= by


@af.kernel
def total(x: af.strided(af.f64[N])):
    s = af.var(af.f64(0))
    with af.for_(N) as i:
        s += x[i]
    return s


@af.kernel
def gemm(A: af.f64[M, K], B: af.f64[K, N], C: af.f64[M, N]):
    with af.for_(M) as i, af.for_(N) as j, af.for_(K) as k:
        C[i, j] += A[i, k] * B[k, j]


@af.kernel
def block_gemm(A: af.strided(af.f64[M, K]), B: af.strided(af.f64[K, N]), C: af.strided(af.f64[M, N])):
    with af.for_(M) as i, af.for_(N) as j, af.for_(K) as k:
        C[i, j] += A[i, k] * B[k, j]


# Kernels -----------------------------------------------------------------------------------------------------------


@af.kernel
def rows_added(A: af.f64[M, N], x: af.f64[N]):
    with af.for_(M) as m:
        axpy(2.0, x, A[m])


@case(rows_added, lambda rng, n: (whole(rng, n, n + 2), whole(rng, n + 2)))
def _(A, x):
    A += 2 * x


@af.kernel
def columns_added(A: af.f64[M, N], x: af.f64[M]):
    with af.parallel(N) as j:
        strided_axpy(3.0, x, A[:, j])


@case(columns_added, lambda rng, n: (whole(rng, n, n + 1), whole(rng, n)))
def _(A, x):
    A += 3 * x[:, None]


@af.kernel
def rows_eliminated(A: af.f64[N, N]):
    """The rows below each one, minus a multiple of it: two rows of one array, of which one is written."""
    with af.for_(N) as k, af.for_(k + 1, N) as i:
        axpy(A[i, k], A[k], A[i])


@case(rows_eliminated, lambda rng, n: (whole(rng, n, n) * (rng.random((n, n)) * (n + 1) < 0.7),))
def _(A):
    for k in range(len(A)):
        for i in range(k + 1, len(A)):
            A[i] += A[i, k] * A[k]


@af.kernel
def row_ends(A: af.f64[N, N]):
    """What is behind the diagonal of each row, from the row above: triangles."""
    with af.for_(1, N) as i:
        axpy(1.0, A[i - 1, i:], A[i, i:N])


@case(row_ends, lambda rng, n: (whole(rng, n, n),))
def _(A):
    for i in range(1, len(A)):
        A[i, i:] += A[i - 1, i:]


@af.kernel
def batched_gemm(A: af.f64[P, M, K], B: af.f64[P, K, N], C: af.f64[P, M, N]):
    with af.parallel(P) as p:
        gemm(A[p], B[p], C[p])


@case(batched_gemm, lambda rng, n: (whole(rng, 3, n, n + 1), whole(rng, 3, n + 1, n), whole(rng, 3, n, n)))
def _(A, B, C):
    C += A @ B


@af.kernel
def gemm_by_blocks(A: af.f64[M, K], B: af.f64[K, N], C: af.f64[M, N]):
    with af.for_(0, M, 4) as i, af.for_(0, N, 3) as j, af.for_(0, K, 5) as k:
        m, n, l = af.min(i + 4, M), af.min(j + 3, N), af.min(k + 5, K)  # noqa: E741
        block_gemm(A[i:m, k:l], B[k:l, j:n], C[i:m, j:n])


@case(gemm_by_blocks, lambda rng, n: (whole(rng, n, n + 1), whole(rng, n + 1, n), whole(rng, n, n)))
def _(A, B, C):
    C += A @ B


@af.kernel
def tiles_of_tiles(A: af.f64[4 * M, 4 * N]):
    """Each tile of four by four, and of each of its quarters the first column."""
    with af.for_(M) as i, af.for_(N) as j:
        tile = A[4 * i : 4 * i + 4, 4 * j : 4 * j + 4]
        strided_scaled(tile, 2.0)
        with af.for_(2) as k, af.for_(2) as l:  # noqa: E741
            quarter = tile[2 * k : 2 * k + 2, 2 * l : 2 * l + 2]
            strided_scaled(quarter[:, 0], 3.0)
            quarter[1, 1] = 7.0


@case(tiles_of_tiles, lambda rng, n: (whole(rng, 4 * n, 4 * (n // 2)),))
def _(A):
    A *= 2
    A[:, ::2] *= 3
    A[1::2, 1::2] = 7


@af.kernel
def halo(A: af.f64[M, N]):
    """The inside of an array, and then its edges, two of which are columns."""
    af.assume((M >= 2) & (N >= 2))
    strided_scaled(A[1 : M - 1, 1 : N - 1], 2.0)
    scaled(A[0], -1.0)
    scaled(A[M - 1, :], 3.0)
    strided_scaled(A[1 : M - 1, 0], 5.0)
    strided_scaled(A[1 : M - 1, N - 1], 7.0)


@case(halo, lambda rng, n: (whole(rng, n + 2, n + 3),))
def _(A):
    A[1:-1, 1:-1] *= 2
    A[0] *= -1
    A[-1] *= 3
    A[1:-1, 0] *= 5
    A[1:-1, -1] *= 7


@af.kernel
def even_and_odd(x: af.f64[2 * N]):
    """A step of a transform: halves of an array that lie between each other."""
    even, odd = x[::2], x[1::2]
    with af.for_(N) as i:
        a, b = even[i], odd[i]
        even[i] = a + b
        odd[i] = a - b
    strided_axpy(2.0, even, odd)


@case(even_and_odd, lambda rng, n: (whole(rng, 2 * n),))
def _(x):
    x[::2], x[1::2] = x[::2] + x[1::2], x[::2] - x[1::2]
    x[1::2] += 2 * x[::2]


@af.kernel
def every_third(A: af.f64[M, N], out: af.f64[M]):
    with af.for_(M) as i:
        out[i] = total(A[i, ::3])


@case(every_third, lambda rng, n: (whole(rng, n, n + 2), whole(rng, n)))
def _(A, out):
    out[:] = A[:, ::3].sum(1)


@af.kernel
def planes(A: af.f64[M, N, K]):
    """The three kinds of planes: contiguous ones, rows with gaps, and single elements apart."""
    with af.for_(M) as m:
        strided_scaled(A[m], 2.0)
    with af.for_(N) as n:
        strided_scaled(A[:, n], 3.0)
    with af.for_(K) as k:
        strided_scaled(A[..., k], -1.0)


@case(planes, lambda rng, n: (whole(rng, n, n + 1, 2),))
def _(A):
    A *= -6


@af.kernel
def row_scaled_twice(x: af.f64[M, N]):
    with af.for_(M) as i:
        row = x[i]
        scaled(row, 2.0)
        scaled(row[: N // 2], 5.0)


@af.kernel
def handed_on(A: af.f64[K, M, N]):
    """A part is given to a kernel that gives parts of it to a third one, and one of them to a fourth."""
    with af.parallel(K) as k:
        row_scaled_twice(A[k])


@case(handed_on, lambda rng, n: (whole(rng, 2, n, n + 3),))
def _(A):
    A *= 2
    A[..., : A.shape[2] // 2] *= 5


@af.kernel
def of_whole_and_parts(A: af.f64[M, N], x: af.f64[N]):
    """One kernel is given a whole array and parts of others."""
    scaled(x, 2.0)
    with af.for_(M) as m:
        scaled(A[m], 3.0)
        strided_scaled(A[m, ::2], 2.0)
    strided_scaled(x, 2.0)


@case(of_whole_and_parts, lambda rng, n: (whole(rng, n, n), whole(rng, n)))
def _(A, x):
    x *= 4
    A *= 3
    A[:, ::2] *= 2


@af.kernel
def sorted_columns(A: af.f64[M, N]):
    """Columns are copied to an array of the kernel, changed there, and copied back."""
    with af.for_(N) as j:
        t = af.alloc(af.f64[M])
        af.copy(A[:, j], t)
        scaled(t, 2.0)
        strided_scaled(t[::2], 3.0)
        with af.for_(M) as i:
            A[i, j] = t[M - 1 - i]


@case(sorted_columns, lambda rng, n: (whole(rng, n, n + 1),))
def _(A):
    A *= 2
    A[::2] *= 3
    A[:] = A[::-1].copy()


@af.kernel
def of_several_types(A: af.f32[M, N], k: af.i32[M, N]):
    with af.for_(M) as m:
        scaled(A[m], 2)
        scaled(k[m], 3)
        strided_scaled(k[m, ::2], -1)
    with af.for_(N) as n:
        strided_scaled(A[:, n], 0.5)


@case(of_several_types, lambda rng, n: (whole(rng, n, n, dtype=np.float32), whole(rng, n, n, dtype=np.int32)))
def _(A, k):
    k *= 3
    k[:, ::2] *= -1


@af.kernel
def of_strided(A: af.strided(af.f64[M, N]), x: af.const(af.f64[M, 4])):
    """Parts of an array of any strides, and of one that is only read, with sizes that are numbers."""
    with af.for_(M) as i:
        strided_axpy(1.0, x[i, :2], A[i, :2])
        row = x[i]
        with af.for_(2) as j:
            A[i, j] += row[j + 2] * row[1]


@case(of_strided, lambda rng, n: (whole(rng, n, n + 2), whole(rng, n, 4)))
def _(A, x):
    A[:, :2] += x[:, :2]
    A[:, :2] += x[:, 2:] * x[:, 1:2]


@af.kernel
def in_vectors(A: af.f64[M, 8]):
    """Vectors of parts: of rows, and of columns, which lie apart."""
    with af.for_(M) as i:
        row = A[i]
        af.vector_store(af.vector_load(row, 4, 4) + af.vector_load(row, 0, 4), row, 0)
        af.vector_store(af.vector_load(A[i, 1:6], 0, 2), A[i, 6:], 0)


@case(in_vectors, lambda rng, n: (whole(rng, n, 8),))
def _(A):
    A[:, :4] += A[:, 4:]
    A[:, 6:] = A[:, 1:3]


@af.kernel
def chosen_rows(A: af.f64[M, N], at: af.i32[M], x: af.f64[N]):
    """Rows that data choose: which one it is only the run knows, but x is another array."""
    with af.for_(M) as i:
        axpy(1.0, A[at[i]], x)


@case(chosen_rows, lambda rng, n: (whole(rng, n, n), rng.integers(0, max(n, 1), n).astype(np.int32), whole(rng, n)))
def _(A, at, x):
    x += A[at].sum(0)
