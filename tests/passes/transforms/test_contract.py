"""A product and a sum in one operation: where it is one, what it computes, and that it is asked for."""

from fractions import Fraction

import numpy as np
import pytest

import affdsl as af
from affdsl.ir.dialects import affine, arith, math
from affdsl.ir.traverse import walk
from tests.effort import some

N = af.symbols("N")


@af.kernel
def horner(x: af.f64[N], y: af.f64[N], a: af.f64, b: af.f64, c: af.f64):
    with af.for_(N) as i:
        y[i] = (a * x[i] + b) * x[i] - c


def exact(x, a, b, c):
    """Each product and sum rounded once: as integers times powers of two, which Python divides exactly."""
    first = [float(Fraction(a) * Fraction(e) + Fraction(b)) for e in x.tolist()]
    return np.array([float(Fraction(f) * Fraction(e) - Fraction(c)) for f, e in zip(first, x.tolist(), strict=True)])


@pytest.mark.parametrize("width", [0, 4])
def test_what_is_contracted_is_rounded_once(width):
    s = af.Schedule(horner).contract("i")
    if width:
        s.vectorize("i", width)
    made = s.kernel()
    fused = [op for op in walk(made.func) if isinstance(op, math.Fma)]
    assert len(fused) == (4 if width else 2)
    assert not any(isinstance(op, arith.Binary) and op.kind in ("mulf", "addf", "subf") for op in walk(made.func))
    x = np.random.default_rng(2).random(23) * 3
    a, b, c = 0.1, 1 / 3, 2.7
    y, plain = np.zeros(23), np.zeros(23)
    made(x, y, a, b, c)
    horner(x, plain, a, b, c)
    assert y.tobytes() == exact(x, a, b, c).tobytes()
    assert y.tobytes() != plain.tobytes(), "or nothing is shown"


def test_a_product_that_is_read_twice_stays():
    @af.kernel
    def both(x: af.f32[N], y: af.f32[N]):
        with af.for_(N) as i:
            p = x[i] * x[i]
            y[i] = p + p

    with pytest.raises(af.IllegalTransform, match="no sum in it takes a product that nothing else reads"):
        af.Schedule(both).contract("i")


def test_a_product_that_is_computed_again_stays_as_compilers_do_it_once():
    @af.kernel
    def powers(x: af.f64[N], out: af.f64[3]):
        with af.for_(N) as i:
            v = x[i]
            out[0] += v * v
            out[1] += v * v * v
            out[2] += v * v * v * v

    made = af.Schedule(powers).contract("i").kernel()
    fused = [op for op in walk(made.func) if isinstance(op, math.Fma)]
    assert len(fused) == 1  # v * v is there three times, and v * v * v twice
    x = np.arange(7.0)
    found = np.zeros(3)
    made(x, found)
    assert found.tolist() == [(x**k).sum() for k in (2, 3, 4)]


def test_of_two_products_the_one_is_contracted_that_is_there_later():
    @af.kernel
    def smoothed(x: af.f64[N], y: af.f64[N], a: af.f64, b: af.f64):
        before = af.var(af.f64(0))
        with af.for_(N) as i:
            before.set(a * x[i] + b * before)
            y[i] = before

    made = af.Schedule(smoothed).scalar_replace("i").contract("i").kernel()
    (fused,) = [op for op in walk(made.func) if isinstance(op, math.Fma)]
    loop = next(op for op in walk(made.func) if isinstance(op, affine.For))
    assert loop.carried[0] in (fused.a, fused.b)


def test_validation_lets_it_round():
    assert af.Schedule(horner, validate=True).contract("i").kernel(validate=True) is not None


def at_one(kernel):
    """What a kernel gives for a number 1, as it is written and contracted; validation sees nothing wrong with that."""
    contracted = af.Schedule(kernel).contract("i").kernel(validate=True)
    found = np.zeros((2, 1))
    with np.errstate(all="ignore"):
        for call, y in zip((kernel, contracted), found, strict=True):
            call(np.ones(1), y)
    return found[:, 0]


