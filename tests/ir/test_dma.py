"""DMA: what is copied, and the order in which a copy is begun, waited for and used."""

import numpy as np
import pytest

from affdsl.ir.interpreter import InterpreterError
from tests.three_ways import agree, interpreted

A = np.arange(128, dtype=np.float32).reshape(8, 16)
TYPES = "memref<8x16xf32>, memref<4x8xf32, 1>, memref<2xi32>"
TYPES_BACK = "memref<4x8xf32, 1>, memref<8x16xf32>, memref<2xi32>"
START = f"affine.dma_start %A[4, 4], %B[0, 0], %tag[0], %c32, %c16, %c8 : {TYPES}"
WAIT = "affine.dma_wait %tag[0], %c32 : memref<2xi32>"
BACK = f"affine.dma_start %B[0, 0], %A[0, 0], %tag[1], %c32, %c16, %c8 : {TYPES_BACK}"
WAIT_BACK = "affine.dma_wait %tag[1], %c32 : memref<2xi32>"


def program(*lines: str) -> str:
    constants = "\n".join(f"  %c{n} = arith.constant {n} : index" for n in (0, 7, 8, 16, 32))
    body = "\n  ".join(lines)
    return f"""
func.func @f(%A: memref<8x16xf32>, %B: memref<4x8xf32, 1>, %x: f32) {{
{constants}
  %tag = memref.alloc() : memref<2xi32>
  {body}
  memref.dealloc %tag : memref<2xi32>
  return
}}"""


def test_a_tile_there_and_back(tmp_path):
    (a, b, _), _ = agree(
        program(START, WAIT, BACK, WAIT_BACK), tmp_path, A, np.zeros((4, 8), np.float32), 0.0, lowered=False
    )
    expected = A.copy()
    np.testing.assert_array_equal(b, A[4:8, 4:12])
    expected[:4, :8] = A[4:8, 4:12]
    np.testing.assert_array_equal(a, expected)


def test_a_contiguous_copy(tmp_path):
    text = program(
        f"memref.dma_start %A[%c7, %c0], %B[%c0, %c0], %c16, %tag[%c0] : {TYPES}",
        "memref.dma_wait %tag[%c0], %c16 : memref<2xi32>",
    )
    (_, b, _), _ = agree(text, tmp_path, A, np.zeros((4, 8), np.float32), 0.0, lowered=False)
    np.testing.assert_array_equal(b.reshape(-1)[:16], A[7])


LOAD = "%y = affine.load %B[0, 0] : memref<4x8xf32, 1>"
REFUSED = {
    "read before the wait": ([START, LOAD, WAIT], "%B is read where a copy that was begun and not waited for writes"),
    "written before the wait": (
        [START, "affine.store %x, %B[1, 1] : memref<4x8xf32, 1>", WAIT],
        "%B is written where a copy that was begun and not waited for writes",
    ),
    "source written before the wait": (
        [START, "affine.store %x, %A[5, 5] : memref<8x16xf32>", WAIT],
        "%A is written where a copy that was begun and not waited for reads",
    ),
    "a vector read before the wait": (
        [START, "%v = affine.vector_load %B[2, 0] : memref<4x8xf32, 1>, vector<8xf32>", WAIT],
        "%B is read where a copy that was begun and not waited for writes",
    ),
    "copied on before the wait": (
        [START, BACK, WAIT, WAIT_BACK],
        "%B is read where a copy that was begun and not waited for writes",
    ),
    "never begun": ([WAIT], r"no copy was begun with the tag %tag\[0\], or it was waited for already"),
    "waited for twice": ([START, WAIT, WAIT], r"no copy was begun with the tag %tag\[0\]"),
    "waited for with another number": (
        [START, "affine.dma_wait %tag[0], %c16 : memref<2xi32>"],
        r"the copy with the tag %tag\[0\] has 32 elements, but 16 are waited for",
    ),
    "the tag is busy": (
        [
            START,
            "affine.dma_start %A[0, 0], %B[0, 0], %tag[0], %c0 : memref<8x16xf32>, memref<4x8xf32, 1>, memref<2xi32>",
        ],
        r"%tag\[0\] is busy with a copy that was not waited for",
    ),
    "chunks that do not fit": (
        [START.replace("%c16, %c8", "%c16, %c7")],
        "32 elements cannot be copied in chunks of 7",
    ),
    "beyond the source": (
        [START.replace("%A[4, 4]", "%A[5, 9]")],
        r"element 23 of the copy, 39 behind %A\[5, 9\], is out of bounds: %A has sizes \(8, 16\)",
    ),
    "a tag that is none": ([START.replace("%tag[0]", "%tag[2]")], r"%tag\[2\] is out of bounds"),
    "on to itself": (
        ["affine.dma_start %A[0, 0], %A[0, 8], %tag[0], %c16 : memref<8x16xf32>, memref<8x16xf32>, memref<2xi32>"],
        "%A and %A overlap in memory",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refusals(name):
    lines, message = REFUSED[name]
    with pytest.raises(InterpreterError, match=message):
        interpreted(program(*lines), A, np.zeros((4, 8), np.float32), 1.0)


def test_what_the_copy_does_not_touch_is_free():
    lines = [
        START,
        "affine.store %x, %A[4, 3] : memref<8x16xf32>",
        "%y = affine.load %A[4, 4] : memref<8x16xf32>",
        WAIT,
    ]
    (a, _, _), _ = interpreted(program(*lines), A, np.zeros((4, 8), np.float32), 1.0)
    assert a[4, 3] == 1
