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


def _several(result: object) -> tuple[object, ...]:
    return () if result is None else result if isinstance(result, tuple) else (result,)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_each_kernel_does_the_same_by_openmp(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    agree(case.kernel, case.arguments(), monkeypatch)
