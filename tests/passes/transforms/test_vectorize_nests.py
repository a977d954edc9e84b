"""Boxes of iterations as vectors of several dimensions: what they compute, three ways, and what is refused."""

from itertools import product

import numpy as np
import pytest

import affdsl as af
from affdsl.ir.dialects import affine, vector
from affdsl.ir.interpreter import run
from affdsl.ir.traverse import walk
from affdsl.ir.types import VectorType
from affdsl.ir.verifier import verify
from affdsl.mlir.readers import parse
from affdsl.passes.legality.refusal import IllegalTransform
from affdsl.passes.transforms.vectorize import vectorize
from tests.three_ways import agree

N, M = af.symbols("N M")
NEST = """func.func @f(%A: memref<?x?xELEMENT>, %B: memref<?x?xELEMENT>, %C: memref<?xELEMENT>) {
  %0 = arith.constant 0 : index
  %1 = arith.constant 1 : index
  %n = memref.dim %B, %0 : memref<?x?xELEMENT>
  %m = memref.dim %B, %1 : memref<?x?xELEMENT>
  affine.for %i = LOW to %n {
    affine.for %j = LOW to %m {
      BODY
    }
  }
  return
}"""
TRANSPOSED = """%a = affine.load %A[%j, %i] : memref<?x?xf32>
      %c = affine.load %C[%i] : memref<?xf32>
      %d = affine.load %C[0] : memref<?xf32>
      %p = arith.mulf %a, %c : f32
      %b = arith.addf %p, %d : f32
      affine.store %b, %B[%i, %j] : memref<?x?xf32>"""
PRODUCT = """%z = arith.constant 1.0 : f32
      %k = affine.for %l = 0 to 3 iter_args(%s = %z) -> (f32) {
        %a = affine.load %A[%j, %l] : memref<?x?xf32>
        %c = affine.load %A[%i, %l] : memref<?x?xf32>
        %p = arith.mulf %a, %c : f32
        %t = arith.addf %s, %p : f32
        affine.yield %t : f32
      }
      affine.store %k, %B[%i, %j] : memref<?x?xf32>"""
COUNTED = """%k = affine.apply affine_map<(i, j) -> (3 * i - j)>(%i, %j)
      %w = arith.index_cast %k : index to i32
      %a = affine.load %A[%j, %i] : memref<?x?xi32>
      %q = arith.divsi %w, %a : i32
      affine.store %q, %B[%i, %j] : memref<?x?xi32>"""


def program(body, element="f32", low=0):
    text = NEST.replace("BODY", body).replace("ELEMENT", element).replace("LOW", str(low))
    return parse(text)


def nest(module):
    """The function of a module, and the induction variables of its first two loops."""
    f = module.functions[0]
    loops = [op for op in walk(f) if isinstance(op, affine.For)]
    return f, tuple(loop.iv for loop in loops[:2])


def arrays(n, m, type=np.float32):
    some = np.random.default_rng(n * 50 + m).integers(1, 90, (m + n + 3, n + m + 3)).astype(type)
    return some, np.zeros((n, m), type), some[0].copy()


def ran(f, given):
    copies = [each.copy() for each in given]
    run(f, *copies)
    return copies


@pytest.mark.parametrize("shape", [(4, 8), (2, 3)])
@pytest.mark.parametrize("low", [0, 1])
@pytest.mark.parametrize(("body", "element"), [(TRANSPOSED, "f32"), (PRODUCT, "f32"), (COUNTED, "i32")])
def test_each_number_of_iterations(body, element, low, shape):
    module = program(body, element, low)
    f, ivs = nest(module)
    for order in (1, -1):
        made = parse(str(vectorize(f, ivs[::order], shape[::order], tail="masked")))
        verify(made)
        types = {v.type for op in walk(made) for v in op.defines() if isinstance(v.type, VectorType)}
        assert shape[::order] in {type.shape for type in types}
        for n, m in product((0, 1, 3, 5), (0, 2, 8, 9)):
            given = arrays(n, m, np.int32 if element == "i32" else np.float32)
            for a, b in zip(ran(f, given), ran(made.functions[0], given), strict=True):
                assert a.tobytes() == b.tobytes()


@pytest.mark.parametrize(("body", "element"), [(TRANSPOSED, "f32"), (PRODUCT, "f32"), (COUNTED, "i32")])
def test_interpreter_c_and_mlir_agree(body, element, tmp_path):
    text = str(program(body, element)).replace("?", "15").replace("to %n", "to 5").replace("to %m", "to 7")
    f, ivs = nest(parse(text))
    made = str(vectorize(f, ivs, (2, 4), tail="masked"))
    some = np.random.default_rng(0).integers(1, 90, (15, 15)).astype(np.int32 if element == "i32" else np.float32)
    agree(made, tmp_path, some, np.zeros_like(some), some[0])


