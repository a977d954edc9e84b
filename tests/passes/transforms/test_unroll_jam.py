"""Unroll-and-jam: next to mlir-opt's where that is right, run before and after, refused where the order forbids it."""

from __future__ import annotations

from collections import Counter
from functools import partial
from itertools import product
from random import Random

import numpy as np
import pytest

from affdsl.ir.dialects import affine
from affdsl.ir.interpreter import run
from affdsl.ir.traverse import walk
from affdsl.ir.verifier import verify
from affdsl.mlir.readers import parse
from affdsl.passes.analysis.dependence import Dependences
from affdsl.passes.legality.refusal import IllegalTransform
from affdsl.passes.mlir_opt.affine_loop_unroll_jam import affine_loop_unroll_jam
from affdsl.passes.mlir_opt.options import OptionError
from affdsl.passes.transforms import unroll_jam as under_test
from affdsl.passes.transforms.unroll_jam import unroll_jam
from tests.effort import by_turns
from tests.harness.judges import instead
from tests.oracles import mlir_opt
from tests.passes.advice.asked import asked
from tests.passes.compare import assert_alike, parsed, shown
from tests.passes.program_files import text
from tests.passes.transforms.tile_programs import (
    TRIANGLES,
    assert_same,
    assert_sees_around,
    loops,
    refused_exactly,
    triangle,
)
from tests.soundness.programs import PROGRAMS as UNSOUND
from tests.soundness.programs import interpreted

HEAD = "(%A: memref<64x64xf32>, %B: memref<64x64xf32>, %n: index, %x: f32)"
CLEAN = ("canonicalize", "cse")


def test_a_rest_that_starts_no_lower_than_its_loop() -> None:
    """Where the upper bound may be the smaller one, mlir-opt runs the rest from below the lower bound on."""
    text = (
        f"func.func @f{HEAD} {{ affine.for %i = 0 to %n {{ affine.store %x, %A[%i, 0] : memref<64x64xf32> }} return }}"
    )
    passes = ",".join(("affine-loop-unroll-jam", *CLEAN))
    theirs = mlir_opt(text, f"--pass-pipeline=builtin.module(func.func({passes}))")
    ours = shown(affine_loop_unroll_jam(parsed(text)), *(f"--{each}" for each in CLEAN))
    assert "max" not in theirs
    assert ours.count("-> (0, (s0 floordiv 4) * 4)>") == 1
    assert ours.count("affine.for") == theirs.count("affine.for") == 2


@pytest.mark.parametrize("factor", [2, 3, 4])
@pytest.mark.parametrize(
    "name", ["15-unroll-jam-no-dependence-check", "16-unroll-jam-reversed-bounds", "67-unroll-jam-imperfect"]
)
def test_programs_that_mlir_opt_gets_wrong(name: str, factor: int) -> None:
    made = affine_loop_unroll_jam(parsed(UNSOUND[name].text), unroll_jam_factor=factor)
    verify(made)
    assert " ".join(interpreted(made)) == UNSOUND[name].prints


def test_initial_values_count_once() -> None:
    """A sum that starts at 10: mlir-opt starts each copy there."""
    text = """func.func @f(%A: memref<8xi64>, %start: i64) -> i64 {
      %s = affine.for %i = 0 to 8 iter_args(%t = %start) -> i64 {
        %a = affine.load %A[%i] : memref<8xi64>
        %u = arith.addi %t, %a : i64
        affine.yield %u : i64
      }
      return %s : i64
    }"""
    before = parsed(text)
    after = affine_loop_unroll_jam(before)
    assert str(after) != str(before)
    assert run(after.functions[0], np.arange(8), 10) == (38,)


def test_a_factor_that_is_none() -> None:
    with pytest.raises(OptionError, match="unroll-jam-factor is at least 1, got 0"):
        affine_loop_unroll_jam(parsed("func.func @f() { return }"), unroll_jam_factor=0)


def test_one_buffer_with_two_names() -> None:
    assert_sees_around(partial(affine_loop_unroll_jam, unroll_jam_factor=2))


