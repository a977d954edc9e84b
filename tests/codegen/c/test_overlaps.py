"""Loops whose iterations store to the same elements leave what the last one of them stores, at every level of gcc."""

from itertools import product
from pathlib import Path
from random import Random

import numpy as np
import pytest

import affdsl as af
from affdsl.mlir.readers import parse
from tests.codegen.c.compare import run_c
from tests.effort import some

LEVELS = ("-O1", "-O2", "-O3", "-Os")
SIZES = {"n": 33, "m": 17, "l": 9}
TRIPS = (*SIZES, "2", "3", "4", "8")
COUNT = 8
"""How many nests each random function has."""

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


class Nests:
    """A function with random nests of two or three loops, each of which stores to places that its counters choose."""

    def __init__(self, seed: int) -> None:
        random = Random(seed)
        self.trips = [random.choices(TRIPS, k=random.choice((2, 3))) for _ in range(COUNT)]
        self.places = [random.choices((0, 0, 1, 1, 2, 3, -1, 4), k=len(trips)) for trips in self.trips]
        self.reads = [random.choices((0, 1), k=len(trips)) for trips in self.trips]

    @property
    def text(self) -> str:
        """The function in MLIR."""
        arrays = ", ".join(f"%C{k}: memref<600xf32>" for k in range(COUNT))
        lines = [f"func.func @nests(%n: index, %m: index, %l: index, %B: memref<200xf32>, {arrays}) {{"]
        for k, (trips, place, read) in enumerate(zip(self.trips, self.places, self.reads, strict=True)):
            lines += [f"affine.for %i{d} = 0 to {t if t.isdigit() else '%' + t} {{" for d, t in enumerate(trips)]
            at, of = (" + ".join(f"%i{d} * {c}" for d, c in enumerate(factors)) for factors in (place, read))
            lines += [
                f"%x = affine.load %B[{of}] : memref<200xf32>",
                f"affine.store %x, %C{k}[{at} + 100] : memref<600xf32>",
            ]
            lines += ["}" * len(trips)]
        return "\n".join([*lines, "return", "}"])

    def wanted(self, B: np.ndarray) -> list[np.ndarray]:
        """What the nests leave in their arrays."""
        found = [np.zeros(600, np.float32) for _ in range(COUNT)]
        for C, trips, place, read in zip(found, self.trips, self.places, self.reads, strict=True):
            for at in product(*(range(SIZES.get(t) or int(t)) for t in trips)):
                C[np.dot(at, place) + 100] = B[np.dot(at, read)]
        return found


@pytest.mark.parametrize("seed", some(range(100), 3))
def test_random_nests_leave_what_their_last_iterations_store(seed: int, tmp_path: Path) -> None:
    nests, B = Nests(seed), np.arange(200, dtype=np.float32) * 3 + 1
    module, wanted = parse(nests.text), nests.wanted(B)
    for level in LEVELS:
        found = [np.zeros(600, np.float32) for _ in wanted]
        run_c(module, "nests", [*SIZES.values(), B, *found], tmp_path, flags=(level,))
        assert [np.array_equal(*pair) for pair in zip(found, wanted, strict=True)] == [True] * len(wanted), level
