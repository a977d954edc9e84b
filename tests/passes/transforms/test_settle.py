"""Bounds after a step say no more than their place needs, loops that run once or never go, and messages say so."""

from itertools import product

import numpy as np
import pytest

import affdsl as af
from affdsl.ir.dialects import affine, func, scf
from affdsl.ir.expr import Affine, Value
from affdsl.ir.interpreter import run
from affdsl.ir.traverse import walk, with_fields
from affdsl.ir.types import INDEX
from affdsl.ir.verifier import verify
from affdsl.passes.transforms.settle import settled
from tests.passes.compare import parsed

N = af.symbols("N")


@af.kernel
def hundred(x: af.f64[100]):
    with af.for_(100) as j:
        x[j] += 1.0


def test_16_messages_say_what_became_of_a_loop():
    s = af.Schedule(hundred).split("j", 100)
    assert 'no loop j_rest any more: it never runs (since split("j", 100))' not in s.explain()
    with pytest.raises(
        af.ScheduleError, match=r"hundred has no loop j_rest any more: it never runs \(since split\(\"j\", 100\)\)"
    ):
        s.reverse("j_rest")
    s.tile(("j",), 100)
    with pytest.raises(af.ScheduleError, match=r"no loop j_tile any more: it runs once, and its body stands in its"):
        s.parallel("j_tile")
    s.strip_mine("j", 1)
    assert 'no loop j any more: it runs once, and its body stands in its place (since strip_mine("j", 1' in s.explain()
    with pytest.raises(af.ScheduleError, match="has no size or loop j any more: it runs once"):
        s.split("j_strip", "j")


def test_16_values_that_a_loop_carries_go_on_where_it_runs_once_or_never():
    before = parsed("""func.func @f(%A: memref<8xf32>, %x: f32) {
      %r = affine.for %i = 0 to 1 iter_args(%s = %x) -> f32 {
        %a = affine.load %A[%i] : memref<8xf32>
        %t = arith.addf %s, %a : f32
        affine.yield %t : f32
      }
      %q = affine.for %j = 3 to 2 iter_args(%s = %r) -> f32 {
        %t = arith.addf %s, %s : f32
        affine.yield %t : f32
      }
      affine.store %q, %A[7] : memref<8xf32>
      return
    }""")
    made = settled(before.functions[0], parsed("func.func @g() { return }").functions[0])
    verify(made.function)
    assert not any(isinstance(op, affine.For) for op in walk(made.function))
    assert list(made.gone.values()) == ["runs once", "never runs"]
    a, b = np.arange(8, dtype="f4"), np.arange(8, dtype="f4")
    run(before.functions[0], a, np.float32(3.0))
    run(made.function, b, np.float32(3.0))
    assert (a == b).all()


BOUNDS = {
    "0": lambda i, n: 0, "1": lambda i, n: 1, "2": lambda i, n: 2, "s0": lambda i, n: n, "d0": lambda i, n: i,
    "d0 + 1": lambda i, n: i + 1, "d0 * 2 - 1": lambda i, n: i * 2 - 1, "s0 - d0": lambda i, n: n - i,
    "d0 - 2": lambda i, n: i - 2,
}  # fmt: skip


@pytest.mark.parametrize("lower", BOUNDS)
def test_16_what_goes_runs_so_often_in_every_place(lower):
    """Against counting: the inner loop is gone if and only if it runs once, or never, for all small n and all i."""
    empty = parsed("func.func @g() { return }").functions[0]
    for first, second in product(BOUNDS, ("d0 + 1", "s0", "2")):
        upper = f"affine_map<(d0)[s0] -> ({first}, {second})>(%i)[%n]"
        function = parsed(f"""func.func @f(%A: memref<99xf32>, %n: index, %x: f32) {{
          affine.for %i = 2 to %n {{
            affine.for %j = affine_map<(d0)[s0] -> ({lower})>(%i)[%n] to min {upper} {{
              affine.store %x, %A[%j + 40] : memref<99xf32>
            }}
          }}
          return
        }}""").functions[0]
        made = settled(function, empty)
        counts = set()
        for n in range(3, 12):
            for i in range(2, n):
                low, *high = (BOUNDS[b](i, n) for b in (lower, first, second))
                counts.add(max(0, min(high) - low))
        fate = {frozenset({0}): "never runs", frozenset({1}): "runs once"}.get(frozenset(counts))
        assert next(iter(made.gone.values()), None) == fate, (lower, first, second)
        verify(made.function)


@af.kernel
def seidel(A: af.f64[N, N], steps: af.index):
    with af.for_(steps) as t, af.for_(1, N - 1) as i, af.for_(1, N - 1) as j:  # noqa: F841 - the name of the loop
        A[i, j] = (A[i - 1, j] + A[i, j - 1] + A[i, j] + A[i, j + 1] + A[i + 1, j]) / 5


def test_16_a_wavefront_over_tiles_of_different_sizes_that_lie_on_a_grid():
    s = af.Schedule(seidel).skew("t", "i", 1).skew("t", "j", 1).tile(("t", "i", "j"), (5, 8, 16), grid=True)
    assert [row.text for row in s.loops()][:2] == [
        "t_tile = 0 to steps ceildiv 5",
        "i_tile = (t_tile * 5 + 1) // 8 to min((N + t_tile * 5 + 2) // 8 + 1, (steps + N + 5) // 8)",
    ]
    assert 'names=("t_tile", "i_tile", "j_tile"), grid=True' in str(s)
    s.skew("t_tile", "i_tile", 1).interchange("t_tile", "i_tile").parallel("t_tile")
    rng = np.random.default_rng(16)
    for n, steps in ((2, 3), (3, 1), (9, 4), (40, 13)):
        a = rng.random((n, n))
        b = a.copy()
        seidel(a, steps)
        s.kernel()(b, steps)
        assert (a == b).all()


