"""What an iteration keeps in buffers of one element of its own becomes values, so that iterations can be lanes."""

import numpy as np
import pytest

import affdsl as af
from affdsl.ir.traverse import walk
from affdsl.ir.verifier import verify
from affdsl.mlir.readers import parse
from affdsl.passes.legality.refusal import IllegalTransform
from affdsl.passes.transforms.vectorize import vectorize
from tests.effort import by_turns

M, N = af.symbols("M N")


@af.kernel
def sums(x: af.f64[M, N], y: af.f64[N]):
    with af.for_(N) as j:
        total = af.var(af.f64(1))
        with af.for_(M) as i:
            total += x[i, j]
        y[j] = total


@af.kernel
def signs(x: af.f64[M, N], y: af.f64[N]):
    """Variables that conditions change, and one that only an inner loop has."""
    with af.for_(N) as j:
        up = af.var(af.f64(0))
        last = af.var(af.f64(0))
        with af.for_(M) as i:
            step = af.var(x[i, j] - last)
            with af.if_(x[i, j] > 0):
                up += step
                step.set(0.0)
            with af.else_():
                last.set(x[i, j])
            last -= step
        y[j] = up * 2 + last


@pytest.mark.parametrize(
    ("tail", "kernel"),
    by_turns(["scalar", "masked", "folded"], [sums, signs]),
    ids=lambda each: getattr(each, "name", None),
)
def test_variables_are_values_in_lanes(tail, kernel):
    fast = af.Schedule(kernel).vectorize("j", 4, tail=tail).kernel()
    loops = [op for op in walk(fast.func) if getattr(getattr(op, "iv", None), "hint", "") == "j"]
    assert all(op.name != "memref.alloca" for op in walk(loops[0])), "the buffers are gone"
    random = np.random.default_rng(2)
    for m, n in ((0, 4), (1, 1), (3, 4), (5, 11)):
        x = random.normal(size=(m, n))
        wanted, found = np.zeros(n), np.zeros(n)
        kernel.interpret(x, wanted)
        fast.interpret(x, found)
        assert wanted.tobytes() == found.tobytes()
        fast(x, found)
        assert wanted.tobytes() == found.tobytes()


def test_a_buffer_that_is_read_before_it_is_set_stays():
    function = parse("""func.func @f(%A: memref<64xf32>) {
      affine.for %i = 0 to 64 {
        %s = memref.alloca() : memref<f32>
        %a = affine.load %s[] : memref<f32>
        affine.store %a, %s[] : memref<f32>
        affine.store %a, %A[%i] : memref<64xf32>
      }
      return }""").functions[0]
    verify(function)
    with pytest.raises(IllegalTransform, match=r"memref\.alloca has no form on vectors"):
        vectorize(function, function.body[0].iv, 4)


def test_a_buffer_that_is_set_under_a_condition_only_stays():
    function = parse("""func.func @f(%A: memref<64xf32>, %c: i1, %x: f32) {
      affine.for %i = 0 to 64 {
        %s = memref.alloca() : memref<f32>
        scf.if %c { affine.store %x, %s[] : memref<f32> }
        %a = affine.load %s[] : memref<f32>
        affine.store %a, %A[%i] : memref<64xf32>
      }
      return }""").functions[0]
    verify(function)
    with pytest.raises(IllegalTransform, match=r"memref\.alloca has no form on vectors"):
        vectorize(function, function.body[0].iv, 4)
