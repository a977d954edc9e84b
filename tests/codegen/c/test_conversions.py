"""Conversions on vectors are those of numbers, to the bit, by instructions of each x86 instruction set and without."""

from __future__ import annotations

import numpy as np
import pytest

import affdsl as af
from tests.effort import TRIES_ALL

N = af.symbols("N")
SETS = {"avx512": 8, "avx2": 8, "sse4.2": 4, "portable": 4}
FLAGS = {"avx512": "", "avx2": " -mno-avx512f", "sse4.2": " -mno-avx", "portable": " -mno-sse3"}
ALL = ("f32", "f64", "i8", "i16", "i32", "i64", "u8", "u16", "u32")
PAIRS = [(a, b) for a in ALL for b in ALL if a != b and "f" in a + b and b[0] != "u"]
FEW = [("f32", "i32"), ("f64", "i32"), ("f64", "i64"), ("u8", "f32"), ("i16", "f64"), ("f32", "f64")]
"""Unless all is tried, sets of instructions take turns at every second one of these."""


def converted(source: str, target: str) -> af.Kernel:
    a, b = getattr(af, source), getattr(af, target)

    @af.kernel
    def kernel(x: a[N], y: b[N]):
        with af.for_(N) as i:
            y[i] = af.cast(x[i], b)

    return kernel


def numbers(kind: str) -> np.ndarray:
    """Those at the ends of what a type has, and of what others have."""
    if kind[0] != "f":
        ends = np.iinfo(np.dtype(f"{kind[0]}{int(kind[1:]) // 8}"))
        return np.array([ends.min, ends.min + 1, 0, 1, 7, ends.max // 2, ends.max - 1, ends.max], ends.dtype)
    type = np.float32 if kind == "f32" else np.float64
    ends = [s * 2.0**k for k in (0, 7, 8, 15, 16, 31, 32, 63, 64) for s in (-1, 1)]
    near = [np.nextafter(type(x), type(y)) for x in ends for y in (-np.inf, np.inf)]
    return np.array([*ends, *near, 0.0, -0.0, 0.99, -0.99, 2.5, np.inf, -np.inf, np.nan, -np.nan, 1e30], type)


@pytest.mark.parametrize("name", SETS)
def test_all_ends(name, monkeypatch):
    monkeypatch.setenv("AFFDSL_CC", f"gcc{FLAGS[name]}")
    for source, target in PAIRS if TRIES_ALL else FEW[[*SETS].index(name) % 2 :: 2]:
        kernel = converted(source, target)
        fast = af.Schedule(kernel).vectorize("i", SETS[name], tail="scalar").kernel()
        x = np.resize(numbers(source), 8 * len(numbers(source)))
        wanted, found = (np.zeros(len(x), np.dtype(f"{target[0]}{int(target[1:]) // 8}")) for _ in range(2))
        kernel.interpret(x, wanted)
        fast(x, found)
        np.testing.assert_array_equal(found, wanted, f"{source} as {target}: {x[found != wanted][:9]}")
        assert (np.signbit(found) == np.signbit(wanted))[found == found].all()


@af.kernel
def narrowed(x: af.f32[N], a: af.u8[N], b: af.i8[N], c: af.u16[N], d: af.i16[N], e: af.i8[N], f: af.u16[N]):
    with af.for_(N) as i:
        a[i] = af.cast(x[i], af.u8)
        b[i] = af.cast(x[i], af.i8)
        c[i] = af.cast(x[i], af.u16)
        d[i] = af.cast(x[i], af.i16)
        whole = af.cast(x[i], af.i32)
        e[i] = af.cast(whole, af.i8)
        f[i] = af.cast(whole, af.u16)


@pytest.mark.parametrize("name", ["avx512", "portable"])
def test_narrow_integers_are_the_nearest_ones_of_floats_and_the_low_bits_of_integers(name, monkeypatch):
    monkeypatch.setenv("AFFDSL_CC", f"gcc{FLAGS[name]}")
    fast = af.Schedule(narrowed).vectorize("i", 16, tail="scalar").kernel()
    assert all(helper in fast.c() for helper in ("truncu_f32_i8x16", "trunc_f32_i16x16", "short_i32_i8x16"))
    x = np.resize(np.concatenate([numbers("f32"), np.arange(-140, 270, 0.7, np.float32)]), 16 * 48)
    wanted, found = ([np.zeros(len(x), kind) for kind in ("u1", "i1", "u2", "i2", "i1", "u2")] for _ in range(2))
    narrowed.interpret(x, *wanted)
    fast(x, *found)
    for mine, theirs in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(mine, theirs)


@pytest.mark.parametrize("name", ["avx512", "portable"])
def test_integers_of_two_vectors_become_short_in_one(name, monkeypatch):
    """Bytes that are stored side by side lie in one register, the sums of which they are in two."""

    @af.kernel
    def beside(x: af.u8[N], y: af.u8[N], z: af.u8[2 * N]):
        with af.for_(N) as i:
            a, b = af.u16(x[i]), af.u16(y[i])
            z[2 * i] = af.u8((3 * a + b) >> 2)
            z[2 * i + 1] = af.u8((a + 200 * b) & 255)

    monkeypatch.setenv("AFFDSL_CC", f"gcc{FLAGS[name]}")
    fast = af.Schedule(beside).vectorize("i", 64, tail="scalar").kernel()
    assert "joined_i16_i8x64(" in fast.c()
    x, y = np.random.default_rng(0).integers(0, 256, (2, 200), "u1")
    wanted, found = np.zeros((2, 400), "u1")
    beside.interpret(x, y, wanted)
    fast(x, y, found)
    np.testing.assert_array_equal(found, wanted)
