"""Kernels on complex numbers from many fields, each with what NumPy computes and with arguments to draw."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

import affdsl as af

K, L, M, N = af.symbols("K L M N")
Arguments = list[object]


@dataclass(frozen=True)
class Case:
    """A kernel, the function of NumPy that does the same to its arguments, and arguments of a size."""

    kernel: af.Kernel
    wanted: Callable[..., object]
    drawn: Callable[[np.random.Generator, int], Arguments]
    single: bool = False

    @property
    def tolerance(self) -> float:
        """How far results may be from NumPy's, which adds up in another order, beside the largest of them."""
        return 2e-5 if self.single else 1e-11

    def __str__(self) -> str:
        return self.kernel.name


def c128(rng: np.random.Generator, *shape: int) -> np.ndarray:
    return rng.standard_normal(shape) + 1j * rng.standard_normal(shape)


def c64(rng: np.random.Generator, *shape: int) -> np.ndarray:
    return c128(rng, *shape).astype(np.complex64)


@af.kernel
def butterfly(x: af.c128[2 * N], w: af.const(af.c128[N])):
    with af.for_(N) as i:
        t = w[i] * x[i + N]
        x[i + N] = x[i] - t
        x[i] += t


def wanted_butterfly(x, w):
    n = len(w)
    t = w * x[n:]
    x[n:] = x[:n] - t
    x[:n] += t


@af.kernel
def dft(x: af.const(af.c128[N]), y: af.c128[N], sign: af.f64):
    with af.for_(N) as k:
        with af.for_(N, iter_args=af.c128(0)) as (n, s):
            angle = sign * 6.283185307179586 * af.f64(k) * af.f64(n) / af.f64(N)
            af.yield_(s + x[n] * af.complex(af.cos(angle), af.sin(angle)))
        y[k] = s


def wanted_dft(x, y, sign):
    y[:] = (np.fft.fft(x) if sign < 0 else np.fft.ifft(x, norm="forward")) if len(x) else x


@af.kernel
def gemm(alpha: af.c64, A: af.c64[M, K], B: af.c64[K, N], C: af.c64[M, N]):
    with af.for_(M) as i, af.for_(N) as j:
        C[i, j] = 0
        with af.for_(K) as k:
            C[i, j] += alpha * A[i, k] * B[k, j]


def wanted_gemm(alpha, A, B, C):
    C[...] = alpha * (A @ B)


@af.kernel
def mandelbrot(points: af.const(af.c128[M, N]), counts: af.i64[M, N], limit: af.i64 = 30):
    with af.for_(M) as i, af.for_(N) as j:
        c, start = points[i, j], [af.c128(0), af.i64(0)]
        with af.while_(lambda z, n: (n < limit) & (z.real * z.real + z.imag * z.imag <= 4), iter_args=start) as (z, n):
            af.yield_(z * z + c, n + 1)
        counts[i, j] = n


def wanted_mandelbrot(points, counts, limit=30):
    for place in np.ndindex(points.shape):
        z, n = 0j, 0
        while n < limit and z.real * z.real + z.imag * z.imag <= 4:
            z = z * z + complex(points[place])
            n += 1
        counts[place] = n


TAPS = np.array([0.5 - 0.25j, 1j, -0.125, 2 + 1j], np.complex64)


@af.kernel
def fir(x: af.const(af.c64[N + 3]), y: af.c64[N]):
    taps = af.constant(TAPS)
    with af.for_(N) as i:
        s = af.var(af.c64(0))
        with af.for_(4) as k:
            s += taps[k] * x[i + k]
        y[i] = s


def wanted_fir(x, y):
    y[:] = sum(TAPS[k] * x[k : len(y) + k] for k in range(4))


@af.kernel
def hermitian(x: af.c128[N], y: af.c128[N]):
    with af.for_(N, iter_args=af.c128(0)) as (i, s):
        af.yield_(s + x[i].conj() * y[i])
    return s


@af.kernel
def rotate(x: af.strided(af.c64[N]), angle: af.f32):
    turn = af.complex(af.cos(angle), af.sin(angle))
    with af.parallel(N) as i:
        x[i] *= turn


def wanted_rotate(x, angle):
    x *= np.complex64(np.exp(1j * angle))


