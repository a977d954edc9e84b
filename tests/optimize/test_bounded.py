"""Loops are split where conditions on their counters change: the same numbers, and no masks."""

import numpy as np

import affdsl as af
from affdsl.codegen.targets.avx2 import AVX2
from affdsl.ir.dialects import affine
from affdsl.ir.traverse import walk
from affdsl.optimize.options import Options
from affdsl.optimize.order import index_sets
from affdsl.schedule.schedule import Schedule
from tests.optimize.recipes import kernels

N = af.symbols("N")


def test_threads_share_the_outermost_loop_whole():
    made, _, roots = index_sets.take(Schedule(kernels("order")["border"]), "i", Options(AVX2, threads=2))
    assert roots == ["i"]
    assert sum(isinstance(op, affine.For) for op in walk(made.function)) == 3, "the first j runs once"


def test_places_are_few():
    @af.kernel
    def many(a: af.f32[N], p: af.index, q: af.index, r: af.index, s: af.index, t: af.index, u: af.index, v: af.index):
        with af.for_(N) as i:
            for k in (p, q, r, s, t, u, v):
                with af.if_(i < k):
                    a[i] += 1.0

    @af.kernel
    def early(a: af.f32[N]):
        with af.for_(N) as i:
            for k in range(9):
                with af.if_(i < 10 * k):
                    a[i] += 1.0

    made, said, roots = index_sets.take(Schedule(many), "i", Options(AVX2))
    assert len(roots) == index_sets.MOST + 1
    assert said.count(" at ") == index_sets.MOST
    a, b, places = np.zeros(100, np.float32), np.zeros(100, np.float32), (3, 90, 40, 41, 200, -5, 7)
    many(a, *places)
    made.kernel()(b, *places)
    assert a.tolist() == b.tolist()
    _, said, roots = index_sets.take(Schedule(early), "i", Options(AVX2))
    assert said.endswith("changes: i at 80"), "what is before runs at most 80 times"
