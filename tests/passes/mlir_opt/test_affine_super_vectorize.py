"""Which loops affine-super-vectorize takes: the innermost that may be, and only what then loads or stores vectors."""

import numpy as np
import pytest

from affdsl.ir.dialects import affine
from affdsl.ir.interpreter import run
from affdsl.ir.traverse import walk
from affdsl.mlir.readers import parse
from affdsl.passes.mlir_opt.affine_super_vectorize import affine_super_vectorize
from affdsl.passes.mlir_opt.options import OptionError
from tests.oracles import mlir_opt

NEST = """func.func @f(%A: memref<?x?xf32>, %B: memref<?xf32>, %n: index, %x: f32) {
  affine.for %i = 0 to %n {
    affine.for %j = 0 to %n {
      %a = affine.load %A[ROW, COLUMN] : memref<?x?xf32>
      %b = affine.load %B[%j] : memref<?xf32>
      %c = arith.mulf %a, %b : f32
      affine.store %c, %A[ROW, COLUMN] : memref<?x?xf32>
    }
  }
  return
}"""
ROWS = NEST.replace("ROW", "%i").replace("COLUMN", "%j")
SUM = """func.func @f(%A: memref<64xf32>, %B: memref<1xf32>, %x: f32) {
  %s = affine.for %i = 0 to 64 iter_args(%t = %x) -> (f32) {
    %a = affine.load %A[%i] : memref<64xf32>
    %p = arith.mulf %a, %a : f32
    %u = arith.addf %t, %p : f32
    affine.yield %u : f32
  }
  affine.store %s, %B[0] : memref<1xf32>
  return
}"""


def steps(text, **options):
    """The steps of the loops by their names, where they are not 1."""
    made = affine_super_vectorize(parse(text), **options)
    mlir_opt(str(made))
    return {op.iv.hint: op.step for op in walk(made) if isinstance(op, affine.For) and op.step != 1}


def test_the_innermost_loop_that_may_be_is_vectorized():
    assert steps(ROWS, virtual_vector_size=(8,)) == {"j": 8}
    assert steps(ROWS) == {}


def test_a_loop_along_columns_is_left_for_one_around_it():
    columns = NEST.replace("ROW", "%j").replace("COLUMN", "%i").replace("%B[%j]", "%B[0]")
    assert steps(columns, virtual_vector_size=("4",)) == {"i": 4}


def test_which_dimension_is_asked_for():
    assert steps(ROWS, virtual_vector_size=(4,), test_fastest_varying=(0,)) == {"j": 4}
    assert steps(ROWS, virtual_vector_size=(4,), test_fastest_varying=(1,)) == {}
    assert steps(ROWS, virtual_vector_size=(4,), test_fastest_varying=(-1,)) == {"j": 4}


def test_loops_that_carry_values_are_asked_for():
    assert steps(SUM, virtual_vector_size=(4,)) == {}
    assert steps(SUM, virtual_vector_size=(4,), vectorize_reductions=True) == {"i": 4}


COPY = NEST.replace("%c, %A[ROW, COLUMN]", "%c, %B2[ROW, COLUMN]").replace(
    "%B: memref", "%B2: memref<?x?xf32>, %B: memref"
)
SWAPPED = COPY.replace("%A[ROW, COLUMN]", "%A[%j, %i]").replace("ROW", "%i").replace("COLUMN", "%j")


def test_several_sizes_are_for_several_loops():
    assert steps(ROWS, virtual_vector_size=(4, 8)) == {"i": 4, "j": 8}
    assert steps(SWAPPED, virtual_vector_size=(4, 8)) == {"i": 4, "j": 8}
    assert steps(ROWS, virtual_vector_size=(4, 8, 2)) == {}


def test_each_loop_has_its_dimension():
    assert steps(ROWS, virtual_vector_size=(4, 8), test_fastest_varying=(1, 0)) == {"i": 4, "j": 8}
    assert steps(ROWS, virtual_vector_size=(4, 8), test_fastest_varying=(0, 1)) == {}
    assert steps(SWAPPED, virtual_vector_size=(4, 8), test_fastest_varying=(1, 0)) == {}
    assert steps(SWAPPED, virtual_vector_size=(4, 8), test_fastest_varying=(-1, -1)) == {"i": 4, "j": 8}


def test_two_dimensions_give_the_same():
    """The transposition of mlir-opt's own tests: what is left over in both dimensions, too."""
    module = parse(SWAPPED)
    made = affine_super_vectorize(module, virtual_vector_size=(4, 8))
    some = np.random.default_rng(0).random((9, 9), np.float32)
    for n in (0, 3, 4, 8, 9):
        wanted, found = np.zeros((2, 9, 9), np.float32)
        run(module.functions[0], some, wanted, some[0], n, 0.0)
        run(made.functions[0], some, found, some[0], n, 0.0)
        assert wanted.tobytes() == found.tobytes()


@pytest.mark.parametrize("sizes", [(1,), (4, 1), (2, 2, 2, 2), ("many",)])
def test_what_is_no_size(sizes):
    with pytest.raises(OptionError, match=r"affine-super-vectorize: .* got"):
        affine_super_vectorize(parse(ROWS), virtual_vector_size=sizes)
