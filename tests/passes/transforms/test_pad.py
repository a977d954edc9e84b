"""Buffers with longer rows: the elements that there were are the same, and the new size is the least that is wanted."""

import numpy as np
import pytest

import affdsl as af
from affdsl.ir.dialects import memref
from affdsl.ir.interpreter import run
from affdsl.ir.traverse import walk
from affdsl.ir.verifier import verify
from affdsl.mlir.readers import parse
from affdsl.passes.legality.refusal import IllegalTransform
from affdsl.passes.transforms.pad import pad
from tests.passes.transforms.steps import kernels

transpose_twice = kernels("buffers")["transpose_twice"]


def made_by(function):
    """The buffer that a function makes."""
    return next(op.result for op in walk(function) if isinstance(op, memref.Allocation))


@pytest.mark.parametrize("whole", range(1, 20))
@pytest.mark.parametrize(("factor", "offset"), [(1, 0), (4, 0), (8, 4), (5, 4)])
def test_the_size_is_the_least_that_is_enough(whole, factor, offset):
    f = parse(f"""func.func @f(%A: memref<1xf32>, %n: index) {{
      %s = memref.alloc() : memref<3x{whole}xf32>
      %d = memref.alloc(%n) : memref<3x?xf32>
      affine.for %i = 0 to {whole} {{
        %a = affine.load %A[0] : memref<1xf32>
        affine.store %a, %s[2, %i] : memref<3x{whole}xf32>
      }}
      return
    }}""").functions[0]
    made = pad(f, made_by(f), 1, factor, offset)
    verify(made)
    wanted = next(n for n in range(whole, 50) if n % factor == offset)
    assert made_by(made).type.shape == (3, wanted)
    run(made, np.zeros(1, "f4"), 7)
    last = [op for op in walk(f) if isinstance(op, memref.Allocation)][-1]
    count, allocated = pad(f, last.result, 1, factor, offset).body[1:3]
    assert allocated.sizes == (count.result,)
    assert count.expr.evaluate({f.args[1]: whole}) == wanted


def test_a_padded_buffer_is_folded_and_vectorized():
    s = af.Schedule(transpose_twice).interchange("i#1", "j#1").interchange("i#2", "j#2").fuse("j#1", "j#2")
    s.fold("t", 0, 2).pad("t", 1, 32, 16).vectorize("i#1", 4)
    with pytest.raises(IllegalTransform, match="pad before you vectorize"):
        s.pad("t", 0, 2)
    x, y = np.random.default_rng(0).random((9, 5), "f4"), np.zeros((9, 5), "f4")
    s.kernel()(x, y)
    assert x.tobytes() == y.tobytes()


REFUSED = {
    "has a layout": """%t = memref.alloc() : memref<9xf32, affine_map<(i) -> (i + 1)>>
      affine.for %i = 0 to 9 {
        affine.store %x, %t[%i] : memref<9xf32, affine_map<(i) -> (i + 1)>>
      }""",
    "has 1 dimensions": "%t = memref.alloc() : memref<9xf32>",
    "otherwise than by affine loads": """%t = memref.alloc() : memref<9xf32>
      %c = memref.cast %t : memref<9xf32> to memref<?xf32>""",
    "does not make A": "%t = affine.load %A[0] : memref<9xf32>",
}


@pytest.mark.parametrize("reason", REFUSED)
def test_what_cannot_be_padded(reason):
    f = parse(f"func.func @f(%A: memref<9xf32>, %x: f32) {{ {REFUSED[reason]}\n return }}").functions[0]
    buffer = f.args[0] if "A" in reason else made_by(f)
    with pytest.raises(IllegalTransform, match=reason):
        pad(f, buffer, 1 if "dimensions" in reason else 0, 4)


@pytest.mark.parametrize(("dim", "factor", "offset"), [(-1, 2, 0), (0, 0, 0), (0, 4, 4), (0, 4, -1)])
def test_impossible_numbers(dim, factor, offset):
    f = parse("func.func @f() { %t = memref.alloc() : memref<9xf32>\n return }").functions[0]
    with pytest.raises(ValueError, match="a factor 1"):
        pad(f, made_by(f), dim, factor, offset)
