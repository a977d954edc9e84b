"""Tiles: next to mlir-opt's, run before and after, refused where a dependence runs against them."""

from __future__ import annotations

from functools import partial
from itertools import product
from random import Random

import numpy as np
import pytest

from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, func
from affdsl.ir.interpreter import run
from affdsl.ir.traverse import rewrite, walk
from affdsl.ir.verifier import verify
from affdsl.mlir.readers import parse
from affdsl.mlir.writers import print_op
from affdsl.passes.analysis.dependence import Dependences
from affdsl.passes.legality.refusal import IllegalTransform
from affdsl.passes.mlir_opt.affine_loop_tile import affine_loop_tile
from affdsl.passes.mlir_opt.options import OptionError
from affdsl.passes.transforms import tile as under_test
from affdsl.passes.transforms.tile import tile
from tests.effort import by_turns
from tests.oracles import mlir_opt
from tests.passes.advice.asked import asked
from tests.passes.compare import both, parsed, shown
from tests.passes.transforms.tile_programs import (
    TRIANGLES,
    assert_same,
    assert_sees_around,
    band,
    loops,
    refused_exactly,
    results,
    triangle,
)
from tests.soundness.programs import PROGRAMS as UNSOUND
from tests.soundness.programs import interpreted

COPY = """
          %x = affine.load %A[%i, %j] : memref<64x64xf32>
          affine.store %x, %B[%i, %j] : memref<64x64xf32>
        } }"""
BOXES = f"""func.func @f(%A: memref<64x64xf32>, %B: memref<64x64xf32>, %n: index) {{
        affine.for %i = 0 to 48 {{ affine.for %j = 0 to 48 {{{COPY}
        affine.for %i = 0 to 50 {{ affine.for %j = 3 to 47 step 3 {{{COPY}
        affine.for %i = 0 to 50 {{ affine.for %j = 0 to 48 {{{COPY}
        affine.for %i = 0 to 3 {{ affine.for %j = 0 to 47 step 2 {{{COPY}
        affine.for %i = 0 to %n {{ affine.for %j = %n to min affine_map<()[s] -> (s + 20, 64)>()[%n] {{{COPY}
        affine.for %i = 0 to 3 {{ affine.for %j = max affine_map<()[s] -> (s, 5)>()[%n] to 64 {{{COPY}
        affine.for %i = 0 to %n {{ }}
        affine.for %i = 0 to %n {{ affine.for %j = 0 to affine_map<(d) -> (d)>(%i) {{{COPY}
        return
    }}"""
"""All kinds of boxes, and last a triangle, which mlir-opt leaves."""

PRODUCT = """func.func @f(%A: memref<256x256xf32>, %B: memref<256x256xf32>, %C: memref<256x256xf32>, %n: index) {
    affine.for %i = 0 to 256 { affine.for %j = 0 to 256 { affine.for %k = 0 to 256 {
      %x = affine.load %A[%i, %k] : memref<256x256xf32>
      %y = affine.load %B[%k, %j] : memref<256x256xf32>
      %c = affine.load %C[%i, %j] : memref<256x256xf32>
      %p = arith.mulf %x, %y : f32
      %s = arith.addf %c, %p : f32
      affine.store %s, %C[%i, %j] : memref<256x256xf32>
    } } }
    affine.for %i = 0 to %n { affine.for %j = 0 to 250 {
      %x = affine.load %A[%i, %j] : memref<256x256xf32>
      affine.store %x, %B[%i, %j] : memref<256x256xf32>
    } }
    affine.for %i = 0 to 7 { affine.for %j = 0 to 250 step 3 {
      %x = affine.load %A[%i + 7, %j] : memref<256x256xf32>
      affine.store %x, %A[%i, %j] : memref<256x256xf32>
    } }
    affine.for %i = 0 to 1 { affine.for %j = 0 to %n {
      %x = affine.load %A[%i + 7, %j] : memref<256x256xf32>
      affine.store %x, %A[%i, %j] : memref<256x256xf32>
    } }
    return
}"""


@pytest.mark.parametrize("size", [1, 2, 4, 7, 64])
@pytest.mark.parametrize("separate", [False, True])
def test_boxes_as_mlir_opt_tiles_them(size: int, separate: bool) -> None:
    ours = affine_loop_tile(parsed(BOXES), tile_size=size, separate=separate)
    flag = f"--affine-loop-tile=tile-size={size} separate={str(separate).lower()}"
    assert shown(ours, "--canonicalize") == mlir_opt(BOXES, flag, "--canonicalize")


