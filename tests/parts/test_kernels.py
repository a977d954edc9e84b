"""Kernels that give parts of arrays to others: NumPy, the interpreter, gcc, clang and what mlir-opt lowers agree.

Unless all is tried, every fifth kernel is lowered by mlir-opt and every fourth one optimized.
"""

import numpy as np
import pytest

import affdsl as af
from tests import oracles
from tests.effort import TRIES_ALL
from tests.loops.ways import WAYS, agree
from tests.parts.kernels import CASES, Case

SIZES = (0, 1, 5)
STRICT = ("-std=c11", "-Wall", "-Wextra", "-Werror", "-pedantic")
IDS = [str(case) for case in CASES]


@pytest.mark.parametrize("position", range(len(CASES)), ids=IDS)
def test_they_do_what_numpy_does(position: int):
    case = CASES[position]
    for size in (*SIZES, 8, 13) if TRIES_ALL else SIZES:
        lowered = TRIES_ALL or (position % 5 == 0 and size == 5)
        agree(case.kernel, case.wanted, *case.drawn(size, size), ways=WAYS[: 2 + lowered])
    run(case.kernel, case, 60)


@pytest.mark.parametrize("position", range(len(CASES)), ids=IDS)
def test_optimized_and_specialized_they_do_the_same(position: int):
    case = CASES[position]
    optimized = case.kernel.optimize()
    for size in (0, 1, 7, 33):
        run(optimized, case, size)
    given = case.drawn(1, 7)
    arrays = [
        (p.type, x) for p, x in zip(case.kernel.program.parameters, given, strict=True) if isinstance(x, np.ndarray)
    ]
    names = {e.value.hint: n for type, x in arrays for e, n in zip(type.shape, x.shape, strict=True) if e.value}
    run(case.kernel.specialize(**names), case, 7)


@pytest.mark.parametrize("position", range(len(CASES)), ids=IDS)
def test_compilers_and_mlir_opt_take_them(position: int):
    kernel = CASES[position].kernel
    oracles.compile_c({"f.c": kernel.c()}, "gcc", (*STRICT, "-fsyntax-only"))
    if TRIES_ALL or position % 5 == 1:
        oracles.compile_c({"f.c": kernel.c()}, "clang-22", STRICT)
    oracles.mlir_opt(kernel.mlir())
    checked = af.kernel(boundscheck=True)(kernel._function) if TRIES_ALL else kernel
    run(checked, CASES[position], 3)


def run(kernel: af.Kernel, case: Case, size: int) -> None:
    """Fail unless a kernel does what is wanted of a size."""
    expected, given = case.drawn(1, size), case.drawn(1, size)
    wanted, found = case.wanted(*expected), kernel(*given)
    for a, b in zip((*expected, wanted), (*given, found), strict=True):
        np.testing.assert_array_equal(a, b)