@af.kernel
def spectrum(x: af.const(af.c128[N]), power: af.f64[N], level: af.f64[N], phase: af.f64[N]):
    with af.for_(N) as i:
        power[i] = (x[i] * af.conj(x[i])).real
        level[i] = af.abs(x[i])
        phase[i] = af.angle(x[i])


def wanted_spectrum(x, power, level, phase):
    power[:], level[:], phase[:] = abs(x) ** 2, abs(x), np.angle(x)


@af.kernel
def lu(A: af.c128[N, N]):
    with af.for_(N) as k, af.for_(k + 1, N) as i:
        A[i, k] /= A[k, k]
        with af.for_(k + 1, N) as j:
            A[i, j] -= A[i, k] * A[k, j]


def wanted_lu(A):
    for k in range(len(A)):
        A[k + 1 :, k] /= A[k, k]
        A[k + 1 :, k + 1 :] -= np.outer(A[k + 1 :, k], A[k, k + 1 :])


@af.kernel
def horner(coefficients: af.const(af.c64[M]), x: af.c64[N]):
    with af.for_(N) as i:
        total = af.var(af.c64(0))
        with af.for_(M) as k:
            total.set(total * x[i] + coefficients[k])
        x[i] = total


def wanted_horner(coefficients, x):
    x[:] = np.polyval(coefficients, x) if len(coefficients) else 0


@af.kernel
def tridiagonal(a: af.c128[N], b: af.c128[N], c: af.c128[N], d: af.c128[N]):
    with af.for_(1, N) as i:
        w = a[i] / b[i - 1]
        b[i] -= w * c[i - 1]
        d[i] -= w * d[i - 1]
    with af.if_(N >= 1):
        d[N - 1] /= b[N - 1]
    with af.for_(1, N) as i:
        d[N - 1 - i] = (d[N - 1 - i] - c[N - 1 - i] * d[N - i]) / b[N - 1 - i]


def wanted_tridiagonal(a, b, c, d):
    n = len(a)
    for i in range(1, n):
        w = a[i] / b[i - 1]
        b[i] -= w * c[i - 1]
        d[i] -= w * d[i - 1]
    for i in reversed(range(n)):
        d[i] = (d[i] - (c[i] * d[i + 1] if i + 1 < n else 0)) / b[i]


@af.kernel
def exchange(re: af.strided(af.f64[M, N]), im: af.strided(af.f64[M, N]), out: af.strided(af.c128[M, N])):
    with af.for_(M) as i, af.for_(N) as j:
        out[i, j] = af.complex(im[i, j], re[i, j])
        re[i, j] = -im[i, j]


def wanted_exchange(re, im, out):
    out.real, out.imag = im, re
    re[...] = -im


def drawn_exchange(rng: np.random.Generator, n: int) -> Arguments:
    z = c128(rng, n, 5)
    return [z.real, z.imag, c128(rng, 5, n).T]


@af.kernel
def inverses(A: af.const(af.c64[N, 2, 2]), B: af.c64[N, 2, 2]):
    with af.for_(N) as n:
        a, b, c, d = A[n, 0, 0], A[n, 0, 1], A[n, 1, 0], A[n, 1, 1]
        scale = 1 / (a * d - b * c)
        B[n, 0, 0] = d * scale
        B[n, 0, 1] = -b * scale
        B[n, 1, 0] = -c * scale
        B[n, 1, 1] = a * scale


def wanted_inverses(A, B):
    B[...] = np.linalg.inv(A)


@af.kernel
def helmholtz(u: af.c128[M + 2, N + 2], f: af.const(af.c128[M + 2, N + 2]), k2: af.c128, steps: af.index):
    v = af.alloc(af.c128[M + 2, N + 2])
    with af.for_(steps):
        af.copy(u, v)
        with af.for_(1, M + 1) as i, af.for_(1, N + 1) as j:
            around = v[i - 1, j] + v[i + 1, j] + v[i, j - 1] + v[i, j + 1]
            u[i, j] = (around - f[i, j]) / (4 - k2)


def wanted_helmholtz(u, f, k2, steps):
    for _ in range(steps):
        v = u.copy()
        around = v[:-2, 1:-1] + v[2:, 1:-1] + v[1:-1, :-2] + v[1:-1, 2:]
        u[1:-1, 1:-1] = (around - f[1:-1, 1:-1]) / (4 - k2)