@pytest.mark.parametrize(("name", "legal"), {
    "cholesky": "k k2", "lu": "k j2 k2", "lu_kij": "i j", "cholesky_update": "k i j", "trmm": "i j k",
}.items())  # fmt: skip
def test_triangles(name: str, legal: str) -> None:
    before = triangle(name)
    dependences = Dependences(before)
    accepted = []
    for hint, iv in loops(before).items():
        for factor in (2, 3):
            try:
                after = unroll_jam(before, iv, factor, module=dependences.accesses.module)
            except IllegalTransform:
                continue
            accepted.append((hint, factor))
            assert_same(before, after, (0, 1, 2, 3, 4, 5, 6, 11))
    assert accepted == [(hint, factor) for hint in legal.split() for factor in (2, 3)]


def test_every_triangle_is_here() -> None:
    assert set(TRIANGLES) == {"cholesky", "lu", "lu_kij", "cholesky_update", "trmm"}


def test_loops_inside_whose_bounds_move() -> None:
    """Each point runs once and in the right order, with all kinds of bounds, steps and factors."""
    random, jammed = Random(7), Counter[bool]()
    for _ in range(300):
        low, high, step = random.randint(-2, 3), random.randint(-2, 6), random.choice((1, 1, 2, 3))
        slope, other = random.randint(-2, 2), random.randint(-2, 2)
        start, stop, inner_step = random.randint(-2, 2), random.randint(0, 6), random.choice((1, 1, 2, 3))
        fixed_start, fixed_stop = (random.choice(("", "", f", {random.randint(*ends)}")) for ends in ((-6, 1), (1, 9)))
        text = f"""func.func @f(%A: memref<12x32xi64>, %S: memref<12xi64>, %one: i64) {{
          affine.for %i = {low} to {high} step {step} {{
            %v = arith.index_cast %i : index to i64
            %s = affine.for %j = max affine_map<(d) -> (d * {slope} + {start}{fixed_start})>(%i) to
                min affine_map<(d) -> (d * {other} + {stop}{fixed_stop})>(%i) step {inner_step}
                iter_args(%t = %v) -> i64 {{
              %a = affine.load %A[%i + 4, %j + 16] : memref<12x32xi64>
              %b = arith.addi %a, %one : i64
              affine.store %b, %A[%i + 4, %j + 16] : memref<12x32xi64>
              %w = arith.index_cast %j : index to i64
              %u = arith.muli %t, %w : i64
              %r = arith.addi %u, %v : i64
              affine.yield %r : i64
            }}
            affine.store %s, %S[%i + 4] : memref<12xi64>
          }}
          return
        }}"""
        before = parsed(text).functions[0]
        try:
            after = unroll_jam(before, loops(before)["i"], random.choice((2, 3)))
        except IllegalTransform as refusal:
            jammed[False] += 1
            if "has step" not in str(refusal) and "it runs " not in str(refusal):
                raise
            continue
        verify(after)
        wanted, found = ((np.zeros((12, 32), np.int64), np.zeros(12, np.int64)) for _ in range(2))
        run(before, *wanted, 1)
        run(after, *found, 1)
        assert all((a == b).all() for a, b in zip(wanted, found, strict=True)), f"{text}\n{after}"
        jammed[True] += bool(wanted[0].any())
    assert jammed[True] > 35