@pytest.mark.parametrize(
    "options",
    [{}, {"cache_size": 0}, {"cache_size": 1}, {"cache_size": 5}, {"cache_size": 128}, {"cache_size": 500},
     {"tile_sizes": ("3",)}, {"tile_sizes": ("8", "2", "5", "9")}, {"tile_size": 6, "tile_sizes": ("8",)}],
    ids=str,
)  # fmt: skip
def test_sizes_as_mlir_opt_chooses_them(options: dict[str, int | tuple[str, ...]]) -> None:
    given = {k.replace("_", "-"): ",".join(v) if isinstance(v, tuple) else v for k, v in options.items()}
    flag = f"--affine-loop-tile={' '.join(f'{k}={v}' for k, v in given.items())}"
    texts, clean = [BOXES, PRODUCT], ["--canonicalize"]
    made = [affine_loop_tile(parsed(text), **options) for text in texts]
    for ours, theirs in both(made, clean, texts, [flag, *clean]):
        assert ours == theirs


def test_what_the_pass_leaves() -> None:
    against = sweep(1, -1)
    carried = """func.func @f(%A: memref<9xf32>, %x: f32) -> f32 {
      %r = affine.for %i = 0 to 9 iter_args(%s = %x) -> f32 {
        %a = affine.load %A[%i] : memref<9xf32>
        %t = arith.addf %s, %a : f32
        affine.yield %t : f32
      }
      return %r : f32
    }"""
    for text in (against, carried, TRIANGLES["cholesky_update"]):
        module = parsed(text)
        assert affine_loop_tile(module, tile_size=2) is module


def test_sizes_that_are_none() -> None:
    with pytest.raises(OptionError, match="option tile-sizes takes positive integers, got '0'"):
        affine_loop_tile(parsed(PRODUCT), tile_sizes=("4", "0"))


def test_the_program_that_mlir_opt_tiles_against_a_dependence() -> None:
    program = UNSOUND["12-tile-exact-negative-distance"]
    made = affine_loop_tile(parsed(program.text), tile_size=2)
    assert " ".join(interpreted(made)) == program.prints


def test_one_buffer_with_two_names() -> None:
    assert_sees_around(partial(affine_loop_tile, tile_size=2))


def test_a_triangle_with_its_full_tiles_apart() -> None:
    text = """func.func @f(%A: memref<?x?xf32>, %n: index, %x: f32) {
      affine.for %i = 0 to %n {
        affine.for %j = 0 to affine_map<(d) -> (d + 1)>(%i) {
          affine.store %x, %A[%i, %j] : memref<?x?xf32>
        } {inner}
      } {outer}
      return
    }"""
    before = parsed(text).functions[0]
    after = tile(before, band(before.body[0]), (4, 8), separate=True, names=("ii", "jj"))
    assert (
        str(after)
        == """\
func.func @f(%A: memref<?x?xf32>, %n: index, %x: f32) {
  affine.for %ii = 0 to %n step 4 {
    affine.for %jj = 0 to min affine_map<(d0)[s0] -> (d0 + 4, s0)>(%ii)[%n] step 8 {
      affine.if affine_set<(d0, d1)[s0] : (-d0 + s0 - 4 >= 0, d0 - d1 - 7 >= 0)>(%ii, %jj)[%n] {
        affine.for %i = affine_map<(d0) -> (d0)>(%ii) to affine_map<(d0) -> (d0 + 4)>(%ii) {
          affine.for %j = affine_map<(d0) -> (d0)>(%jj) to affine_map<(d0) -> (d0 + 8)>(%jj) {
            affine.store %x, %A[%i, %j] : memref<?x?xf32>
          } {inner}
        } {outer}
      } else {
        affine.for %i = affine_map<(d0) -> (d0)>(%ii) to min affine_map<(d0)[s0] -> (d0 + 4, s0)>(%ii)[%n] {
          affine.for %j = affine_map<(d0) -> (d0)>(%jj) to min affine_map<(d0, d1) -> (d0 + 8, d1 + 1)>(%jj, %i) {
            affine.store %x, %A[%i, %j] : memref<?x?xf32>
          } {inner}
        } {outer}
      }
    }
  }
  return
}"""
    )


