"""Vectors that are loaded from two that were just stored: statements run apart, some iterations at a time."""

import numpy as np
import pytest

import affdsl as af
from affdsl.codegen.targets.avx2 import AVX2
from affdsl.optimize.options import Options
from affdsl.optimize.vector import scalar_expansion
from affdsl.schedule.schedule import Schedule

M, N = af.symbols("M N")


@af.kernel
def backwards(a: af.f32[N], b: af.f32[N], c: af.f32[N], d: af.f32[N]):
    with af.for_(1, N) as i:
        a[i] = b[i - 1] + d[i]
        b[i] = c[i - 1] * d[i]
        c[i] = d[i] - 1.0


@af.kernel
def in_rows(a: af.f64[M, N], b: af.f64[M, N], c: af.f64[M, N], d: af.f64[M, N]):
    with af.for_(M) as i, af.for_(1, N) as j:
        a[i, j] = d[i, j] * 2.0
        b[i, j] = a[i, j - 1] + c[i, j]


@af.kernel
def the_same(a: af.f32[N], b: af.f32[N], c: af.f32[N], d: af.f32[N]):
    """What is loaded is what was stored, which processors hand on."""
    with af.for_(1, N) as i:
        a[i] = d[i] * 2.0
        b[i] = a[i] + c[i - 1]


@pytest.mark.parametrize("kernel", [backwards, in_rows])
def test_they_leave_the_same(kernel):
    made, _ = scalar_expansion.take_forwarded(Schedule(kernel), "j" if kernel is in_rows else "i", 4, Options(AVX2))
    fast = made.kernel()
    for n in (0, 1, 2, 9, 511, 513, 1100):
        shape = (2, n) if kernel is in_rows else (n,)
        given = [np.random.default_rng(k).random(shape) for k in range(4)]
        dtype = np.float64 if kernel is in_rows else np.float32
        wanted, found = ([x.astype(dtype) for x in given] for _ in "ab")
        kernel(*wanted)
        fast(*found)
        assert all(a.tobytes() == b.tobytes() for a, b in zip(wanted, found, strict=True)), n


def test_only_parts_of_vectors_wait():
    s = af.Schedule(the_same).vectorize("i", 8)
    assert not scalar_expansion.waits_for_stores(s, "i")
    assert scalar_expansion.waits_for_stores(af.Schedule(backwards).vectorize("i", 8), "i")
    assert "each statement" not in the_same.optimize("avx2", threads=1).explain()