def test_16_a_refused_wavefront_proposes_one_that_can_be_taken():
    s = af.Schedule(seidel).skew("t", "i", 1).skew("t", "j", 1).tile(("t", "i", "j"), (4, 8, 16))
    with pytest.raises(af.IllegalTransform) as caught:
        s.parallel("i_tile")
    assert (
        caught.value.alternative == 's.skew("t_tile", "i_tile", 2).interchange("t_tile", "i_tile").parallel("t_tile")'
    )
    exec(caught.value.alternative, {"s": s})


def test_a_quotient_is_followed_to_the_outermost_tile_in_one_step():
    (function,) = parsed("""func.func @f(%A: memref<?xf32>, %n: index, %x: f32) {
      affine.for %i = 0 to %n step 16 {
        affine.for %j = affine_map<(d0) -> (d0)>(%i) to affine_map<(d0) -> (d0 + 16)>(%i) step 8 {
          affine.for %k = affine_map<(d0) -> (d0)>(%j) to affine_map<(d0) -> (d0 + 8)>(%j) {
            affine.store %x, %A[%k floordiv 16] : memref<?xf32>
          }
        }
      }
      return
    }""").functions
    made = settled(function, func.Func("g", (), ())).function
    assert "affine.store %x, %A[%i floordiv 16]" in str(made)
    assert settled(made, func.Func("g", (), ())).function is made
    once = with_fields(made, body=(affine.For(Value(INDEX, "t"), (Affine.of(0),), (Affine.of(9),), made.body[:1]),))
    assert settled(once, made).function.body[0].body[0] is made.body[0], "nothing in it is over the new loop"


def test_a_counter_that_is_handed_on_is_read_behind_the_only_iteration():
    @af.kernel
    def last(x: af.i64[N], out: af.i64[N]):
        with af.for_(N) as i:
            with af.for_(i, i + 1, iter_args=N) as (j, at):
                x[j] += 1
                af.yield_(j)
            out[i] = af.i64(at)

    for s in (af.Schedule(last).unroll("i", 2), af.Schedule(last).strip_mine("i", 3)):
        for size in range(5):
            x, out = np.zeros(size, np.int64), np.full(size, -1)
            s.kernel().interpret(x, out)
            assert (x == 1).all()
            assert (out == np.arange(size)).all()


def test_remainders_of_a_counter_are_numbers_where_its_steps_are_multiples():
    (function,) = parsed("""func.func @f(%A: memref<?xindex>, %n: index) {
      affine.for %i = 0 to %n step 24 {
        %r = affine.apply affine_map<(d0) -> ((d0 + 8) mod 3)>(%i)
        %q = affine.apply affine_map<(d0) -> (d0 mod 5)>(%i)
        affine.for %j = 0 to 9 {
          affine.store %r, %A[(%i + %j) mod 4] : memref<?xindex>
        }
        affine.store %r, %A[%i] : memref<?xindex>
        affine.store %q, %A[%i + 1] : memref<?xindex>
      }
      return
    }""").functions
    made = str(settled(function, func.Func("g", (), ())).function)
    assert "affine.apply affine_map<() -> (2)>()" in made
    assert "d0 mod 5" in made
    assert "%A[%j mod 4]" in made


def test_conditions_ask_for_no_remainder_of_what_steps_are_multiples_of():
    @af.kernel
    def board(x: af.i32[N, N]):
        with af.for_(1, N) as i, af.for_(1, N) as j, af.if_((i + j) % 2 == 0):
            x[i, j] += af.i32(i + 3 * j)

    s = af.Schedule(board).unroll("j", 2).unswitch("j")
    for size in range(8):
        a, b = np.zeros((size, size), np.int32), np.zeros((size, size), np.int32)
        i, j = np.indices(a.shape)
        a[(i > 0) & (j > 0) & ((i + j) % 2 == 0)] = 1
        s.kernel()(b)
        assert (a * (i + 3 * j) == b).all()
    with pytest.raises(af.IllegalTransform, match="its condition depends on j, which is only known inside"):
        af.Schedule(board).unroll("j", 3).unswitch("j")


def test_conditions_as_numbers_are_decided_and_what_asks_for_them_is_chosen():
    n = af.symbols("n")

    @af.kernel
    def ends(x: af.f64[n], y: af.f64[n], k: af.index):
        with af.for_(n) as i:
            with af.if_((i == 0) | (i > k) | (x[i] > 0), af.f64) as chosen:
                af.yield_(x[i])
            with af.else_():
                af.yield_(af.select(i < 1, x[i], 2.0))
            y[i] = chosen

    _, first, second = af.Schedule(ends).split("i", 1).kernel().c().split("for (")
    assert "if (" not in first
    assert "y[i] = x[i];" in first
    assert "if ((i_rest - k - 1 >= 0) | (x[i_rest] > 0.0))" in second
    assert "chosen = 2.0;" in second


def test_lanes_of_a_mask_that_are_set_or_not_for_all_sizes_need_no_condition():
    n, m = af.symbols("n m")

    @af.kernel
    def turned(x: af.f64[3, 7], y: af.f64[n, 3], z: af.f64[n, m], w: af.f64[m, n]):
        with af.for_(n) as i:
            with af.for_(3) as j:
                y[i, j] = x[j, 1]
            with af.for_(m) as k:
                z[i, k] = w[k, i]

    def conditions(s, loop):
        made = s.vectorize(loop, 4, tail="folded").function
        return sum(isinstance(op, scf.If) for op in walk(made))

    assert conditions(af.Schedule(turned), "j") == 0
    assert conditions(af.Schedule(turned), "k") == 3  # the first lane runs in each iteration