@pytest.mark.parametrize(("begin", "factor"), by_turns([("0", 1), ("-2", 3), ("%m", 1), ("%m", 2)], [2, 3, 4]))
def test_several_upper_bounds(begin: tuple[str, int], factor: int) -> None:
    """Each iteration runs once and in the right order, whichever bound is the smallest, below the lower one too."""
    low, step = begin
    text = f"""func.func @f(%A: memref<40x3xi64>, %m: index, %n: index, %k: index) -> i64 {{
      %zero = arith.constant 0 : i64
      %c = affine.for %i = {low} to
          min affine_map<()[s0, s1, s2] -> (s0, s1 * 2, s2 + {2 * factor * step})>()[%n, %k, %m] step {step}
          iter_args(%t = %zero) -> i64 {{
        %v = arith.index_cast %i : index to i64
        %u = affine.for %j = 0 to 3 iter_args(%r = %t) -> i64 {{
          %a = affine.load %A[%i + 10, %j] : memref<40x3xi64>
          %w = arith.addi %a, %v : i64
          affine.store %w, %A[%i + 10, %j] : memref<40x3xi64>
          %q = arith.addi %r, %a : i64
          affine.yield %q : i64
        }}
        affine.yield %u : i64
      }}
      return %c : i64
    }}"""
    before = parsed(text).functions[0]
    after = unroll_jam(before, loops(before)["i"], factor)
    verify(after)
    has_no_rest = low == "%m" or (low == "0" and factor == 2)  # for one bound: the last one, or s1 * 2
    assert len([op for op in walk(after) if isinstance(op, affine.For)]) == 2 * (4 - has_no_rest)
    start, ran = np.arange(1, 121).reshape(40, 3) ** 2, set()
    for m, n, k in product((-3, 0, 4), range(-4, 17, 2), range(-1, 9)):
        wanted, found = start.copy(), start.copy()
        assert run(before, wanted, m, n, k) == run(after, found, m, n, k), (m, n, k)
        assert (wanted == found).all(), (m, n, k)
        ran.add(int((wanted != start).sum()))
    assert len(ran) >= 5


def nest(rows: int, columns: int, around: int) -> str:
    """A loop nest each iteration of which reads what the one at this distance wrote; statements stand around it."""
    return f"""func.func @f(%A: memref<12x12xi64>, %C: memref<16xi64>, %one: i64) {{
      affine.for %t = 2 to 10 {{
        %p = affine.load %C[%t + {around}] : memref<16xi64>
        affine.for %s = 2 to 10 {{
          %a = affine.load %A[%t - {rows}, %s - {columns}] : memref<12x12xi64>
          %b = affine.load %A[%t, %s] : memref<12x12xi64>
          %c = arith.muli %a, %b : i64
          %d = arith.addi %c, %p : i64
          affine.store %d, %A[%t, %s] : memref<12x12xi64>
        }}
        %e = affine.load %A[%t, 9] : memref<12x12xi64>
        affine.store %e, %C[%t] : memref<16xi64>
      }}
      return
    }}"""


@pytest.mark.parametrize("around", [-2, -1, 0, 1, 3])
@pytest.mark.parametrize("factor", [2, 3])
def test_exactly_what_keeps_the_result_is_legal(around: int, factor: int) -> None:
    """Every distance up to 2."""
    random = np.random.default_rng(3)
    start = random.integers(1, 1000, (12, 12)), random.integers(1, 1000, 16)
    refusals = []
    for rows, columns in product(range(-2, 3), range(-2, 3)):
        before = parsed(nest(rows, columns, around)).functions[0]
        step = partial(unroll_jam, before, loops(before)["t"], factor)
        refusals.append(refused_exactly(under_test, step, before, [(*start, 1)]))
    refused = [refusal for refusal in refusals if refusal is not None]
    assert refused
    assert (len(refused) == len(refusals)) == (-factor < around < 0)
    assert all(refusal.witness is not None for refusal in refused)


def guarded(upper: str, condition: str) -> str:
    """A nest in which, under a condition over t and n, an iteration reads what the one before wrote further right."""
    return f"""func.func @f(%A: memref<16x9xi64>, %n: index, %one: i64) {{
      affine.for %t = 1 to {upper} {{
        affine.for %s = 0 to 8 {{
          affine.if affine_set<(d0)[s0] : ({condition} >= 0)>(%t)[%n] {{
            %a = affine.load %A[%t - 1, %s + 1] : memref<16x9xi64>
            %b = arith.addi %a, %one : i64
            affine.store %b, %A[%t, %s] : memref<16x9xi64>
          }}
        }}
      }}
      return
    }}"""


