"""Subscripts that are clamped, or wrap, at the ends of loops: these are split there, and the middle is on vectors."""

import numpy as np
import pytest

import affdsl as af
from affdsl.ir.dialects import affine, memref
from affdsl.ir.interpreter import run
from affdsl.ir.traverse import walk
from tests.effort import some

M, N = af.symbols("M N")
QUARTER = 0.25


@af.kernel
def repeated(x: af.f32[N], y: af.f32[N]):
    with af.for_(N) as i:
        y[i] = (x[af.max(i - 1, 0)] + x[i] + x[af.min(i + 1, N - 1)]) * QUARTER


@af.kernel
def far(x: af.f32[N], y: af.f32[N]):
    """Both ends at once, in either order, and behind each other."""
    with af.for_(N) as i:
        total = x[i] * QUARTER
        for k in (-3, -1, 2):
            total = total + x[af.min(af.max(i + k, 0), N - 1)] * x[af.max(af.min(i - k, N - 1), 0)]
        y[i] = total


@af.kernel
def around(x: af.f32[N], y: af.f32[N]):
    with af.for_(N) as i:
        y[i] = x[(i - 1) % N] - x[(i + 2) % N]


@af.kernel
def reflected(x: af.f32[N], y: af.f32[N]):
    """x[|i - 2|], which falls before it grows."""
    with af.for_(N) as i:
        y[i] = x[af.min(af.max(2 - i, i - 2), N - 1)]


@af.kernel
def box(x: af.f32[M, N], y: af.f32[M, N]):
    with af.for_(M) as i, af.for_(N) as j:
        above, below = af.max(i - 1, 0), af.min(i + 1, M - 1)
        left, right = af.max(j - 1, 0), af.min(j + 1, N - 1)
        y[i, j] = x[above, left] + x[above, j] + x[i, right] + x[below, right] * QUARTER


@af.kernel
def torus(x: af.f32[M, N], y: af.f32[M, N]):
    with af.for_(M) as i, af.for_(N) as j:
        y[i, j] = x[(i - 1) % M, j] + x[(i + 1) % M, j] + x[i, (j - 1) % N] + x[i, (j + 1) % N] - 4.0 * x[i, j]


@af.kernel
def stored(x: af.f32[N], y: af.f32[N]):
    with af.for_(N) as i:
        y[af.min(i, N - 2)] = x[i]


@af.kernel
def diagonal(x: af.f32[N], y: af.f32[N, N]):
    """The counter on either side of an equality, and twice."""
    with af.for_(N) as i, af.for_(N) as j:
        with af.if_(i == j):
            y[i, j] = x[i]
        with af.elif_(j == N - 1 - i):
            y[i, j] = x[i] * QUARTER
        with af.elif_(i == 2 * j):
            y[i, j] = 1.0
        with af.else_():
            y[i, j] = 0.0


@pytest.mark.parametrize("equal", [lambda i, j: i == j, lambda i, j: j == i])
def test_a_loop_is_split_before_and_behind_the_iteration_of_an_equality(equal):
    @af.kernel
    def kernel(x: af.f32[N], y: af.f32[N, N]):
        with af.for_(N) as i, af.for_(N) as j:
            with af.if_(equal(i, j)):
                y[i, j] = x[i]
            with af.else_():
                y[i, j] = 0.0

    assert "changes: j at i, j at i + 1;" in kernel.optimize("avx2", threads=1).explain()


def test_equalities_on_either_side():
    fast = diagonal.optimize(threads=1)
    for n in (0, 1, 2, 7, 8, 16, 17, 35):
        x, y = np.random.default_rng(n).random(n).astype("f4"), np.zeros((n, n), "f4")
        wanted = y.copy()
        diagonal.interpret(x, wanted)
        fast(x, y)
        assert y.tobytes() == wanted.tobytes(), n


