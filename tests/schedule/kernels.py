"""Kernels to schedule, and what is asked of schedules: replays, equal results, advice."""

from collections.abc import Callable

import numpy as np
import pytest

import affdsl as af

M, N, K = af.symbols("M N K")


@af.kernel
def matmul(A: af.f32[M, K], B: af.f32[K, N], C: af.f32[M, N]):
    with af.for_(M) as i, af.for_(N) as j:
        C[i, j] = 0.0
        with af.for_(K) as k:
            C[i, j] += A[i, k] * B[k, j]


@af.kernel
def gemm_rows(A: af.f32[M, K], B: af.f32[K, N], C: af.f32[M, N]):
    with af.for_(M) as i, af.for_(N) as j, af.for_(K) as k:
        C[i, j] += A[i, k] * B[k, j]


@af.kernel
def jacobi(A: af.f64[N], B: af.f64[N], steps: af.index):
    with af.for_(steps) as t:  # noqa: F841 - the name of the loop
        with af.for_(1, N - 1) as i:
            B[i] = (A[i - 1] + A[i] + A[i + 1]) / 3
        with af.for_(1, N - 1) as j:
            A[j] = B[j]


@af.kernel
def sweep(A: af.f64[N, N], steps: af.index):
    with af.for_(steps) as t, af.for_(1, N - 1) as i, af.for_(1, N - 1) as j:  # noqa: F841 - the name of the loop
        A[i, j] = (A[i - 1, j] + A[i, j - 1] + A[i, j] + A[i, j + 1] + A[i + 1, j]) / 5


@af.kernel
def blocked(A: af.f64[M, N], T: af.index):
    af.assume(T >= 1, T < 2**31)
    with af.for_(M) as i, af.for_(N) as j:
        A[i, j] += 1.0


@af.kernel
def buffered(A: af.f64[N, 8], B: af.f64[N, 8]):
    t = af.alloc(af.f64[8])
    with af.for_(N) as i:
        with af.for_(8) as k:
            t[k] = A[i, k] * 2
        with af.for_(8) as m:
            B[i, m] += t[7 - m]


@af.kernel
def scaled(A: af.f32[M, K], B: af.f32[K, N], C: af.f32[M, N], beta: af.f32):
    with af.for_(M) as i, af.for_(N) as j:
        C[i, j] = beta * C[i, j]
        with af.for_(K) as k:
            C[i, j] += A[i, k] * B[k, j]


@af.kernel
def scaled_often(A: af.f32[M, K], B: af.f32[K, N], C: af.f32[M, N], beta: af.f32):
    af.assume(K >= 1)
    with af.for_(M) as i, af.for_(N) as j:
        C[i, j] = beta * C[i, j]
        with af.for_(K) as k:
            C[i, j] += A[i, k] * B[k, j]


@af.kernel
def solve(L: af.f64[N, N], x: af.f64[N]):
    with af.for_(N) as i:
        with af.for_(i) as j:
            x[i] -= L[i, j] * x[j]
        x[i] /= L[i, i]


@af.kernel
def summed(A: af.f64[N, M], S: af.f64[1]):
    with af.for_(N) as i, af.for_(M) as j:
        S[0] += A[i, j]


KERNELS = """import affdsl as af
M, N = af.symbols("M N")

@af.kernel
def twice(A: af.f64[M, N], T: af.index):
    with af.for_(M) as i, af.for_(N) as j:
        A[i, j] *= 2
    with af.for_(M) as i, af.for_(1, N) as j:
        A[i, j] += A[i, j - 1]
    with af.parallel(M) as row:
        A[row, 0] = 0.0
    with af.for_(M):
        A[0, 0] += 1
"""


LOOPS = """\
        i#1 = 0 to M           kernels.py:6
          j#1 = 0 to N         kernels.py:6
        i#2 = 0 to M           kernels.py:8
          j#2 = 1 to N         kernels.py:8
        parallel row = 0 to M  kernels.py:10
        i#3 = 0 to M           kernels.py:12"""
"""The loops of twice, as messages show them."""


def replayed(schedule: af.Schedule) -> af.Kernel:
    """The kernel of what a schedule prints."""
    found: dict[str, object] = {}
    exec(str(schedule), found)
    (made,) = (value for value in found.values() if isinstance(value, af.Schedule))
    return made.kernel()


def run_both(kernel: af.Kernel, tuned: af.Kernel, *arguments: object) -> None:
    """Both kernels, compiled and interpreted, make the same of copies of the arguments, to the last bit."""
    results = []
    for call in (kernel, tuned, kernel.interpret, tuned.interpret):
        given = [np.copy(x) if isinstance(x, np.ndarray) else x for x in arguments]
        call(*given)
        results.append([x for x in given if isinstance(x, np.ndarray)])
    for other in results[1:]:
        for a, b in zip(results[0], other, strict=True):
            assert a.tobytes() == b.tobytes()


def advised(step: Callable[[], object]) -> str:
    """What is legal instead of a step."""
    with pytest.raises(af.IllegalTransform) as caught:
        step()
    return caught.value.alternative
