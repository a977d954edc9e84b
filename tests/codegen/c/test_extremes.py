"""Extremes on vectors are those of numbers, to the bit, by the instructions of each x86 instruction set and without."""

from __future__ import annotations

import numpy as np
import pytest

import affdsl as af
from affdsl.codegen.targets.target import LANE_BITS
from tests.effort import TRIES_ALL

N = af.symbols("N")
FLOATS = {"f32": np.float32, "f64": np.float64}
INTEGERS = {f"{sign}{bits}": np.dtype(f"{sign}{bits // 8}").type for sign in "iu" for bits in (8, 16, 32, 64)}
SETS = {
    "avx512": (512, ""), "avx2": (256, " -mno-avx512f"), "sse4.2": (128, " -mno-avx"), "portable": (128, " -mno-sse3"),
}  # fmt: skip

FEW = {"avx512": ("f32", "u8"), "avx2": ("f32", "i64"), "sse4.2": ("u8", "i64"), "portable": ("f32", "u8")}
"""Types that are tried with each set of instructions, if not all are."""


def extremes(dtype: str) -> af.Kernel:
    """All of two numbers of a type."""
    kind = getattr(af, dtype)

    @af.kernel
    def both(a: kind[N], b: kind[N], out: kind[4, N]):
        with af.for_(N) as i:
            out[0, i] = af.max(a[i], b[i])
            out[1, i] = af.min(a[i], b[i])
            if dtype in FLOATS:
                out[2, i] = af.fmax(a[i], b[i])
                out[3, i] = af.fmin(a[i], b[i])

    return both


def pairs(dtype: str) -> list[np.ndarray]:
    """All pairs of numbers at the ends of a type, and of those that compare in their own way."""
    if dtype in FLOATS:
        type = FLOATS[dtype]
        quiet = np.array([np.nan, -np.nan], type)
        signalling = (quiet.view(f"i{quiet.itemsize}") ^ (1 << (21 if dtype == "f32" else 50)) | 5).view(type)
        tiny = np.finfo(type).smallest_subnormal
        numbers = np.array([0.0, -0.0, 1.0, -1.0, 2.5, np.inf, -np.inf, tiny, -tiny, *quiet, *signalling], type)
    else:
        type, ends = INTEGERS[dtype], np.iinfo(dtype.replace("u", "uint") if dtype[0] == "u" else f"int{dtype[1:]}")
        numbers = np.array(
            [ends.min, ends.min + 1, 0, 1, 2, ends.max // 2, ends.max // 2 + 1, ends.max - 1, ends.max], type
        )
    return [np.ascontiguousarray(grid.ravel()) for grid in np.meshgrid(numbers, numbers)]


@pytest.mark.parametrize("name", SETS)
def test_all_pairs(name, monkeypatch):
    bits, flags = SETS[name]
    monkeypatch.setenv("AFFDSL_CC", f"gcc{flags}")
    for dtype in (*FLOATS, *INTEGERS) if TRIES_ALL else FEW[name]:
        kernel = extremes(dtype)
        lanes = bits // LANE_BITS[dtype.replace("u", "i")]
        fast = af.Schedule(kernel).vectorize("i", lanes, tail="scalar").kernel()
        a, b = pairs(dtype)
        wanted, found = np.zeros((4, len(a)), a.dtype), np.zeros((4, len(a)), a.dtype)
        kernel.interpret(a, b, wanted)
        fast(a, b, found)
        for k, row in enumerate(found):
            same = row.view(f"u{row.itemsize}") == wanted[k].view(f"u{row.itemsize}")
            wrong = np.flatnonzero(~(same | ((row != row) & (wanted[k] != wanted[k]))))
            assert not len(wrong), (dtype, k, a[wrong], b[wrong], row[wrong], wanted[k][wrong])


@pytest.mark.parametrize("dtype", FLOATS)
def test_extremes_of_what_was_stored_are_chosen_without_branches(dtype):
    kind = getattr(af, dtype)

    @af.kernel
    def crossing(a: kind[N], b: kind[N], row: kind[4, N + 1], group: kind[4, 1], at: af.i32[1]):
        with af.for_(N) as i:
            for k, take in enumerate((af.max, af.min, af.fmax, af.fmin)):
                row[k, i] = a[i]
                row[k, i + 1] = b[i]
                row[k, i + 1] = take(row[k, i], row[k, i + 1])
                group[k, at[0]] = take(group[k, at[0]], a[i])

    @af.kernel
    def so_far(a: kind[N], row: kind[N]):
        with af.for_(1, N) as i:
            row[i] = af.max(row[i - 1], a[i])

    assert all(f"late_{name}_{dtype}(" in crossing.c() for name in ("maximum", "minimum", "maxnum", "minnum"))
    assert "late_" not in so_far.c()
    for a, b in zip(*pairs(dtype), strict=True):
        given = (
            np.array([a, b], a.dtype),
            np.array([b, a], a.dtype),
            np.zeros((4, 3), a.dtype),
            np.ones((4, 1), a.dtype),
        )
        found, wanted = ([x.copy() for x in given] for _ in range(2))
        crossing(*found, np.zeros(1, "i4"))
        crossing.interpret(*wanted, np.zeros(1, "i4"))
        for one, other in zip(found, wanted, strict=True):
            same = one.view(f"u{one.itemsize}") == other.view(f"u{one.itemsize}")
            assert (same | ((one != one) & (other != other))).all(), (a, b, one, other)


@pytest.mark.parametrize("dtype", FLOATS)
def test_extremes_of_what_is_computed_from_what_is_handed_on_are_chosen_without_branches(dtype):
    kind = getattr(af, dtype)

    @af.kernel
    def distances(x: kind[N], y: kind[N], out: kind[2, N]):
        with af.for_(N, iter_args=[kind(0), kind(1)]) as (i, near, far):
            new, old = af.min(near - 1.0, x[i]), af.max(y[i], 0.0 * far)
            out[0, i] = new
            out[1, i] = old
            af.yield_(new, old)

    @af.kernel
    def foreseen(x: kind[N], out: kind[3, N]):
        with af.for_(N, iter_args=[kind(0), kind(0), kind(0)]) as (i, clamped, so_far, kept):
            new, least, total = af.max(clamped + x[i], 0.0), af.min(so_far, x[i]), kept + x[i]
            out[0, i] = new
            out[1, i] = least
            out[2, i] = af.max(total, x[i])
            af.yield_(new, least, total)

    assert "late_minimum_" in distances.c()
    assert "late_maximum_" in distances.c()
    assert "late_" not in foreseen.c()
    for kernel in (distances, foreseen):
        given = pairs(dtype) if kernel is distances else pairs(dtype)[:1]
        count = 2 if kernel is distances else 3
        found, wanted = (np.zeros((count, len(given[0])), given[0].dtype) for _ in range(2))
        kernel(*given, found)
        kernel.interpret(*given, wanted)
        same = found.view(f"u{found.itemsize}") == wanted.view(f"u{found.itemsize}")
        assert (same | ((found != found) & (wanted != wanted))).all()
