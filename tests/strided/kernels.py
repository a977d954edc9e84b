"""Kernels with arrays of any strides, and the same in NumPy. Floats are small whole numbers, so that sums are exact."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from random import Random

import numpy as np

import affdsl as af
from tests.strided.views import View, contiguous, rows, view

K, L, M, N = af.symbols("K L M N")
Numbers = np.random.Generator


@dataclass(frozen=True)
class Case:
    """A kernel, what does the same, and arguments for a size."""

    kernel: af.Kernel
    wanted: Callable[..., object]
    arguments: Callable[[Numbers, int], tuple[object, ...]]

    def __str__(self) -> str:
        return self.kernel.name

    def drawn(self, seed: int, size: int) -> list[object]:
        """Arguments with arrays that have random strides, where the kernel takes such."""
        random, program = Random(seed), self.kernel.program
        given = zip(program.parameters, self.arguments(np.random.default_rng(seed), size), strict=True)
        # Compiled code has versions for contiguous arrays and for rows, which all arrays of a call must be.
        how = random.choice(("any", "any", "any", "rows", "contiguous"))
        return [
            _as_view(random, x, how if p.type.strided else "contiguous", n in program.written)
            if isinstance(x, np.ndarray)
            else x
            for n, (p, x) in enumerate(given)
        ]


def _as_view(random: Random, array: np.ndarray, how: str, written: bool) -> View:
    if how == "contiguous":
        return contiguous(array)
    return rows(random, array) if how == "rows" else view(random, array, written=written)


CASES: list[Case] = []


def case(kernel: af.Kernel, arguments: Callable[[Numbers, int], tuple[object, ...]]):
    """Says that the function below does the same as a kernel."""

    def made(wanted: Callable[..., object]) -> Callable[..., object]:
        CASES.append(Case(kernel, wanted, arguments))
        return wanted

    return made


def floats(r: Numbers, *shape: int, of: str = "f8") -> np.ndarray:
    """Small whole numbers."""
    return r.integers(-8, 9, shape).astype(of)


@af.kernel
def axpy(a: af.f64, x: af.strided(af.f64[N]), y: af.strided(af.f64[N])):
    with af.for_(N) as i:
        y[i] += a * x[i]


@case(axpy, lambda r, n: (3.0, floats(r, n), floats(r, n)))
def _(a, x, y):
    y += a * x


axpy_on_vectors = af.Schedule(axpy).vectorize("i", 4).kernel()


@case(axpy_on_vectors, lambda r, n: (3.0, floats(r, n), floats(r, n)))
def _(a, x, y):
    y += a * x


@af.kernel
def transpose(A: af.const(af.strided(af.f32[M, N])), B: af.strided(af.f32[N, M])):
    with af.for_(M) as i, af.for_(N) as j:
        B[j, i] = A[i, j]


@case(transpose, lambda r, n: (floats(r, n, n + 2, of="f4"), floats(r, n + 2, n, of="f4")))
def _(A, B):
    B[...] = A.T


@af.kernel
def matmul(A: af.strided(af.f64[M, K]), B: af.strided(af.f64[K, N]), C: af.strided(af.f64[M, N])):
    with af.for_(M) as i, af.for_(N) as j, af.for_(K) as k:
        C[i, j] += A[i, k] * B[k, j]


def _product(A, B, C):
    C += A @ B


def _factors(r: Numbers, n: int) -> tuple[np.ndarray, ...]:
    return floats(r, n, n + 1), floats(r, n + 1, 2 * n), floats(r, n, 2 * n)


case(matmul, _factors)(_product)
case(matmul.optimize("avx2", threads=2), _factors)(_product)
case(af.Schedule(matmul).tile(("i", "j", "k"), (3, 4, 5)).kernel(), _factors)(_product)


@af.kernel
def smooth(x: af.strided(af.f64[N + 2]), y: af.strided(af.f64[N])):
    with af.for_(N) as i:
        y[i] = x[i] + x[i + 1] * 2.0 + x[i + 2]


@case(smooth, lambda r, n: (floats(r, n + 2), floats(r, n)))
def _(x, y):
    y[...] = x[:-2] + 2 * x[1:-1] + x[2:]


@af.kernel
def relax(A: af.strided(af.f64[M + 2, N + 2])):
    with af.for_(1, M + 1) as i, af.for_(1, N + 1) as j:
        A[i, j] = A[i - 1, j] + A[i, j - 1] - A[i + 1, j + 1]


@case(relax, lambda r, n: (floats(r, n + 2, n + 3),))
def _(A):
    for i in range(1, A.shape[0] - 1):
        for j in range(1, A.shape[1] - 1):
            A[i, j] = A[i - 1, j] + A[i, j - 1] - A[i + 1, j + 1]


@af.kernel
def backwards(x: af.strided(af.i32[N]), y: af.strided(af.i32[N])):
    with af.for_(N) as i:
        y[i] = x[N - 1 - i]


@case(backwards, lambda r, n: (r.integers(-9, 9, n, "i4"), np.zeros(n, "i4")))
def _(x, y):
    y[...] = x[::-1]


@af.kernel
def row_sums(A: af.strided(af.i64[M, N]), s: af.strided(af.i64[M])):
    with af.for_(M) as i:
        s[i] = 0
        with af.for_(N) as j:
            s[i] += A[i, j]


@case(row_sums, lambda r, n: (r.integers(-9, 9, (n, n + 4)), np.zeros(n, "i8")))
def _(A, s):
    s[...] = A.sum(1)


@af.kernel
def largest(A: af.const(af.strided(af.f32[M, N])), m: af.strided(af.f32[()])):
    with af.for_(M) as i, af.for_(N) as j:
        m[()] = af.max(m[()], A[i, j])


@case(largest, lambda r, n: (floats(r, n, n, of="f4"), np.zeros((), "f4")))
def _(A, m):
    m[...] = A.max(initial=0)


@af.kernel
def prefix(x: af.strided(af.u32[N])):
    with af.for_(1, N) as i:
        x[i] += x[i - 1]


@case(prefix, lambda r, n: (r.integers(0, 99, n, "u4"),))
def _(x):
    x[...] = np.cumsum(x)


@af.kernel
def lower(A: af.strided(af.f64[N, N]), b: af.strided(af.f64[N])):
    with af.for_(N) as i, af.for_(i + 1) as j:
        A[i, j] += b[j]


@case(lower, lambda r, n: (floats(r, n, n), floats(r, n)))
def _(A, b):
    A += np.tril(np.broadcast_to(b, A.shape))


@af.kernel
def gather(x: af.strided(af.f64[M]), at: af.strided(af.i32[N]), y: af.strided(af.f64[N])):
    with af.for_(N) as i:
        y[i] = x[af.cast(at[i], af.index)]


@case(gather, lambda r, n: (floats(r, 5), r.integers(0, 5, n, "i4"), floats(r, n)))
def _(x, at, y):
    y[...] = x[at]


@af.kernel
def histogram(at: af.strided(af.u8[N]), h: af.strided(af.i16[4])):
    with af.for_(N) as i:
        h[af.cast(at[i], af.index)] += 1


@case(histogram, lambda r, n: (r.integers(0, 4, n, "u1"), np.zeros(4, "i2")))
def _(at, h):
    np.add.at(h, at, 1)


@af.kernel
def batched(A: af.strided(af.f32[K, M, N]), x: af.strided(af.f32[K, N]), y: af.strided(af.f32[K, M])):
    with af.parallel(K, M) as (k, i):
        y[k, i] = 0.0
        with af.for_(N) as j:
            y[k, i] += A[k, i, j] * x[k, j]


@case(batched, lambda r, n: (floats(r, 3, n, n, of="f4"), floats(r, 3, n, of="f4"), floats(r, 3, n, of="f4")))
def _(A, x, y):
    y[...] = (A @ x[:, :, None])[:, :, 0]


@af.kernel
def doubled(x: af.strided(af.f64[N])):
    y = af.alloc(af.f64[N])
    with af.for_(N) as i:
        y[i] = x[i] * 2.0
    return y


@case(doubled, lambda r, n: (floats(r, n),))
def _(x):
    return x * 2


@af.kernel
def both(A: af.strided(af.f64[M, N]), B: af.f64[M, N]):
    with af.for_(M) as i:
        with af.for_(N) as j:
            A[i, j] -= B[i, j]
        with af.for_(N) as j:
            B[i, j] = A[i, j] * A[i, j]


@case(both, lambda r, n: (floats(r, n, 3), floats(r, n, 3)))
def _(A, B):
    A -= B
    B[...] = A * A


@af.kernel
def positive(x: af.strided(af.f32[N]), y: af.strided(af.bool_[N])):
    with af.for_(N) as i:
        y[i] = x[i] > 0.0


@case(positive, lambda r, n: (floats(r, n, of="f4"), np.zeros(n, "?")))
def _(x, y):
    y[...] = x > 0


@af.kernel
def transpose_f64(A: af.strided(af.f64[M, N]), B: af.strided(af.f64[N, M])):
    with af.for_(M) as i, af.for_(N) as j:
        B[j, i] = A[i, j]


@af.kernel
def called(A: af.strided(af.f64[M, N]), B: af.f64[N, M], s: af.f64):
    work = af.alloc(af.f64[N, M])
    transpose_f64(A, B)
    transpose_f64(A, work)
    with af.for_(N) as i, af.for_(M) as j:
        A[j, i] = B[i, j] + s * work[i, j]


@case(called, lambda r, n: (floats(r, n, n + 1), floats(r, n + 1, n), 2.0))
def _(A, B, s):
    B[...] = A.T
    A[...] = B.T * (1 + s)


@af.kernel
def copied(A: af.strided(af.f32[M, N]), B: af.strided(af.f32[M, N])):
    work = af.alloc(af.f32[M, N])
    af.copy(A, work)
    with af.for_(M) as i, af.for_(N) as j:
        work[i, j] += 1.0
    af.copy(work, B)


@case(copied, lambda r, n: (floats(r, n, 5, of="f4"), floats(r, n, 5, of="f4")))
def _(A, B):
    B[...] = A + 1


@af.kernel
def collatz(x: af.strided(af.i64[N]), steps: af.strided(af.i32[N])):
    with af.for_(N) as i:
        k = af.var(af.i32(0))
        with af.while_(lambda n: n > 1, iter_args=(x[i],)) as n:
            k += 1
            af.yield_(af.select(n % 2 == 0, n // 2, 3 * n + 1))
        steps[i] = k


@case(collatz, lambda r, n: (r.integers(0, 30, n), np.zeros(n, "i4")))
def _(x, steps):
    for i, n in enumerate(map(int, x)):
        while n > 1:
            n = n // 2 if n % 2 == 0 else 3 * n + 1
            steps[i] += 1


@af.kernel
def weighted(A: af.strided(af.f64[4, N]), w: af.strided(af.f64[4]), y: af.strided(af.f64[N])):
    with af.for_(N) as j:
        y[j] = 0.0
        with af.for_(4) as k:
            y[j] += w[k] * A[k, j]


def _weighted(A, w, y):
    y[...] = w @ A


def _weights(r: Numbers, n: int) -> tuple[np.ndarray, ...]:
    return floats(r, 4, n), floats(r, 4), floats(r, n)


case(weighted, _weights)(_weighted)
case(af.Schedule(weighted).unroll("k", 4).vectorize("j", 8).kernel(), _weights)(_weighted)


@af.kernel
def life(A: af.const(af.strided(af.u8[M + 2, N + 2])), B: af.strided(af.u8[M, N])):
    with af.for_(M) as i, af.for_(N) as j:
        around = af.u8(0)
        for y in range(3):
            for x in range(3):
                if (y, x) != (1, 1):
                    around = around + A[i + y, j + x]
        B[i, j] = af.select((around == 3) | ((around == 2) & (A[i + 1, j + 1] == 1)), af.u8(1), af.u8(0))


@case(life, lambda r, n: (r.integers(0, 2, (n + 2, n + 4), "u1"), np.zeros((n, n + 2), "u1")))
def _(A, B):
    rows, columns = B.shape
    around = sum(A[y : y + rows, x : x + columns] for y in range(3) for x in range(3) if (y, x) != (1, 1))
    B[...] = (around == 3) | ((around == 2) & (A[1:-1, 1:-1] == 1))


@af.kernel
def every_other(x: af.strided(af.f32[2 * N + 1]), y: af.strided(af.f32[N])):
    with af.for_(N) as i:
        with af.if_(i % 3 == 0):
            y[i] = x[2 * i + 1]
        with af.else_():
            y[i] = x[2 * i]


@case(every_other, lambda r, n: (floats(r, 2 * n + 1, of="f4"), floats(r, n, of="f4")))
def _(x, y):
    odd = np.arange(len(y)) % 3 == 0
    y[...] = np.where(odd, x[1::2], x[:-1:2])


@af.kernel(boundscheck=True)
def checked(x: af.strided(af.f64[N]), y: af.strided(af.f64[N])):
    with af.for_(N) as i, af.for_(N) as j:
        y[i] += x[j]


@case(checked, lambda r, n: (floats(r, n), floats(r, n)))
def _(x, y):
    y += x.sum()


def on_vectors(kernel: af.Kernel, step: Callable[[af.Schedule], af.Schedule]) -> None:
    """A kernel once more, after a step."""
    of = next(of for of in CASES if of.kernel is kernel)
    CASES.append(replace(of, kernel=step(af.Schedule(kernel)).kernel()))


on_vectors(smooth, lambda s: s.vectorize("i", 4))
on_vectors(smooth, lambda s: s.vectorize("i", 8, tail="masked"))
on_vectors(backwards, lambda s: s.vectorize("i", 4, tail="masked"))
on_vectors(every_other, lambda s: s.vectorize("i", 8))
on_vectors(life, lambda s: s.vectorize("j", 16))
on_vectors(lower, lambda s: s.vectorize("j", 4))
on_vectors(row_sums, lambda s: s.scalar_replace("j").vectorize("j", 4))
on_vectors(transpose, lambda s: s.vectorize("i", 8))
on_vectors(gather, lambda s: s.vectorize("i", 4))
for kernel in (axpy, smooth, relax, row_sums, batched, both, life):
    of = next(of for of in CASES if of.kernel is kernel)
    CASES.append(replace(of, kernel=kernel.optimize("avx2", threads=2)))