@af.kernel
def elementary(x: af.const(af.c64[N]), y: af.c64[N, 9]):
    with af.for_(N) as i:
        z = x[i]
        y[i, 0] = af.exp(z)
        y[i, 1] = af.log(z)
        y[i, 2] = af.sqrt(z)
        y[i, 3] = af.sin(z)
        y[i, 4] = af.cos(z)
        y[i, 5] = af.tan(z)
        y[i, 6] = af.tanh(z)
        y[i, 7] = af.pow(z, 0.5 - 1j)
        y[i, 8] = z**-3


def wanted_elementary(x, y):
    z = x.astype(np.complex128)
    columns = (np.exp(z), np.log(z), np.sqrt(z), np.sin(z), np.cos(z), np.tan(z), np.tanh(z), z ** (0.5 - 1j), z**-3)
    y[...] = np.stack(columns, axis=1)


@af.kernel
def larger(x: af.c128[N], y: af.c64[N], same: af.bool_[N]):
    with af.for_(N) as i:
        wide = af.c128(y[i])
        same[i] = x[i] == wide
        with af.if_(af.abs(x[i]) < af.abs(wide)):
            x[i] = -wide
        y[i] = af.c64(af.select(x[i] != 0, x[i], 1 + 2j))


def wanted_larger(x, y, same):
    same[:] = x == y
    x[:] = np.where(abs(x) < abs(y.astype(np.complex128)), -y, x)
    y[:] = np.where(x != 0, x, 1 + 2j)


def halves(rng: np.random.Generator, n: int) -> Arguments:
    x = (rng.integers(-1, 2, n) + 1j * rng.integers(-1, 2, n)) / 2
    return [x, np.roll(x, 1).astype(np.complex64), np.zeros(n, bool)]


def diagonal(rng: np.random.Generator, n: int) -> np.ndarray:
    """A matrix for which no step of an elimination divides by a small number."""
    return c128(rng, n, n) + 4 * n * np.eye(n)


CASES = (
    Case(butterfly, wanted_butterfly, lambda rng, n: [c128(rng, 2 * n), c128(rng, n)]),
    Case(dft, wanted_dft, lambda rng, n: [c128(rng, n), c128(rng, n), -1.0]),
    Case(gemm, wanted_gemm, lambda rng, n: [1 - 2j, c64(rng, n, 3), c64(rng, 3, n), c64(rng, n, n)], single=True),
    Case(mandelbrot, wanted_mandelbrot, lambda rng, n: [c128(rng, n, 3), np.zeros((n, 3), np.int64)]),
    Case(fir, wanted_fir, lambda rng, n: [c64(rng, n + 3), c64(rng, n)], single=True),
    Case(hermitian, np.vdot, lambda rng, n: [c128(rng, n), c128(rng, n)]),
    Case(rotate, wanted_rotate, lambda rng, n: [c64(rng, 2 * n)[::-2], 0.7], single=True),
    Case(spectrum, wanted_spectrum, lambda rng, n: [c128(rng, n), *rng.random((3, n))]),
    Case(lu, wanted_lu, lambda rng, n: [diagonal(rng, n)]),
    Case(horner, wanted_horner, lambda rng, n: [c64(rng, 4), c64(rng, n)], single=True),
    Case(tridiagonal, wanted_tridiagonal, lambda rng, n: [c128(rng, n), c128(rng, n) + 4, *c128(rng, 2, n)]),
    Case(exchange, wanted_exchange, drawn_exchange),
    Case(inverses, wanted_inverses, lambda rng, n: [c64(rng, n, 2, 2) + 3 * np.eye(2, dtype="c8"), c64(rng, n, 2, 2)],
         single=True),
    Case(helmholtz, wanted_helmholtz, lambda rng, n: [c128(rng, n + 2, 5), c128(rng, n + 2, 5), 0.5 + 1j, 3]),
    Case(elementary, wanted_elementary, lambda rng, n: [c64(rng, n), c64(rng, n, 9)], single=True),
    Case(larger, wanted_larger, halves),
)  # fmt: skip