@pytest.mark.parametrize("factor", [2, 3, 4])
def test_the_rest_runs_as_it_did(factor: int) -> None:
    """What only iterations that no copy runs with would break is legal; what whole groups break is not."""
    cases = [(upper, f"d0 - {first}", range(1)) for upper in ("12", "13") for first in range(6, 12)]
    either = "min affine_map<()[s] -> (s, 12)>()[%n]"
    cases += [(either, f"d0 - {first}", (2, 9, 11, 12, 13, 20)) for first in range(6, 12)]
    groups = product((1, 2, 3), (2, 3, 4))
    cases += [("%n", f"d0 - {k} - ((s0 - 1) floordiv {group}) * {group}", range(12)) for k, group in groups]
    start = np.arange(16 * 9).reshape(16, 9) ** 2
    refusals = []
    for upper, condition, sizes in cases:
        before = parsed(guarded(upper, condition)).functions[0]
        step = partial(unroll_jam, before, loops(before)["t"], factor)
        refusals.append(refused_exactly(under_test, step, before, [(start, n, 1) for n in sizes]))
    refused = [refusal for refusal in refusals if refusal is not None]
    assert 5 < len(refused) < len(refusals) - 5
    assert all(refusal.witness is not None for refusal in refused)


def test_the_refusal_of_a_sweep() -> None:
    text = """func.func @f(%A: memref<12x12xf32>) {
      affine.for %t = 1 to 12 {
        affine.for %s = 0 to 11 {
          %a = affine.load %A[%t - 1, %s + 1] : memref<12x12xf32>
          affine.store %a, %A[%t, %s] : memref<12x12xf32>
        }
      }
      return
    }"""
    function = parse(text, "sweep.mlir").functions[0]
    with pytest.raises(IllegalTransform) as refusal:
        asked("unroll_jam", function, loops(function)["t"], 2)
    said = str(refusal.value)
    assert "cannot unroll and jam the loop %t by 2" in said
    assert "with distance (1, -1)" in said
    assert refusal.value.alternative == "skew(func, t, s, 1) first"
    witness = refusal.value.witness
    assert witness is not None
    assert witness.sink[0] - witness.source[0] == 1
    assert witness.source[0] % 2 == 1


def test_a_factor_that_is_too_large() -> None:
    (function,) = parsed(text("affine-loop-unroll-jam", "a sum inside").replace("to 40", "to %n")).functions
    with pytest.raises(IllegalTransform, match="its 6 operations would become 600000, and at most 100000 are made"):
        unroll_jam(function, loops(function)["i"], 100_000)


def test_what_no_loop_counts() -> None:
    (function,) = parsed(text("affine-loop-unroll-jam", "a triangle")).functions
    with pytest.raises(ValueError, match=r"no affine\.for of @f counts %n; its loops are %i, %j"):
        unroll_jam(function, function.args[2], 2)
    with pytest.raises(ValueError, match="at least 2 iterations are jammed, not 1"):
        unroll_jam(function, loops(function)["i"], 1)


def test_bounds_that_are_computed_in_the_loop() -> None:
    """Those that do not move are those of the first copy; those that affine.apply moves are known."""
    text = """func.func @f(%A: memref<40x40xf32>, %n: index, %x: f32) {
      affine.for %i = 0 to %n {
        %c = affine.apply affine_map<()[s] -> (s + 2)>()[%n]
        %d = affine.apply affine_map<(d) -> (d * 2 + 1)>(%i)
        affine.for %j = 0 to %c {
          affine.for %k = affine_map<(d) -> (d)>(%j) to affine_map<(d) -> (d)>(%d) {
            affine.store %x, %A[%i + %j, %k] : memref<40x40xf32>
          }
          memref.store %x, %A[%i, %i] : memref<40x40xf32>
        }
      }
      return
    }"""
    before = parse(text)
    function = before.functions[0]
    with pytest.raises(IllegalTransform, match=r"with distance \(1\.\."):
        unroll_jam(function, loops(function)["i"], 2)
    inside = unroll_jam(function, loops(function)["j"], 2)
    assert_alike(before, instead(before, function, inside), (0, 1, 2, 5, 7), size=40)


