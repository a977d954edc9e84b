"""Buffers whose rows lie some elements behind each other: all is as before, diagonals are rows, and what is refused."""

import numpy as np
import pytest

import affdsl as af
from affdsl.ir.dialects import memref
from affdsl.ir.interpreter import run
from affdsl.ir.traverse import walk
from affdsl.ir.verifier import verify
from affdsl.mlir.readers import parse
from affdsl.passes.legality.refusal import IllegalTransform
from affdsl.passes.transforms.skew_array import skew_array

M, N = af.symbols("M N")


@af.kernel
def diagonals(x: af.i32[M, N], y: af.i32[M, N]):
    t = af.alloc(af.i32[M, N])
    with af.for_(M) as i, af.for_(N) as j:
        t[i, j] = x[i, j] + 1
    with af.for_(M) as i, af.for_(N) as j:
        y[i, j] = t[i, j] * 2 - t[0, j]


@pytest.mark.parametrize(("dim", "along"), [(0, 1), (1, 0)])
@pytest.mark.parametrize("factor", [1, 3])
@pytest.mark.parametrize(("m", "n"), [(0, 3), (1, 1), (5, 0), (4, 7)])
def test_each_element_has_a_place_of_its_own(dim, along, factor, m, n):
    s = af.Schedule(diagonals).skew_array("t", dim, along, factor)
    verify(s.function)
    x = np.arange(m * n, dtype="i4").reshape(m, n)
    wanted, found = np.zeros((2, m, n), "i4")
    diagonals(x, wanted)
    s.kernel().interpret(x, found)  # which looks whether each element is inside of the array, and has been stored
    np.testing.assert_array_equal(found, wanted)


def test_it_takes_room_for_two_triangles_and_no_more():
    f = parse("""func.func @f(%A: memref<36xi32>) {
      %t = memref.alloc() : memref<9x4xi32>
      affine.for %i = 0 to 9 {
        affine.for %j = 0 to 4 {
          %a = affine.load %A[%i * 4 + %j] : memref<36xi32>
          affine.store %a, %t[%i, %j] : memref<9x4xi32>
          %b = affine.load %t[%i, %j] : memref<9x4xi32>
          affine.store %b, %A[%i * 4 + %j] : memref<36xi32>
        }
      }
      return
    }""").functions[0]
    made = skew_array(f, _made(f), 0, 1, 2)
    verify(made)
    assert _made(made).type.shape == (9 + 2 * 3, 4)
    assert _made(skew_array(f, _made(f), 1, 0, 1)).type.shape == (9, 4 + 8)
    numbers = np.arange(36, dtype="i4")
    run(made, numbers)
    assert numbers.tolist() == [*range(36)]


def _made(function):
    """The buffer that a function makes."""
    return next(op.result for op in walk(function) if isinstance(op, memref.Allocation))


def test_what_lay_on_a_diagonal_is_one_vector():
    @af.kernel
    def paths(A: af.i32[4, N]):
        with af.for_(1, 4) as i, af.for_(1, N) as j:
            A[i, j] += af.min(A[i - 1, j], A[i, j - 1])

    s = af.Schedule(paths).skew("i", "j", 1).interchange("i", "j").copy("A", "j", layout=(1, 0))
    s.skew_array("A_fast", 0, 1, 1)
    with pytest.raises(IllegalTransform, match="does not make A"):
        s.skew_array("A", 0, 1, 1)
    s.vectorize("i", 2)
    assert "affine.vector_store" in s.kernel().mlir()
    with pytest.raises(IllegalTransform, match="a load of a vector uses A_fast"):
        s.skew_array("A_fast", 0, 1, 1)
    A = np.random.default_rng(0).integers(0, 99, (4, 50), "i4")
    B = A.copy()
    paths(A)
    s.kernel()(B)
    np.testing.assert_array_equal(A, B)


@pytest.mark.parametrize(("dim", "along", "factor"), [(0, 0, 1), (-1, 0, 1), (0, 1, 0), (1, -1, 2)])
def test_impossible_numbers(dim, along, factor):
    f = diagonals.func
    with pytest.raises(ValueError, match="a factor of 1 and more"):
        skew_array(f, _made(f), dim, along, factor)


def test_a_dimension_that_there_is_not():
    with pytest.raises(IllegalTransform, match="2 dimensions, counted from 0"):
        af.Schedule(diagonals).skew_array("t", 0, 2, 1)
    with pytest.raises(af.ScheduleError, match="a factor"):
        af.Schedule(diagonals).skew_array("t", 0, 1, 0)
