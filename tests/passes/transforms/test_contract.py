"""A product and a sum in one operation: where it is one, what it computes, and that it is asked for."""

from contextlib import suppress
from fractions import Fraction

import numpy as np
import pytest

import affdsl as af
from affdsl.ir.dialects import affine, arith, math
from affdsl.ir.traverse import walk
from affdsl.mlir.readers import parse
from affdsl.passes.transforms.contract import contract
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
    kernel.interpret(x, wanted, 0.1, 1 / 3, 2.7)
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


def weighted(sum_of, type=af.f64):
    """A kernel whose results are sums of multiples of three numbers."""

    @af.kernel
    def f(x: type[N], y: type[N], z: type[N], w: type[N]):
        with af.for_(N) as i:
            w[i] = sum_of(x[i], y[i], z[i])

    return f


def operations(kernel):
    """How many products and sums there are in a kernel, together in one and others, and what is negated."""
    ops = [op for op in walk(kernel.func) if isinstance(op, math.Fma | arith.Binary | arith.Negate)]
    kinds = [getattr(op, "kind", op.name) for op in ops]
    return tuple(
        sum(kind in some for kind in kinds) for some in (("math.fma",), ("addf", "subf", "mulf"), ("arith.negf",))
    )


LIKE_TERMS = [
    # What is computed, and its operations as it is, and with like terms together.
    (lambda x, y, z: 0.125 * (x - 2.0 * y) + 0.125 * (z - 2.0 * y) + y, (3, 2, 2), (1, 2, 0)),
    (lambda x, y, z: x - (y - (z - x * 3.0)), (1, 2, 1), (1, 1, 0)),
    (lambda x, y, z: (0.5 * x + y) + (0.5 * z - y * 2.0), (2, 2, 1), (1, 1, 1)),
    # Together they would take as many operations, or more.
    (lambda x, y, z: 0.5 * x + (2.0 * z - 0.5 * y), (2, 1, 1), (2, 1, 1)),
    (lambda x, y, z: 0.5 * x + z - 0.5 * y, (2, 0, 1), (2, 0, 1)),
    (lambda x, y, z: 0.5 * x + 0.5 * y + 0.5 * z, (2, 1, 0), (2, 1, 0)),
    (lambda x, y, z: 0.5 * x + 0.25 * y + z, (1, 2, 0), (1, 2, 0)),
    # 0.1 + 0.3 is no number of the type; 2 - 2 cancels out.
    (lambda x, y, z: 0.1 * x + 0.3 * x + z * y, (2, 1, 0), (2, 1, 0)),
    (lambda x, y, z: 2.0 * x + y - 2.0 * x, (2, 0, 1), (2, 0, 1)),
    # Products of what is loaded are terms.
    (lambda x, y, z: x * y + x * z, (1, 1, 0), (1, 1, 0)),
]


@pytest.mark.parametrize(("sum_of", "as_it_is", "together"), LIKE_TERMS)
@pytest.mark.parametrize("width", some((0, 4), 1))
def test_like_terms_are_together_where_that_is_fewer_operations(sum_of, as_it_is, together, width):
    x, y, z = np.random.default_rng(5).integers(-1000, 1000, (3, 23)) * 16.0
    kernel = weighted(sum_of)
    wanted = np.zeros(23)
    kernel.interpret(x, y, z, wanted)
    for reassociate, counts in ((False, as_it_is), (True, together)):
        s = af.Schedule(kernel)
        if width:
            s.vectorize("i", width, tail="masked")
        made = s.contract("i", reassociate=reassociate).kernel()
        assert operations(made) == counts
        found = np.zeros(23)
        made(x, y, z, found)
        np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-12)


def contracted(sum_of, type=af.f64, *, reassociate=True):
    """The operations of a sum after the step."""
    return operations(af.Schedule(weighted(sum_of, type)).contract("i", reassociate=reassociate).kernel())


def test_numbers_are_those_of_the_type():
    assert contracted(lambda x, y, z: 0.6 * x + 0.4 * x + z * y) == (1, 0, 0), "0.6 and 0.4 are 1 in f64"
    assert contracted(lambda x, y, z: 0.5 * x + 0.25 * x + z * y, af.f32) == (1, 1, 0)
    assert contracted(lambda x, y, z: 0.6 * x + 0.4 * x + z * y, af.f32) == (2, 1, 0), "0.6 and 0.4 are not 1 there"
    kernel = weighted(lambda x, y, z: 16777217.0 * x - 16777216.0 * x + x * x, af.f32)
    x, found = np.arange(1, 6, dtype=np.float32), np.zeros(5, np.float32)
    af.Schedule(kernel).contract("i", reassociate=True).kernel()(x, x, x, found)
    assert found.tolist() == [1, 4, 9, 16, 25], "16777217 is 16777216 there"


@pytest.mark.parametrize(
    "sum_of",
    [
        lambda x, y, z: 1e20 * (1e20 * x) + z * y,
        lambda x, y, z: 3e38 * x + 3e38 * x + 3e38 * x + z * y,
        lambda x, y, z: 1e16 * x + (3.0 * x - 1e16 * x) + z * y,
        lambda x, y, z: float("inf") * x + 2.0 * x + z * y,
    ],
)
def test_what_overflows_or_nearly_cancels_stays(sum_of):
    assert contracted(sum_of, af.f32) == contracted(sum_of, af.f32, reassociate=False)


