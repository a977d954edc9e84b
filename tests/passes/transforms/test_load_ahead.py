"""Vectors that are loaded an iteration ahead: all is as before, loads come before stores, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

import affdsl as af
from affdsl.ir.load_order import is_kept_ahead
from affdsl.ir.traverse import walk
from affdsl.ir.verifier import verify
from affdsl.mlir.readers import parse
from affdsl.passes.legality.refusal import IllegalTransform
from affdsl.passes.transforms.load_ahead import load_ahead
from tests.effort import by_turns
from tests.oracles import mlir_opt
from tests.passes.transforms.placed import at

M, N = af.symbols("M N")


@af.kernel
def differences(A: af.f32[M, N + 1], w: af.f32[N], B: af.f32[M, N]):
    with af.for_(M) as i, af.for_(N) as j:
        B[i, j] = (A[i, j + 1] - A[i, j]) * w[j]


@pytest.mark.parametrize(("tail", "ahead"), by_turns(["scalar", "masked", "overlapped"], [("A", 2), ("w", 1)]))
def test_all_is_as_before_and_loads_come_first(tail, ahead):
    array, loads = ahead
    s = af.Schedule(differences, validate=True).vectorize("j", 4, tail=tail).load_ahead(array, "j")
    made = s.kernel()
    mlir_opt(made.mlir())
    assert sum(map(is_kept_ahead, walk(s.function))) == loads
    assert made.mlir().count("{affdsl.ahead}") == loads
    behind_the_last = made.c().split("affdsl_loads_first();")[-1].split("}")[0]
    assert "&B[i * N + j] =" in behind_the_last
    for m, n in ((0, 5), (2, 0), (1, 1), (3, 3), (2, 4), (2, 7), (3, 8), (2, 31)):
        rng = np.random.default_rng(n)
        A, w, found = rng.random((m, n + 1), np.float32), rng.random(n, np.float32), np.zeros((m, n), np.float32)
        wanted = (A[:, 1:] - A[:, :-1]) * w
        made(A, w, found)
        np.testing.assert_array_equal(found, wanted)
        found[:] = 0
        made.interpret(A, w, found)
        np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("offset", [0, 16, 48])
def test_arrays_that_lie_a_line_apart(offset):
    made = af.Schedule(differences).vectorize("j", 16, tail="overlapped").load_ahead("A", "j").kernel()
    m, n = 3, 1023  # rows of A are a page long
    memory, whole = at(offset, 2 * m * (n + 1) + 16, np.float32), m * (n + 1)
    A, found = memory[:whole].reshape(m, n + 1), memory[whole + 16 : whole + 16 + m * n].reshape(m, n)
    assert (found.ctypes.data - A.ctypes.data) % 4096 == 64
    A[:] = np.random.default_rng(offset).random(A.shape)
    w = np.ones(n, np.float32)
    made(A, w, found)
    np.testing.assert_array_equal(found, A[:, 1:] - A[:, :-1])


def test_the_steps_are_printed_and_replay():
    s = af.Schedule(differences).vectorize("j", 4).load_ahead("A", "j")
    assert str(s).endswith('s.load_ahead("A", "j")')
    again: dict[str, object] = {}
    exec(str(s), again)
    assert again["s"].kernel().mlir() == s.kernel().mlir()


def test_a_loop_that_may_not_run_loads_nothing():
    s = af.Schedule(differences).vectorize("j", 4).load_ahead("A", "j")
    text = s.kernel().mlir()
    assert text.index("affine.if") < text.index("affine.vector_load")


def test_buffers_that_are_stored_elsewhere_in_the_nest():
    f = parse("""func.func @f(%A: memref<4x32xf32>, %B: memref<4x32xf32>, %x: vector<8xf32>) {
      affine.for %i = 0 to 4 {
        affine.for %j = 0 to 32 step 8 {
          %a = affine.vector_load %A[%i, %j] : memref<4x32xf32>, vector<8xf32>
          affine.vector_store %a, %B[%i, %j] : memref<4x32xf32>, vector<8xf32>
        }
        affine.for %j = 0 to 32 step 8 { affine.vector_store %x, %A[%i, %j] : memref<4x32xf32>, vector<8xf32> }
      }
      return
    }""").functions[0]
    made = load_ahead(f, f.args[0], f.body[0].body[0].iv)
    verify(made)
    assert sum(map(is_kept_ahead, walk(made))) == 1


def function(body):
    return parse(f"""func.func @f(%A: memref<99xf32>, %P: memref<99xindex>, %n: index) {{
      {body}
      return
    }}""").functions[0]


LOAD = "%a = affine.vector_load %A[%j] : memref<99xf32>, vector<4xf32>"
STORE = "affine.vector_store %a, %A[{}] : memref<99xf32>, vector<4xf32>"
CARRIED = f"""%z = arith.constant 0.0 : f32
    affine.for %j = 0 to 96 step 4 iter_args(%s = %z) -> f32 {{ {LOAD}
      affine.yield %s : f32 }}"""
LATE = """affine.for %j = 0 to 96 step 4 {
      %k = memref.load %P[%j] : memref<99xindex>
      %a = affine.vector_load %A[symbol(%k)] : memref<99xf32>, vector<4xf32> }"""


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("affine.for %j = 0 to 96 { %a = affine.load %A[%j] : memref<99xf32> }", "no load of a vector of A"),
        (f"affine.for %j = 0 to 95 step 4 {{ {LOAD} }}", "not certainly 4 before"),
        (
            f"affine.for %j = 0 to min affine_map<(d) -> (d, 96)>(%n) step 4 {{ {LOAD} }}",
            "not certainly 4 before",
        ),
        (CARRIED, "it carries values"),
        (f"affine.for %j = 0 to 92 step 4 {{ {LOAD} {STORE.format('%j + 4')} }}", "may have stored what it loads"),
        (f"affine.for %j = 0 to 96 step 4 {{ {LOAD} {STORE.format('95 - %j')} }}", "may have stored what it loads"),
        (LATE, "its place depends on k, which the iteration before does not know"),
    ],
)
def test_what_is_refused(body, reason):
    f = function(body)
    loop = next(op for op in f.body if hasattr(op, "iv"))
    with pytest.raises(IllegalTransform, match=reason):
        load_ahead(f, f.args[0], loop.iv)


def test_a_buffer_of_each_iteration_is_not_loaded_before_it_is_made():
    f = function("""affine.for %j = 0 to 96 step 4 {
      %t = memref.alloc() : memref<99xf32>
      %a = affine.vector_load %t[%j] : memref<99xf32>, vector<4xf32>
      memref.dealloc %t : memref<99xf32> }""")
    loop = f.body[0]
    with pytest.raises(IllegalTransform, match="the loop makes the buffer"):
        load_ahead(f, loop.body[0].result, loop.iv)


def test_a_store_behind_what_is_loaded_is_no_obstacle():
    f = function(f"affine.for %j = 4 to 96 step 4 {{ {LOAD} {STORE.format('%j - 4')} }}")
    verify(load_ahead(f, f.args[0], f.body[0].iv))
