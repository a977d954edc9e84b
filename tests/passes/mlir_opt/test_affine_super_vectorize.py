"""Which loops affine-super-vectorize takes: the innermost that may be, and only what then loads or stores vectors."""

import numpy as np
import pytest

from affdsl.errors import AffdslError
from affdsl.ir.dialects import affine
from affdsl.ir.interpreter import run
from affdsl.ir.traverse import walk
from affdsl.mlir.readers import parse
from affdsl.passes.mlir_opt.affine_super_vectorize import affine_super_vectorize
from affdsl.passes.mlir_opt.options import OptionError
from tests.oracles import mlir_opt
from tests.passes.compare import assert_alike

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


def test_a_loop_along_columns_is_taken_too():
    columns = NEST.replace("ROW", "%j").replace("COLUMN", "%i").replace("%B[%j]", "%B[0]")
    assert steps(columns, virtual_vector_size=("4",)) == {"j": 4}
    assert steps(columns, virtual_vector_size=("4",), test_fastest_varying=(0,)) == {"i": 4}


def test_which_dimension_is_asked_for():
    assert steps(ROWS, virtual_vector_size=(4,), test_fastest_varying=(0,)) == {"j": 4}
    assert steps(ROWS, virtual_vector_size=(4,), test_fastest_varying=(1,)) == {"i": 4}
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
    assert steps(ROWS, virtual_vector_size=(4, 8, 2)) == {}


def test_each_loop_has_its_dimension():
    assert steps(ROWS, virtual_vector_size=(4, 8), test_fastest_varying=(1, 0)) == {"i": 4, "j": 8}
    assert steps(ROWS, virtual_vector_size=(4, 8), test_fastest_varying=(0, 1)) == {}
    assert steps(SWAPPED, virtual_vector_size=(4, 8)) == {}  # each loop runs along two


@pytest.mark.parametrize("text", [ROWS, COPY.replace("ROW", "%i").replace("COLUMN", "%j")])
@pytest.mark.parametrize("along", [(), (1, 0)])
def test_two_dimensions_give_the_same(text, along):
    """What is left over in both dimensions, too, in arrays that are larger than what is stored."""
    module = parse(text)
    made = affine_super_vectorize(module, virtual_vector_size=(4, 8), test_fastest_varying=along)
    assert "vector.create_mask" in str(made)
    some = np.random.default_rng(0).random((9, 9), np.float32)
    for n in (0, 3, 4, 8, 9):
        wanted, found = np.array([some, some])
        for f, out in ((module.functions[0], wanted), (made.functions[0], found)):
            run(f, *((out, some[0]) if text is ROWS else (some, out, some[0])), n, 0.0)
        assert wanted.tobytes() == found.tobytes()


@pytest.mark.parametrize("sizes", [(2, 2, 2, 2), ("many",)])
def test_what_is_no_size(sizes):
    with pytest.raises(OptionError, match=r"affine-super-vectorize: .* got"):
        affine_super_vectorize(parse(ROWS), virtual_vector_size=sizes)


def test_a_size_for_each_dimension():
    with pytest.raises(OptionError, match="test-fastest-varying has 1 numbers, virtual-vector-size 2"):
        affine_super_vectorize(parse(ROWS), virtual_vector_size=(4, 8), test_fastest_varying=(0,))


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"virtual_vector_size": (0,)}, "Vectorization factor must be greater than zero, got 0"),
        ({"virtual_vector_size": (4, 4), "vectorize_reductions": True}, "supported only for 1-D vectors: give one"),
    ],
)
def test_what_no_function_can_have(options, problem):
    with pytest.raises(AffdslError, match=f"<mlir>:1:1: .*{problem}"):
        affine_super_vectorize(parse(ROWS), **options)


# What lanes behind the end of a loop store lies outside of an array whose size is known, or is shown by other accesses;
# what they would read of a buffer that nobody has filled is left out.
CLIPPED = {
    "to the size of an argument": """
      %c0 = arith.constant 0 : index
      %p = memref.dim %A, %c0 : memref<?xf32>
      affine.for %i = 0 to %p { affine.store %x, %A[%i] : memref<?xf32> }""",
    "to the size of a buffer": """
      %L = memref.alloc(%n) : memref<?xf32>
      affine.for %i = 0 to %n { affine.store %x, %L[%i] : memref<?xf32> }""",
    "as both dimensions are one size": """
      %L = memref.alloc(%n, %m) : memref<?x?xf32>
      affine.for %i = 0 to %n {
        affine.for %j = 0 to %m { affine.store %x, %L[%j, %i] : memref<?x?xf32> }
      }""",
}
KEPT = {
    "to another size": "affine.for %i = 0 to %n { affine.store %x, %A[%i] : memref<?xf32> }",
    "one less": """
      %L = memref.alloc(%n) : memref<?xf32>
      affine.for %i = 0 to affine_map<(d0) -> (d0 - 1)>(%n) { affine.store %x, %L[%i] : memref<?xf32> }""",
    "the inner loop runs differently often": """
      %L = memref.alloc(%n, %m) : memref<?x?xf32>
      affine.for %i = 0 to %n {
        affine.for %k = 0 to 3 {
          affine.for %j = 0 to affine_map<(d0)[s0] -> (s0 - d0)>(%k)[%m] {
            affine.store %x, %L[%j, %i] : memref<?x?xf32>
          }
        }
      }""",
}


def of(body):
    """A function that is made of a body."""
    return f"func.func @f(%A: memref<?xf32>, %n: index, %m: index, %x: f32) {{ {body}\n return }}"


@pytest.mark.parametrize("name", CLIPPED)
def test_what_needs_no_mask_and_no_rest(name):
    made = str(affine_super_vectorize(parse(of(CLIPPED[name])), virtual_vector_size=(4,), test_fastest_varying=(0,)))
    assert "vector.transfer_write" in made
    assert made.count("affine.for") == of(CLIPPED[name]).count("affine.for")
    assert "mask" not in made


@pytest.mark.parametrize("name", KEPT)
def test_what_must_not_reach_further(name):
    module = parse(of(KEPT[name]))
    made = affine_super_vectorize(module, virtual_vector_size=(4,), test_fastest_varying=(0,))
    assert "vector.transfer_write" not in str(made) or "mask" in str(made)
    assert assert_alike(module, made, (0, 1, 3, 4, 5, 9), size=9) > 3


def test_what_may_fail_does_not_run_behind_the_end():
    divided = of("""%c0 = arith.constant 0 : index
      %p = memref.dim %A, %c0 : memref<?xf32>
      affine.for %i = 0 to %p {
        %a = affine.load %A[%i] : memref<?xf32>
        %b = arith.fptosi %a : f32 to i32
        %c = arith.sitofp %b : i32 to f32
        affine.store %c, %A[%i] : memref<?xf32>
      }""")
    made = str(affine_super_vectorize(parse(divided), virtual_vector_size=(4,)))
    assert made.count("affine.for") == 2  # the rest, one by one
