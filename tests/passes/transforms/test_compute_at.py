"""Arrays are computed where they are read: what is accepted changes nothing, and what is refused would."""

from __future__ import annotations

import numpy as np
import pytest

import affdsl as af
from affdsl.ir.dialects import affine
from affdsl.ir.traverse import walk
from affdsl.mlir.readers import parse
from affdsl.passes.legality.refusal import IllegalTransform
from affdsl.passes.transforms.fuse.compute_at import compute_at

N, M = af.symbols("N M")


@af.kernel
def blur(image: af.f32[N, M], out: af.f32[N, M]):
    rows = af.alloc(af.f32[N, M])
    with af.for_(N) as i, af.for_(1, M - 1) as j:
        rows[i, j] = image[i, j - 1] + image[i, j] + image[i, j + 1]
    with af.for_(1, N - 1) as k, af.for_(1, M - 1) as m:
        out[k, m] = rows[k - 1, m] + rows[k, m] + rows[k + 1, m]


@pytest.mark.parametrize(("loop", "shape"), [("k", "3x?"), ("m", "3x1")])
@pytest.mark.parametrize("size", [(0, 0), (1, 1), (5, 7), (64, 3)])
def test_a_blur_by_rows_and_by_elements(loop, shape, size):
    schedule = af.Schedule(blur).compute_at("rows", loop)
    kernel = schedule.kernel()
    assert f"memref<{shape}xf32>" in kernel.mlir()
    assert f'compute_at("rows", "{loop}")' in str(schedule)
    image = np.random.default_rng(0).random(size).astype(np.float32)
    expected, found = np.zeros_like(image), np.zeros_like(image)
    blur(image, expected)
    kernel(image, found)
    assert np.array_equal(expected, found)


def test_of_a_table_only_the_element_that_is_read():
    @af.kernel
    def f(table: af.f32[4], out: af.f32[N]):
        doubled = af.alloc(af.f32[4])
        with af.for_(4) as i:
            doubled[i] = table[i] * 2.0
        with af.for_(N) as k:
            out[k] = doubled[k % 4]

    kernel = af.Schedule(f).compute_at("doubled", "k").kernel()
    assert "memref.alloc() : memref<1xf32>" in kernel.mlir()
    table, found = np.arange(4, dtype=np.float32), np.zeros(11, np.float32)
    kernel(table, found)
    assert found.tolist() == [2 * (k % 4) for k in range(11)]


def refused(text: str, buffer: str, loop: str) -> str:
    function = parse(text).functions[0]
    (iv,) = [op.iv for op in walk(function) if isinstance(op, affine.For) and op.iv.hint == loop]
    values = (*function.args, *(v for op in function.body for v in op.defines()))
    (value,) = [v for v in values if v.hint == buffer]
    with pytest.raises(IllegalTransform) as error:
        compute_at(function, value, iv)
    return str(error.value)


SHIFTED = """func.func @f(%A: memref<10xf32>, %B: memref<10xf32>) {
  affine.for %i = 0 to 10 {
    %a = affine.load %A[%i] : memref<10xf32>
    affine.store %a, %B[%i] : memref<10xf32>
  }
  affine.for %j = 1 to 10 {
    %b = affine.load %B[%j - 1] : memref<10xf32>
    affine.store %b, %A[%j] : memref<10xf32>
  }
  return
}"""


def test_what_is_overwritten_before_it_is_read_again():
    message = refused(SHIFTED.replace("%B[%j - 1]", "%B[9 - %j]"), "B", "j")
    assert "cannot compute B at loop j" in message
    assert "other values would be computed: " in message


@pytest.mark.parametrize(
    ("text", "buffer", "loop", "reason"),
    [
        (SHIFTED, "A", "j", "no nest before the loop j stores what it reads of A"),
        (SHIFTED.replace("%A[%j] : memref<10xf32>\n  }", """%A[%j] : memref<10xf32>
          affine.for %k = 0 to 2 { %c = affine.load %B[%k] : memref<10xf32> } }"""), "B", "k",
         "the loop k is not around all that its nest does to B"),
        (SHIFTED.replace("affine.for %j", "affine.store %c, %B[3] : memref<10xf32>\n  affine.for %j")
         .replace("  affine.for %i", "  %c = arith.constant 0.0 : f32\n  affine.for %i"), "B", "j",
         "2 operations before it store what it reads of B: fuse them first"),
        (SHIFTED.replace("%B: memref<10xf32>) {", "%C: memref<10xf32>) {\n  %B = memref.alloc() : memref<10xf32>")
         .replace("affine.store %b, %A[%j]", """%c = arith.cmpf ogt, %b, %b : f32
          scf.if %c { affine.store %b, %B[%j - 1] : memref<10xf32> }
          affine.store %b, %A[%j]"""), "B", "j",
         "it is not proved that every value stays as it was: the condition is known only at run time"),
    ],
)  # fmt: skip
def test_refusals_say_why(text, buffer, loop, reason):
    assert reason in refused(text, buffer, loop)
