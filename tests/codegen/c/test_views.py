"""Views, global buffers, and index arithmetic by a basis: the interpreter, the C and MLIR give what NumPy gives."""

from pathlib import Path

import numpy as np
import pytest

from affdsl.codegen.c.emit import emit
from affdsl.errors import UnsupportedError
from affdsl.mlir.readers import parse
from tests.codegen.c.compare import check_compiles
from tests.harness.reading import refusals
from tests.three_ways import agree

A = np.arange(128, dtype=np.float32).reshape(8, 16)


def test_subviews_share_their_elements(tmp_path):
    text = """
func.func @f(%A: memref<8x16xf32>, %n: index) -> (f32, index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %x = arith.constant -1.0 : f32
  %s = memref.subview %A[%n, 2] [4, %c3] [1, 2] : memref<8x16xf32> to memref<4x?xf32, strided<[16, 2], offset: ?>>
  memref.store %x, %s[%c3, %c1] : memref<4x?xf32, strided<[16, 2], offset: ?>>
  %row = memref.subview %s[1, 0] [1, %c3] [1, %n]
    : memref<4x?xf32, strided<[16, 2], offset: ?>> to memref<?xf32, strided<[?], offset: ?>>
  %y = memref.load %row[%c1] : memref<?xf32, strided<[?], offset: ?>>
  memref.store %x, %row[%c0] : memref<?xf32, strided<[?], offset: ?>>
  %d = memref.dim %row, %c0 : memref<?xf32, strided<[?], offset: ?>>
  return %y, %d : f32, index
}
""".replace("[1, %n]", "[1, %c1]")
    (after, _), (y, d) = agree(text, tmp_path, A, 3)
    expected = A.copy()
    part = expected[3:7, 2:8:2]
    part[3, 1] = -1
    assert (y, d) == (part[1, 1], 3)
    part[1, 0] = -1
    np.testing.assert_array_equal(after, expected)


def test_a_subview_of_negative_stride_runs_backward(tmp_path):
    text = """
func.func @f(%A: memref<8x16xf32>, %B: memref<8xf32>) {
  %s = memref.subview %A[7, 5] [8, 1] [-1, 1] : memref<8x16xf32> to memref<8xf32, strided<[-16], offset: 117>>
  affine.for %i = 0 to 8 {
    %x = affine.load %s[%i] : memref<8xf32, strided<[-16], offset: 117>>
    affine.store %x, %B[%i] : memref<8xf32>
  }
  return
}
"""
    (_, b), _ = agree(text, tmp_path, A, np.zeros(8, np.float32))
    np.testing.assert_array_equal(b, A[::-1, 5])


def test_shapes_are_split_and_joined(tmp_path):
    text = """
func.func @f(%A: memref<8x16xf32>, %n: index) -> f32 {
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %x = arith.constant -1.0 : f32
  %e = memref.expand_shape %A [[0, 1], [2, 3]] output_shape [2, 4, 4, 4] : memref<8x16xf32> into memref<2x4x4x4xf32>
  memref.store %x, %e[%c1, %c3, %c3, %c1] : memref<2x4x4x4xf32>
  %c = memref.collapse_shape %A [[0, 1]] : memref<8x16xf32> into memref<128xf32>
  memref.store %x, %c[%n] : memref<128xf32>
  %s = memref.subview %A[0, 0] [8, 8] [1, 2] : memref<8x16xf32> to memref<8x8xf32, strided<[16, 2]>>
  %j = memref.collapse_shape %s [[0, 1]] : memref<8x8xf32, strided<[16, 2]>> into memref<64xf32, strided<[2]>>
  %k = memref.expand_shape %j [[0, 1, 2]] output_shape [4, 4, 4]
    : memref<64xf32, strided<[2]>> into memref<4x4x4xf32, strided<[32, 8, 2]>>
  %y = memref.load %k[%c3, %c1, %c3] : memref<4x4x4xf32, strided<[32, 8, 2]>>
  return %y : f32
}
"""
    (after, _), (y,) = agree(text, tmp_path, A, 20)
    expected = A.copy()
    expected.reshape(2, 4, 4, 4)[1, 3, 3, 1] = -1
    expected.reshape(128)[20] = -1
    np.testing.assert_array_equal(after, expected)
    assert y == expected[:, ::2].reshape(4, 4, 4)[3, 1, 3]


