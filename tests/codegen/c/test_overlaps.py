"""Loops whose iterations store to the same elements leave what the last one of them stores, at every level of gcc."""

import numpy as np
import pytest

import affdsl as af
from tests.codegen.c.compare import run_c

LEVELS = ("-O1", "-O2", "-O3", "-Os")

K, M, N = af.symbols("K M N")


@af.kernel
def diagonals(B: af.f32[N], C: af.f32[K], m: af.index):
    af.assume(N + m <= K)
    with af.for_(N) as i, af.for_(1, m) as j:
        C[i + j] = B[i] + 1.0


@af.kernel
def steps(B: af.f64[N], C: af.f64[K], m: af.index):
    af.assume(N + 2 * m <= K)
    with af.for_(N) as i, af.for_(1, m) as j:
        C[i + j * 2] = B[i]


@af.kernel
def windows(B: af.i32[N], C: af.i32[K]):
    af.assume(K >= N + 5)
    with af.for_(N) as i, af.for_(i + 1, i + 5) as j:
        C[j] = B[i]


@af.kernel
def columns(B: af.i32[N], C: af.i32[K, K]):
    af.assume(K >= N + 5)
    with af.for_(N) as i, af.for_(4) as j:
        C[i // 2 + j, i + j * 3] = B[i]


@af.kernel
def turns(B: af.i32[N], C: af.i32[K]):
    af.assume(K >= 16)
    with af.for_(N) as i, af.for_(4) as j:
        C[i % 4 + j] = B[i]


@af.kernel
def panels(B: af.f32[N], C: af.f32[K, 4]):
    af.assume(4 * K >= N + 4)
    with af.for_(0, N, 4) as i, af.for_(i, af.min(i + 4, N)) as j:
        C[i // 4, j - i] = B[j]


@af.kernel
def blocks(B: af.f32[N], C: af.f32[K]):
    af.assume(K >= 4 * N)
    with af.for_(N) as i, af.for_(4) as j:
        C[i * 4 + j] = B[i]


def by_hand(name, B, C, m):
    for i in range(len(B)):
        match name:
            case "diagonals":
                C[i + 1 : i + m] = B[i] + 1
            case "steps":
                C[i + 2 : i + 2 * m : 2] = B[i]
            case "windows":
                C[i + 1 : i + 5] = B[i]
            case "turns":
                C[i % 4 : i % 4 + 4] = B[i]
            case "blocks":
                C[4 * i : 4 * i + 4] = B[i]


KERNELS = pytest.mark.parametrize("kernel", [diagonals, steps, windows, turns, blocks], ids=lambda k: k.__name__)


def arguments(kernel, n, m):
    dtype = {"steps": np.float64, "windows": np.int32, "turns": np.int32}.get(kernel.__name__, np.float32)
    B = np.random.default_rng(n * m).integers(1, 99, n).astype(dtype)
    found = np.zeros(4 * n + 2 * m + 9, dtype)
    wanted = found.copy()
    by_hand(kernel.__name__, B, wanted, m)
    return [B, found, *([m] if kernel in (diagonals, steps) else [])], wanted


@KERNELS
@pytest.mark.parametrize("way", ["as written", "optimized"])
def test_the_last_iteration_decides(kernel, way):
    run = kernel if way == "as written" else kernel.optimize(threads=1)
    for n, m in ((4, 2), (4, 5), (16, 17), (33, 5), (64, 40)):
        given, wanted = arguments(kernel, n, m)
        run(*given)
        assert np.array_equal(given[1], wanted), (n, m)


@KERNELS
@pytest.mark.parametrize("level", LEVELS)
def test_it_decides_at_every_level(kernel, level, tmp_path):
    given, wanted = arguments(kernel, 33, 17)
    run_c(kernel.module, kernel.name, given, tmp_path, sizes=2, flags=(level,))
    assert np.array_equal(given[1], wanted)


def test_only_where_iterations_meet_is_the_order_kept():
    kernels = (diagonals, steps, windows, columns, turns, panels, blocks)
    marked = [kernel.__name__ for kernel in kernels if "affdsl_in_order();" in kernel.c()]
    assert marked == ["diagonals", "steps", "windows", "columns", "turns"]
