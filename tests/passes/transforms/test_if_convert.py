"""if_convert: results are those of the branches to the bit, and what must stay under its condition stays."""

from __future__ import annotations

import numpy as np
import pytest

import affdsl as af
from affdsl.ir.dialects import scf
from affdsl.ir.traverse import walk
from affdsl.passes.legality.refusal import IllegalTransform

N = af.symbols("N")
EDGES = np.array([0.0, -0.0, 1.5, -2.25, np.inf, -np.inf, np.nan, 1e-40, 3e38, -3e38])
COMBINED = {
    "sum": lambda s, x: s + x,
    "other way round": lambda s, x: x + s,
    "difference": lambda s, x: s - x,
    "difference to it": lambda s, x: x - s,
    "product": lambda s, x: s * x,
    "quotient": lambda s, x: s / x,
    "largest": lambda s, x: af.max(s, x),
    "update that is used twice": lambda s, x: (s + x) * (s + x),
}


def branches(kernel):
    return sum(isinstance(op, scf.If) for op in walk(af.Schedule(kernel).function))


@pytest.mark.parametrize("dtype", [af.f64, af.f32])
@pytest.mark.parametrize("how", COMBINED)
@pytest.mark.parametrize("start", [0.0, -0.0, 2.0, np.inf, np.nan])
def test_what_conditions_combine_is_the_same_to_the_bit(how, start, dtype):
    @af.kernel
    def combined(keep: af.bool_[N], x: dtype[N], out: dtype[N + 1]):
        s = af.var(out[N])
        with af.for_(N) as i:
            with af.if_(keep[i]):
                s.set(COMBINED[how](s, x[i]))
            out[i] = s

    made = af.Schedule(combined).if_convert("i").kernel()
    assert branches(combined) == 1
    assert not branches(made)
    for seed in range(3):
        random = np.random.default_rng(seed)
        x = random.choice(EDGES, 40).astype(dtype.numpy)
        keep = random.random(40) < 0.5
        found, wanted = (np.full(41, start, dtype.numpy) for _ in range(2))
        made(keep, x, found)
        combined.interpret(keep, x, wanted)
        np.testing.assert_array_equal(found, wanted)
        numbers = ~np.isnan(found)
        np.testing.assert_array_equal(np.signbit(found)[numbers], np.signbit(wanted)[numbers])


def test_conditions_in_conditions_and_several_results():
    @af.kernel
    def nested(a: af.f64[N], b: af.f64[N], out: af.f64[2]):
        s, t = af.var(af.f64(0)), af.var(af.f64(1))
        with af.for_(N) as i:
            with af.if_(a[i] > 0.0):
                s += b[i]
                with af.if_(b[i] < 0.5):
                    t *= a[i]
                with af.else_():
                    s -= 0.5
            with af.else_():
                t += b[i] * a[i]
        out[0], out[1] = s, t

    made = af.Schedule(nested).if_convert("i").kernel()
    assert branches(nested) == 2
    assert not branches(made)
    for n in (0, 1, 50):
        a, b = np.random.default_rng(n).normal(size=(2, n))
        found, wanted = np.zeros(2), np.zeros(2)
        made(a, b, found)
        nested.interpret(a, b, wanted)
        np.testing.assert_array_equal(found, wanted)


def test_integers_and_truth_values_are_chosen():
    @af.kernel
    def counted(a: af.i32[N], out: af.i32[1], any_: af.bool_[1]):
        n, seen = af.var(af.i32(0)), af.var(af.bool_(False))
        with af.for_(N) as i, af.if_(a[i] > 3):
            n += a[i]
            seen.set(True)
        out[0], any_[0] = n, seen

    made = af.Schedule(counted).if_convert("i").kernel()
    assert not branches(made)
    a, out, seen = np.arange(10, dtype=np.int32), np.zeros(1, np.int32), np.zeros(1, bool)
    made(a, out, seen)
    assert (out[0], seen[0]) == (sum(range(4, 10)), True)


def guarded(x: af.f64[N], y: af.f64[N], which: af.i64[N], out: af.f64[1], q: af.i64[1]):
    s, d = af.var(af.f64(0)), af.var(af.i64(0))
    with af.for_(N) as i:
        with af.if_(x[i] > 0.0):
            s += y[2 * i]
        with af.if_(which[i] != 0):
            d += 100 // which[i]
        with af.if_(x[i] < 9.0):
            y[i] = s
    out[0], q[0] = s, d


def test_what_may_fail_or_stores_stays_under_its_condition():
    with pytest.raises(IllegalTransform, match="stores, calls, loops, asks about counters alone, or keeps something"):
        af.Schedule(af.kernel(guarded)).if_convert("i")


@pytest.mark.parametrize(("quotient", "is_choice"), [(lambda x: x // 3, True), (lambda x: 60 // x, False)])
def test_a_quotient_by_a_number_that_is_not_zero_needs_no_condition(quotient, is_choice):
    @af.kernel
    def shared(keep: af.bool_[N], x: af.i32[N], out: af.i32[1]):
        s = af.var(af.i32(0))
        with af.for_(N) as i, af.if_(keep[i]):
            s += quotient(x[i])
        out[0] = s

    made = af.Schedule(shared)
    if not is_choice:
        with pytest.raises(IllegalTransform, match="keeps something from failing"):
            made.if_convert("i")
        return
    made.if_convert("i")
    assert not branches(made.kernel())
    x, keep = np.arange(-20, 20, dtype="i4"), np.arange(40) % 3 == 0
    found, wanted = np.zeros(1, "i4"), np.zeros(1, "i4")
    made.kernel()(keep, x, found)
    shared.interpret(keep, x, wanted)
    assert found == wanted


def test_what_another_argument_may_be_is_not_loaded_before():
    @af.kernel
    def shifted(x: af.f64[N], out: af.f64[1]):
        s = af.var(af.f64(0))
        with af.for_(N) as i:
            with af.if_(x[i] > 0.0):
                x[i] = -1.0
                s += x[i]
        out[0] = s

    with pytest.raises(IllegalTransform, match="each of them stores"):
        af.Schedule(shifted).if_convert("i")


def test_a_loop_without_conditions_is_refused():
    @af.kernel
    def plain(x: af.f64[N]):
        with af.for_(N) as i:
            x[i] += 1.0

    with pytest.raises(IllegalTransform, match="there are no conditions in it"):
        af.Schedule(plain).if_convert("i")


def test_strict_sums_under_conditions_have_no_branch():
    @af.kernel
    def masked(keep: af.bool_[N], x: af.f64[N], out: af.f64[1]):
        s = af.var(af.f64(0))
        with af.for_(N) as i, af.if_(keep[i]):
            s += x[i]
        out[0] = s

    fast = masked.optimize("avx512", threads=1)
    assert "what conditions add is chosen, without branches" in fast.explain()
    assert not branches(fast)
    x, keep = np.random.default_rng(0).normal(size=999), np.random.default_rng(1).random(999) < 0.5
    found, wanted = np.zeros(1), np.zeros(1)
    fast(keep, x, found)
    masked.interpret(keep, x, wanted)
    assert found.tobytes() == wanted.tobytes()
