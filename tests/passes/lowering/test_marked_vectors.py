"""Marks of vectors in text that is handed on are still there below the affine dialect, and C knows them there."""

from __future__ import annotations

import numpy as np
import pytest

import affdsl as af
from affdsl.codegen.c.emit import emit
from affdsl.ir.interpreter import run
from tests.oracles import mlir_opt, run_mlir

N = af.symbols("N")
CALLS = ("streamed_store_", "finish_streams();", "affdsl_loads_first();")


@af.kernel
def doubled(A: af.f32[N, 65], B: af.f32[N, 65]):
    with af.for_(N) as i, af.for_(64) as j:
        B[i, j + 1] = 2 * A[i, j]


MARKED = af.Schedule(doubled).vectorize("j", 16).stream("B", "j", 4096).load_ahead("A", "j").kernel()


@pytest.mark.parametrize("lowered", [False, True])
def test_marks_are_in_c_what_they_are_for_the_kernel(lowered: bool) -> None:
    text = MARKED.mlir()
    text = mlir_opt(text, "--lower-affine") if lowered else text
    assert text.count("{affdsl.stream = 4096 : i64}") == text.count("{affdsl.ahead}") + 1 == 2
    made = emit(af.parse(text), "doubled").source
    for call in CALLS:
        assert made.count(call) == MARKED.c().count(call) > 0, call


def test_what_has_marks_does_the_same() -> None:
    A, called, lowered, interpreted = (np.random.default_rng(k).normal(size=(23, 65)).astype("f4") for k in range(4))
    for B in (called, lowered, interpreted):
        B[:] = 0
    MARKED(A, called)
    run_mlir(MARKED.mlir(), "doubled", [23, A, lowered])
    run(af.parse(MARKED.mlir()).functions[0], 23, A, interpreted)
    np.testing.assert_array_equal(called[:, 1:], 2 * A[:, :-1])
    np.testing.assert_array_equal(called, lowered)
    np.testing.assert_array_equal(called, interpreted)
