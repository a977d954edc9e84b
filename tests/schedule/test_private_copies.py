"""Histograms in parallel: each part of the iterations updates a copy of the array."""

import numpy as np
import pytest

import affdsl as af
from tests.loops.ways import agree, lowered
from tests.schedule.kernels import replayed

N, M = af.symbols("N M")


@af.kernel
def tally(x: af.i64[N], h: af.i32[M]):
    with af.for_(N) as i:
        h[x[i]] += 1


@af.kernel
def in_pairs(x: af.i64[N], h: af.i64[M, 3]):
    """Two updates in an iteration, one of them under a condition, in rows and columns that data chooses."""
    with af.for_(1, N, 2) as i:
        h[x[i], 0] += x[i]
        with af.if_(x[i] > 1):
            h[x[i - 1], x[i] % 3] -= 2


@af.kernel
def greatest_of_each(x: af.i64[N], h: af.i64[M]):
    with af.for_(N) as i:
        h[x[i]] = af.max(h[x[i]], af.i64(i) - 60)


@pytest.mark.parametrize("kernel", [tally, in_pairs, greatest_of_each], ids=lambda kernel: kernel.name)
def test_it_does_the_same_in_every_way(kernel):
    for copies in (1, 3):
        s = af.Schedule(kernel).parallel("i", copies=copies)
        made = s.kernel()
        assert made.mlir().count("affine.parallel") == 1
        for n, m in ((0, 0), (0, 4), (1, 1), (9, 5), (70, 2)):
            x = np.random.default_rng(n).integers(0, m, n) if m else np.zeros(0, np.int64)
            h = np.full((m, 3) if kernel is in_pairs else m, 7, np.int32 if kernel is tally else np.int64)
            agree(made, kernel.interpret, x, h, ways=[lambda made: made.interpret, lambda made: made])
    x = np.random.default_rng(0).integers(0, 50, 40_000)  # several rows for each part
    h = np.zeros((50, 3) if kernel is in_pairs else 50, np.int32 if kernel is tally else np.int64)
    agree(made, kernel, x, h, ways=[lambda made: made] if kernel is not tally else [lambda made: made, lowered])
    assert replayed(s).mlir() == made.mlir()


@af.kernel
def floats(x: af.i64[N], w: af.f64[N], h: af.f64[M]):
    with af.for_(N) as i:
        h[x[i]] += w[i]


def test_rounding_is_asked_for_and_copies_are_at_least_one():
    with pytest.raises(af.IllegalTransform, match=r'legal: s\.parallel\("i", reassociate=True, copies=2\)'):
        af.Schedule(floats).parallel("i", copies=2)
    with pytest.raises(af.IllegalTransform, match=r'legal: s\.parallel\("i", copies=2\)'):
        af.Schedule(tally).parallel("i")
    for copies in (-1, 1.5, "2"):
        with pytest.raises(af.ScheduleError, match="copies is a whole number of at least 1, got "):
            af.Schedule(tally).parallel("i", copies=copies)
    made = af.Schedule(floats).parallel("i", copies=2, reassociate=True).kernel()
    x, w, h = np.arange(30_000) % 7, np.ones(30_000), np.zeros(7)
    made(x, w, h)
    assert (h == np.bincount(x)).all()
