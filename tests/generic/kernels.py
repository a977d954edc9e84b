"""Kernels for several types, and the same in NumPy. Floats are small whole numbers, so that sums are exact in all."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

import affdsl as af
from affdsl.lang.dtypes import DType

K, L, M, N = af.symbols("K L M N")
T = af.dtypes("T", af.f32, af.f64)
U = af.dtypes("U", af.f32, af.f64, af.i32)
Float = af.dtypes("Float", af.f16, af.f32, af.f64)
Any = af.dtypes("Any", af.f32, af.f64, af.i32, af.i64, af.u8, af.c64, af.c128)
Whole = af.dtypes("Whole", af.i8, af.i32, af.i64, af.u8, af.u16, af.u64)
Complex = af.dtypes("Complex", af.c64, af.c128)

Draw = Callable[..., np.ndarray]
Arguments = Callable[..., tuple[object, ...]]
"""Arguments of a kernel, by what draws an array of a shape and a type, a size, and the key of the kernel."""


@dataclass(frozen=True)
class Case:
    """A family, what does the same in NumPy, and arguments for a size and for the types of one of its kernels."""

    family: af.Family
    wanted: Callable[..., object]
    arguments: Arguments

    def __str__(self) -> str:
        return self.family.name

    def drawn(self, seed: int, size: int, key: tuple[object, ...]) -> tuple[object, ...]:
        """Arguments of the kernel for some types."""
        random = np.random.default_rng(seed)

        def draw(dtype: np.dtype, *shape: int) -> np.ndarray:
            low = 0 if dtype.kind == "u" else -3
            made = random.integers(low, 4, shape)
            return (made + 1j * random.integers(-3, 4, shape) if dtype.kind == "c" else made).astype(dtype)

        return self.arguments(draw, size, *(x.numpy if isinstance(x, DType) else x for x in key))


CASES: list[Case] = []


def case(family: af.Kernel, arguments: Arguments):
    """Says that the function below does the same as a family."""

    def made(wanted: Callable[..., object]) -> Callable[..., object]:
        assert isinstance(family, af.Family)
        CASES.append(Case(family, wanted, arguments))
        return wanted

    return made


@af.kernel
def axpy(a: Any, x: Any[N], y: Any[N]):
    with af.for_(N) as i:
        y[i] += a * x[i]


@case(axpy, lambda draw, n, t: (t.type(3), draw(t, n), draw(t, n)))
def _(a, x, y):
    y += a * x


@af.kernel
def dot(x: af.const(Any[N]), y: af.const(Any[N])):
    total = af.var(Any(0))
    with af.for_(N) as i:
        total += x[i] * y[i]
    return total


@case(dot, lambda draw, n, t: (draw(t, n), draw(t, n)))
def _(x, y):
    return (x * y).sum(dtype=x.dtype)


@af.kernel
def norms(x: Float[M, N], out: Float[M]):
    with af.for_(M) as i:
        with af.for_(N, iter_args=Float(0)) as (j, s):
            af.yield_(s + x[i, j] * x[i, j])
        out[i] = af.sqrt(s)


@case(norms, lambda draw, n, t: (draw(t, n, 1), draw(t, n)))
def _(x, out):
    out[:] = np.abs(x).sum(axis=1)


@af.kernel
def gemm(A: T[M, K], B: T[K, N], C: T[M, N], alpha: T = 1):
    with af.for_(M) as i, af.for_(N) as j, af.for_(K) as k:
        C[i, j] += alpha * A[i, k] * B[k, j]


@case(gemm, lambda draw, n, t: (draw(t, n, n + 1), draw(t, n + 1, 3), draw(t, n, 3), 2.0))
def _(A, B, C, alpha):
    C += A.dtype.type(alpha) * (A @ B)


@af.kernel
def mixed_product(A: T[M, K], B: U[K, N], C: af.f64[M, N]):
    with af.for_(M) as i, af.for_(N) as j, af.for_(K) as k:
        C[i, j] += af.f64(A[i, k]) * af.f64(B[k, j])


@case(mixed_product, lambda draw, n, t, u: (draw(t, n, 2), draw(u, 2, n), draw(np.dtype("f8"), n, n)))
def _(A, B, C):
    C += A.astype("f8") @ B.astype("f8")


@af.kernel
def heat(A: Float[M, N], B: Float[M, N]):
    with af.for_(1, M - 1) as i, af.for_(1, N - 1) as j:
        B[i, j] = (A[i - 1, j] + A[i + 1, j] + A[i, j - 1] + A[i, j + 1]) * 0.25


@case(heat, lambda draw, n, t: (draw(t, n, n + 2), draw(t, n, n + 2)))
def _(A, B):
    B[1:-1, 1:-1] = (A[:-2, 1:-1] + A[2:, 1:-1] + A[1:-1, :-2] + A[1:-1, 2:]) * A.dtype.type(0.25)


@af.kernel
def converted(x: Any[N], y: T[N]):
    with af.for_(N) as i:
        y[i] = T(x[i].real if Any.kind == "complex" else x[i])


@case(converted, lambda draw, n, a, t: (draw(a, n), draw(t, n)))
def _(x, y):
    y[:] = x.real.astype(y.dtype)


@af.kernel
def sums(x: Any[N]):
    made = af.alloc(Any[N])
    running = af.var(Any(0))
    with af.for_(N) as i:
        running += x[i]
        made[i] = running
    return made


@case(sums, lambda draw, n, t: (draw(t, n),))
def _(x):
    return np.cumsum(x, dtype=x.dtype)


@af.kernel
def clamp(x: Whole[N], low: Whole, high: Whole):
    with af.for_(N) as i:
        x[i] = af.max(low, af.min(x[i], high))


@case(clamp, lambda draw, n, t: (draw(t, n), t.type(1), t.type(2)))
def _(x, low, high):
    np.clip(x, low, high, out=x)


@af.kernel
def bits(x: Whole[N], y: Whole[N]):
    with af.for_(N) as i:
        y[i] = (x[i] << 1) ^ y[i]


@case(bits, lambda draw, n, t: (draw(t, n), draw(t, n)))
def _(x, y):
    y[:] = (x << x.dtype.type(1)) ^ y


@af.kernel
def histogram(at: Whole[N], counts: T[8]):
    with af.for_(N) as i:
        counts[af.i64(at[i]) & 7] += 1


@case(histogram, lambda draw, n, w, t: (draw(w, n), draw(t, 8)))
def _(at, counts):
    np.add.at(counts, at.astype("i8") & 7, 1)


@af.kernel
def rotate(z: Complex[N], w: Complex[N]):
    with af.for_(N) as i:
        w[i] = z[i] * af.complex(Complex(0).real, Complex(1).real)


@case(rotate, lambda draw, n, t: (draw(t, n), draw(t, n)))
def _(z, w):
    w[:] = z * z.dtype.type(1j)


@af.kernel
def columns(A: af.strided(T[M, N]), out: T[N]):
    with af.for_(N) as j:
        out[j] = 0
        with af.for_(M) as i:
            out[j] += A[i, j]


@case(columns, lambda draw, n, t: (draw(t, 3, 2 * n)[::-1, ::2], draw(t, n)))
def _(A, out):
    out[:] = A.sum(axis=0, dtype=A.dtype)


@af.kernel
def chosen(x: af.f32[N] | af.f64[N], y: af.f64[N] | af.f32[N], a: af.f32 | af.f64):
    with af.for_(N) as i, af.if_(x[i] > 0):
        y[i] = a * x[i]


@case(chosen, lambda draw, n, t: (draw(t, n), draw(t, n), 2.0))
def _(x, y, a):
    y[x > 0] = x.dtype.type(a) * x[x > 0]


@af.kernel
def widened(x: T[N], y: T[N]):
    unit = af.f64(1) if af.f64 == T else af.f32(2)
    with af.for_(N) as i:
        y[i] = x[i] * unit


@case(widened, lambda draw, n, t: (draw(t, n), draw(t, n)))
def _(x, y):
    y[:] = x * x.dtype.type(1 if x.dtype == np.float64 else 2)


@af.kernel
def twice_axpy(x: T[N], y: T[N], z: af.f64[N]):
    axpy(2, x, y)
    axpy(1.0, z, y) if af.f64 == T else axpy(T(1), x, y)


@case(twice_axpy, lambda draw, n, t: (draw(t, n), draw(t, n), draw(np.dtype("f8"), n)))
def _(x, y, z):
    y += 2 * x
    y += z if y.dtype == np.float64 else x


@af.kernel
def scaled(x: Any[...], y: Any[...]):
    with af.elements(x) as e:
        y[e] = 3 * x[e] + y[e]


def _shape(n: int, rank: int) -> tuple[int, ...]:
    return (n, 2, 3, 1)[:rank]


@case(scaled, lambda draw, n, t, rank: (draw(t, *_shape(n, rank)), draw(t, *_shape(n, rank))))
def _(x, y):
    y[...] = x.dtype.type(3) * x + y


@af.kernel
def largest(x: T[...], at: af.i64[...]):
    best = af.alloc(T[...])
    with af.elements(x) as e:
        best[e] = af.max(x[e], T(1))
    with af.elements(best) as e:
        at[e] = af.i64(best[e])
        for index in e:
            at[e] += af.i64(index)


@case(largest, lambda draw, n, t, rank: (draw(t, *_shape(n, rank)), draw(np.dtype("i8"), *_shape(n, rank))))
def _(x, at):
    at[...] = np.maximum(x, 1).astype("i8") + sum(np.indices(x.shape), start=np.zeros(x.shape, "i8"))