def test_sizes_known_only_at_run_time(tmp_path):
    text = """
func.func @f(%A: memref<8x16xf32>, %n: index) -> f32 {
  %c2 = arith.constant 2 : index
  %c1 = arith.constant 1 : index
  %c0 = arith.constant 0 : index
  %m = arith.muli %n, %c2 : index
  %B = memref.alloc(%m, %n) : memref<?x?xf32>
  affine.for %i = 0 to %m { affine.for %j = 0 to %n {
    %x = affine.load %A[%i, %j] : memref<8x16xf32>
    affine.store %x, %B[%i, %j] : memref<?x?xf32>
  } }
  %e = memref.expand_shape %B [[0, 1], [2]] output_shape [2, %n, %n] : memref<?x?xf32> into memref<2x?x?xf32>
  %c = memref.collapse_shape %e [[0, 1, 2]] : memref<2x?x?xf32> into memref<?xf32>
  %d = memref.dim %c, %c0 : memref<?xf32>
  %last = arith.subi %d, %c1 : index
  %y = memref.load %c[%last] : memref<?xf32>
  memref.dealloc %B : memref<?x?xf32>
  return %y : f32
}
"""
    _, (y,) = agree(text, tmp_path, A, 3)
    assert y == A[5, 2]


def test_reinterpret_cast_starts_from_the_whole_buffer(tmp_path):
    text = """
func.func @f(%A: memref<8x16xf32>, %n: index) -> (index, index, index, index, f32) {
  %c1 = arith.constant 1 : index
  %s = memref.subview %A[2, 3] [4, %n] [1, 2] : memref<8x16xf32> to memref<4x?xf32, strided<[16, 2], offset: 35>>
  %base, %off, %sz:2, %st:2 = memref.extract_strided_metadata %s
    : memref<4x?xf32, strided<[16, 2], offset: 35>> -> memref<f32>, index, index, index, index, index
  %r = memref.reinterpret_cast %base to offset: [%off], sizes: [%sz#0, %sz#1], strides: [%st#0, %st#1]
    : memref<f32> to memref<?x?xf32, strided<[?, ?], offset: ?>>
  %x = memref.load %r[%c1, %c1] : memref<?x?xf32, strided<[?, ?], offset: ?>>
  %q = memref.reinterpret_cast %s to offset: [%n], sizes: [4, %n], strides: [%n, 1]
    : memref<4x?xf32, strided<[16, 2], offset: 35>> to memref<4x?xf32, strided<[?, 1], offset: ?>>
  memref.store %x, %q[%c1, %c1] : memref<4x?xf32, strided<[?, 1], offset: ?>>
  return %off, %sz#1, %st#0, %st#1, %x : index, index, index, index, f32
}
"""
    (after, _), results = agree(text, tmp_path, A, 5)
    assert results == (35, 5, 16, 2, A[3, 5])
    assert after.reshape(-1)[5 + 5 + 1] == A[3, 5]


def test_bytes_as_numbers(tmp_path):
    text = """
func.func @f(%A: memref<8x16xf32>, %n: index) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c16 = arith.constant 16 : index
  %b = memref.alloc() : memref<256xi8>
  %v = memref.view %b[%c16][%n] : memref<256xi8> to memref<?x4xf32>
  affine.for %i = 0 to %n { affine.for %j = 0 to 4 {
    %x = affine.load %A[%i, %j] : memref<8x16xf32>
    affine.store %x, %v[%i, %j] : memref<?x4xf32>
  } }
  %sh = memref.alloc() : memref<2xindex>
  memref.store %c1, %sh[%c0] : memref<2xindex>
  %m = arith.muli %n, %c4 : index
  memref.store %m, %sh[%c1] : memref<2xindex>
  %r = memref.reshape %v(%sh) : (memref<?x4xf32>, memref<2xindex>) -> memref<?x?xf32>
  %last = arith.subi %m, %c1 : index
  %y = memref.load %r[%c0, %last] : memref<?x?xf32>
  memref.dealloc %b : memref<256xi8>
  memref.dealloc %sh : memref<2xindex>
  return %y : f32
}
"""
    _, (y,) = agree(text, tmp_path, A, 3)
    assert y == A[2, 3]


def test_ranks_known_only_at_run_time(tmp_path):
    text = """
func.func @f(%A: memref<8x16xf32>, %n: index) -> (index, index, f32) {
  %c1 = arith.constant 1 : index
  %u = memref.cast %A : memref<8x16xf32> to memref<*xf32>
  %r = memref.rank %u : memref<*xf32>
  %d = memref.dim %u, %c1 : memref<*xf32>
  %b = memref.cast %u : memref<*xf32> to memref<?x16xf32>
  %x = memref.load %b[%c1, %n] : memref<?x16xf32>
  return %r, %d, %x : index, index, f32
}
"""
    assert agree(text, tmp_path, A, 4)[1] == (2, 16, A[1, 4])


