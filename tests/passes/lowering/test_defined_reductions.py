"""Sums of nothing but -0.0 are -0.0 in every order, and everywhere; so start the reductions of every kind."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import affdsl as af
from affdsl.ir import types
from affdsl.ir.semantics import REDUCTION_KINDS, binary, neutral
from affdsl.passes.lowering.handed_on import handed_on
from tests.oracles import run_mlir
from tests.three_ways import agree

N = af.symbols("N")


@af.kernel
def total(x: af.f64[N], o: af.f64[1]):
    with af.for_(N) as i:
        o[0] += x[i]


@af.kernel
def rows(x: af.f32[N, N], o: af.f32[N]):
    with af.for_(N) as i, af.for_(N) as j:
        o[i] += x[i, j]


MADE: dict[str, Callable[[], af.Kernel]] = {
    "parallel": lambda: af.Schedule(total).scalar_replace("i").parallel("i", reassociate=True).kernel(),
    "lanes": lambda: af.Schedule(total).scalar_replace("i").vectorize("i", 8, reassociate=True).kernel(),
    "masked lanes": lambda: (
        af.Schedule(total).scalar_replace("i").vectorize("i", 8, tail="masked", reassociate=True).kernel()
    ),
    "jammed": lambda: af.Schedule(total).scalar_replace("i").unroll_jam("i", 4, reassociate=True).kernel(),
    "optimized": lambda: total.optimize(reassociate=True, threads=2),
    "optimized rows": lambda: rows.optimize(reassociate=True, threads=2),
}


@pytest.mark.parametrize("made", MADE)
def test_a_sum_of_nothing_but_negative_zeros_is_negative(made: str) -> None:
    kernel = MADE[made]()
    for size in (1, 13):
        shape = (size, size) if "rows" in made else (size,)
        x, o = -np.zeros(shape, "f4" if "rows" in made else "f8"), -np.zeros(size if "rows" in made else 1)
        called, interpreted, lowered = (o.astype(x.dtype) for _ in range(3))
        kernel(x, called)
        kernel.interpret(x, interpreted)
        run_mlir(kernel.mlir(), kernel.name, [size, x, lowered])
        for way in (called, interpreted, lowered):
            assert (way == 0).all()
            assert np.signbit(way).all()


def test_threads_start_from_negative_zero() -> None:
    """OpenMP's own sums start from 0.0 in each thread."""
    shared = MADE["parallel"]()
    assert "initializer(omp_priv = -0.0)" in shared.c()
    x, o = -np.zeros(600_001), -np.zeros(1)
    shared(x, o)
    assert o == 0
    assert np.signbit(o)


BAND = """
  %{kind} = affine.parallel (%i) = (0) to (%n) reduce ("{kind}") -> ({type}) {{
    %v = affine.load %{type}[%i] : memref<?x{type}>
    affine.yield %v : {type}
  }}
  affine.store %{kind}, %{type}s[{place}] : memref<?x{type}>"""
NUMBERS = {"f32": [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan], "i32": [0, 1, -1, 2**31 - 1, -(2**31)]}


def test_bands_start_from_what_changes_no_number(tmp_path: Path) -> None:
    """To the bit, at the ends of the type and for zeros, infinities and NaN."""
    bands = [
        BAND.format(kind=kind, type="f32" if kind.endswith("f") else "i32", place=place)
        for place, kind in enumerate(k for k in REDUCTION_KINDS if k[-1] not in "su")  # those need integers with signs
    ]
    arguments = "%f32: memref<?xf32>, %f32s: memref<?xf32>, %i32: memref<?xi32>, %i32s: memref<?xi32>, %n: index"
    text = f"func.func @f({arguments}) {{{''.join(bands)}\n  return\n}}"
    handed = str(handed_on(af.parse(text)))
    for kind in REDUCTION_KINDS:
        type = "f32" if kind.endswith("f") else "i32"
        combine = binary(REDUCTION_KINDS[kind], getattr(types, type.upper()))
        for number in NUMBERS[type]:
            found = combine(
                neutral(kind, getattr(types, type.upper())), np.float32(number) if type == "f32" else number
            )
            assert repr(float(found)) == repr(float(np.float32(number) if type == "f32" else number)), kind
    for floats, integers in (
        ([], []),
        ([-0.0], [-1]),
        ([0.0, -0.0, 1.0], [1, 2**31 - 1, 3]),
        ([np.nan, np.inf], [0, -(2**31)]),
    ):
        given = [np.array(floats, "f4"), np.ones(12, "f4"), np.array(integers, "i4"), np.ones(12, "i4"), len(floats)]
        (_, wanted, _, others, _), _ = agree(text, tmp_path, *given, lowered=False)
        run_mlir(handed, "f", given)
        np.testing.assert_array_equal(given[3], others)
        np.testing.assert_array_equal(given[1], wanted)
        assert (np.signbit(given[1]) == np.signbit(wanted))[wanted == wanted].all()