def test_counters_that_are_carried() -> None:
    """What a copy hands on may be its induction variable."""
    text = """func.func @f(%A: memref<40x40xindex>, %n: index) {
      affine.for %i = 0 to %n {
        %r:2 = affine.for %j = 0 to 3 iter_args(%p = %i, %q = %n) -> (index, index) {
          memref.store %p, %A[%i, %j] : memref<40x40xindex>
          affine.yield %q, %i : index, index
        }
        memref.store %r#0, %A[%i, %n] : memref<40x40xindex>
        memref.store %r#1, %A[%n, %i] : memref<40x40xindex>
      }
      return
    }"""
    sequence = """func.func @f(%A: memref<40x40xindex>, %n: index) -> index {
      %r:2 = affine.for %i = 0 to %n iter_args(%p = %n, %q = %n) -> (index, index) {
        memref.store %p, %A[%i, %q] : memref<40x40xindex>
        affine.yield %q, %i : index, index
      }
      return %r#0 : index
    }"""
    for each in (text.replace("memref.store %r#1", "memref.store %r#0").replace("[%n, %i]", "[%i, %n]"), sequence):
        before = parsed(each.replace("memref.store %p", "affine.store %p").replace("[%i, %q]", "[%i, 0]"))
        function = before.functions[0]
        for factor in (2, 3):
            after = unroll_jam(function, loops(function)["i"], factor)
            assert assert_alike(before, instead(before, function, after), (0, 1, 2, 5, 7), size=40) > 8


@pytest.mark.parametrize("kind", ["addi", "muli", "andi", "ori", "xori", "maxsi", "minsi", "maxui", "minui", "subi"])
def test_reductions_through_loops_inside(kind: str) -> None:
    """Each copy reduces; what the loop starts with counts once, and what it hands on as it is stays."""
    text = f"""func.func @f(%A: memref<9x9xi32>, %n: index, %start: i32) -> (i32, index, i32) {{
      %r:3 = affine.for %i = 0 to %n iter_args(%s = %start, %k = %n, %q = %start) -> (i32, index, i32) {{
        %u = affine.for %j = 0 to 9 iter_args(%t = %s) -> i32 {{
          %a = affine.load %A[%i, %j] : memref<9x9xi32>
          %v = arith.{kind} %t, %a : i32
          affine.yield %v : i32
        }}
        %b = affine.load %A[%i, 3] : memref<9x9xi32>
        %w = arith.addi %b, %q : i32
        affine.yield %u, %k, %w : i32, index, i32
      }}
      return %r#0, %r#1, %r#2 : i32, index, i32
    }}"""
    before = parsed(text)
    function = before.functions[0]
    for factor in (2, 3, 4):
        after = unroll_jam(function, loops(function)["i"], factor)
        (inner,) = [op for op in walk(after) if isinstance(op, affine.For) and op.iv is loops(function)["j"]]
        assert len(inner.results) == factor
        assert assert_alike(before, instead(before, function, after)) == 12
    assert affine_loop_unroll_jam(before) is not before


def test_sums_of_floats_where_that_is_allowed() -> None:
    sums = """
      %r = affine.for %i = 0 to 8 iter_args(%s = %x) -> f32 {
        %u = affine.for %j = 0 to 9 iter_args(%t = %s) -> f32 {
          %y = affine.load %B[%i, %j] : memref<64x64xf32>
          %v = arith.addf %t, %y : f32
          affine.yield %v : f32
        }
        affine.yield %u : f32
      }"""
    function = parsed(f"func.func @f{HEAD} -> f32 {{{sums}\n return %r : f32 }}").functions[0]
    after = unroll_jam(function, loops(function)["i"], 4, reassociate=True)
    verify(after)
    given = np.arange(64 * 64, dtype=np.float32).reshape(64, 64) % 11  # exact in any order
    assert run(after, given, given, 8, 0.5) == run(function, given, given, 8, 0.5)
