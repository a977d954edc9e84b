"""Buffers folded to a few rows: what is accepted does the same, and what is refused would not."""

import numpy as np
import pytest

import affdsl as af
from affdsl.ir.dialects import memref
from affdsl.ir.interpreter import run
from affdsl.ir.traverse import walk
from affdsl.ir.verifier import verify
from affdsl.mlir.readers import parse
from affdsl.passes.legality.refusal import IllegalTransform
from affdsl.passes.transforms.fold import fold, least_size
from tests.passes.transforms.steps import kernels

N, M = af.symbols("N M")


blur = kernels("buffers")["blur"]


def made_by(function):
    """The buffer that a function makes."""
    return next(op.result for op in walk(function) if isinstance(op, memref.Allocation))


def test_too_few_are_refused_with_what_would_be_lost_and_the_least_size():
    s = af.Schedule(blur)
    with pytest.raises(IllegalTransform) as caught:
        s.fold("t", 0, 2)
    stored, read, *rest = str(caught.value).partition("\n")[2].split(" at line ")
    assert stored == "    the store t[i, j]"
    assert read.endswith("takes the place of an element that the load t[i - 2, j]")
    assert "".join(rest).splitlines()[1:] == [
        "    e.g. (i, j#2) = (2, 0) reads t[0, 0], and t[2, 0] is stored before (for N = 1, M = 1)",
        '    legal: s.fold("t", 0, 3)',
    ]


@pytest.mark.parametrize("dim", [0, 1])
def test_the_least_size_is_legal_and_none_below_it(dim):
    (function,) = blur.module.functions
    least = least_size(function, made_by(function), dim)
    if dim == 1:
        assert least is None, "all columns of a row are still needed"
        return
    fold(function, made_by(function), dim, least)
    for size in range(1, least):
        with pytest.raises(IllegalTransform, match="still needs"):
            fold(function, made_by(function), dim, size)


REFUSED = {
    "has a layout": """%t = memref.alloc() : memref<9xf32, affine_map<(i) -> (i + 1)>>
      affine.for %i = 0 to 9 {
        affine.store %x, %t[%i] : memref<9xf32, affine_map<(i) -> (i + 1)>>
      }""",
    "no more than 3 elements": """%t = memref.alloc() : memref<3xf32>
      affine.for %i = 0 to 3 { affine.store %x, %t[%i] : memref<3xf32> }""",
    "may read what nobody stored": """%t = memref.alloc() : memref<9xf32>
      affine.for %i = 0 to 8 {
        %a = affine.load %t[%i + 1] : memref<9xf32>
        affine.store %a, %t[%i] : memref<9xf32>
      }""",
    "may run at the same time": """%t = memref.alloc() : memref<9xf32>
      affine.parallel (%i) = (0) to (9) { affine.store %x, %t[%i] : memref<9xf32> }""",
    "otherwise than by affine loads": """%t = memref.alloc() : memref<9xf32>
      affine.for %i = 0 to 9 { memref.store %x, %t[%i] : memref<9xf32> }""",
    "vector_store uses t otherwise": """%t = memref.alloc() : memref<9xf32>
      %v = vector.broadcast %x : f32 to vector<4xf32>
      affine.vector_store %v, %t[0] : memref<9xf32>, vector<4xf32>""",
    "does not make A": "%t = affine.load %A[0] : memref<9xf32>",
}


@pytest.mark.parametrize("reason", REFUSED)
def test_what_cannot_be_folded(reason):
    f = parse(f"func.func @f(%A: memref<9xf32>, %x: f32) {{ {REFUSED[reason]}\n return }}").functions[0]
    buffer = f.args[0] if "A" in reason else made_by(f)
    with pytest.raises(IllegalTransform, match=reason):
        fold(f, buffer, 0, 3)


def test_a_buffer_of_each_iteration_is_folded_by_itself():
    f = parse("""func.func @f(%A: memref<9x9xf32>, %B: memref<9x9xf32>) {
      affine.parallel (%i) = (0) to (9) {
        %t = memref.alloca() : memref<9xf32>
        affine.for %j = 0 to 9 {
          %a = affine.load %A[%i, %j] : memref<9x9xf32>
          affine.store %a, %t[%j] : memref<9xf32>
          %b = affine.load %t[%j] : memref<9xf32>
          affine.store %b, %B[%i, %j] : memref<9x9xf32>
        }
      }
      return
    }""").functions[0]
    made = fold(f, made_by(f), 0, 1)
    verify(made)
    a, b = np.random.default_rng(0).random((9, 9), "f4"), np.zeros((9, 9), "f4")
    run(made, a, b)
    assert a.tobytes() == b.tobytes()
