"""Kernels in the spelling for type checkers: mypy --strict and pyright find nothing here, and Python runs it."""

from typing import Annotated, Any, assert_type

import numpy as np
from numpy.typing import NDArray

import affdsl as af
from affdsl.lang.indices import Extremum, Index
from affdsl.lang.scalars import Scalar
from affdsl.lang.variables import Variable
from affdsl.lang.vectors import Vector

M, N, K = af.symbols("M N K")
L = af.symbols("L")
Row = Annotated[af.Array, af.f64[N]]
"""An annotation may have a name."""


@af.kernel
def matmul(
    A: Annotated[af.Array, af.f32[M, K]], B: Annotated[af.Array, af.f32[K, N]], C: Annotated[af.Array, af.f32[M, N]]
) -> None:
    with af.for_(M) as i, af.for_(N) as j:
        assert_type(i, Index)
        C[i, j] = 0.0
        with af.for_(K) as k:
            C[i, j] += A[i, k] * B[k, j]
            assert_type(A[i, k], Scalar)


@af.kernel
def scaled_row(x: Row, by: Annotated[af.Scalar, af.f64]) -> None:
    with af.for_(N) as i:
        x[i] *= by


@af.kernel
def rows(A: Annotated[af.Array, af.f64[M, N]]) -> None:
    """Parts of arrays: a row is written with all of its dimensions, since no type says how many there are."""
    with af.for_(M) as i:
        row = A[i, :]
        assert_type(row, af.Array)
        scaled_row(row, 2.0)
        scaled_row(row[: N // 2], 2.0)
        assert_type(row[0], Scalar)


@af.kernel
def histogram(image: Annotated[af.Array, af.u8[M, N]], counts: Annotated[af.Array, af.i64[256]]) -> None:
    with af.for_(M) as i, af.for_(N) as j:
        counts[image[i, j]] += 1


@af.kernel
def seidel(A: Annotated[af.Array, af.f64[N, N]], steps: Annotated[af.Index, af.index] = 10) -> None:
    af.assume(N >= 2)
    with af.for_(steps), af.for_(1, N - 1) as i, af.for_(1, N - 1) as j:
        A[i, j] = (A[i - 1, j] + A[i, j - 1] + A[i, j] + A[i, j + 1] + A[i + 1, j]) / 5


@af.kernel(boundscheck=True, results="total")
def loops(
    x: Annotated[af.Array, af.const(af.f64[N])],
    y: Annotated[af.Array, af.strided(af.f64[N])],
    a: Annotated[af.Scalar, af.f64],
    n: Annotated[af.Index, N],
) -> af.Scalar:
    with af.for_(n, iter_args=af.f64(0)) as (i, s):
        assert_type(s, Scalar)
        af.yield_(s + x[i] * a)
    with af.for_(N, iter_args=(af.f64(0), af.f64(1))) as (i, p, q):
        assert_type(q, Scalar)
        af.yield_(p + x[i], q * x[i])
    with af.for_(N, iter_args=[af.f64(0), af.f64(1), af.f64(2)]) as (i, p, q, r):
        af.yield_(p + x[i], q * x[i], r)
    with af.while_(lambda v: v * v > a, iter_args=a) as v:
        assert_type(v, Scalar)
        af.yield_(v / 2)
    with af.while_(lambda: y[0] > 3):
        y[0] -= 1.0
    with af.for_(N - 1, -1, -1) as d, af.if_((x[d] > 0) & (d > 0)):
        y[d] = af.exp(x[d]) + af.sqrt(af.f64(2.0)) - a
    with af.for_(x.shape[0]) as d, af.for_(af.max(0, d - 3), af.min(N, d + 3)) as e:
        assert_type(af.min(N, d + 3), Extremum)
        y[e] = af.select(x[d] > a, x[d], -a) + af.min(x[e], a)
    total = af.var(af.f64(0))
    with af.for_(N) as d:
        total += x[d]
    assert_type(total, Variable)
    return total + s + v


@af.kernel
def branches(x: Row, y: Row, n: Annotated[af.Index, N]) -> tuple[af.Array, af.Scalar]:
    with af.parallel(N, reduce=[("addf", af.f64)]) as (i, s):
        af.yield_(x[i])
    with af.if_(n > 4, af.f64) as w:
        assert_type(w, Scalar)
        af.yield_(s)
    with af.elif_(n > 2):
        af.yield_(1.0)
    with af.else_():
        af.yield_(-s)
    t = af.alloc(af.f64[N, N + 1])
    with af.parallel(N, N) as (i, j):
        assert_type(j, Index)
        t[i, j + 1] = x[i] * af.f64(j) + w
    with af.parallel((0, N, 2)) as i:
        t[i, 0] = w
        af.print_("at", i, x[i])
        af.assert_(x[i] >= 0, "not negative", i)  # noqa: PT009 - not of unittest
    af.copy(x, y)
    return t, w


@af.kernel
def vectors(x: Row, y: Row) -> None:
    with af.for_(N // 8) as i:
        assert_type(N // 8, Index)
        v = af.vector_load(x, i * 8, 8)
        v = af.max(v, 0.0) * v + 2.0
        assert_type(v, Vector)
        af.vector_store(af.select(v > 0, v, 0.0), y, i * 8)
    with af.for_(N, iter_args=(af.broadcast(af.f64(0), 8),)) as (i, w):
        assert_type(w, Vector)
        af.yield_(w + x[i])
    y[0] = w.sum()


@af.kernel
def fill(x: Row, a: Annotated[af.Scalar, af.f64], n: Annotated[af.Index, N]) -> None:
    with af.for_(n) as i:
        x[i] = a
        x[i] += -a * a + 1
        x[n - 1 - i] = af.f64(n) + x[i]
    s = af.var(a)
    s.set(a)
    s += a
    with af.if_(a > 0), af.for_(n // 8) as i:
        af.vector_store(af.broadcast(a, 8) * s, x, i * 8)


def of_all_types(x: NDArray[np.float64], ints: NDArray[np.uint8], bools: NDArray[np.bool], some: NDArray[Any]) -> None:
    """Calls that checkers must accept: element types are for the call to check."""
    fill(x, x[0], x.shape[0])
    fill(x[::2], np.float32(2), np.int64(3))
    fill(ints, int(ints[0]), len(ints))
    fill(bools, True, n=bools.size)
    fill(some.T, a=some.sum(), n=3)


@af.kernel
def through_a_tile(x: Row, y: Row) -> None:
    tile = af.alloca(af.f64[8])
    tag = af.alloc(af.i32[1])
    with af.for_(0, N - 7, 8) as i:
        af.prefetch(x, i + 8)
        af.dma_start(x, i, tile, 0, tag, 0, 8)
        af.dma_wait(tag, 0, 8)
        with af.for_(8) as j:
            y[i + j] = tile[j]


@af.kernel
def digits(n: Annotated[af.Index, af.index]) -> af.Index:
    i, j = af.delinearize_index(n, (4, 8))
    assert_type(j, Index)
    return af.linearize_index((j, i), (8, 4))


@af.kernel
def turn(z: Annotated[af.Array, af.c128[N]], by: Annotated[af.Scalar | complex, af.c128]) -> None:
    with af.for_(N) as i:
        z[i] = z[i] * by


@af.kernel
def scaled(x: Row, a: Annotated[af.Scalar, af.f64]) -> af.Array:
    t = af.alloc(af.f64[N])
    with af.for_(N) as i:
        t[i] = x[i] * a
    return t


@af.kernel
def twice(x: Row, y: Row) -> None:
    t = af.alloc(af.f64[N])
    af.copy(scaled(x, 2.0), t)
    with af.for_(N) as i:
        y[i] = t[i]


@af.kernel
def turned(p: Annotated[af.Array, af.f64[N, 2]], angle: Annotated[af.Scalar, af.f64]) -> None:
    """A small matrix of numbers of both kinds, in loops of Python."""
    with af.for_(N) as i:
        c, s = af.cos(angle), af.sin(angle)
        matrix: list[list[af.Scalar | float]] = [[c, -s, 0], [s, c, 0.0]]
        point = [p[i, k] for k in range(2)]
        for row in range(2):
            p[i, row] = sum(matrix[row][k] * point[k] for k in range(2)) + matrix[row][2]


T = af.dtypes("T", af.f32, af.f64)
U = af.dtypes("U", af.i32, af.from_dtype(np.uint8))
Numbers = Annotated[af.Array, T[N]]


@af.kernel
def several(a: Annotated[af.Scalar, T], x: Numbers, k: Annotated[af.Array, af.const(U[N])], y: Numbers) -> af.Array:
    made = af.alloc(T[N])
    total = af.var(T(0))
    with af.for_(N) as i:
        total += a * x[i]
        with af.if_(x[i] > 0, T) as z:
            af.yield_(T(k[i]))
        with af.else_():
            af.yield_(af.cast(k[i], T) if T.dtype == af.f64 else T(1))
        y[i] = z + T(total)
        made[i] = T.dtype(2) if T.kind == "float" else 0
    assert_type(T(0), Scalar)
    return made


@af.kernel
def of_a_union(x: Annotated[af.Array, af.f32[N] | af.f64[N]], a: Annotated[af.Scalar, af.f32 | af.f64]) -> None:
    with af.elements(x) as e:
        x[e] = a * x[e]
        assert_type(e, tuple[Index, ...])


@af.kernel
def of_any_rank(x: Annotated[af.Array, af.f64[...]], y: Annotated[af.Array, af.strided(T[...])]) -> None:
    with af.elements(x) as e:
        y[e] = T(x[e])


class Scale:
    """A kernel may be a method."""

    factor = 3.0

    @af.kernel
    def run(self, x: Row) -> None:
        with af.for_(N) as i:
            x[i] *= self.factor


def main() -> dict[str, object]:
    """Calls of some of them, runs of the others; what they gave."""
    a, b, c = np.ones((4, 5), "f4"), np.ones((5, 6), "f4"), np.empty((4, 6), "f4")
    matmul(a, b, c)
    fast = matmul.optimize(threads=1)
    fast(a, B=b, C=c)
    tiled = af.Schedule(matmul).strip_mine("k", 2).interchange("i", "j")
    tiled.kernel().interpret(a, b, c)
    matmul.specialize(N=6).apply("cse").interpret(a, b, c)
    counts = np.zeros(256, "i8")
    histogram.interpret(np.eye(3, dtype="u1"), counts)
    grid = np.ones((5, 5))
    with af.threads(np.int64(2)), af.threads(None):
        seidel(grid)
    af.set_threads(None)
    assert_type(af.get_threads(), int)
    seidel.interpret(grid, steps=np.int64(3))
    x, y = np.linspace(0.25, 1.0, 16), np.zeros(32)
    number = loops.interpret(x, y[::2], 0.5, 16)
    assert_type(number, float)
    table, w = branches.interpret(x, np.zeros(16), n=16)
    vectors.interpret(x, y[:16])
    through_a_tile.interpret(x, y[16:])
    assert_type(digits.interpret(19), float)
    fill.interpret(np.zeros(9), np.float64(0.5), 9)
    z = np.ones(3, "c16")
    turn.interpret(z, 2j)
    again = scaled.interpret(x, np.float64(2.0))
    twice.interpret(x, y[:16])
    Scale().run.interpret(again)
    turned.interpret(np.ones((3, 2)), 0.5)
    made = several.interpret(2.0, x, np.ones(16, "u1"), y[:16])
    assert_type(made, np.ndarray[tuple[Any, ...], np.dtype[Any]])
    several[af.f32, af.u8].interpret(2.0, x.astype("f4"), np.ones(16, "u1"), y=np.ones(16, "f4"))
    af.Schedule(several["f64, i32"]).strip_mine("i", 4).kernel()
    assert [kernel.name for kernel in of_a_union.optimize(threads=1).kernels] == ["of_a_union_f32", "of_a_union_f64"]
    of_a_union.specialize(N=3).interpret(np.ones(3, "f4"), 2)
    of_any_rank.interpret(np.ones((2, 3)), np.ones((3, 2), "f4").T)
    of_any_rank[af.f32, 4].mlir()
    return {"c": c, "counts": counts, "grid": grid, "number": number, "table": table, "w": w, "z": z, "again": again}
