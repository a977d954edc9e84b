"""Small programs that a search has found, at which the optimizer stumbled."""

import pytest

from affdsl.mlir.readers import parse
from affdsl.passes.pipeline.language import run_pipeline
from affdsl.passes.validation import validate
from tests.fuzz.generator import generate
from tests.fuzz.mlir import mlir
from tests.optimize.programs import checked
from tests.optimize.ways import Way

A_LOOP_THAT_RUNS_ONCE = """
func.func @once(%A: memref<7x11xf64>, %B: memref<4xf64>) {
  affine.for %i = 0 to 4 {
    affine.for %j = 0 to min affine_map<(d0) -> (1, d0 + 2)>(%i) step 2 {
      %t1 = arith.index_cast %i : index to i64
      %t2 = arith.sitofp %t1 : i64 to f64
      %t3 = affine.load %B[%j] : memref<4xf64>
      %t4 = arith.subf %t2, %t3 : f64
      affine.store %t4, %A[%i + 1, %j + 5] : memref<7x11xf64>
      affine.store %t2, %B[%j + 1] : memref<4xf64>
    }
  }
  return
}
"""
"""When the loops are interchanged, the one that runs once is gone."""

NO_NEST_LEFT = """
func.func @unordered(%A: memref<20xf64>, %B: memref<24x12xf64>) {
  affine.for %i = 0 to 3 {
    %t1 = arith.index_cast %i : index to i64
    %t2 = arith.sitofp %t1 : i64 to f64
    affine.for %j = 2 to min affine_map<(d0) -> (12, d0 + 3)>(%i) {
      affine.for %k = -3 to 2 {
        %t3 = arith.index_cast %k : index to i64
        %t4 = arith.sitofp %t3 : i64 to f64
        affine.store %t4, %B[%j + ((%i - 1) floordiv 4) + 2, %i] : memref<24x12xf64>
      }
    }
    affine.if affine_set<(d0) : (d0 * -1 + 6 >= 0, d0 - 2 >= 0)>(%i) {
      %t5 = affine.apply affine_map<(d0) -> (d0)>(%i)
      %t6 = memref.load %A[%t5] : memref<20xf64>
      %t7 = arith.addf %t2, %t6 : f64
      memref.store %t7, %A[%t5] : memref<20xf64>
    }
  }
  return
}
"""
"""When the outer loop is on vectors, no nest is left in it."""

A_SCHEDULE_WITH_LARGE_NUMBERS = """
func.func @searched(%A: memref<19xi64>, %C: memref<37x27xi64>) {
  %c8 = arith.constant 8 : i64
  affine.for %i = -1 to 18 step 4 {
    affine.for %j = 0 to 10 {
      %t1 = arith.index_cast %j : index to i64
      %t2 = affine.load %A[%i + 1] : memref<19xi64>
      %t3 = arith.xori %t1, %t2 : i64
      %r = affine.for %k = 1 to 9 step 2 iter_args(%a = %t3) -> (i64) {
        %t4 = arith.xori %a, %a : i64
        affine.store %t4, %C[%k * -1 + 12, %j + 3] : memref<37x27xi64>
        %t5 = affine.load %C[%i + %j + 9, %i + 1] : memref<37x27xi64>
        affine.store %t5, %A[%i + 3] : memref<19xi64>
        %t6 = affine.load %C[%j + 8, %k + 1] : memref<37x27xi64>
        %t7 = arith.muli %c8, %t6 : i64
        affine.yield %t7 : i64
      }
      affine.store %r, %C[%i + 8, %j + 2] : memref<37x27xi64>
    }
  }
  return
}
"""
"""A search for an order of its loops took hours."""


ONE_THAT_GOES_IN_CHUNKS = """
func.func @chunks(%A: memref<5xf64>, %B: memref<8x10xf64>, %N: index) {
  %c7 = arith.constant 7.0 : f64
  affine.for %i = 0 to affine_map<()[s0] -> (s0 + 2)>()[%N] step 4 {
    affine.store %c7, %B[%i + 3, %i + 2] : memref<8x10xf64>
    affine.for %j = -3 to affine_map<()[s0] -> (s0 - 1)>()[%N] step 2 {
      affine.for %k = 2 to 3 {
        %t5 = affine.load %A[0] : memref<5xf64>
        %t6 = affine.load %A[symbol(%N)] : memref<5xf64>
        %t7 = arith.addf %t5, %t6 : f64
        affine.store %t7, %B[%j + 3, %k + 3] : memref<8x10xf64>
      }
    }
    affine.store %c7, %B[%i + 3, %i] : memref<8x10xf64>
  }
  return
}
"""
"""When threads share chunks of a loop, the one inside of it that runs once is gone."""


@pytest.mark.parametrize("target", ["neon threads=1", "neon threads=2", "sse4.2 threads=1", "avx2 threads=3"])
@pytest.mark.parametrize(
    "text", [A_LOOP_THAT_RUNS_ONCE, NO_NEST_LEFT, A_SCHEDULE_WITH_LARGE_NUMBERS, ONE_THAT_GOES_IN_CHUNKS]
)
def test_what_a_search_has_found(text, target):
    module = parse(text)
    made = run_pipeline(module, f"builtin.module(func.func(affdsl-optimize{{target={target}}}))")
    assert validate(module, made).failure is None


def test_a_loop_that_never_runs_after_a_step_of_a_chain_is_no_error():
    """Loops are made one at a shift of which an inner one is then gone: a random program stumbled over that."""
    program = generate(68000084)
    made = run_pipeline(parse(mlir(program)), "builtin.module(func.func(affdsl-optimize{target=neon threads=1}))")
    assert validate(parse(mlir(program)), made).failure is None


def test_the_first_points_of_tiles_are_no_circle():
    """In the last iteration of a loop to N, a quotient of its counter is one of N, which counted as a counter, too."""
    program = generate(410001019)
    made = run_pipeline(parse(mlir(program)), "builtin.module(func.func(affdsl-optimize{target=baseline threads=3}))")
    assert validate(parse(mlir(program)), made).failure is None


def test_no_choice_of_lanes_ends_in_an_internal_error_of_gcc_12():
    """A program for SVE that gcc 12 could not compile for a machine with SSE2 alone, at -O2."""
    assert not checked([110000850], Way("sve", 2)).failures
