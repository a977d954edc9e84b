"""Loops whose body does the same several times: one of them in each iteration, in the same order."""

import numpy as np
import pytest

import affdsl as af
from affdsl.ir.dialects import affine
from affdsl.ir.traverse import walk
from affdsl.ir.verifier import verify
from affdsl.passes.legality.refusal import IllegalTransform
from affdsl.passes.transforms.reroll import reroll
from affdsl.passes.transforms.scalar_replace.carried import scalar_replace
from tests.harness.judges import alike

N = af.symbols("N")


@af.kernel
def axpy(x: af.f64[5 * N], y: af.f64[5 * N], a: af.f64):
    with af.for_(2, 5 * N - 1, 5) as i:
        for k in range(5):
            y[i + k - 2] += a * x[i + k - 2] + 0.5


@af.kernel
def dot(x: af.f64[4 * N], y: af.f64[4 * N], a: af.f64):
    total = af.var(af.f64(0))
    with af.for_(N) as i:
        for k in range(4):
            total += x[4 * i + k] * y[4 * i + k]
    y[0] = total * a


@af.kernel
def backwards(x: af.f64[2 * N + 4], y: af.f64[2 * N], a: af.f64):
    with af.for_(N) as i:
        y[2 * i] = x[2 * N - 2 * i] * a
        y[2 * i + 1] = x[2 * N - 2 * i - 1] * a


@pytest.mark.parametrize(("kernel", "parts"), [(axpy, 5), (dot, 4), (backwards, 2)])
def test_the_parts_become_one(kernel, parts):
    function = kernel.func
    (loop,) = (op for op in walk(function) if isinstance(op, affine.For))
    if kernel is dot:
        function = scalar_replace(function, loop.iv)
    made = reroll(function, loop.iv)
    verify(made)
    (new,) = (op for op in walk(made) if isinstance(op, affine.For))
    stores = [sum(isinstance(op, affine.Access) for op in each.body) for each in (loop, new)]
    assert stores[0] >= parts * stores[1] > 0
    for n in (0, 1, 2, 7) if kernel is not dot else (1, 2, 7):
        random = np.random.default_rng(n)
        x, y = random.normal(size=kernel_size(kernel, n, "x")), random.normal(size=kernel_size(kernel, n, "y"))
        assert alike([n, x, y, 0.7], function, made)


def kernel_size(kernel, n, name):
    """How many elements an array has."""
    return {"axpy": 5 * n, "dot": 4 * n, "backwards": 2 * n + 4 * (name == "x")}[kernel.name]


def of(*statements):
    """A kernel of two statements of each iteration."""

    @af.kernel
    def f(x: af.f64[2 * N + 9], y: af.f64[2 * N + 9], n: af.f64[N + 9]):
        with af.for_(N) as i:
            for statement in statements:
                statement(x, y, n, i)

    return f


@pytest.mark.parametrize(
    "statements",
    [
        (lambda x, y, n, i: y.__setitem__(2 * i, x[2 * i]), lambda x, y, n, i: y.__setitem__(2 * i + 1, x[2 * i])),
        (
            lambda x, y, n, i: y.__setitem__(2 * i, x[2 * i] + 1.0),
            lambda x, y, n, i: y.__setitem__(2 * i + 1, x[2 * i + 1] + 2.0),
        ),
        (lambda x, y, n, i: y.__setitem__(2 * i, x[2 * i]), lambda x, y, n, i: x.__setitem__(2 * i + 1, y[2 * i + 1])),
        (lambda x, y, n, i: n.__setitem__(i, x[i]), lambda x, y, n, i: n.__setitem__(i + 1, x[i + 1])),
        (
            lambda x, y, n, i: y.__setitem__(2 * i, af.f64(i)),
            lambda x, y, n, i: y.__setitem__(2 * i + 1, af.f64(i)),
        ),
        (lambda x, y, n, i: y.__setitem__(2 * i, -0.0), lambda x, y, n, i: y.__setitem__(2 * i + 1, 0.0)),
    ],
)
def test_what_is_not_the_same_stays(statements):
    function = of(*statements).func
    (loop,) = (op for op in walk(function) if isinstance(op, affine.For))
    with pytest.raises(IllegalTransform, match="its body does not do the same several times"):
        reroll(function, loop.iv)


def test_optimize_rerolls():
    fast = dot.optimize("avx2", threads=1, reassociate=True)
    assert "i sums up in 16 lanes" in fast.explain()
    assert "reroll" in str(fast.schedule)