@pytest.mark.parametrize("name", TRIANGLES)
@pytest.mark.parametrize(("separate", "grid"), [(False, False), (True, False), (False, True), (True, True)])
def test_triangles_do_the_same(name: str, separate: bool, grid: bool) -> None:
    before = triangle(name)
    dependences = Dependences(before)
    bands = [band(op) for op in walk(before) if isinstance(op, affine.For)]
    for ivs in bands:
        for sizes in ((3, 4, 5),) if grid else ((2, 2, 2), (3, 4, 5)):
            after = tile(
                before, ivs, sizes[: len(ivs)], separate=separate, module=dependences.accesses.module, grid=grid
            )
            assert_same(before, after, (0, 1, 2, 3, 5, 11))


def test_full_tiles_have_no_minimum_and_hold_most_points() -> None:
    before = triangle("cholesky_update")
    after = tile(before, list(loops(before).values()), (4, 4, 4), separate=True)
    (choice,) = [op for op in walk(after) if isinstance(op, affine.If)]
    full = [op for each in choice.then for op in walk(each) if isinstance(op, affine.For)]
    part = [op for each in choice.orelse for op in walk(each) if isinstance(op, affine.For)]
    assert [(len(op.lower), len(op.upper)) for op in full] == [(1, 1)] * 3
    assert sorted(op.iv.hint for op in full) == sorted(op.iv.hint for op in part)
    assert {op.iv for op in full} == set(loops(before).values())
    emptied = affine.If(choice.condition, (), choice.orelse)
    assert results(_with(after, choice, emptied), 24) != results(before, 24)


@pytest.mark.parametrize("grid", [False, True])
def test_bounds_at_small_scope(grid: bool) -> None:
    """Each point of a band runs once and in the right order, with all kinds of bounds, steps and sizes."""
    random, tiled = Random(5), 0
    cases = list(product(range(-2, 4), range(-2, 4), (1, 2, 3), (1, 2, 3, 4)))
    for low, high, step, size in random.sample(cases, 70 if grid else 140):
        slope, start, stop, other = (random.randint(-2, 2) for _ in range(4))
        inner_step, inner_size = random.choice((1, 1, 2, 3)), random.randint(1, 4)
        text = f"""func.func @f(%A: memref<12x32xi64>, %one: i64) {{
          affine.for %i = {low} to {high} step {step} {{
            affine.for %j = affine_map<(d) -> (d * {slope} + {start})>(%i) to
                min affine_map<(d) -> (d * {other} + {stop} + 4, 7)>(%i) step {inner_step} {{
              %a = affine.load %A[%i + 4, %j + 12] : memref<12x32xi64>
              %b = arith.addi %a, %one : i64
              affine.store %b, %A[%i + 4, %j + 12] : memref<12x32xi64>
            }}
          }}
          return
        }}"""
        before = parsed(text).functions[0]
        ivs = [op.iv for op in walk(before) if isinstance(op, affine.For)]
        wanted, found = np.zeros((12, 32), np.int64), np.zeros((12, 32), np.int64)
        separate = step == inner_step == 1 if grid else inner_step == 1 or not slope
        after = tile(before, ivs, (size, inner_size), separate=separate, grid=grid)
        verify(after)
        run(before, wanted, 1)
        run(after, found, 1)
        assert (wanted == found).all(), f"{text}\n{after}"
        tiled += bool(wanted.any())
    assert tiled > (25 if grid else 60)


def test_sizes_that_are_symbols() -> None:
    for name in ("lu_kij", "cholesky_update", "trmm"):
        before, after = triangle(name), triangle(name, "%T: index, ")
        ivs = next(band(op) for op in walk(after) if isinstance(op, affine.For))
        symbol = after.args[0]
        for separate, grid in ((False, False), (True, False), (False, True)):
            made = tile(after, ivs, [symbol, *[3] * (len(ivs) - 1)], separate=separate, grid=grid)
            verify(made)
            assert mlir_opt(print_op(made))
            for n in (0, 1, 2, 5, 8):
                for size in (1, 2, 3, 9):
                    assert results(made, n, size) == results(before, n)


