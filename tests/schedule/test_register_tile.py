"""Tiles in registers: the same product at any size, the steps that made it, and refusals that change nothing."""

import numpy as np
import pytest

import affdsl as af
from affdsl.codegen.native import native_target
from affdsl.codegen.targets.baseline import BASELINE
from affdsl.ir.dialects import math
from affdsl.ir.traverse import walk
from tests.effort import TRIES_ALL

M, N, K = af.symbols("M N K")
TYPES = {np.float32: af.f32, np.float64: af.f64, np.int32: af.i32}


def product(dtype):
    type = TYPES[dtype]

    @af.kernel
    def matmul(A: type[M, K], B: type[K, N], C: type[M, N]):
        with af.for_(M) as i, af.for_(N) as j, af.for_(K) as k:
            C[i, j] += A[i, k] * B[k, j]

    return matmul


def assert_multiplies(kernel, dtype, sizes, *, like=None):
    random = np.random.default_rng(0)
    for m, n, k in sizes:
        a, b, c = (random.integers(-9, 9, shape).astype(dtype) for shape in ((m, k), (k, n), (m, n)))
        wanted = a @ b + c  # small whole numbers: exact in every order
        kernel(a, b, c)
        np.testing.assert_array_equal(c, wanted, err_msg=f"{m} x {n} x {k}")


SIZES = [(0, 3, 2), (3, 0, 2), (3, 2, 0), (1, 1, 1), (4, 16, 3), (8, 32, 9), (5, 17, 4), (9, 33, 7), (13, 31, 2)]


@pytest.mark.parametrize(("dtype", "rows", "vectors", "lanes"), [
    (np.float32, 4, 2, 8), (np.float64, 3, 1, 4), (np.int32, 1, 2, 4), (np.float32, 1, 1, 16), (np.float64, 2, 3, 2),
])  # fmt: skip
def test_any_size(dtype, rows, vectors, lanes):
    s = af.Schedule(product(dtype)).register_tile("i", "j", "k", rows=rows, vectors=vectors, lanes=lanes)
    assert_multiplies(s.kernel(), dtype, SIZES)


def test_with_panels_and_contraction():
    s = af.Schedule(product(np.float32)).tile(("i", "j", "k"), (8, 32, 5)).permute(("k_tile", "j_tile", "i_tile"))
    s.copy("B", "j_tile", layout=(1, 0), panels={1: 16})
    s.register_tile("i", "j", "k", rows=4, vectors=2, lanes=8, contract=True).parallel("i_tile")
    kernel = s.kernel()
    assert any(isinstance(op, math.Fma) for op in walk(kernel.module.functions[-1]))
    assert_multiplies(kernel, np.float32, SIZES)
    inner = kernel.c().split("for (int64_t k = ")[1].partition("\n            }")[0]
    assert "lane" not in inner, "in the full tile no loop over lanes is left"


@pytest.mark.parametrize("late", [0, 1])
def test_on_a_grid_tiles_of_a_triangle_begin_where_panels_do(late):
    @af.kernel
    def upper(A: af.f64[K, N], C: af.f64[N, N]):
        with af.for_(N) as i, af.for_(i + late, N) as j, af.for_(K) as k:
            C[i, j] += A[k, i] * A[k, j]

    s = af.Schedule(upper).copy("A", "i", layout=(1, 0), panels={1: 8})
    s.register_tile("i", "j", "k", rows=8, vectors=1, lanes=8, grid=True)
    kernel = s.kernel()
    assert "first_i64x8" in kernel.c(), "tiles on the diagonal run lanes under masks"
    in_full_tiles = kernel.c().split("for (int64_t k = ")[1].partition("\n            }")[0]
    assert "/ 8" not in in_full_tiles, "vectors are whole rows of panels"
    for n, k in [(0, 3), (1, 0), (1, 1), (8, 2), (9, 5), (23, 7), (32, 4)]:
        a, c = (np.random.default_rng(n).integers(-9, 9, shape).astype(np.float64) for shape in ((k, n), (n, n)))
        wanted = c + np.triu(a.T @ a, late)
        kernel(a, c)
        np.testing.assert_array_equal(c, wanted, err_msg=f"{n} x {n} x {k}")


def test_sizes_that_tiles_divide_have_no_edges():
    @af.kernel
    def matmul(A: af.f32[8, 10], B: af.f32[10, 32], C: af.f32[8, 32]):
        with af.for_(8) as i, af.for_(32) as j, af.for_(10) as k:
            C[i, j] += A[i, k] * B[k, j]

    s = af.Schedule(matmul).register_tile("i", "j", "k", rows=4, vectors=2, lanes=8)
    assert [row.names[0] for row in s.loops()] == ["i_tile", "j_tile", "k"]
    assert_multiplies(s.kernel(), np.float32, [(8, 32, 10)])


def around_sums(dtype):
    type = TYPES[dtype]

    @af.kernel
    def matmul(A: type[M, K], B: type[K, N], C: type[M, N]):
        with af.for_(M) as i, af.for_(N) as j:
            C[i, j] = C[i, j] - 3
            with af.for_(K) as k:
                C[i, j] += A[i, k] * B[k, j]
            C[i, j] = C[i, j] + 3

    return matmul


