"""Minima and maxima where NaN, or the sign of zero, does not matter: right for all other numbers."""

import itertools

import numpy as np
import pytest

import affdsl as af
from affdsl.ir.dialects import affine, arith
from affdsl.ir.interpreter import run
from affdsl.ir.traverse import walk
from affdsl.ir.verifier import verify
from affdsl.mlir.readers import parse
from affdsl.passes.legality.refusal import IllegalTransform
from affdsl.passes.transforms.extremes import extremes
from affdsl.passes.transforms.vectorize import vectorize

N = af.symbols("N")
KINDS = ("maximumf", "minimumf", "maxnumf", "minnumf")
NUMBERS = (0.0, -0.0, 1.0, -1.5, np.inf, -np.inf, np.nan, 3e38, -1e-45)
PROGRAM = """func.func @f(%A: memref<?xf32>, %B: memref<?xf32>, %n: index) {
  affine.for %i = 0 to %n {
    %a = affine.load %A[%i] : memref<?xf32>
    %b = affine.load %B[%i] : memref<?xf32>
    %m = arith.KIND %a, %b : f32
    affine.store %m, %B[%i] : memref<?xf32>
  }
  return
}"""


def program(kind):
    """The function, and the counter of its loop."""
    function = parse(PROGRAM.replace("KIND", kind)).functions[0]
    return function, next(op.iv for op in walk(function) if isinstance(op, affine.For))


def of(function, a, b):
    """What it makes of each two numbers."""
    found = b.copy()
    run(function, a, found, len(a))
    return found


@pytest.mark.parametrize("no_nans", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_all_that_is_not_left_out_is_the_same(kind, no_nans):
    function, iv = program(kind)
    made = extremes(function, iv, no_nans=no_nans, no_signed_zeros=True)
    verify(made)
    assert not any(getattr(op, "kind", "") in KINDS for op in walk(made))
    assert sum(isinstance(op, arith.Select) for op in walk(made)) == (1 if no_nans else 2)
    pairs = [p for p in itertools.product(NUMBERS, repeat=2) if not (no_nans and np.isnan(p).any())]
    a, b = (np.array(each, "f4") for each in zip(*pairs, strict=True))
    wanted = of(function, a, b)
    for each in (made, vectorize(made, iv, 4, tail="masked")):
        np.testing.assert_array_equal(of(each, a, b), wanted)  # 0 equals -0, and NaN NaN


def test_refusals():
    function, iv = program("maximumf")
    for allowed in ({}, {"no_nans": True}):
        with pytest.raises(
            IllegalTransform, match="which of 0 and -0 is the result matters, unless no_signed_zeros=True"
        ):
            extremes(function, iv, **allowed)
    function, iv = program("addf")
    with pytest.raises(IllegalTransform, match="no minimum or maximum of floats is computed in it"):
        extremes(function, iv, no_nans=True, no_signed_zeros=True)


@pytest.mark.parametrize("target", ["avx2", "avx512", "neon"])
def test_optimize_takes_it_where_it_is_allowed(target):
    @af.kernel
    def clipped(x: af.f32[N + 2], y: af.f32[N], most: af.f32[1]):
        top = af.var(x[0])
        with af.for_(N) as i:
            y[i] = af.max(af.max(x[i], x[i + 1]), x[i + 2])
            top.set(af.max(top, x[i]))
        most[0] = top

    strict = clipped.optimize(target, threads=1)
    fast = clipped.optimize(target, threads=1, no_nans=True, no_signed_zeros=True)
    inside = [op for loop in walk(fast.func) if isinstance(loop, affine.For) for op in walk(loop)]
    assert any(getattr(op, "kind", "") == "maximumf" for op in walk(strict.func))
    assert not any(getattr(op, "kind", "") == "maximumf" for op in inside)
    for n in (0, 1, 7, 40):
        x = np.random.default_rng(n).normal(size=n + 2).astype("f4")
        found = []
        for kernel in (clipped, strict, fast):
            y, most = np.zeros(n, "f4"), np.zeros(1, "f4")
            kernel.interpret(x, y, most)
            found.append((y.tobytes(), most.tobytes()))
        assert found[0] == found[1] == found[2]