GLOBALS = """
memref.global "private" constant @g : memref<2x3xf32> = dense<[[1.5, -2.0, 0x7F800000], [4.0, 5.0, 6.0]]>
memref.global "private" @state : memref<4xi32> = dense<7> {alignment = 64 : i64}
memref.global "private" constant @"for" : memref<3xi1> = dense<[true, false, true]>
func.func private @double(%i: index, %h: memref<4xi32>) {
  %own = memref.get_global @state : memref<4xi32>
  %x = memref.load %own[%i] : memref<4xi32>
  %y = arith.addi %x, %x : i32
  memref.store %y, %h[%i] : memref<4xi32>
  %z = memref.load %own[%i] : memref<4xi32>
  %w = arith.addi %z, %y : i32
  memref.store %w, %own[%i] : memref<4xi32>
  return
}
func.func @f(%A: memref<8x16xf32>, %n: index) -> (f32, i32, i1) {
  %g = memref.get_global @g : memref<2x3xf32>
  %c1 = arith.constant 1 : index
  affine.for %i = 0 to 2 { affine.for %j = 0 to 3 {
    %x = affine.load %g[%i, %j] : memref<2x3xf32>
    affine.store %x, %A[%i, %j] : memref<8x16xf32>
  } }
  %h = memref.get_global @state : memref<4xi32>
  %before = memref.load %h[%c1] : memref<4xi32>
  func.call @double(%c1, %h) : (index, memref<4xi32>) -> ()
  %after = memref.load %h[%c1] : memref<4xi32>
  %s = arith.subi %after, %before : i32
  %r = memref.load %g[%c1, %n] : memref<2x3xf32>
  %k = memref.get_global @"for" : memref<3xi1>
  %t = memref.load %k[%n] : memref<3xi1>
  return %r, %s, %t : f32, i32, i1
}
"""


def test_global_buffers(tmp_path):
    (after, _), results = agree(GLOBALS, tmp_path, A, 2)
    assert results == (6.0, 28 - 7, True)
    np.testing.assert_array_equal(after[:2, :3], np.float32([[1.5, -2, np.inf], [4, 5, 6]]))


def test_digits_of_numbers(tmp_path):
    text = """
func.func @f(%i: index, %n: index) -> (index, index, index, index, index, index) {
  %a:3 = affine.delinearize_index %i into (%n, 4) : index, index, index
  %b:2 = affine.delinearize_index %i into (7, %n) : index, index
  %c = affine.linearize_index [%a#0, %a#1, %a#2] by (%n, 4) : index
  return %a#0, %a#1, %a#2, %b#0, %b#1, %c : index, index, index, index, index, index
}
"""
    for i in (23, -23, 0, 19, -1):
        rest, last = divmod(i, 4)
        first, middle = divmod(rest, 5)
        assert agree(text, tmp_path / str(i), i, 5)[1] == (first, middle, last, *divmod(i, 5), i)


def test_atomic_accesses_and_poison(tmp_path):
    text = """
func.func @f(%A: memref<8x16xf32>, %n: index) -> (f32, f32) {
  %c0 = arith.constant 0 : index
  %x = arith.constant 2.0 : f32
  %p = ub.poison : f32
  %true = arith.constant true
  %y = arith.select %true, %x, %p : f32
  %o = memref.atomic_rmw addf %x, %A[%c0, %n] : (f32, memref<8x16xf32>) -> f32
  %q = memref.atomic_rmw maximumf %x, %A[%c0, %c0] : (f32, memref<8x16xf32>) -> f32
  %r = memref.atomic_rmw assign %y, %A[%n, %c0] : (f32, memref<8x16xf32>) -> f32
  return %o, %q : f32, f32
}
"""
    (after, _), results = agree(text, tmp_path, A, 2)
    assert results == (2, 0)
    assert (after[0, 2], after[0, 0], after[2, 0]) == (4, 2, 2)


def test_vectors_of_affine_accesses(tmp_path):
    text = """
func.func @f(%A: memref<8x16xf32>, %n: index) {
  affine.for %i = 0 to 8 {
    %v = affine.vector_load %A[%i, symbol(%n)] : memref<8x16xf32>, vector<8xf32>
    %w = arith.addf %v, %v : vector<8xf32>
    affine.vector_store %w, %A[%i, 0] : memref<8x16xf32>, vector<8xf32>
  }
  return
}
"""
    (after, _), _ = agree(text, tmp_path, A, 4)
    expected = A.copy()
    expected[:, :8] = 2 * A[:, 4:12]
    np.testing.assert_array_equal(after, expected)