def sweep(rows: int, columns: int) -> str:
    """A loop nest each iteration of which reads what the one at this distance wrote."""
    return f"""func.func @f(%A: memref<12x12xi64>, %one: i64) {{
      affine.for %t = 2 to 10 {{
        affine.for %s = 2 to 10 {{
          %a = affine.load %A[%t - {rows}, %s - {columns}] : memref<12x12xi64>
          %b = affine.load %A[%t, %s] : memref<12x12xi64>
          %c = arith.muli %a, %b : i64
          %d = arith.addi %c, %one : i64
          affine.store %d, %A[%t, %s] : memref<12x12xi64>
        }}
      }}
      return
    }}"""


@pytest.mark.parametrize(("sizes", "grid"), by_turns([(1, 3), (2, 1), (2, 2), (3, 2), (4, 9), (9, 9)], [False, True]))
def test_exactly_what_keeps_the_result_is_legal(sizes: tuple[int, int], grid: bool) -> None:
    """Every distance up to 2, with these sizes."""
    start = np.random.default_rng(3).integers(1, 1000, (12, 12))
    refusals = []
    for rows, columns in product(range(-2, 3), range(-2, 3)):
        before = parsed(sweep(rows, columns)).functions[0]
        ivs = band(before.body[0])
        refusals.append(refused_exactly(under_test, partial(tile, before, ivs, sizes, grid=grid), before, [(start, 1)]))
    refused = [refusal for refusal in refusals if refusal is not None]
    assert len(refused) < len(refusals) - 8
    is_one_column = 2 // sizes[1] == 9 // sizes[1] if grid else sizes[1] > 8
    assert (not refused) == (sizes[0] == 1 or is_one_column)
    assert all(refusal.witness is not None for refusal in refused)


@pytest.mark.parametrize("sizes", [(1, 3), (2, 2), (3, 9), (9, 3)])
def test_tiles_from_the_largest_of_several_lower_bounds(sizes: tuple[int, int]) -> None:
    """Every distance, wherever the first tile starts."""
    start = np.random.default_rng(3).integers(1, 1000, (12, 12))
    largest = "max affine_map<()[s0] -> (2, s0)>()[%n]"
    refusals = []
    for rows, columns in product(range(3), range(-2, 3)):
        text = sweep(rows, columns).replace("= 2 to", f"= {largest} to").replace("%one: i64)", "%one: i64, %n: index)")
        before = parsed(text).functions[0]
        step = partial(tile, before, band(before.body[0]), sizes)
        refusals.append(refused_exactly(under_test, step, before, [(start, 1, n) for n in range(11)]))
    refused = [refusal for refusal in refusals if refusal is not None]
    assert len(refused) < len(refusals) - 8
    assert (not refused) == (sizes[0] == 1 or sizes[1] > 8)


def total(element: str, add: str) -> func.Func:
    """All numbers of a matrix, added up in memory."""
    return parsed(f"""func.func @f(%A: memref<7x9x{element}>, %S: memref<{element}>) {{
      affine.for %i = 0 to 7 {{
        affine.for %j = 0 to 9 {{
          %a = affine.load %A[%i, %j] : memref<7x9x{element}>
          %s = affine.load %S[] : memref<{element}>
          %t = arith.{add} %s, %a : {element}
          affine.store %t, %S[] : memref<{element}>
        }}
      }}
      return
    }}""").functions[0]


def test_sums_in_memory() -> None:
    """Those of integers are the same in any order, those of floats are not, and may be rounded where that is said."""
    random = np.random.default_rng(5)
    integers, floats = total("i32", "addi"), total("f32", "addf")
    ivs = band(integers.body[0])
    numbers = random.integers(-(2**31), 2**31, (7, 9)).astype(np.int32)
    first, second = np.zeros((), np.int32), np.zeros((), np.int32)
    run(integers, numbers, first)
    run(tile(integers, ivs, (2, 4)), numbers, second)
    assert first == second == numbers.sum(dtype=np.int32)

    ivs = band(floats.body[0])
    with pytest.raises(IllegalTransform) as refusal:
        asked("tile", floats, tuple(ivs), (2, 4))
    assert refusal.value.alternative == "the same with reassociate=True"
    assert refusal.value.witness is not None
    made, given = tile(floats, ivs, (2, 4), reassociate=True), random.random((7, 9), np.float32) * 1e6
    one, other = np.zeros((), np.float32), np.zeros((), np.float32)
    run(floats, given, one)
    run(made, given, other)
    assert one != other
    assert np.isclose(one, other, rtol=1e-5)


