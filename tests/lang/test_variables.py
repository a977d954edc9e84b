"""Variables: `s += x` in loops and branches, by the interpreter, as C, as MLIR, and carried in values."""

import numpy as np
import pytest

import affdsl as af
from affdsl.ir.dialects import affine
from affdsl.ir.traverse import walk

M, N = af.symbols("M N")


@af.kernel
def conditional(x: af.f64[N], y: af.f64[2]):
    """Issue 15, 14: a conditional sum needed two levels of yield_."""
    s = af.var(af.f64(0))
    m = af.var(af.f64(-9))
    with af.for_(N) as i:
        with af.if_(i % 2 == 0):
            with af.if_(x[i] > 0):
                s += x[i]
            with af.else_():
                s -= 1
        with af.else_():
            m.set(af.max(m, x[i]))
    y[0] = s
    y[1] = m + s


def expected(x):
    s, m = 0.0, -9.0
    for i, each in enumerate(x):
        if i % 2 == 0:
            s = s + each if each > 0 else s - 1
        else:
            m = max(m, each)
    return [s, m + s]


def test_a_conditional_sum():
    x = np.random.default_rng(1).normal(size=11)
    wanted = expected(x)
    for runs in (conditional, conditional.interpret):
        y = np.zeros(2)
        runs(x, y)
        assert y.tolist() == wanted
    assert str(af.parse(conditional.mlir())) == conditional.mlir()


def test_it_becomes_values_that_the_loop_carries():
    s = af.Schedule(conditional, validate=True).scalar_replace("i")
    (loop,) = [op for op in walk(s.kernel().func) if isinstance(op, affine.For)]
    assert len(loop.results) == 2
    inside = [op for op in walk(loop) if isinstance(op, affine.Load | affine.Store)]
    assert {op.memref.hint for op in inside} == {"x"}
    x = np.random.default_rng(2).normal(size=10)
    y = np.zeros(2)
    s.kernel()(x, y)
    assert y.tolist() == expected(x)


def test_each_operator_changes_it():
    @af.kernel
    def operators(y: af.i64[3], f: af.f64[1]):
        a, b = af.var(af.i64(5)), af.var(af.i64(12))
        a += 3
        a *= 4
        a -= 2
        a //= 4
        a <<= 3
        a >>= 1
        b %= 8
        b ^= 1
        b |= 8
        b &= 13
        y[0] = a
        y[1] = b
        y[2] = +a + b
        c = af.var(af.f64(3))
        c /= 2
        c **= 2
        f[0] = c

    y, f = np.zeros(3, "i8"), np.zeros(1)
    operators(y, f)
    assert y.tolist() == [28, 13, 41]
    assert f.tolist() == [2.25]


def test_it_is_a_number_wherever_one_is_asked_for():
    @af.kernel
    def uses(x: af.f64[N], y: af.f64[N], at: af.i64[N]):
        k = af.var(af.i64(0))
        with af.for_(N) as i:
            with af.if_(x[i] > 0):
                y[k] = af.sqrt(x[i]) * af.f64(k)
                k += 1
        with af.for_(k) as j:
            at[j] = af.select(k > 1, k, at[j])
        return k

    x, y, at = np.array([4.0, -1.0, 9.0]), np.zeros(3), np.zeros(3, "i8")
    assert uses(x, y, at) == 2
    assert y.tolist() == [0.0, 3.0, 0.0]
    assert at.tolist() == [2, 2, 0]


def test_analyses_see_memory():
    @af.kernel
    def own(A: af.f64[M, N], y: af.f64[M]):
        with af.for_(M) as i:
            s = af.var(af.f64(0))
            with af.for_(N) as j:
                s += A[i, j]
            y[i] = s

    @af.kernel
    def shared(x: af.f64[N]):
        s = af.var(af.f64(0))
        with af.for_(N) as i:
            s.set(x[i] + 1)
            x[i] = s * 2

    assert [loop.verdict for loop in own.loops()] == ["parallel", "parallel with reductions"]
    assert [loop.verdict for loop in shared.loops()] == ["parallel if privatized"]
    with pytest.raises(af.IllegalTransform, match=r's\.(expand|privatize)\("s", "i"\) first'):
        af.Schedule(shared).parallel("i")
    with pytest.raises(af.IllegalTransform, match="by addf, which rounds"):
        af.Schedule(conditional).parallel("i")
    a, y = np.arange(12.0).reshape(3, 4), np.zeros(3)
    af.Schedule(own, validate=True).parallel("i").kernel()(a, y)
    assert y.tolist() == a.sum(axis=1).tolist()


def test_an_iteration_of_a_parallel_loop_has_its_own():
    @af.kernel
    def own(A: af.f64[M, N], y: af.f64[M]):
        with af.parallel(M) as i:
            s = af.var(af.f64(0))
            with af.for_(N) as j:
                s += A[i, j]
            y[i] = s

    a, y = np.arange(12.0).reshape(3, 4), np.zeros(3)
    own(a, y)
    assert y.tolist() == a.sum(axis=1).tolist()


def test_its_name_stays_its_name():
    @af.kernel
    def kept(x: af.f64[2]):
        s = af.var(x[0])
        t = +s
        s += 1
        x[0] = t
        x[1] = s

    x = np.array([5.0, 0.0])
    kept(x)
    assert x.tolist() == [5.0, 6.0]


def test_several_values_are_given_one_by_one_or_as_a_tuple():
    """Issue 15, 14: for_ took a tuple where if_ wanted them one by one."""

    @af.kernel
    def both(x: af.f64[N], y: af.f64[4]):
        with af.for_(N, iter_args=(af.f64(0), af.f64(1))) as (i, s, p):
            with af.if_(x[i] > 0, (af.f64, af.f64)) as (a, b):
                af.yield_((s + x[i], p))
            with af.else_():
                af.yield_(s, p * x[i])
            af.yield_((a, b))
        with af.for_(N, iter_args=[af.f64(0)]) as (i, t):
            with af.if_(x[i] > 0, af.f64) as c:
                af.yield_((t + 1,))
            with af.else_():
                af.yield_(t)
            af.yield_(c)
        y[0], y[1], y[2] = s, p, t

    y = np.zeros(4)
    both(np.array([2.0, -3.0, 5.0, -1.0]), y)
    assert y.tolist() == [7.0, 3.0, 2.0, 0.0]