def test_prefetches_say_what_they_say(tmp_path):
    text = """
func.func @f(%A: memref<8x16xf32>, %n: index) -> f32 {
  affine.for %i = 0 to 8 {
    affine.prefetch %A[%i + 1, 3], read, locality<3>, data : memref<8x16xf32>
    memref.prefetch %A[%i, %n], write, locality<0>, data : memref<8x16xf32>
    memref.prefetch %A[%i, %n], read, locality<0>, instr : memref<8x16xf32>
  }
  %x = affine.load %A[1, symbol(%n)] : memref<8x16xf32>
  return %x : f32
}
"""
    assert agree(text, tmp_path, A, 2)[1] == (A[1, 2],)
    source = check_compiles(parse(text), "f", tmp_path)
    assert "affdsl_prefetch(A, (i + 1) * 16 + 3, 0, 3);" in source
    assert source.count("affdsl_prefetch(A, i * 16 + n, 1, 0);") == 1


REFUSED = refusals(Path(__file__).with_name("refused.mlir"))


@pytest.mark.parametrize("title", REFUSED)
def test_what_c_cannot_say(title):
    text, message = REFUSED[title]
    with pytest.raises(UnsupportedError) as problem:
        emit(parse(text), "f")
    assert message in str(problem.value)


def test_views_are_passed_with_their_strides(tmp_path):
    text = """
func.func @scale(%A: memref<?x?xf32, strided<[?, ?], offset: ?>>, %m: index, %n: index) {
  affine.for %i = 0 to %m { affine.for %j = 0 to %n {
    %x = affine.load %A[%i, %j] : memref<?x?xf32, strided<[?, ?], offset: ?>>
    %y = arith.addf %x, %x : f32
    affine.store %y, %A[%i, %j] : memref<?x?xf32, strided<[?, ?], offset: ?>>
  } }
  return
}
func.func @last(%A: memref<4x?xf32, strided<[?, 2], offset: ?>>, %n: index) -> f32 {
  %x = affine.load %A[3, symbol(%n) - 1] : memref<4x?xf32, strided<[?, 2], offset: ?>>
  return %x : f32
}
func.func @f(%A: memref<8x16xf32>, %n: index, %m: index) -> f32 {
  %c1 = arith.constant 1 : index
  %s = memref.subview %A[%m, 2] [4, %n] [1, 2] : memref<8x16xf32> to memref<4x?xf32, strided<[16, 2], offset: ?>>
  %t = memref.cast %s : memref<4x?xf32, strided<[16, 2], offset: ?>> to memref<?x?xf32, strided<[?, ?], offset: ?>>
  %c4 = arith.constant 4 : index
  func.call @scale(%t, %c4, %n) : (memref<?x?xf32, strided<[?, ?], offset: ?>>, index, index) -> ()
  %part = memref.subview %t[1, 1] [2, %c1] [2, %m]
    : memref<?x?xf32, strided<[?, ?], offset: ?>> to memref<2x?xf32, strided<[?, ?], offset: ?>>
  %p = memref.cast %part : memref<2x?xf32, strided<[?, ?], offset: ?>> to memref<?x?xf32, strided<[?, ?], offset: ?>>
  %c2 = arith.constant 2 : index
  func.call @scale(%p, %c2, %c1) : (memref<?x?xf32, strided<[?, ?], offset: ?>>, index, index) -> ()
  %r = memref.cast %s : memref<4x?xf32, strided<[16, 2], offset: ?>> to memref<4x?xf32, strided<[?, 2], offset: ?>>
  %x = func.call @last(%r, %n) : (memref<4x?xf32, strided<[?, 2], offset: ?>>, index) -> f32
  return %x : f32
}
"""
    (after, _, _), (x,) = agree(text, tmp_path, A, 5, 3)
    expected = A.copy()
    part = expected[3:7, 2:12:2]
    part *= 2
    part[1::2, 1:2] *= 2
    np.testing.assert_array_equal(after, expected)
    assert x == part[3, 4]
    source = emit(parse(text), "f").source
    assert "static float last(const float *restrict A, int64_t A_stride_0, int64_t n)" in source


def test_the_whole_of_an_argument_with_an_unknown_offset_is_not_known():
    text = """
func.func @f(%A: memref<?xf32, strided<[?], offset: ?>>, %n: index) -> f32 {
  %r = memref.reinterpret_cast %A to offset: [0], sizes: [4], strides: [1]
    : memref<?xf32, strided<[?], offset: ?>> to memref<4xf32>
  %x = affine.load %r[0] : memref<4xf32>
  return %x : f32
}
"""
    with pytest.raises(
        UnsupportedError, match=r"memref.reinterpret_cast of 'A': its offset in a larger buffer is known"
    ):
        emit(parse(text), "f")
