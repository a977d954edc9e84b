"""`affdsl translate --to=c` of what has no equal in C by itself: it runs as mlir-opt's lowering does, or as NumPy."""

import ctypes

import numpy as np
import pytest

from affdsl.cli.translate import prepared
from affdsl.ir.interpreter import run
from affdsl.ir.verifier import verify
from affdsl.mlir.readers import parse
from tests import oracles
from tests.effort import TRIES_ALL

STRICT = ["-std=c11", "-Wall", "-Wextra", "-Werror", "-pedantic"]


def library_of(cli, text, entry, *options):
    outcome = cli("translate", "--to=c", f"--entry={entry}", *options, text=text)
    assert (outcome.status, outcome.err) == (0, "")
    flags = [*STRICT, "-mavx2"] if options else STRICT
    return ctypes.CDLL(str(oracles.compile_c({"f.c": outcome.out}, "gcc", flags)))


def pointer(array):
    return array.ctypes.data_as(ctypes.c_void_p)


RETURNED = """
func.func private @g(%A: memref<?xf32>, %x: f32) -> (f32, memref<?xf32>) {
  affine.store %x, %A[1] : memref<?xf32>
  return %x, %A : f32, memref<?xf32>
}
func.func @f(%A: memref<8xf32>) -> (memref<?xf32>, f32, memref<8xf32>) {
  %c = arith.constant 2.0 : f32
  %B = memref.cast %A : memref<8xf32> to memref<?xf32>
  %old = affine.load %A[1] : memref<8xf32>
  %x, %C = func.call @g(%B, %c) : (memref<?xf32>, f32) -> (f32, memref<?xf32>)
  %y = affine.load %C[1] : memref<?xf32>
  %z = arith.addf %x, %y : f32
  %0 = arith.addf %z, %old : f32
  return %C, %0, %A : memref<?xf32>, f32, memref<8xf32>
}
"""


def test_results_that_are_arguments_are_left_out(cli):
    library = library_of(cli, RETURNED, "f")
    library.f.restype = ctypes.c_float
    A = np.arange(8, dtype=np.float32)
    assert library.f(pointer(A)) == 2 + 2 + 1
    assert A.tolist() == [0, 2, 2, 3, 4, 5, 6, 7]
    module = prepared(parse(RETURNED))
    verify(module)
    assert [[str(type) for type in f.result_types] for f in module.functions] == [["f32"], ["f32"]]


TENSORS = """
func.func @f(%t: tensor<?x3xi16>, %n: index, %out: memref<?xi16>) -> i16 {
  %weights = arith.constant dense<[1, -2, 4]> : tensor<3xi16>
  %ones = arith.constant dense<1> : tensor<2x2xi16>
  %zero = arith.constant 0 : i16
  %c0 = index.constant 0
  %c1 = index.constant 1
  %rows = tensor.dim %t, %c0 : tensor<?x3xi16>
  %least = index.mins %rows, %n
  %m = bufferization.to_buffer %t read_only : tensor<?x3xi16> to memref<?x3xi16, strided<[?, ?], offset: ?>>
  %sum = affine.for %i = 0 to %least iter_args(%all = %zero) -> (i16) {
    %row = affine.for %j = 0 to 3 iter_args(%s = %zero) -> (i16) {
      %a = tensor.extract %t[%i, %j] : tensor<?x3xi16>
      %w = tensor.extract %weights[%j] : tensor<3xi16>
      %b = affine.load %m[%i, 2 - %j] : memref<?x3xi16, strided<[?, ?], offset: ?>>
      %0 = arith.muli %a, %w : i16
      %1 = arith.addi %0, %b : i16
      %2 = arith.addi %s, %1 : i16
      affine.yield %2 : i16
    }
    affine.store %row, %out[%i] : memref<?xi16>
    %3 = arith.addi %all, %row : i16
    affine.yield %3 : i16
  }
  %one = tensor.extract %ones[%c0, %c1] : tensor<2x2xi16>
  %4 = arith.addi %sum, %one : i16
  return %4 : i16
}
"""


def test_tensors_that_are_read_are_arrays(cli):
    library = library_of(cli, TENSORS, "f")
    library.f.restype = ctypes.c_int16
    for rows, n in ((4, 9), (3, 2), (2, 0), (0, 1)):
        t = np.arange(-5, 3 * rows - 5, dtype=np.int16).reshape(rows, 3)
        out = np.full(max(rows, 1), 77, np.int16)
        wanted = (t * np.array([1, -2, 4], np.int16)).sum(1) + t.sum(1)
        given = library.f(ctypes.c_int64(rows), ctypes.c_int64(rows), pointer(t), ctypes.c_int64(n), pointer(out))
        least = min(rows, n)
        assert given == wanted[:least].sum() + 1
        assert out.tolist() == [*wanted[:least], *[77] * (len(out) - least)]


def test_a_tensor_that_is_more_than_read_is_refused(cli):
    for use in (
        "%s = tensor.cast %t : tensor<4xf32> to tensor<?xf32>",
        "%m = bufferization.to_buffer %t : tensor<4xf32> to memref<4xf32> affine.store %x, %m[0] : memref<4xf32>",
    ):
        text = f"func.func @f(%t: tensor<4xf32>, %x: f32) {{ {use} return }}"
        outcome = cli("translate", "--to=c", text=text)
        assert outcome.status == 1
        assert "C output does not know the operation" in outcome.err or "no value of type tensor" in outcome.err


LINALG = """
func.func @f(%A: memref<?x?xf32>, %B: memref<?x?xf32>, %C: memref<?x?xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%C : memref<?x?xf32>)
  linalg.matmul ins(%A, %B : memref<?x?xf32>, memref<?x?xf32>) outs(%C : memref<?x?xf32>)
  return
}
"""