def test_a_sum_is_no_reason_for_another_order_of_what_else_is_done() -> None:
    text = str(total("i32", "addi")).replace(
        "affine.store %t, %S[]", "affine.store %t, %A[%i, 0] : memref<7x9xi32>\n affine.store %t, %S[]"
    )
    function = parsed(text).functions[0]
    with pytest.raises(IllegalTransform):
        tile(function, band(function.body[0]), (2, 4), reassociate=True)


def test_the_refusal_of_a_sweep() -> None:
    function = parse(sweep(1, -1), "sweep.mlir").functions[0]
    with pytest.raises(IllegalTransform) as refusal:
        asked("tile", function, band(function.body[0]), (2, 4))
    text = str(refusal.value)
    assert "cannot tile loops %t, %s by 2, 4" in text
    assert "with distance (1, -1)" in text
    assert refusal.value.alternative == "skew(func, t, s, 1) first"
    witness = refusal.value.witness
    assert witness is not None
    (t, s), (later, before) = witness.source, witness.sink
    assert (later - t, before - s) == (1, -1)
    assert (t - 2) // 2 == (later - 2) // 2
    assert (s - 2) // 4 > (before - 2) // 4


def test_a_sweep_is_not_tiled_by_a_symbol() -> None:
    function = parse(sweep(1, -1).replace("(%A", "(%T: index, %A")).functions[0]
    with pytest.raises(IllegalTransform, match=r"cannot tile loops %t, %s by %T, 4[\s\S]*distance \(1, -1\)"):
        tile(function, band(function.body[0]), (function.args[0], 4))


def test_refusals_of_options() -> None:
    text = """func.func @f(%T: index, %n: index) {
      affine.for %i = 0 to 9 {
        affine.for %j = affine_map<(d) -> (d)>(%i) to 9 step 2 { }
      }
      affine.for %k = max affine_map<()[s] -> (s, 0)>()[%n] to 9 { }
      return
    }"""
    function = parsed(text).functions[0]
    i, j, k = loops(function).values()
    with pytest.raises(IllegalTransform, match="lie elsewhere in each iteration of the band, step 2"):
        tile(function, (i, j), (2, 2), separate=True)
    with pytest.raises(IllegalTransform, match="symbolic size start at one place, but %k has several lower bounds"):
        tile(function, (k,), (function.args[0],))
    with pytest.raises(ValueError, match="2 loops take 2 sizes and names, got 1 and 0"):
        tile(function, (i, j), (2,))
    with pytest.raises(ValueError, match="at least one iteration of each loop, got sizes 2, 0"):
        tile(function, (i, j), (2, 0))
    with pytest.raises(IllegalTransform, match=r"@f has no affine\.for over T; its loops are i, j, k"):
        tile(function, (function.args[0],), (2,))
    with pytest.raises(ValueError, match="no loops are given to tile"):
        tile(function, (), ())


def test_sizes_and_names_are_those_of_the_loops_in_whatever_order() -> None:
    function = parse(sweep(1, 1)).functions[0]
    t, s = band(function.body[0])
    assert str(tile(function, (s, t), (4, 2), names=("S", "T"))) == str(
        tile(function, (t, s), (2, 4), names=("T", "S"))
    )


def test_names_and_places_stay() -> None:
    text = """func.func @f(%A: memref<9xf32>, %x: f32) {
      affine.for %i = 0 to 9 { affine.store %x, %A[%i] : memref<9xf32> } {tag} loc("a":1:2)
      return
    }"""
    function = parsed(text).functions[0]
    (old,) = [op for op in walk(function) if isinstance(op, affine.For)]
    outer, inner = (op for op in walk(tile(function, [old.iv], [4])) if isinstance(op, affine.For))
    assert inner.iv is old.iv
    assert outer.iv.hint == "i_tile"
    assert outer.location == inner.location == old.location is not None
    assert (outer.attributes, inner.attributes) == ((), old.attributes)


def _with(function: func.Func, old: Op, new: Op) -> func.Func:
    return rewrite(function, lambda op: new if op is old else None)


def test_tiles_whose_length_does_not_fit_into_64_bits_are_not_made():
    text = "func.func @f() { affine.for %i = 0 to 4611686018427387904 step 4611686018427387904 { } return }"
    module = parsed(text)
    assert affine_loop_tile(module, tile_size=2) is module
    function = module.functions[0]
    with pytest.raises(IllegalTransform, match="2 steps of %i do not fit into 64 bits"):
        tile(function, [function.body[0].iv], [2])
