"""demote: what loops carry, kept in memory, comes to the same, and opens the other steps."""

import numpy as np
import pytest

import affdsl as af
from affdsl.ir.dialects import affine, memref, scf
from affdsl.ir.interpreter import run
from affdsl.ir.traverse import walk
from affdsl.ir.verifier import verify
from affdsl.mlir.readers import parse
from affdsl.passes.legality.refusal import IllegalTransform
from affdsl.passes.transforms.demote import demote

K, M, N = af.symbols("K M N")


def loops(function):
    return [op for op in walk(function) if isinstance(op, affine.For | scf.For)]


def ops(function, *kinds):
    return [op for op in walk(function) if isinstance(op, kinds)]


@af.kernel
def product(A: af.f32[M, K], B: af.f32[K, N], C: af.f32[M, N]):
    af.assume(K >= 1)
    with af.for_(M) as i, af.for_(N) as j:
        with af.for_(K, iter_args=af.f32(0)) as (k, s):
            af.yield_(s + A[i, k] * B[k, j])
        C[i, j] = s


def test_the_element_that_gets_the_sum_keeps_it():
    made = demote(product.func, loops(product.func)[2].iv)
    assert not ops(made, memref.Alloca)
    assert not any(loop.results for loop in loops(made))
    assert len(ops(made, affine.Store)) == 2


@pytest.mark.parametrize(
    ("between", "why"),
    [
        ("x[0] = C[i] + s", "it is read before"),
        ("C[i] = 1.0", "it is written before"),
        ("C[af.index(at[0])] = 1.0", "it may be written before"),
    ],
)
def test_an_element_that_is_touched_in_between_does_not_keep_the_sum(between, why):
    made = _row_sums(between=between)
    assert len(ops(made, memref.Alloca)) == 1, why


def _row_sums(between="x[1] = 2.0", inside="pass"):
    """A kernel whose rows are summed up, with statements in the loop and before the sum is stored; demoted."""

    @af.kernel
    def f(A: af.f64[8, 8], C: af.f64[8], x: af.f64[8], at: af.i64[8]):
        with af.for_(8) as i:
            with af.for_(8, iter_args=af.f64(0)) as (j, s):
                exec(inside, {"af": af, "A": A, "C": C, "x": x, "i": i, "j": j})
                af.yield_(s + A[i, j])
            exec(between, {"af": af, "C": C, "x": x, "at": at, "i": i, "s": s})
            C[i] = s

    made = demote(f.func, loops(f.func)[1].iv)
    given = [np.arange(64.0).reshape(8, 8), *(np.arange(8.0) for _ in range(2)), np.arange(8)[::-1].copy()]
    ours, theirs = [a.copy() for a in given], [a.copy() for a in given]
    f.interpret(*theirs)
    verify(made)
    run(made, *ours)
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_array_equal(a, b)
    return made


def test_what_the_loop_touches_decides_as_well():
    assert len(ops(_row_sums(inside="x[j] = C[i]"), memref.Alloca)) == 1
    assert len(ops(_row_sums(inside="x[j] = C[j]"), memref.Alloca)) == 1
    assert not ops(_row_sums(inside="x[j] = 1.0"), memref.Alloca)


@pytest.mark.parametrize(
    ("inside", "between", "kept"),
    [
        ("pass", "pass", True),
        ("x[j] = C[i]", "pass", False),
        ("pass", "x[0] = C[i]", False),
        ("C[j] = 1.0", "pass", False),
    ],
)
def test_an_element_that_gets_a_new_value_behind_keeps_the_old_one_on_the_way(inside, between, kept):
    @af.kernel
    def f(A: af.f64[8, 8], C: af.f64[8], x: af.f64[8]):
        with af.for_(8) as i:
            with af.for_(8, iter_args=C[i]) as (j, s):
                exec(inside, {"C": C, "x": x, "i": i, "j": j})
                af.yield_(s - A[i, j])
            exec(between, {"C": C, "x": x, "i": i})
            C[i] = s / A[i, i]

    made = demote(f.func, loops(f.func)[1].iv)
    assert (not ops(made, memref.Alloca)) == kept
    ours, theirs = ([1 + np.arange(64.0).reshape(8, 8), *(np.arange(8.0) for _ in range(2))] for _ in range(2))
    f.interpret(*theirs)
    run(made, *ours)
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_array_equal(a, b)


