"""Kernels whose annotations are text until the kernel is made: this module postpones all of them."""

from __future__ import annotations

import affdsl as af

N = af.symbols("N")


@af.kernel
def double(A: af.f64[N]):
    with af.for_(N) as i:
        A[i] *= 2.0


def scaled(dtype: af.DType, count: int, factor: float) -> af.Kernel:
    """A kernel whose annotations name variables that only this function has, and that the body does not read."""
    M = af.symbols("M")
    Row = dtype[M, count]

    @af.kernel
    def scale(A: Row, first: dtype[count]):
        with af.for_(A.shape[0]) as i, af.for_(A.shape[1]) as j:
            A[i, j] = factor * A[i, j] + first[j]

    return scale


class Filter:
    """Kernels as methods: what an object holds is a constant of its kernel."""

    K = af.symbols("K")

    def __init__(self, weights: list[float]) -> None:
        self.weights = weights

    @af.kernel
    def apply(self, A: af.f64[K], B: af.f64[K]):
        with af.for_(len(self.weights) // 2, A.shape[0] - len(self.weights) // 2) as i:
            B[i] = 0.0
            for n, weight in enumerate(self.weights):
                B[i] += weight * A[i + n - len(self.weights) // 2]

    @staticmethod
    @af.kernel
    def negate(A: af.f64[N]):
        with af.for_(N) as i:
            A[i] = -A[i]


def unknown() -> None:
    """A kernel with a name that nothing has."""

    @af.kernel
    def f(A: af.f64[Unknown]):  # noqa: F821
        A[0] = 0.0


def wrong() -> None:
    """A kernel with a size that is no size."""

    @af.kernel
    def f(A: af.f64[N, 2.5]):
        A[0, 0] = 0.0
