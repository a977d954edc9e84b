"""Subscripts that are clamped, or wrap, at the ends of loops: these are split there, and the middle is on vectors."""

import pytest

import affdsl as af
from affdsl.ir.dialects import affine, memref
from affdsl.ir.traverse import walk
from tests.effort import some
from tests.optimize.recipes import kernels

N = af.symbols("N")
ORDER = kernels("order")


@pytest.mark.parametrize("target", ["native", *some(["avx512", "avx2", "neon", "baseline"], 1)])
@pytest.mark.parametrize("name", ["repeated", "far", "around", "reflected", "box", "torus"])
def test_what_is_inside_runs_on_vectors(name, target):
    found = ORDER[name].optimize(target=target, threads=1)
    on_vectors = [op for op in walk(found.func) if isinstance(op, affine.For) and _has_vectors(op)]
    assert target == "baseline" or not all(map(_has_ends, on_vectors))


def _has_ends(loop):
    return any(isinstance(op, affine.Min | affine.Max | memref.Load) for op in loop.body)


def _has_vectors(loop):
    return any(isinstance(op, affine.VectorStore) for op in loop.body)


def test_a_split_decides_what_is_the_smaller_or_larger_of_two_numbers():
    steps = af.Schedule(ORDER["repeated"]).split("i", 1).split("i_rest", N - 1)
    assert not any(isinstance(op, affine.Min | affine.Max) for op in walk(_loop(steps, "i_rest")))
    assert "x[i_rest - 1]" in steps.kernel().c()
    peeled = af.Schedule(ORDER["repeated"]).peel("i", first=1, last=1)
    assert not any(isinstance(op, affine.Min | affine.Max) for op in walk(_loop(peeled, "i")))


def test_a_split_decides_where_a_subscript_wraps_around():
    steps = af.Schedule(ORDER["around"]).split("i", 1).split("i_rest", N - 2)
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