def test_it_is_the_inverse_of_scalar_replace():
    @af.kernel
    def sums(A: af.f64[M, N], x: af.f64[M]):
        af.assume(N >= 1)
        with af.for_(M) as i, af.for_(N) as j:
            x[i] += A[i, j]

    s = af.Schedule(sums).scalar_replace("j").demote("j")
    (store,) = ops(s.kernel().func, affine.Store)
    assert len(ops(s.kernel().func, affine.Load)) == 2
    assert store in loops(s.kernel().func)[1].body


def test_loops_that_hand_a_value_on_have_it_in_one_place():
    @af.kernel
    def total(A: af.f64[M, N], x: af.f64[1]):
        with af.for_(M, iter_args=af.f64(0)) as (i, t):
            with af.for_(N, iter_args=t) as (j, s):
                af.yield_(s + A[i, j])
            af.yield_(s)
        x[0] = t

    for number in (0, 1):
        made = demote(total.func, loops(total.func)[number].iv)
        outer, inner = loops(made)
        assert outer.body == (inner,)
        assert not ops(made, memref.Alloca)


def test_a_loop_that_carries_nothing_is_refused():
    with pytest.raises(IllegalTransform, match="it carries no value"):
        demote(product.func, loops(product.func)[0].iv)
    text = """
        func.func @f(%x: vector<4xf32>) -> vector<4xf32> {
          %r = affine.for %i = 0 to 4 iter_args(%s = %x) -> (vector<4xf32>) {
            %t = arith.addf %s, %s : vector<4xf32>
            affine.yield %t : vector<4xf32>
          }
          return %r : vector<4xf32>
        }"""
    function = parse(text).functions[0]
    with pytest.raises(IllegalTransform, match=r"%s has type vector<4xf32>, and a buffer of one element"):
        demote(function, loops(function)[0].iv)
    with pytest.raises(ValueError, match="is no induction variable of a loop of @f"):
        demote(function, loops(product.func)[0].iv)


def test_steps_take_it_by_themselves():
    """Issue 15, 14: carried sums can hardly be tiled, interchanged, made perfect."""
    s = af.Schedule(product, validate=True)
    s.make_perfect("j", "k").tile(("i", "j", "k"), (2, 3, 2)).interchange("j", "k").parallel("i_tile")
    assert [step.call.verb for step in s.steps] == ["demote", "make_perfect", "tile", "interchange", "parallel"]
    assert 's.demote("k")' in str(s)
    assert '1. demote("k")' in s.explain()
    assert "k carries no values any more" in s.explain()
    a, b = np.random.default_rng(1).random((2, 5, 5), dtype="f4")
    ours, theirs = np.empty((5, 5), "f4"), np.empty((5, 5), "f4")
    product.interpret(a, b, theirs)
    s.kernel()(a, b, ours)
    np.testing.assert_array_equal(ours, theirs)


def test_a_refusal_says_what_helps_when_the_values_are_in_memory():
    s = af.Schedule(product)
    with pytest.raises(af.IllegalTransform) as caught:
        s.tile(("i", "j", "k"), (2, 3, 2))
    assert caught.value.alternative == 's.make_perfect("j", "k") first'
    assert not s.steps
    s.make_perfect("j", "k").tile(("i", "j", "k"), (2, 3, 2))


def test_a_sum_of_sums_is_tiled_where_another_order_is_allowed():
    @af.kernel
    def total(A: af.f64[M, N], x: af.f64[1]):
        with af.for_(M, iter_args=af.f64(0)) as (i, t):
            with af.for_(N, iter_args=t) as (j, s):
                af.yield_(s + A[i, j])
            af.yield_(s)
        x[0] = t

    s = af.Schedule(total)
    with pytest.raises(af.IllegalTransform, match="reassociate=True"):
        s.tile(("i", "j"), (2, 2))
    s.tile(("i", "j"), (2, 2), reassociate=True)
    assert [step.call.verb for step in s.steps] == ["demote", "tile"]