def test_what_overflows_alone_may_not_do_so_in_one_operation():
    n = af.symbols("n")

    @af.kernel
    def cancelled(x: af.f64[n], y: af.f64[n]):
        with af.for_(n) as i:
            large = x[i] * 1e200
            y[i] = large * large - (2 * large) * (large / 2)

    plain, fused = at_one(cancelled)
    assert np.isnan(plain)
    assert np.isinf(fused)


def test_what_overflows_alone_may_be_finite_in_one_operation():
    n = af.symbols("n")

    @af.kernel
    def nearly(x: af.f64[n], y: af.f64[n]):
        with af.for_(n) as i:
            large = x[i] * 1.4e154
            y[i] = large * large - 1.6e308

    plain, fused = at_one(nearly)
    assert np.isinf(plain)
    assert 2.0**512 < fused < np.inf


def mixed(sum_of):
    """A kernel whose results are sums of products and numbers."""

    @af.kernel
    def f(x: af.f64[N], y: af.f64[N], a: af.f64, b: af.f64, c: af.f64):
        with af.for_(N) as i:
            y[i] = sum_of(x[i], y[i], a, b, c)

    return f


SUMS = [
    (lambda x, y, a, b, c: a * x + b * y + 0.5, (1, 2), (2, 0)),
    (lambda x, y, a, b, c: a * x + b * y + c, (1, 2), (2, 0)),
    (lambda x, y, a, b, c: c + (a * x + b * y), (1, 2), (2, 0)),
    (lambda x, y, a, b, c: a * x + b * y + x * y + 0.5, (2, 2), (3, 0)),
    (lambda x, y, a, b, c: (a * x + b * y) + (c * x + x * y) + 0.5, (2, 4), (3, 2)),
    (lambda x, y, a, b, c: (a * x + b * y + 0.5) + (c * x + x * y + 0.25), (2, 5), (4, 1)),
    (lambda x, y, a, b, c: a * x + b * y + x, (1, 2), (1, 2)),
    (lambda x, y, a, b, c: a * x + y + 0.5, (1, 1), (1, 1)),
    (lambda x, y, a, b, c: (a * x + b * y) * x + 0.5, (2, 1), (2, 1)),
    (lambda x, y, a, b, c: a * x + b * y - 0.5, (1, 2), (1, 2)),
]  # fmt: skip
IN_TURN = [(*each, width) for n, each in enumerate(SUMS) for width in some((0, 4) if n % 2 else (4, 0), 1)]
"""Unless all is tried, sums take turns: one is on vectors, and the next one is not."""


@pytest.mark.parametrize(("sum_of", "as_it_is", "in_any_order", "width"), IN_TURN)
def test_a_number_is_added_to_the_first_product_in_any_order(sum_of, as_it_is, in_any_order, width):
    kernel = mixed(sum_of)
    x, y = np.random.default_rng(1).random((2, 23)) * 3
    wanted = y.copy()
    kernel(x, wanted, 0.1, 1 / 3, 2.7)
    for reassociate, counts in ((False, as_it_is), (True, in_any_order)):
        s = af.Schedule(kernel)
        if width:
            s.vectorize("i", width, tail="masked")
        made = s.contract("i", reassociate=reassociate).kernel()
        ops = [*walk(next(op for op in made.func.body if isinstance(op, affine.For)))]
        fused = sum(isinstance(op, math.Fma) for op in ops)
        added = sum(isinstance(op, arith.Binary) and op.kind in ("addf", "subf", "mulf") for op in ops)
        assert (fused, added) == counts
        found = y.copy()
        made(x, found, 0.1, 1 / 3, 2.7)
        np.testing.assert_allclose(found, wanted, atol=2e-15)


def test_a_sum_in_another_order_is_rounded_in_another_order():
    kernel = mixed(lambda x, y, a, b, c: a * x + b * y + 0.5)
    made = af.Schedule(kernel, validate=True).contract("i", reassociate=True).kernel(validate=True)
    x, y = np.random.default_rng(3).random((2, 50))
    found = y.copy()
    made(x, found, 0.1, 1 / 3, 2.7)
    first = [float(Fraction(0.1) * Fraction(e) + Fraction(0.5)) for e in x.tolist()]
    pairs = zip(first, y.tolist(), strict=True)
    assert found.tolist() == [float(Fraction(1 / 3) * Fraction(e) + Fraction(s)) for s, e in pairs]