@af.kernel
def lifted(x: af.f32[8, 6, 16], y: af.f32[16, 8, 6]):
    with af.for_(8) as i, af.for_(6) as j, af.for_(16) as k:
        y[k, i, j] = x[i, j, k] * 2.0


def test_three_loops_of_whole_vectors_need_no_mask():
    made = af.Schedule(lifted, validate=True).vectorize(("i", "j", "k"), (4, 2, 8)).kernel()
    assert not any(isinstance(op, vector.CreateMask) for op in walk(made.func))
    x = np.random.default_rng(0).random((8, 6, 16), np.float32)
    y = np.zeros((16, 8, 6), np.float32)
    made(x, y)
    np.testing.assert_array_equal(y, np.transpose(x, (2, 0, 1)) * np.float32(2))


@pytest.mark.parametrize("seed", range(40))
def test_what_is_accepted_gives_the_same(seed):
    """Stores and loads of one array at random distances: legal or not, never wrong."""
    random = np.random.default_rng(seed)
    places = [tuple(int(v) for v in random.integers(0, 6, 2)) for _ in range(3)]
    subscripts = [f"%A[%i + {a}, %j + {b}]" for a, b in places]
    body = f"""%a = affine.load {subscripts[0]} : memref<?x?xf32>
      %b = affine.load {subscripts[1]} : memref<?x?xf32>
      %c = arith.addf %a, %b : f32
      affine.store %c, {subscripts[2]} : memref<?x?xf32>"""
    f, ivs = nest(program(body))
    shape = tuple(int(v) for v in random.integers(2, 5, 2))
    given = arrays(7, 9)
    try:
        made = vectorize(f, ivs, shape, tail="masked")
    except IllegalTransform:
        assert not _lanes_agree(places, shape)
        return
    assert ran(f, given)[0].tobytes() == ran(made, given)[0].tobytes()


def _lanes_agree(places, shape):
    """Whether boxes of a nest of 7 x 9 give the same as single iterations, by two loops in Python."""
    first, second = np.random.default_rng(1).random((2, 20, 20))
    second[:] = first
    (a, b), (c, d), (e, g) = places
    for i, j in product(range(7), range(9)):
        first[i + e, j + g] = first[i + a, j + b] + 3 * first[i + c, j + d]
    for i0, j0 in product(range(0, 7, shape[0]), range(0, 9, shape[1])):
        box = list(product(range(i0, min(7, i0 + shape[0])), range(j0, min(9, j0 + shape[1]))))
        found = [second[i + a, j + b] + 3 * second[i + c, j + d] for i, j in box]
        for (i, j), each in zip(box, found, strict=True):
            second[i + e, j + g] = each
    return np.array_equal(first, second)


@af.kernel
def unlike(x: af.f32[N, M], y: af.f32[N, M], z: af.f32[N]):
    with af.for_(N) as i, af.for_(M) as j:
        y[i, j] = x[i, j] + 1.0
    with af.for_(N) as p, af.for_(M) as q:
        z[p] = x[p, q]
    with af.for_(N) as r, af.for_(r + 1) as s:
        y[r, s] = 0.0
    with af.for_(1, N) as t, af.for_(1, M) as u:
        y[t, u] = y[t - 1, u]
    with af.for_(N // 2) as v, af.for_(M // 2) as w:
        y[v, w] = x[v, w * 2]
    with af.for_(N // 2) as a, af.for_(N // 2) as b:
        z[a + b] = 1.0


@pytest.mark.parametrize(
    ("loops", "tail", "reason"),
    [
        ("ij", "scalar", "the number of iterations of i is not known to be a multiple of 2"),
        ("pq", "masked", "the store z|stored at the same element"),
        ("rs", "masked", "the bounds of s depend on r"),
        ("tu", "masked", r"the store y\[t, u\] at line \d+ feeds the load"),
        ("vw", "masked", "x is not accessed at neighbours from one w to the next"),
        ("ab", "masked", "one subscript of z has the counters of two loops|the store z"),
    ],
)
def test_refusals(loops, tail, reason):
    s = af.Schedule(unlike)
    before = str(s.kernel())
    with pytest.raises(af.IllegalTransform, match=reason):
        s.vectorize(tuple(loops), (2, 4), tail=tail)
    assert str(s.kernel()) == before


def test_a_width_for_each_loop():
    s = af.Schedule(lifted)
    with pytest.raises(af.ScheduleError, match="each of 2 loops has one width, got 4"):
        s.vectorize(("i", "j"), 4)
    with pytest.raises(af.ScheduleError, match="a width"):
        s.vectorize(("i", "j"), (4, 1))
