"""Bounds after a step say no more than their place needs, loops that run once or never go, and messages say so."""

from itertools import product

import numpy as np
import pytest

import affdsl as af
from affdsl.ir.dialects import affine, func
from affdsl.ir.expr import Affine, Value
from affdsl.ir.interpreter import run
from affdsl.ir.traverse import walk, with_fields
from affdsl.ir.types import INDEX
from affdsl.ir.verifier import verify
from affdsl.passes.transforms.settle import settled
from tests.passes.compare import parsed

M, N = af.symbols("M N")


@af.kernel
def floyd(A: af.f64[N, N]):
    with af.for_(N) as k, af.for_(N) as i, af.for_(N) as j:
        A[i, j] = af.min(A[i, j], A[i, k] + A[k, j])


@af.kernel
def plain(x: af.f64[N]):
    with af.for_(N) as j:
        x[j] += 1.0


@af.kernel
def hundred(x: af.f64[100]):
    with af.for_(100) as j:
        x[j] += 1.0


def lines(schedule):
    return [f"{'  ' * row.depth}{row.text}" for row in schedule.loops()]


def test_16_a_split_leaves_no_minimum_that_the_loops_around_decide():
    assert lines(af.Schedule(floyd).split("i", "k")) == [
        "k = 0 to N",
        "  i = 0 to k",
        "    j = 0 to N",
        "  i_rest = k to N",
        "    j_2 = 0 to N",
    ]


@af.kernel
def clamped(A: af.f64[N, 8]):
    with af.for_(N) as i, af.for_(af.min(i, 8)) as j:
        A[i, j] = 1.0


def test_loops_inside_of_one_with_new_bounds_are_settled_though_they_are_as_they_were():
    assert lines(af.Schedule(clamped).split("i", 8)) == [
        "i = 0 to min(N, 8)",
        "  j = 0 to i",
        "i_rest = 8 to N",
        "  j_2 = 0 to 8",
    ]


def test_16_a_loop_of_one_iteration_becomes_its_body():
    s = af.Schedule(floyd).split("i", "k").peel("i_rest", first=1)
    assert lines(s) == [
        "k = 0 to N",
        "  i = 0 to k",
        "    j = 0 to N",
        "  j_3 = 0 to N",
        "  i_rest = k + 1 to N",
        "    j_2 = 0 to N",
    ]
    rng = np.random.default_rng(16)
    for n in (0, 1, 2, 5):
        a = rng.integers(0, 9, (n, n)).astype("f8")
        b = a.copy()
        floyd(a)
        s.kernel(validate=True)(b)
        assert (a == b).all()


def test_16_strips_of_tiles_need_one_minimum():
    assert lines(af.Schedule(plain).tile(("j",), (256,)).strip_mine("j", 16)) == [
        "j_tile = 0 to N step 256",
        "  j_strip = j_tile to min(j_tile + 256, N) step 16",
        "    j = j_strip to min(N, j_strip + 16)",
    ]


@pytest.mark.parametrize(
    ("step", "left"),
    [
        ('split("j", 100)', ["j = 0 to 100"]),
        ('split("j", 0)', ["j_rest = 0 to 100"]),
        ('split("j", 99)', ["j = 0 to 99"]),
        ('tile(("j",), 256)', ["j = 0 to 100"]),
        ('tile(("j",), 1)', ["j_tile = 0 to 100"]),
        ('strip_mine("j", 100)', ["j = 0 to 100"]),
        ('peel("j", last=100)', ["j_last = 0 to 100"]),
    ],
)
def test_16_loops_that_run_once_or_never_go(step, left):
    s = af.Schedule(hundred)
    exec(f"s.{step}", {"s": s})
    assert lines(s) == left
    x = np.zeros(100)
    s.kernel(validate=True)(x)
    assert (x == 1.0).all()


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
    assert lines(s)[:2] == [
        "t_tile = 0 to steps ceildiv 5",
        "  i_tile = (t_tile * 5 + 1) // 8 to min((N + t_tile * 5 + 2) // 8 + 1, (steps + N + 5) // 8)",
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


def test_16_grid_is_true_or_false():
    with pytest.raises(af.ScheduleError, match="grid is True or False, got 0"):
        af.Schedule(hundred).tile(("j",), 8, grid=0)


def test_16_a_refused_wavefront_proposes_one_that_can_be_taken():
    s = af.Schedule(seidel).skew("t", "i", 1).skew("t", "j", 1).tile(("t", "i", "j"), (4, 8, 16))
    with pytest.raises(af.IllegalTransform) as caught:
        s.parallel("i_tile")
    assert (
        caught.value.alternative == 's.skew("t_tile", "i_tile", 2).interchange("t_tile", "i_tile").parallel("t_tile")'
    )
    exec(caught.value.alternative, {"s": s})


def test_conditions_that_the_loops_decide_are_gone():
    @af.kernel
    def edges(x: af.f64[N]):
        with af.for_(N) as i:
            with af.if_(i >= 1):
                x[i] += 1.0
            with af.if_(i < 1):
                x[i] += 2.0

    s = af.Schedule(edges).split("i", 1)
    tuned = s.kernel()
    assert not any(isinstance(op, affine.If) for op in walk(tuned.func))
    for n in (0, 1, 2, 7):
        wanted, found = np.zeros(n), np.zeros(n)
        edges(wanted)
        tuned(found)
        assert np.array_equal(wanted, found)


def test_what_is_inside_of_a_loop_that_runs_once_is_settled_too():
    @af.kernel
    def panels(A: af.f64[4, 16], B: af.f64[32, 64]):
        with af.for_(0, 32, 8) as i, af.for_(i, i + 8) as r, af.for_(64) as j:
            B[r, j] = A[j // 16, j % 16]

    s = af.Schedule(panels).tile(("r", "j"), (8, 16), separate=True)
    assert lines(s) == [
        "i = 0 to 32 step 8",
        "  j_tile = 0 to 64 step 16",
        "    r = i to i + 8",
        "      j = j_tile to j_tile + 16",
    ]
    assert "affine.load %A[%j_tile floordiv 16, %j - %j_tile]" in s.kernel().mlir()
    values, copied = np.random.default_rng(0).random((4, 16)), np.zeros((32, 64))
    s.kernel()(values, copied)
    assert (copied == values.ravel()).all()


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


def test_a_loop_in_which_nothing_is_left_is_gone():
    @af.kernel
    def inside(A: af.f64[N, N]):
        with af.for_(N) as i, af.for_(N) as j, af.if_((i >= 1) & (j < N - 1)):
            A[i, j] = 1.0

    s = af.Schedule(inside).split("i", 1)
    assert lines(s) == ["i_rest = 1 to N", "  j = 0 to N"]
    with pytest.raises(af.ScheduleError, match="i any more: it does nothing"):
        s.unroll("i", 2)
    for n in (0, 1, 2, 5):
        wanted, found = np.zeros((n, n)), np.zeros((n, n))
        inside(wanted)
        s.kernel()(found)
        assert np.array_equal(wanted, found)


def test_conditions_as_numbers_are_decided_and_what_asks_for_them_is_chosen():
    @af.kernel
    def ends(x: af.f64[N], y: af.f64[N], k: af.index):
        with af.for_(N) as i:
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