def test_products_that_are_terms_still_take_part_in_sums():
    def long(x, y, z):
        total = x * y + z
        for k in range(2, 7):
            total = x / k * (y / k) + total
        return total + 2.0 * z

    assert contracted(long) == contracted(long, reassociate=False) == (7, 0, 0)


def test_like_terms_alone_are_taken_together():
    assert contracted(lambda x, y, z: 2.0 * x + z - x) == (0, 1, 0)
    assert contracted(lambda x, y, z: (x + y) + (x + z) + (x - y * 3.0)) == (2, 0, 0)


@pytest.mark.parametrize("terms", [40, 1100])
def test_long_sums_are_looked_at_in_parts(terms):
    def long(x, y, z):
        total = z
        for k in range(terms):
            total = total + (y if k % 2 else x)
        return total

    kernel = weighted(long)
    made = af.Schedule(kernel).contract("i", reassociate=True).kernel()
    fused, others, _ = operations(made)
    assert fused + others < (5 if terms == 40 else 150)
    x, y, z = np.random.default_rng(5).integers(-1000, 1000, (3, 5)) * 16.0
    wanted, found = np.zeros((2, 5))
    kernel(x, y, z, wanted)
    made(x, y, z, found)
    assert found.tolist() == wanted.tolist()


def test_what_a_loop_carries_waits_for_no_more_operations():
    @af.kernel
    def total(x: af.f64[N], y: af.f64[N], out: af.f64[1]):
        acc = af.var(af.f64(0))
        with af.for_(N) as i:
            a, b = x[i], y[i]
            acc.set(acc + (0.125 * (a - 2.0 * b) + 0.125 * (b - 2.0 * a) + b + 0.75 * a))
        out[0] = acc

    made = af.Schedule(total).scalar_replace("i").contract("i", reassociate=True).kernel()
    loop = next(op for op in walk(made.func) if isinstance(op, affine.For))
    (reader,) = [op for op in loop.body if loop.carried[0] in [*op.reads()]]
    assert {*reader.defines()} == {*loop.body[-1].reads()}
    assert operations(made) < operations(af.Schedule(total).scalar_replace("i").contract("i").kernel())


def test_numbers_may_be_made_before_the_loop():
    (f,) = parse("""
    func.func @f(%A: memref<8xf32>, %B: memref<8xf32>) {
      %half = arith.constant 0.5 : f32
      affine.for %i = 0 to 8 {
        %a = affine.load %A[%i] : memref<8xf32>
        %b = affine.load %B[%i] : memref<8xf32>
        %0 = arith.mulf %a, %half : f32
        %1 = arith.mulf %half, %b : f32
        %2 = arith.subf %0, %1 : f32
        %3 = arith.addf %2, %0 : f32
        affine.store %3, %A[%i] : memref<8xf32>
      }
      return
    }""").functions
    made = contract(f, f.body[1].iv, reassociate=True)
    assert [op.name for op in walk(made) if isinstance(op, math.Fma | arith.Binary)] == ["math.fma"]
    kept = [op for op in walk(made) if isinstance(op, arith.Constant)]
    assert sorted(op.value for op in kept) == [-0.5, 0.5], "that of the function stays"


def random_sum(random, depth):
    """A function of three numbers: sums, differences and multiples of them, nested so deep."""
    kind = random.integers(0, 5) if depth else 5
    if kind == 5:
        which = int(random.integers(0, 3))
        return lambda *given: given[which]
    left, right = (random_sum(random, depth - 1) for _ in range(2))
    factor = float(random.choice([-2.0, -1.0, -0.5, 0.25, 0.5, 2.0, 3.0]))
    return [
        lambda *given: left(*given) + right(*given),
        lambda *given: left(*given) - right(*given),
        lambda *given: factor * left(*given),
        lambda *given: left(*given) * factor + right(*given),
        lambda *given: -left(*given) + right(*given),
    ][kind]


@pytest.mark.parametrize("type", [af.f32, af.f64])
def test_random_sums_are_the_same_where_nothing_is_rounded_and_take_no_more_operations(type):
    random = np.random.default_rng(11)
    dtype = {af.f32: np.float32, af.f64: np.float64}[type]
    x, y, z = (random.integers(-50, 50, (3, 9)) * 256).astype(dtype)
    changed = 0
    for _ in range(40):
        kernel = weighted(random_sum(random, 4), type)
        fused, others, _ = operations(kernel)
        made = []
        for reassociate in (False, True):
            s = af.Schedule(kernel)
            with suppress(af.IllegalTransform):  # there is no product in some, and nothing to take together
                s.contract("i", reassociate=reassociate)
            made.append(s.kernel())
        counts = [sum(operations(each)[:2]) for each in made]
        assert counts[1] <= counts[0] <= fused + others
        changed += counts[1] < counts[0]
        wanted, found = np.zeros((2, 9), dtype)
        kernel.interpret(x, y, z, wanted)
        made[1].interpret(x, y, z, found)
        assert found.tolist() == wanted.tolist()
    assert changed > 10
