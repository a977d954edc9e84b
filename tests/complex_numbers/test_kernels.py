"""Kernels on complex numbers: NumPy, the interpreter, C and MLIR agree, at sizes 0, 1 and odd ones."""

from collections.abc import Sequence

import numpy as np
import pytest

import affdsl as af
from tests.complex_numbers.kernels import CASES, Case
from tests.complex_numbers.same import same_bits
from tests.effort import TRIES_ALL
from tests.harness.judges import copied
from tests.loops.ways import lowered
from tests.oracles import mlir_opt

SIZES = (0, 1, 2, 7)
IN_REGISTERS = ("gemm", "hermitian", "helmholtz")
"""Kernels that take or give complex numbers by themselves, which a call of what mlir-opt lowered cannot pass."""


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("size", SIZES)
def test_numpy_the_interpreter_and_c_agree(case: Case, size: int):
    given = case.drawn(np.random.default_rng(size), size)
    expected = copied(given)
    with np.errstate(all="ignore"):
        result = case.wanted(*expected)
    interpreted, compiled = copied(given), copied(given)
    results = case.kernel.interpret(*interpreted), case.kernel(*compiled)
    for a, b, c in zip((*expected, result), (*interpreted, results[0]), (*compiled, results[1]), strict=True):
        if isinstance(a, np.ndarray | np.generic):
            same_bits(b, c)
            near(a, b, case.tolerance)


def near(a: object, b: object, tolerance: float) -> None:
    """Fail where b is farther from a than so much of the largest number."""
    a, b = np.asarray(a), np.asarray(b)
    assert a.dtype == b.dtype
    atol = tolerance * np.max(np.abs(a), initial=1.0)
    np.testing.assert_allclose(b, a, rtol=tolerance, atol=atol)


def test_mlir_opt_takes_every_kernel_and_we_take_what_it_prints():
    ours = [case.kernel.mlir() for case in CASES]
    assert [str(af.parse(text)) for text in ours] == ours
    custom, generic = printed(ours), printed(ours, "--mlir-print-op-generic")
    for found in (custom, generic):
        assert printed([str(af.parse(text)) for text in found]) == custom


def printed(texts: Sequence[str], *flags: str) -> list[str]:
    """What mlir-opt prints for each of some modules."""
    line = "\n// -----\n"
    return mlir_opt(line.join(texts), "--split-input-file", *flags).split(line)


RUN_ALL: Sequence[Case] = [case for case in CASES if case.kernel.name not in IN_REGISTERS]
EVERYDAY = ("butterfly", "larger", "elementary")


@pytest.mark.parametrize("case", [c for c in RUN_ALL if TRIES_ALL or c.kernel.name in EVERYDAY], ids=str)
def test_mlir_that_is_lowered_does_what_numpy_does(case: Case):
    given = case.drawn(np.random.default_rng(3), 3)
    expected = copied(given)
    case.wanted(*expected)
    lowered(case.kernel)(*given)
    for a, b in zip(expected, given, strict=True):
        if isinstance(a, np.ndarray):
            near(a, b, case.tolerance)
