"""What is handed on runs on two threads of OpenMP, and does what it does in C."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import affdsl as af
from affdsl.codegen.jit import check_sizes
from tests.handed_on.kernels import CASES, Case
from tests.harness.judges import copied
from tests.oracles import OPENMP, run_mlir

M, N = af.symbols("M N")


def shared(kernel: af.Kernel, monkeypatch: pytest.MonkeyPatch) -> Callable[..., object]:
    """The kernel's MLIR, lowered to OpenMP, as a callable on the kernel's arguments."""
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    monkeypatch.setenv("OMP_WAIT_POLICY", "passive")

    def run(*arguments: object) -> object:
        program = kernel.program
        shapes = [x.shape for x in arguments if isinstance(x, np.ndarray)]
        found = check_sizes(program, shapes, [x for x in arguments if not isinstance(x, np.ndarray)])
        return run_mlir(kernel.mlir(), kernel.name, [*(found[v] for v in program.sizes), *arguments], lowering=OPENMP)

    return run


def agree(kernel: af.Kernel, arguments: tuple[object, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    called, found = copied(arguments), copied(arguments)
    wanted, given = kernel(*called), shared(kernel, monkeypatch)(*found)
    for a, b in zip((*called, *_several(wanted)), (*found, *_several(given)), strict=True):
        np.testing.assert_array_equal(a, b)
        if np.asarray(a).dtype.kind == "f":
            np.testing.assert_array_equal(np.signbit(a)[a == 0], np.signbit(b)[b == 0])


def _several(result: object) -> tuple[object, ...]:
    return () if result is None else result if isinstance(result, tuple) else (result,)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_each_kernel_does_the_same_by_openmp(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    agree(case.kernel, case.arguments(), monkeypatch)


@af.kernel
def extremes(x: af.f32[M, N], found: af.f32[4]):
    """What OpenMP's lowering has no reduction for."""
    with af.parallel(M, N, reduce=[("maximumf", af.f32), ("minimumf", af.f32)]) as (i, j, most, least):
        af.yield_(x[i, j], x[i, j])
    found[0], found[1] = most, least
    with af.parallel(N, reduce=[("maximumf", af.f32)]) as (j, last):
        af.yield_(-af.abs(x[M - 1, j]))
    found[2] = last


@af.kernel
def sums(x: af.f64[N], n: af.i32[N], found: af.f64[2], numbers: af.i32[4]):
    kinds = [("addf", af.f64), ("mulf", af.f64), ("addi", af.i32), ("muli", af.i32), ("andi", af.i32), ("maxs", af.i32)]
    with af.parallel(N, reduce=kinds[:5]) as (i, total, product, count, power, common):
        af.yield_(x[i], x[i], n[i], n[i], n[i])
    with af.parallel(N, reduce=kinds[5:]) as (i, most):
        af.yield_(n[i])
    found[0], found[1] = total, product
    numbers[0], numbers[1], numbers[2], numbers[3] = count, power, common, most


NUMBERS = ([0.0, -0.0, -1.0, 3.5], [-0.0, 0.0, np.inf, 2.0], [-np.inf, np.nan, 0.0, 1.0], [])


@pytest.mark.parametrize("numbers", NUMBERS)
def test_extremes_are_exact(numbers: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    x = np.resize(np.float32(numbers), (3, 5) if numbers else (3, 0))
    agree(extremes, (x, np.zeros(4, "f4")), monkeypatch)


@pytest.mark.parametrize("x", [[2.0, -4.0, 8.0], [-0.0, -0.0], [0.0, -0.0], []])
def test_sums_of_what_is_not_rounded_are_exact_and_have_their_sign(
    x: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    n = np.int32([7, -(2**31), 1_000_003])[: len(x)]
    agree(sums, (np.float64(x), n, np.zeros(2), np.zeros(4, np.int32)), monkeypatch)