@pytest.mark.parametrize("options", [(), ("--optimize=target=avx2 threads=1",)] if TRIES_ALL else [()])
def test_linalg_on_buffers_runs(cli, options):
    library = library_of(cli, LINALG, "f", *options)
    random = np.random.default_rng(0)
    for m, k, n in ((3, 4, 5), (0, 2, 3), (9, 1, 17), (8, 40, 16)):
        A, B, C = (random.integers(-9, 9, shape).astype(np.float32) for shape in ((m, k), (k, n), (m, n)))
        sizes = [ctypes.c_int64(size) for size in (m, k, k, n, m, n)]
        library.f(*sizes, pointer(A), pointer(B), pointer(C))
        assert (C == A @ B).all()


def test_index_arithmetic_is_that_of_arith():
    binary = "add sub mul divs divu ceildivs ceildivu floordivs rems remu maxs maxu mins minu shl shrs shru and or xor"
    kinds = """addi subi muli divsi divui ceildivsi ceildivui floordivsi remsi remui maxsi maxui minsi minui shli shrsi
        shrui andi ori xori"""
    for index, arith in zip(binary.split(), kinds.split(), strict=True):
        head = "func.func @f(%a: index, %b: index) -> index {"
        ours = prepared(parse(f"{head} %0 = index.{index} %a, %b return %0 : index }}"))
        verify(ours)
        assert str(ours) == str(parse(f"{head} %0 = arith.{arith} %a, %b : index return %0 : index }}")), index
    text = """func.func @f(%a: index, %b: i32) -> (i1, i32, index, i1) {
      %0 = index.cmp slt(%a, %a) %1 = index.casts %a : index to i32 %2 = index.castu %b : i32 to index
      %3 = index.bool.constant true return %0, %1, %2, %3 : i1, i32, index, i1 }"""
    module = prepared(parse(text))
    verify(module)
    assert run(module.functions[0], 2**32 - 1, -1, module=module) == (False, -1, 2**32 - 1, True)


def test_what_is_promised_of_arrays_is_left_out(cli):
    text = """func.func @f(%A: memref<8xf32>, %B: memref<8xf32>, %x: f32) {
      %0 = memref.assume_alignment %A, 64 : memref<8xf32>
      %1, %2 = memref.distinct_objects %0, %B : memref<8xf32>, memref<8xf32>
      affine.store %x, %1[1] : memref<8xf32>
      affine.store %x, %2[2] : memref<8xf32>
      return
    }"""
    library = library_of(cli, text, "f")
    A, B = np.zeros((2, 8), np.float32)
    library.f(pointer(A), pointer(B), ctypes.c_float(3))
    assert (A[1], B[2], A.sum() + B.sum()) == (3, 3, 6)


VECTORS = """
func.func private @first(%A: memref<?xvector<4xf32>>, %i: index) -> vector<4xf32> {
  %v = memref.load %A[%i] : memref<?xvector<4xf32>>
  return %v : vector<4xf32>
}
func.func @f(%n: index, %A: memref<?xvector<4xf32>>, %B: memref<8xvector<4xf32>>) -> memref<8xvector<4xf32>> {
  %c0 = arith.constant 0 : index
  %C = memref.alloc(%n) : memref<?xvector<4xf32>>
  affine.for %i = 0 to %n {
    %v = affine.load %A[%i] : memref<?xvector<4xf32>>
    %w = arith.addf %v, %v : vector<4xf32>
    affine.store %w, %C[%i] : memref<?xvector<4xf32>>
  }
  affine.for %i = 0 to min affine_map<()[s0] -> (8, s0)>()[%n] {
    %v = affine.load %C[-%i + symbol(%n) - 1] : memref<?xvector<4xf32>>
    memref.store %v, %B[%i] : memref<8xvector<4xf32>>
  }
  memref.dealloc %C : memref<?xvector<4xf32>>
  return %B : memref<8xvector<4xf32>>
}
"""


def test_vectors_in_arrays_are_rows(cli):
    library = library_of(cli, VECTORS, "f")
    for n in (0, 3, 8, 11):
        A = np.arange(4 * n, dtype=np.float32).reshape(n, 4)
        B = np.full((8, 4), -1, np.float32)
        library.f(ctypes.c_int64(n), ctypes.c_int64(n), pointer(A), pointer(B))
        assert (B[:n] == 2 * A[::-1][:8]).all()
        assert (B[n:] == -1).all()


def test_vectors_that_lie_otherwise_are_left_alone():
    for element in ("vector<3xf32>", "vector<4xi1>", "vector<2x2xf32>"):
        text = f"func.func @f(%A: memref<8x{element}>) {{ %v = affine.load %A[0] : memref<8x{element}> return }}"
        module = parse(text)
        assert str(prepared(module)) == str(module)


SCF = """
func.func @axpy(%n: index, %A: memref<?xf32>, %B: memref<?xf32>, %x: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %a = memref.load %A[%i] : memref<?xf32>
    %b = memref.load %B[%i] : memref<?xf32>
    %c = arith.mulf %a, %x : f32
    %d = arith.addf %b, %c : f32
    memref.store %d, %B[%i] : memref<?xf32>
  }
  return
}
"""


def test_optimize_sees_loops_of_scf(cli):
    options = "--optimize=target=avx2 threads=1"
    assert "f32x8" in cli("translate", "--to=c", options, text=SCF).out
    library = library_of(cli, SCF, "axpy", options)
    for n in (0, 1, 8, 37):
        A, B = np.arange(n, dtype=np.float32), np.full(n, 0.5, np.float32)
        size = ctypes.c_int64(n)
        library.axpy(size, size, size, pointer(A), pointer(B), ctypes.c_float(3))
        assert (np.arange(n, dtype=np.float32) * 3 + 0.5 == B).all()
