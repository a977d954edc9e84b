"""What C computes on vectors is what the interpreter computes on numbers: a table of all types and operations."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

import affdsl as af
from affdsl.ir.interpreter import run
from tests.codegen.c.lanewise import DTYPES, Row, as_floats, conversions, operations
from tests.effort import some
from tests.harness.judges import copied, same_but_nan
from tests.harness.machines import MACHINES, optimized, runnable
from tests.vectors.together import by_c

BATCH = 400
WIDTHS = (4, 8, 16, 5, 2, 1, 3, 7, 32, 64)
"""Also such as C has no vector types of."""
WAYS = [(name, k) for name in ("baseline", "avx2", "neon", "sve", "avx512", "rvv") for k in range(len(MACHINES[name]))]
SHARES = 60
CASES = [(width, *way) for width in WIDTHS for way in WAYS]
"""Each width, compiled for each instruction set by each compiler."""


def wrong(rows: Sequence[Row], width: int, name: str, which: int) -> list[str]:
    """Where vectors give something else than numbers."""
    way = runnable(name, optimized(MACHINES[name][which], "-O0"))
    found = list[str]()
    for first in range(0, len(rows), BATCH):
        batch = rows[first : first + BATCH]
        functions, runs, wanted, judged = [], [], [], list[Row]()
        for k, row in enumerate(batch):
            numbers, vectors = (row.function(width, vectors=each) for each in (False, True))
            if numbers is None:
                continue
            assert vectors is not None, row
            judged.append(row)
            arrays = row.arrays(width, first + k)
            expected = copied(arrays)
            run(numbers, *expected)
            functions.append(vectors)
            runs.append([arrays])
            wanted.append(expected[-1])
        for row, expected, (left,) in zip(judged, wanted, by_c(functions, runs, way), strict=True):
            if isinstance(left, str):
                found.append(f"{row}: {left[:900]}")
            elif not same_but_nan(as_floats(expected, row.result), as_floats(left[-1], row.result)):
                found.append(f"{row}: {left[-1]} instead of {expected}")
    return found


@pytest.mark.parametrize(("width", "name", "which"), some(CASES, 1))
def test_every_conversion_between_every_two_types(width: int, name: str, which: int):
    assert wrong(conversions(), width, name, which) == []


@pytest.mark.parametrize(("turn", "case"), some([*enumerate(CASES[1:] + CASES[:1])], 1))
def test_every_operation_on_every_type(turn: int, case: tuple[int, str, int]):
    """Each case has a share of the rows, of which another one has the next."""
    assert wrong(operations()[turn % SHARES :: SHARES], *case) == []


def test_the_table_has_what_there_is():
    rows = conversions()
    assert {row.types[0] for row in rows} == {row.result for row in rows} == {*DTYPES}
    pairs = {(row.text.split()[2], *row.types, row.result) for row in rows}
    assert {("arith.index_castui", "i64", "index"), ("arith.index_castui", "index", "i32")} <= pairs
    assert {("arith.bitcast", "i16", "bf16"), ("arith.fptoui", "f16", "i64"), ("arith.extui", "i1", "i40")} <= pairs
    assert len(rows) > 300
    assert len(operations()) > 4000
    assert sum(row.function(2, vectors=False) is not None for row in operations()[::100]) > 40


M, N = af.symbols("M N")


@af.kernel
def gathered(
    x: af.f64[N], a: af.i8[M], b: af.i16[M], c: af.i32[M], d: af.i64[M], e: af.u8[M], f: af.u16[M], g: af.u32[M],
    h: af.u64[M], y: af.f64[M], z: af.u64[M],
):  # fmt: skip
    with af.for_(M) as i:
        sum_ = x[a[i]] + 2 * x[b[i]] + 3 * x[c[i]] + 4 * x[d[i]] + 5 * x[e[i]] + 6 * x[f[i]] + 7 * x[g[i]]
        y[i] = sum_ + x[h[i]] * 2 + 1
        z[i] = af.u64(af.index(h[i]) * 2 + 1)


@pytest.mark.parametrize("way", ["avx2", "lanes"])
def test_elements_that_integers_of_any_type_name_are_gathered(way: str):
    made = gathered.optimize("avx2", threads=1) if way == "avx2" else af.Schedule(gathered).vectorize("i", 8).kernel()
    random = np.random.default_rng(0)
    x = random.integers(-8, 8, 100).astype(float)
    places = [random.integers(0, 100, 37).astype(t) for t in ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8")]
    y, z = np.zeros(37), np.zeros(37, "u8")
    made(x, *places, y, z)
    factors = (1, 2, 3, 4, 5, 6, 7, 2)
    assert y.tolist() == (sum(k * x[at] for k, at in zip(factors, places, strict=True)) + 1).tolist()
    assert z.tolist() == (places[-1] * 2 + 1).tolist()