@pytest.mark.parametrize(("dtype", "rows", "vectors", "lanes"), [
    (np.float32, 4, 2, 8), (np.float64, 1, 2, 4), (np.int32, 3, 1, 4),
])  # fmt: skip
def test_what_stands_around_sums_runs_in_the_tile(dtype, rows, vectors, lanes):
    s = af.Schedule(around_sums(dtype)).register_tile("i", "j", "k", rows=rows, vectors=vectors, lanes=lanes)
    assert [row.depth for row in s.loops()].count(0) == 1, "nothing runs outside of the tiles"
    assert_multiplies(s.kernel(validate=TRIES_ALL or rows == 1), dtype, SIZES)


def test_what_stands_around_sums_of_a_tile_that_divides_sizes():
    @af.kernel
    def matmul(A: af.f32[4, K], B: af.f32[K, 16], C: af.f32[4, 16]):
        with af.for_(4) as i, af.for_(16) as j:
            C[i, j] = C[i, j] - 3
            with af.for_(K) as k:
                C[i, j] += A[i, k] * B[k, j]
            C[i, j] = C[i, j] + 3

    s = af.Schedule(matmul).register_tile("i", "j", "k", rows=4, vectors=2, lanes=8)
    assert len(list(s.loops())) == 1
    assert_multiplies(s.kernel(validate=True), np.float32, [(4, 16, 0), (4, 16, 7)])


def test_two_loops_of_sums_are_refused():
    @af.kernel
    def twice(A: af.f32[M, K], B: af.f32[K, N], C: af.f32[M, N]):
        with af.for_(M) as i, af.for_(N) as j:
            with af.for_(K) as k:
                C[i, j] += A[i, k] * B[k, j]
            with af.for_(K) as m:
                C[i, j] -= A[i, m]

    s = af.Schedule(twice)
    before = str(s)
    with pytest.raises(af.ScheduleError, match="cannot register_tile: j must hold the loop k and no other loops"):
        s.register_tile("i", "j", "k", rows=2, vectors=2, lanes=4)
    assert str(s) == before


@pytest.mark.parametrize(("rows", "columns"), [("M", 1), (1, "N"), ("M", "N")])
@pytest.mark.parametrize("around", [False, True])
def test_tiles_without_a_loop_are_refused(rows, columns, around):
    m, n = ({"M": M, "N": N}.get(size, size) for size in (rows, columns))

    @af.kernel
    def matmul(A: af.f64[m, K], B: af.f64[K, n], C: af.f64[m, n]):
        with af.for_(m) as i, af.for_(n) as j:
            if around:
                C[i, j] = 0.0
            with af.for_(K) as k:
                C[i, j] += A[i, k] * B[k, j]

    s = af.Schedule(matmul)
    before = str(s)
    size = 1 if (rows, columns) == ("M", "N") else 2
    with pytest.raises(af.ScheduleError, match=r"no loop [ij] any more"):
        s.register_tile("i", "j", "k", rows=size, vectors=size, lanes=size)
    assert str(s) == before
    assert not s.refusals


def test_the_steps_can_be_replayed():
    s = af.Schedule(product(np.float32)).register_tile("i", "j", "k", rows=2, vectors=2, lanes=4)
    again = af.Schedule(product(np.float32))
    for step in s.steps:
        getattr(again, step.call.verb)(*step.call.arguments, **dict(step.call.options))
    assert again.kernel().mlir() == s.kernel().mlir()
    assert not s.refusals or all("scalar_replace" in str(step) for step in s.refusals), "masks stay in memory"


def test_a_refusal_leaves_the_schedule_as_it_was():
    @af.kernel
    def running(A: af.f32[N, N], C: af.f32[N, N]):
        with af.for_(1, N) as i, af.for_(N - 1) as j, af.for_(N) as k:
            C[i, j] += A[i, k] * C[i - 1, j + 1]

    s = af.Schedule(running).hoist("k")
    before = str(s)
    with pytest.raises(af.IllegalTransform, match=r"test_register_tile\.py:\d+: cannot tile loops i, j"):
        s.register_tile("i", "j", "k", rows=2, vectors=2, lanes=4)
    assert str(s) == before
    assert len(s.refusals) == 1
    with pytest.raises(af.ScheduleError, match="rows"):
        s.register_tile("i", "j", "k", rows=0, vectors=2, lanes=4)
    with pytest.raises(af.ScheduleError, match="no loop"):
        s.register_tile("i", "x", "k", rows=2, vectors=2, lanes=4)
    assert str(s) == before


def test_a_machine_without_a_compiler_has_the_baseline(monkeypatch):
    assert native_target().width in (128, 256, 512)
    monkeypatch.setenv("AFFDSL_CC", "/no/such/compiler")
    assert native_target() is BASELINE
    assert (BASELINE.lanes(32), BASELINE.lanes(64)) == (4, 2)
