"""Loops that reach an element which others of their iterations access: they are split there, and are right."""

import numpy as np
import pytest

import affdsl as af
from affdsl.ir.dialects import affine
from affdsl.ir.traverse import walk
from affdsl.mlir.readers import parse
from affdsl.passes.legality.refusal import IllegalTransform
from affdsl.passes.transforms.vectorize import vectorize
from tests.effort import by_turns
from tests.oracles import mlir_opt

N = af.symbols("N")


@af.kernel
def paths(D: af.f32[N, N]):
    with af.for_(N) as k, af.for_(N) as i, af.for_(N) as j:
        D[i, j] = af.min(D[i, j], D[i, k] + D[k, j])


@af.kernel
def middle(a: af.f32[N]):
    with af.for_(N) as j:
        a[j] = a[N // 2] + a[j]


@af.kernel
def mirrored(a: af.f32[N]):
    with af.for_(N) as j:
        a[j] = a[N - 1 - j] + 1.0


@af.kernel
def first(a: af.f32[N]):
    with af.for_(N) as j:
        a[j] = a[0] * 0.5 + a[j]


def arguments(kernel, n):
    return np.random.default_rng(n).random((n, n) if kernel is paths else n, "f4")


@pytest.mark.parametrize(
    ("kernel", "way"),
    by_turns([paths, middle, mirrored, first], [(3, "masked"), (8, "scalar"), (3, "scalar"), (8, "masked")]),
    ids=lambda each: getattr(each, "name", None),
)
def test_the_iterations_on_both_sides_are_vectors(kernel, way):
    width, tail = way
    made = af.Schedule(kernel, validate=tail == "masked" and width == 3).vectorize("j", width, tail=tail).kernel()
    mlir_opt(made.mlir())
    wide = [op for op in walk(made.func) if isinstance(op, affine.For) and op.step == width]
    assert len(wide) >= (1 if kernel is first else 2)
    for n in (1, 2, 5, 8, 9, 33, 50):
        wanted, found = (arguments(kernel, n) for _ in "ab")
        kernel(wanted)
        made(found)
        assert wanted.tobytes() == found.tobytes(), n


def test_what_is_in_the_way_beside_it_is_said():
    @af.kernel
    def f(a: af.f32[N]):
        with af.for_(1, N) as j:
            a[j] = a[j - 1] * 0.5 + a[N // 2]

    with pytest.raises(IllegalTransform, match=r"feeds the load"):
        af.Schedule(f).vectorize("j", 4)


def test_two_memrefs_of_one_buffer_have_no_subscripts_to_compare():
    f = parse("""func.func @f(%x: i64, %y: i64) {
      %T = memref.alloc() : memref<16xi64>
      %w = memref.reinterpret_cast %T to offset: [3], sizes: [3, 3], strides: [4, 1]
        : memref<16xi64> to memref<3x3xi64, strided<[4, 1], offset: 3>>
      affine.for %i = 0 to 3 {
        affine.store %x, %w[%i, 2] : memref<3x3xi64, strided<[4, 1], offset: 3>>
        affine.store %y, %T[9 - %i] : memref<16xi64>
        %z = affine.load %T[%i + 8] : memref<16xi64>
        affine.store %z, %T[%i + 9] : memref<16xi64>
      }
      return
    }""").functions[0]
    loop = next(op for op in walk(f) if isinstance(op, affine.For))
    with pytest.raises(IllegalTransform, match="cannot vectorize loop i by 3"):
        vectorize(f, loop.iv, 3)
