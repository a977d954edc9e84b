"""What the interpreter refuses of views and global buffers, and what views share."""

from pathlib import Path

import numpy as np
import pytest

from affdsl.ir.interpreter import InterpreterError, run
from affdsl.mlir.readers import parse
from tests.harness.reading import refusals
from tests.three_ways import interpreted

A = np.arange(16, dtype=np.float32).reshape(4, 4)
REFUSED = refusals(Path(__file__).with_name("refused_views.mlir"))


@pytest.mark.parametrize("title", REFUSED)
def test_refusals(title):
    body, message = REFUSED[title]
    text = f"""
memref.global "private" constant @g : memref<2xf32> = dense<0.0>
memref.global "private" @open : memref<2xf32> = uninitialized
memref.global "private" @elsewhere : memref<2xf32>
func.func @f(%A: memref<4x4xf32>, %n: index) {{
{body}
return
}}"""
    with pytest.raises(InterpreterError) as caught:
        interpreted(text, A, int(title.rpartition("n = ")[2].removesuffix(")")))
    assert message in str(caught.value)


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