@af.kernel
def framed(x: af.f32[M, N], y: af.f32[M, N]):
    """Conditions on counters as numbers: one of several, not one, and a choice by one."""
    with af.for_(M) as i, af.for_(N) as j:
        with af.if_((i == 0) | (i == M - 1) | (j < 2) | (j >= N - 1)):
            y[i, j] = 1.0
        with af.elif_((i != j) & (x[i, j] > QUARTER)):
            y[i, j] = af.select(j > i, x[i, j], -x[i, j])
        with af.else_():
            y[i, j] = x[i, j] * QUARTER


def test_conditions_on_counters_are_decided_in_the_parts_of_a_loop():
    steps = af.Schedule(framed).split("i", 1).split("i_rest", M - 1).split("j_2", 2).split("j_2_rest", N - 1)
    steps.split("j_2_rest", "i_rest")
    inside = next(each for each in steps.kernel().c().split("for (") if each.startswith("int64_t j_2_rest = 2;"))
    assert not [each for each in ("==", "!=", "i_rest <", "M") if each in inside.split("}")[0].partition("{")[2]]


KERNELS = [repeated, far, around, reflected, box, torus]


@pytest.mark.parametrize("target", ["native", *some(["avx512", "avx2", "neon", "baseline"], 1)])
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)
def test_what_is_inside_runs_on_vectors(kernel, target):
    found = kernel.optimize(target=target, threads=1)
    on_vectors = [op for op in walk(found.func) if isinstance(op, affine.For) and _has_vectors(op)]
    assert target == "baseline" or not all(map(_has_ends, on_vectors))


def _has_ends(loop):
    return any(isinstance(op, affine.Min | affine.Max | memref.Load) for op in loop.body)


def _has_vectors(loop):
    return any(isinstance(op, affine.VectorStore) for op in loop.body)


@pytest.mark.parametrize("kernel", [*KERNELS, stored, framed], ids=lambda kernel: kernel.name)
def test_it_leaves_the_same_for_each_size(kernel):
    found = kernel.optimize(threads=1)
    flat = len(kernel.func.args) == 3
    for n in (1, 2, 3, 4, 5, 16, 37):
        if kernel is stored and n < 2:
            continue
        shape = (n,) if flat else (n, n + 1 if n % 3 else 2 * n)
        x = np.random.default_rng(n).random(shape, np.float32)
        expected, y, z = (np.full_like(x, np.nan) for _ in range(3))
        run(kernel.func, *shape, x, expected, module=kernel.module)
        found(x, y)
        np.testing.assert_array_equal(y, expected)
        run(found.func, *shape, x, z, module=found.module)
        np.testing.assert_array_equal(z, expected)


def test_a_split_decides_what_is_the_smaller_or_larger_of_two_numbers():
    steps = af.Schedule(repeated).split("i", 1).split("i_rest", N - 1)
    assert not any(isinstance(op, affine.Min | affine.Max) for op in walk(_loop(steps, "i_rest")))
    assert "x[i_rest - 1]" in steps.kernel().c()
    peeled = af.Schedule(repeated).peel("i", first=1, last=1)
    assert not any(isinstance(op, affine.Min | affine.Max) for op in walk(_loop(peeled, "i")))


def test_a_split_decides_where_a_subscript_wraps_around():
    steps = af.Schedule(around).split("i", 1).split("i_rest", N - 2)
    assert "%" not in steps.kernel().c().split("i_rest < N - 2")[1].split("}")[0]


def test_what_is_not_known_stays():
    @af.kernel
    def by_data(x: af.f32[N], y: af.f32[N], k: af.index):
        with af.for_(N) as i:
            y[i] = x[af.min(i, k)]

    steps = af.Schedule(by_data).split("i", 3)
    assert len([op for op in walk(steps.function) if isinstance(op, affine.Min)]) == 2


def _loop(s, name):
    iv = next(row.iv for row in s.loops() if name in row.names)
    return next(op for op in walk(s.function) if isinstance(op, affine.For) and op.iv is iv)
