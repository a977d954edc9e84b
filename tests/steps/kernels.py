"""Kernels around a chain of steps: one for each situation that a verb needs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import affdsl as af
from tests.steps.shapes import Shape

M, N, K = af.symbols("M N K")
Situation = Callable[[Shape, int], af.Kernel]
"""A kernel by the shape and the number of its steps."""


def nest(shape: Shape, n: int) -> af.Kernel:
    """One element of the result by one iteration of two loops."""
    T: Any = shape.dtype

    @af.kernel
    def chain(x: T[M, N], a: T[M, N], y: T[M, N]) -> None:
        with af.for_(M) as i, af.for_(N) as j:
            y[i, j] = shape.chain(x[i, j], a[i, j], j, n)

    return chain


def row(shape: Shape, n: int) -> af.Kernel:
    """One loop of constant length."""
    T: Any = shape.dtype

    @af.kernel
    def chain(x: T[4], a: T[4], y: T[4]) -> None:
        with af.for_(4) as j:
            y[j] = shape.chain(x[j], a[j], j, n)

    return chain


def stages(shape: Shape, n: int) -> af.Kernel:
    """A local array between two nests, each of them with a chain."""
    T: Any = shape.dtype

    @af.kernel
    def chain(x: T[M, N], a: T[M, N], y: T[M, N]) -> None:
        t = af.alloc(T[M, N])
        with af.for_(M) as i, af.for_(N) as j:
            t[i, j] = shape.chain(x[i, j], a[i, j], j, n)
        with af.for_(M - 1) as p, af.for_(N) as q:
            y[p, q] = shape.chain(t[p, q], t[p + 1, q], q, n)

    return chain


def mapped(shape: Shape, n: int) -> af.Kernel:
    """A local array that a chain makes, and that is read at two places."""
    T: Any = shape.dtype

    @af.kernel
    def chain(x: T[M, N], a: T[M, N], y: T[M, N]) -> None:
        t = af.alloc(T[M, N])
        with af.for_(M) as i, af.for_(N) as j:
            t[i, j] = shape.chain(x[i, j], a[i, j], j, n)
        with af.for_(M - 1) as p, af.for_(N) as q:
            y[p, q] = t[p, q] + t[p + 1, q]

    return chain


def pieces(shape: Shape, n: int) -> af.Kernel:
    """Two chains in one body, the second one of what the first one stores."""
    T: Any = shape.dtype

    @af.kernel
    def chain(x: T[M, N], a: T[M, N], y: T[M, N], z: T[M, N]) -> None:
        with af.for_(M) as i, af.for_(N) as j:
            y[i, j] = shape.chain(x[i, j], a[i, j], j, n)
            z[i, j] = shape.chain(y[i, j], a[i, j], j, n)

    return chain


def buffered(shape: Shape, n: int) -> af.Kernel:
    """A local row that each iteration of the outer loop makes anew."""
    T: Any = shape.dtype

    @af.kernel
    def chain(x: T[M, N], a: T[M, N], y: T[M, N]) -> None:
        t = af.alloc(T[N])
        with af.for_(M) as i:
            with af.for_(N) as j:
                t[j] = shape.chain(x[i, j], a[i, j], j, n)
            with af.for_(1, N) as k:
                y[i, k] = shape.chain(t[k], t[k - 1], k, n)

    return chain


def beside(shape: Shape, n: int) -> af.Kernel:
    """A chain beside an inner loop, which uses it: what hoist makes, and sink takes back."""
    T: Any = shape.dtype

    @af.kernel
    def chain(x: T[M], a: T[M], y: T[M, N]) -> None:
        af.assume(N >= 1)
        with af.for_(M) as i:
            v = shape.chain(x[i], a[i], i, n)
            with af.for_(N) as j:
                y[i, j] = v

    return chain


def invariant(shape: Shape, n: int) -> af.Kernel:
    """A chain inside of a loop that it does not depend on."""
    T: Any = shape.dtype

    @af.kernel
    def chain(x: T[M], a: T[M], y: T[M, N]) -> None:
        with af.for_(M) as i, af.for_(N) as j:
            y[i, j] = shape.chain(x[i], a[i], i, n)

    return chain


def carried(shape: Shape, n: int) -> af.Kernel:
    """A loop that carries a value, which n steps make of the last one."""
    T: Any = shape.dtype

    @af.kernel
    def chain(x: T[M, N], y: T[M]) -> None:
        with af.for_(M) as i:
            with af.for_(N, iter_args=T(1)) as (j, v):
                af.yield_(shape.chain(v, x[i, j], j, n))
            y[i] = v

    return chain


def summed(shape: Shape, n: int) -> af.Kernel:
    """A sum in memory of what chains make."""
    T: Any = shape.dtype

    @af.kernel
    def chain(x: T[M, N], a: T[M, N], y: T[M]) -> None:
        with af.for_(M) as i, af.for_(N) as j:
            y[i] += shape.chain(x[i, j], a[i, j], j, n)

    return chain


def variable(shape: Shape, n: int) -> af.Kernel:
    """A variable that is stored in the end."""
    T: Any = shape.dtype

    @af.kernel
    def chain(x: T[M, N], a: T[M, N], y: T[M]) -> None:
        with af.for_(M) as i:
            total = af.var(T(0))
            with af.for_(N) as j:
                total += shape.chain(x[i, j], a[i, j], j, n)
            y[i] = total

    return chain


def imperfect(shape: Shape, n: int) -> af.Kernel:
    """A statement with a chain beside an inner loop with one."""
    T: Any = shape.dtype

    @af.kernel
    def chain(x: T[M, N], a: T[M, N], y: T[M], z: T[M]) -> None:
        af.assume(N >= 1)
        with af.for_(M) as i:
            z[i] = shape.chain(x[i, 0], a[i, 0], i, n)
            with af.for_(N) as j:
                y[i] += shape.chain(x[i, j], a[i, j], j, n)

    return chain


def moded(shape: Shape, n: int) -> af.Kernel:
    """A condition that no loop changes."""
    T: Any = shape.dtype

    @af.kernel
    def chain(x: T[M, N], a: T[M, N], y: T[M, N], mode: af.index) -> None:
        with af.for_(M) as i, af.for_(N) as j:
            with af.if_(mode == 0):
                y[i, j] = shape.chain(x[i, j], a[i, j], j, n)
            with af.else_():
                y[i, j] = shape.chain(a[i, j], x[i, j], j, n)

    return chain


def reused(shape: Shape, n: int) -> af.Kernel:
    """What each iteration of the outer loop computes of the same row."""
    T: Any = shape.dtype

    @af.kernel
    def chain(x: T[N], a: T[N], w: T, y: T[M, N]) -> None:
        with af.for_(M) as i, af.for_(N) as j:
            y[i, j] += shape.chain(x[j] * w, w, j, n)

    return chain


def swept(shape: Shape, n: int) -> af.Kernel:
    """Each element is made of its neighbour in the row, which the iteration before has made."""
    T: Any = shape.dtype

    @af.kernel
    def chain(a: T[M, N], y: T[M, N]) -> None:
        with af.for_(M) as i, af.for_(1, N) as j:
            y[i, j] = shape.chain(y[i, j - 1], a[i, j], j, n)

    return chain


def stencil(shape: Shape, n: int) -> af.Kernel:
    """Elements that overlap from one iteration to the next."""
    T: Any = shape.dtype

    @af.kernel
    def chain(x: T[M, N], y: T[M, N]) -> None:
        with af.for_(M) as i, af.for_(1, N - 1) as j:
            y[i, j] = shape.chain(x[i, j - 1], x[i, j + 1], j, n)

    return chain


def two_passes(shape: Shape, n: int) -> af.Kernel:
    """A loop that reads a row, and one that writes another."""
    T: Any = shape.dtype

    @af.kernel
    def chain(x: T[M, N], a: T[M, N], y: T[M, N], z: T[M, N]) -> None:
        with af.for_(M) as i:
            with af.for_(N) as j:
                z[i, j] = shape.chain(x[i, j], a[i, j], j, n)
            with af.for_(N) as k:
                y[i, k] = shape.chain(z[i, k], a[i, k], k, n)

    return chain


def blocks(shape: Shape, n: int) -> af.Kernel:
    """Sizes that are numbers, as DMAs need them."""
    T: Any = shape.dtype

    @af.kernel
    def chain(x: T[64, 32], a: T[64, 32], y: T[64, 32]) -> None:
        with af.for_(64) as i, af.for_(32) as j:
            y[i, j] = shape.chain(x[i, j], a[i, j], j, n)

    return chain


def product(shape: Shape, n: int) -> af.Kernel:
    """A sum of products, one factor of which is a chain."""
    T: Any = shape.dtype

    @af.kernel
    def chain(x: T[M, K], a: T[K, N], y: T[M, N]) -> None:
        with af.for_(M) as i, af.for_(N) as j, af.for_(K) as k:
            y[i, j] += shape.chain(x[i, k], a[k, j], j, n)

    return chain


def called(shape: Shape, n: int) -> af.Kernel:
    """A kernel that calls one with a chain, twice."""
    T: Any = shape.dtype

    @af.kernel
    def callee(x: T[M, N], y: T[M, N]) -> None:
        with af.for_(M) as i, af.for_(N) as j:
            y[i, j] = shape.chain(x[i, j], x[i, j], j, n)

    @af.kernel
    def chain(x: T[M, N], y: T[M, N], z: T[M, N]) -> None:
        callee(x, y)
        callee(y, z)

    return chain
