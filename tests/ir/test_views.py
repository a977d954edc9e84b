"""What the interpreter refuses of views and global buffers, and what views share."""

import numpy as np
import pytest

from affdsl.ir.interpreter import InterpreterError, run
from affdsl.mlir.readers import parse
from tests.three_ways import interpreted

A = np.arange(16, dtype=np.float32).reshape(4, 4)
D = "memref<?x?xf32, strided<[?, ?], offset: ?>>"

REFUSED = {
    "a part that begins outside": (
        "%s = memref.subview %A[%n, 0] [1, 1] [1, 1] : memref<4x4xf32> to memref<1x1xf32, strided<[4, 1], offset: ?>>",
        4,
        r"the part of %A from 4 to 4 along dimension 0 is out of bounds: its sizes are \(4, 4\)",
    ),
    "a part that ends outside": (
        "%s = memref.subview %A[0, 0] [2, 2] [%n, 1] : memref<4x4xf32> to memref<2x2xf32, strided<[?, 1]>>",
        4,
        r"the part of %A from 0 to 4 along dimension 0 is out of bounds",
    ),
    "a part of negative size": (
        "%s = memref.subview %A[0, 0] [%n, 2] [1, 1] : memref<4x4xf32> to memref<?x2xf32, strided<[4, 1]>>",
        -1,
        r"%s would have the negative size -1 along dimension 0",
    ),
    "more elements than there are": (
        (
            "%s = memref.reinterpret_cast %A to offset: [%n], sizes: [2, 8], strides: [8, 1] : memref<4x4xf32> to "
            "memref<2x8xf32, strided<[8, 1], offset: ?>>"
        ),
        1,
        r"%s would reach from element 1 to 16, but the buffer of %A has the elements 0 to 15",
    ),
    "sizes that do not multiply": (
        (
            "%d = memref.cast %A : memref<4x4xf32> to memref<?x?xf32>\n"
            "%s = memref.expand_shape %d [[0, 1], [2]] output_shape [2, %n, 4] : memref<?x?xf32> into memref<2x?x?xf32>"
        ),
        3,
        r"dimension 0 of %d has size 4, which is not the product of \(2, 3\)",
    ),
    "dimensions that are not contiguous": (
        (
            f"%d = memref.subview %A[0, 0] [4, %n] [1, 1] : memref<4x4xf32> to memref<4x?xf32, strided<[4, 1]>>\n"
            f"%e = memref.cast %d : memref<4x?xf32, strided<[4, 1]>> to {D}\n"
            f"%s = memref.collapse_shape %e [[0, 1]] : {D} into memref<?xf32, strided<[?], offset: ?>>"
        ),
        3,
        r"the dimensions 0, 1 of %e are not contiguous, and cannot become one",
    ),
    "bytes that are not there": (
        "%b = memref.alloc() : memref<16xi8>\n%s = memref.view %b[%n][] : memref<16xi8> to memref<4xf32>",
        4,
        r"%s of sizes \(4\) does not fit into %b from byte 4 on: it has 16 bytes",
    ),
    "a number across": (
        "%b = memref.alloc() : memref<32xi8>\n%s = memref.view %b[%n][] : memref<32xi8> to memref<4xf32>",
        2,
        r"%s would begin at byte 2, which is no multiple of the 4 bytes of an element",
    ),
    "bytes in which nothing was stored": (
        (
            "%b = memref.alloc() : memref<16xi8>\n%c0 = arith.constant 0 : index\n%z = arith.constant 1 : i8\n"
            "memref.store %z, %b[%c0] : memref<16xi8>\n%s = memref.view %b[%c0][] : memref<16xi8> to memref<4xf32>\n"
            "%x = memref.load %s[%c0] : memref<4xf32>"
        ),
        0,
        r"%s\[0\] is read before anything was stored there",
    ),
    "elements of another number": (
        (
            "%sh = memref.alloc() : memref<1xindex>\n%c0 = arith.constant 0 : index\n"
            "memref.store %n, %sh[%c0] : memref<1xindex>\n"
            "%s = memref.reshape %A(%sh) : (memref<4x4xf32>, memref<1xindex>) -> memref<?xf32>"
        ),
        15,
        r"%A has 16 elements, which no buffer of sizes \(15\) has",
    ),
    "a view of what is gone": (
        (
            "%b = memref.alloc() : memref<4xf32>\n"
            "%s = memref.subview %b[1] [2] [1] : memref<4xf32> to memref<2xf32, strided<[1], offset: 1>>\n"
            "memref.dealloc %b : memref<4xf32>\n%c0 = arith.constant 0 : index\n"
            "%x = memref.load %s[%c0] : memref<2xf32, strided<[1], offset: 1>>"
        ),
        0,
        r"%s must not be used any more: it was deallocated",
    ),
    "a view that is given back": (
        (
            "%b = memref.alloc() : memref<4xf32>\n"
            "%s = memref.subview %b[1] [2] [1] : memref<4xf32> to memref<2xf32, strided<[1], offset: 1>>\n"
            "memref.dealloc %s : memref<2xf32, strided<[1], offset: 1>>"
        ),
        0,
        r"%s is a view, and only what memref.alloc gives is given back",
    ),
    "an element of a part that was not stored": (
        (
            "%b = memref.alloc() : memref<4xf32>\n%c0 = arith.constant 0 : index\n%z = arith.constant 1.0 : f32\n"
            "memref.store %z, %b[%c0] : memref<4xf32>\n"
            "%s = memref.subview %b[1] [2] [1] : memref<4xf32> to memref<2xf32, strided<[1], offset: 1>>\n"
            "%x = memref.load %s[%c0] : memref<2xf32, strided<[1], offset: 1>>"
        ),
        0,
        r"%s\[0\] is read before anything was stored there",
    ),
    "parts that overlap, copied": (
        (
            "%s = memref.subview %A[0, 0] [2, 4] [1, 1] : memref<4x4xf32> to memref<2x4xf32, strided<[4, 1]>>\n"
            "%t = memref.subview %A[1, 0] [2, 4] [1, 1] : memref<4x4xf32> to "
            "memref<2x4xf32, strided<[4, 1], offset: 4>>\n"
            "memref.copy %s, %t : memref<2x4xf32, strided<[4, 1]>> to memref<2x4xf32, strided<[4, 1], offset: 4>>"
        ),
        0,
        r"%s and %t overlap in memory",
    ),
    "a constant that is written": (
        (
            "%g = memref.get_global @g : memref<2xf32>\n%c0 = arith.constant 0 : index\n%z = arith.constant 1.0 : f32\n"
            "memref.store %z, %g[%c0] : memref<2xf32>"
        ),
        0,
        r"%g is written, but is a constant",
    ),
    "an element that was left open": (
        (
            "%g = memref.get_global @open : memref<2xf32>\n%c0 = arith.constant 0 : index\n"
            "%x = memref.load %g[%c0] : memref<2xf32>"
        ),
        0,
        r"%g\[0\] is read before anything was stored there",
    ),
    "a buffer from elsewhere": (
        "%g = memref.get_global @elsewhere : memref<2xf32>",
        0,
        r"the global buffer @elsewhere is defined elsewhere",
    ),
    "a basis that is not positive": (
        "%a:2 = affine.delinearize_index %n into (4, %n) : index, index",
        0,
        r"the numbers of the basis must be positive, but are 4, 0",
    ),
    "an operation that is not known": (
        '"test.do"(%n) : (index) -> ()',
        0,
        r"test\.do: the interpreter does not know what this operation does",
    ),
    "digits that are none": (
        "%a = affine.linearize_index disjoint [%n, %n] by (9, 4) : index",
        4,
        r"says disjoint, but 4 is not at least 0 and below 4",
    ),
    "a number beyond 64 bits": (
        "%c = arith.constant 9223372036854775807 : index\n%a = affine.linearize_index [%c, %n] by (9, 4) : index",
        4,
        r"%a = 36893488147419103232 does not fit into 64 bits",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refusals(name):
    body, n, message = REFUSED[name]
    text = f"""
memref.global "private" constant @g : memref<2xf32> = dense<0.0>
memref.global "private" @open : memref<2xf32> = uninitialized
memref.global "private" @elsewhere : memref<2xf32>
func.func @f(%A: memref<4x4xf32>, %n: index) {{
{body}
return
}}"""
    with pytest.raises(InterpreterError, match=message):
        interpreted(text, A, n)


def test_an_empty_part_lies_nowhere():
    text = """
func.func @f(%A: memref<4x4xf32>, %n: index) -> index {
  %c0 = arith.constant 0 : index
  %s = memref.subview %A[%n, 0] [%c0, 4] [1, 1] : memref<4x4xf32> to memref<?x4xf32, strided<[4, 1], offset: ?>>
  %d = memref.dim %s, %c0 : memref<?x4xf32, strided<[4, 1], offset: ?>>
  return %d : index
}"""
    assert interpreted(text, A, 4)[1] == (0,)


def test_views_of_strided_arguments():
    text = """
func.func @f(%A: memref<?x?xf32, strided<[?, ?], offset: ?>>, %x: f32) {
  %c1 = arith.constant 1 : index
  %s = memref.subview %A[1, 1] [1, 2] [1, 1]
    : memref<?x?xf32, strided<[?, ?], offset: ?>> to memref<2xf32, strided<[?], offset: ?>>
  memref.store %x, %s[%c1] : memref<2xf32, strided<[?], offset: ?>>
  return
}"""
    whole = np.zeros((6, 8), np.float32)

    module = parse(text)
    for view in (whole[::2, ::2], whole[::-1, ::-2], whole.T[1:]):
        whole[...] = 0
        run(module.functions[0], view, 3.0)
        assert view[1, 2] == 3
        assert whole.sum() == 3


def test_strides_that_are_no_multiple_of_an_element():
    record = np.zeros(4, np.dtype([("x", "<f8"), ("y", "<i4")]))
    text = "func.func @f(%A: memref<?xf64, strided<[?]>>) { return }"
    with pytest.raises(InterpreterError, match=r"argument %A has strides \(12\) that its elements do not divide"):
        run(parse(text).functions[0], record["x"])


EXTERNALS = """
func.func private @printF32(f32)
func.func private @printNewline()
func.func private @printMemrefF32(memref<*xf32>)
func.func private @mine(f32, index) -> f32
func.func @f(%A: memref<2x2xf32>, %n: index) -> f32 {
  %x = affine.load %A[0, symbol(%n)] : memref<2x2xf32>
  func.call @printF32(%x) : (f32) -> ()
  func.call @printNewline() : () -> ()
  %u = memref.cast %A : memref<2x2xf32> to memref<*xf32>
  func.call @printMemrefF32(%u) : (memref<*xf32>) -> ()
  %y = func.call @mine(%x, %n) : (f32, index) -> f32
  return %y : f32
}
"""


def test_functions_from_elsewhere(capsys):
    given = np.float32([[1, 2.5], [-3, 1e10]])
    _, results = interpreted(EXTERNALS, given, 1, externals={"mine": lambda x, n: x * n + 0.25})
    assert results == (2.75,)
    shown = capsys.readouterr().out.split("base@ = ")
    assert shown[0] == "2.5\nUnranked Memref "
    rest = " rank = 2 offset = 0 sizes = [2, 2] strides = [2, 1] data = \n[[1,   2.5], \n [-3,   1e+10]]\n"
    assert shown[1].partition(" ")[2] == rest[1:]


def test_a_function_that_nothing_stands_for():
    with pytest.raises(InterpreterError, match=r"@mine is defined elsewhere.*pass it as externals=\{'mine': \.\.\.\}"):
        interpreted(EXTERNALS, np.zeros((2, 2), np.float32), 1)
    with pytest.raises(InterpreterError, match="@mine gave 2 results, but has 1"):
        interpreted(EXTERNALS, np.zeros((2, 2), np.float32), 1, externals={"mine": lambda x, n: (x, x)})
