"""Kernels that are slow for one reason each, and the machine that their reports are about."""

import numpy as np

import affdsl as af
from affdsl.codegen.roofline import Level, Roofline

M, N = af.symbols("M N")


@af.kernel
def clamped(x: af.f32[N], y: af.f32[N]):
    with af.for_(N) as i:
        y[i] = x[i] + x[af.min(i + 1, N - 1)]


@af.kernel
def limited(x: af.f64[N], y: af.f64[N]):
    with af.for_(1, N) as i:
        y[i] = af.max(af.min(y[i - 1] + x[i], 1.0), 0.0)


@af.kernel
def summed(x: af.f32[M, N], y: af.f32[M]):
    with af.for_(M) as i, af.for_(N) as j:
        y[i] += x[i, j]


@af.kernel
def mixed(x: af.f32[N], w: af.f64[N], y: af.f32[N]):
    with af.for_(N) as i:
        y[i] = af.f32(af.f64(x[i]) * w[i] + 0.1)


@af.kernel
def by_columns(A: af.f64[M, N], B: af.f64[N, M]):
    with af.for_(N) as i, af.for_(M) as j:
        B[i, j] = A[j, i] * 2.0


@af.kernel
def divided(x: af.f64[N], d: af.f64, y: af.f64[N]):
    with af.for_(N) as i:
        y[i] = x[i] / d


@af.kernel
def looked_up(table: af.f32[M], at: af.i32[N], y: af.f32[N]):
    with af.for_(N) as i:
        y[i] = table[at[i]]


@af.kernel
def plain(x: af.f32[N], y: af.f32[N]):
    with af.for_(N) as i:
        y[i] = x[i] + 1.0


@af.kernel
def seidel(A: af.f64[N, N], steps: af.index):
    with af.for_(steps) as t, af.for_(1, N - 1) as i, af.for_(1, N - 1) as j:  # noqa: F841
        A[i, j] = (A[i - 1, j] + A[i, j - 1] + A[i + 1, j]) * 0.25


@af.kernel
def repeated(A: af.f64[N, N], B: af.f64[N, N], steps: af.index):
    with af.for_(steps) as t:  # noqa: F841
        with af.for_(1, N - 1) as i, af.for_(1, N - 1) as j:
            B[i, j] = (A[i - 1, j] + A[i + 1, j]) * 0.5
        with af.for_(1, N - 1) as i, af.for_(1, N - 1) as j:
            A[i, j] = B[i, j]


@af.kernel
def flat(A: af.f64[M * N], m: M, n: N):
    with af.for_(M) as i, af.for_(N) as j:
        A[i * N + j] += 1.0


LEVELS = (
    Level("L1", 32 << 10, 1e11),
    Level("L2", 512 << 10, 5e10),
    Level("L3", 16 << 20, 3e10),
    Level("memory", None, 1e10),
)


def machine(threads, *, again=False):
    """A roofline that nobody has to measure."""
    return Roofline(threads, {"f32": 1e11 * threads, "f64": 5e10 * threads}, LEVELS)


def arguments(kernel, size=24):
    """Arguments of one of these kernels."""
    random = np.random.default_rng(7)
    given = []
    for p in kernel.program.parameters:
        if p.name == "steps":
            given.append(3)
        elif p.name == "d":
            given.append(1.7)
        elif p.name == "at":
            given.append(random.integers(0, size, size).astype("i4"))
        else:
            given.append(random.random((size,) * len(p.type.shape)).astype(p.type.dtype.numpy))
    return tuple(given)
