"""Buffers that begin half a page away from an array: where they lie, that all is as before, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

import affdsl as af
from affdsl.ir.dialects import affine, memref
from affdsl.ir.expr import Affine
from affdsl.ir.traverse import walk
from affdsl.ir.verifier import verify
from affdsl.mlir.readers import parse
from affdsl.passes.legality.refusal import IllegalTransform
from affdsl.passes.transforms.displace import LINE, PAGE, displace
from tests.effort import by_turns
from tests.oracles import mlir_opt
from tests.passes.transforms.placed import at

M, N = af.symbols("M N")


@af.kernel
def scaled(A: af.f32[M, N], w: af.f32[N], B: af.f32[M, N]):
    with af.for_(M) as i, af.for_(N) as j:
        B[i, j] = A[i, j] * w[j]


@af.kernel
def kept(A: af.f64[9], B: af.f64[9]):
    t = af.alloc(af.f64[9])
    with af.for_(9) as i:
        t[i] = A[i] + 1
    with af.for_(9) as i:
        B[i] = t[8 - i] * 2


def steps(lanes=1):
    s = af.Schedule(scaled, validate=True)
    if lanes > 1:
        s.vectorize("j", lanes, tail="masked")
    return s.copy("w", "i").displace("w_fast", "B")


@pytest.mark.parametrize(("offset", "lanes"), by_turns([0, 4, 16, 60], [4, 1, 16]))
def test_all_is_as_before_wherever_the_array_lies(offset, lanes):
    made = steps(lanes).kernel()
    mlir_opt(made.mlir())
    for m, n in ((0, 3), (2, 0), (1, 1), (3, 17), (2, 1040)):
        rng = np.random.default_rng(n)
        A, w, found = rng.random((m, n), np.float32), rng.random(n, np.float32), at(offset, m * n, "f4").reshape(m, n)
        made(A, w, found)
        assert found.tobytes() == (A * w).tobytes()
        if m * n < 100:
            found[:] = 0
            made.interpret(A, w, found)
            assert found.tobytes() == (A * w).tobytes()


def test_a_buffer_of_known_size_that_is_stored_and_loaded():
    made = af.Schedule(kept, validate=True).displace("t", "B").kernel()
    assert f"memref<{9 + PAGE // 8}xf64>" in made.mlir()
    A, B = np.arange(9.0), np.zeros(9)
    made(A, B)
    np.testing.assert_array_equal(B, (A[::-1] + 1) * 2)


@pytest.mark.parametrize(("type", "size"), [("i8", 1), ("bf16", 2), ("f32", 4), ("i64", 8), ("complex<f64>", 16)])
def test_it_begins_with_a_line_half_a_page_away(type, size):
    f = parse(f"""func.func @f(%B: memref<?x{type}>, %n: index) {{
      %t = memref.alloc(%n) : memref<?x{type}>
      affine.for %i = 0 to %n {{
        %a = affine.load %t[%i] : memref<?x{type}>
        affine.store %a, %B[%i] : memref<?x{type}>
      }}
      memref.dealloc %t : memref<?x{type}>
      return
    }}""").functions[0]
    made = displace(f, f.body[0].result, f.args[0])
    verify(made)
    asks, first = made.body[:2]
    alloc = next(op for op in walk(made) if isinstance(op, memref.Alloc))
    load = next(op for op in walk(made) if isinstance(op, affine.Load))
    loop = next(op for op in walk(made) if isinstance(op, affine.For))
    assert alloc.alignment == PAGE
    assert load.index == (Affine.of(loop.iv) + first.result,)
    for address in range(0, 2 * PAGE, size):
        elements = first.expr.substitute({asks.result: Affine.of(address)}).constant
        assert elements * size % LINE == 0
        assert 0 <= elements <= PAGE // size
        assert PAGE // 2 - LINE < (elements * size - address) % PAGE <= PAGE // 2


REFUSED = {
    "memref.alloca() : memref<8xf32>": "does not make t by memref.alloc",
    "memref.alloc() : memref<2x8xf32>": "other than one dimension",
    "memref.alloc() {alignment = 64 : i64} : memref<8xf32>": "says where it lies",
    "memref.alloc() : memref<8xvector<3xf32>>": "no whole number of elements",
}


@pytest.mark.parametrize(("maker", "reason"), REFUSED.items(), ids=REFUSED)
def test_what_is_no_plain_row_is_refused(maker, reason):
    f = parse(f"func.func @f(%B: memref<8xf32>) {{ %t = {maker} return }}").functions[0]
    with pytest.raises(IllegalTransform, match=reason):
        displace(f, f.body[0].result, f.args[0])


def test_an_array_that_is_no_argument_is_refused():
    f = parse("""func.func @f(%n: index) {
      %t = memref.alloc() : memref<8xf32>
      %u = memref.alloc() : memref<8xf32>
      return
    }""").functions[0]
    t, u = (op.result for op in f.body[:2])
    for array in (u, f.args[0]):
        with pytest.raises(IllegalTransform, match="is no argument that is an array"):
            displace(f, t, array)


@pytest.mark.parametrize(
    "use", ["call @g(%t) : (memref<8xf32>) -> ()", "memref.copy %t, %B : memref<8xf32> to memref<8xf32>"]
)
def test_other_uses_are_refused(use):
    module = parse(f"""func.func private @g(memref<8xf32>)
    func.func @f(%B: memref<8xf32>) {{
      %t = memref.alloc() : memref<8xf32>
      {use}
      return
    }}""")
    (f,) = (each for each in module.functions if each.symbol == "f")
    with pytest.raises(IllegalTransform, match="otherwise than by affine loads and stores"):
        displace(f, f.body[0].result, f.args[0], module=module)


def test_users_see_where_it_was_refused():
    with pytest.raises(
        af.IllegalTransform, match=r"cannot let w begin half a page away from B \(of scaled, .*py:\d+\)"
    ):
        af.Schedule(scaled).displace("w", "B")
