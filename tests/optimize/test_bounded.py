"""Loops are split where conditions on their counters change: the same numbers, and no masks."""

import numpy as np
import pytest

import affdsl as af
from affdsl.codegen.targets.avx2 import AVX2
from affdsl.ir.dialects import affine, vector
from affdsl.ir.traverse import walk
from affdsl.optimize.options import Options
from affdsl.optimize.order import index_sets
from affdsl.optimize.unfit import UnfitError
from affdsl.schedule.schedule import Schedule

N = af.symbols("N")


@af.kernel
def ends(a: af.f32[N], b: af.f32[N]):
    with af.for_(N) as i:
        with af.if_((i >= 2) & (i < N - 2)):
            b[i] = a[i - 2] + a[i] + a[i + 2]
        with af.else_():
            b[i] = a[i]


@af.kernel
def inside(a: af.f32[N], b: af.f32[N], low: af.index, high: af.index):
    with af.for_(N) as i, af.if_((i >= low) & (i < high)):
        b[i] = a[i] + 1.0


@af.kernel
def another(a: af.f32[N], b: af.f32[N], k: af.index):
    with af.for_(N) as i:
        with af.if_(i == k):
            b[i] = 0.0
        with af.else_():
            b[i] = a[i] * 2.0


@af.kernel
def twice_as_far(a: af.f32[N], b: af.f32[N], k: af.index):
    with af.for_(N) as i:
        with af.if_(2 * i + k < N):
            b[i] = a[i] * 2.0
        with af.else_():
            b[i] = a[i] + 1.0


@af.kernel
def band(a: af.f32[N, N], b: af.f32[N, N]):
    with af.for_(N) as i, af.for_(af.max(0, i - 9), af.min(N, i + 10)) as j:
        b[i, j] = a[i, j] * 2.0


@af.kernel
def border(a: af.f32[N, N], b: af.f32[N, N]):
    with af.for_(N) as i, af.for_(N) as j:
        with af.if_((i >= 1) & (i < N - 1) & (j >= 1) & (j < N - 1)):
            b[i, j] = a[i - 1, j] + a[i + 1, j] + a[i, j - 1] + a[i, j + 1]
        with af.else_():
            b[i, j] = a[i, j]


@af.kernel
def diagonal(a: af.f32[N, N], b: af.f32[N, N]):
    with af.for_(N) as i, af.for_(N) as j:
        with af.if_(j < i):
            b[i, j] = a[i, j]
        with af.else_():
            b[i, j] = a[i, j] * 2.0


KERNELS = {
    "ends": (ends, ["i at 2", "i at N - 2"]),
    "inside": (inside, ["at high", "at low"]),
    "another": (another, ["at k"]),
    "twice_as_far": (twice_as_far, ["at"]),
    "band": (band, ["i at 10", "i at N - 9"]),
    "border": (border, ["i at 1", "i at N - 1", "j at N - 1"]),
    "diagonal": (diagonal, ["j at i"]),
}


@pytest.mark.parametrize("name", KERNELS)
def test_the_parts_leave_what_the_loops_as_written_leave(name):
    kernel, places = KERNELS[name]
    fast = kernel.optimize("avx2", threads=1)
    said = fast.explain()
    assert "split where a condition, a bound or a clamped subscript changes: " in said
    assert all(place in said for place in places), said
    assert "_rest" not in said
    assert not any(isinstance(op, vector.MaskedStore) for op in walk(fast.func))
    for n in (0, 1, 3, 4, 5, 17, 40):
        shape = (n, n) if kernel in (band, border, diagonal) else (n,)
        given = np.random.default_rng(n).random(shape, np.float32)
        for numbers in {"inside": [(0, n), (3, 9), (-2, n + 5), (7, 2)]}.get(name, [(0,), (5,), (-3,), (n,)]):
            others = numbers if kernel in (inside, another, twice_as_far) else ()
            wanted, found = (np.zeros(shape, np.float32) for _ in "ab")
            kernel(given, wanted, *others)
            fast(given, found, *others)
            np.testing.assert_array_equal(found, wanted, err_msg=f"{n} {others}")


def test_threads_share_the_outermost_loop_whole():
    made, _, roots = index_sets.take(Schedule(border), "i", Options(AVX2, threads=2))
    assert roots == ["i"]
    assert sum(isinstance(op, affine.For) for op in walk(made.function)) == 3, "the first j runs once"


def test_places_are_known_before_the_loop_and_few():
    @af.kernel
    def by_data(a: af.f32[N], b: af.f32[N]):
        with af.for_(N) as i, af.if_(a[i] > 0.0):
            b[i] = a[i]

    @af.kernel
    def every_second(a: af.f32[N]):
        with af.for_(N) as i, af.if_(i % 2 == 0):
            a[i] = 1.0

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

    for kernel in (by_data, every_second):
        with pytest.raises(UnfitError):
            index_sets.take(Schedule(kernel), "i", Options(AVX2))
    made, said, roots = index_sets.take(Schedule(many), "i", Options(AVX2))
    assert len(roots) == index_sets.MOST + 1
    assert said.count(" at ") == index_sets.MOST
    a, b, places = np.zeros(100, np.float32), np.zeros(100, np.float32), (3, 90, 40, 41, 200, -5, 7)
    many(a, *places)
    made.kernel()(b, *places)
    assert a.tolist() == b.tolist()
    _, said, roots = index_sets.take(Schedule(early), "i", Options(AVX2))
    assert said.endswith("changes: i at 80"), "what is before runs at most 80 times"
