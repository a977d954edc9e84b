"""Vectors that loops carry, by the interpreter, in C, and lowered by mlir-opt."""

import numpy as np
import pytest

import affdsl as af
from affdsl.mlir.writers import print_op
from tests.three_ways import agree

N = af.symbols("N")


@af.kernel
def f(A: af.f64[N], R: af.f64[1], x: af.f64) -> None:
    """A sum of squares in lanes, and the largest number of each lane."""
    with af.for_(0, N // 4 * 4, 4, iter_args=[af.broadcast(af.f64(0), 4), af.broadcast(x, 4)]) as (i, s, most):
        v = af.vector_load(A, i, 4)
        af.yield_(s + v * v, af.max(most, v))
    with af.for_(N // 4 * 4, N, iter_args=[s.sum(), most.max()]) as (i, total, best):
        af.yield_(total + A[i] * A[i], af.max(best, A[i]))
    R[0] = total * best


@pytest.mark.parametrize("n", [0, 3, 4, 11, 40])
def test_a_sum_in_lanes(n, tmp_path):
    numbers = np.random.default_rng(n).random(n)
    lanes, most, whole = np.zeros(4), np.full(4, 0.25), n // 4 * 4
    for k in range(0, whole, 4):
        lanes = lanes + numbers[k : k + 4] ** 2
        most = np.maximum(most, numbers[k : k + 4])
    total, best = ((lanes[0] + lanes[1]) + lanes[2]) + lanes[3], most.max()
    for x in numbers[whole:]:
        total, best = total + x * x, max(best, x)
    for run in (f.interpret, f):
        found = np.zeros(1)
        run(numbers, found, 0.25)
        assert found[0] == total * best
    found, _ = agree(print_op(f.func), tmp_path, n, numbers, np.zeros(1), 0.25)
    assert found[2][0] == total * best


def test_a_vector_may_change_places_with_another_and_a_number_fills_it():
    @af.kernel
    def g(A: af.i32[4], B: af.i32[4], n: N) -> None:
        a, b = af.vector_load(A, 0, 4), af.vector_load(B, 0, 4)
        with af.for_(n, iter_args=[a, b, a]) as (_, a, b, c):
            af.yield_(b, a, 7)
        af.vector_store(a, A, 0)
        af.vector_store(b + c, B, 0)

    for run in (g.interpret, g):
        a, b = np.arange(4, dtype=np.int32), np.full(4, 9, np.int32)
        run(a, b, 3)
        assert a.tolist() == [9] * 4
        assert b.tolist() == [7, 8, 9, 10]


def test_what_a_loop_carries_keeps_its_type():
    with pytest.raises(af.ProgramTypeError, match=r"yield_ of _s .* of 4 lanes. and .*8 lanes.*: they differ"):

        @af.kernel
        def longer(A: af.f32[8]) -> None:
            with af.for_(2, iter_args=[af.broadcast(af.f32(0), 4)]) as (_, _s):
                af.yield_(af.vector_load(A, 0, 8))

    with pytest.raises(af.ProgramTypeError, match="the types differ"):

        @af.kernel
        def other(x: af.f64) -> None:
            with af.for_(2, iter_args=[af.broadcast(af.f32(0), 4)]) as (_, _s):
                af.yield_(x)

    with pytest.raises(af.ProgramError, match=r"must end with yield_\(_s \(a f32 vector of 4 lanes\)\)"):

        @af.kernel
        def never() -> None:
            with af.for_(2, iter_args=[af.broadcast(af.f32(0), 4)]) as (_, _s):
                pass


def test_a_broadcast_needs_a_typed_number_and_a_number_of_lanes():
    with pytest.raises(af.ProgramTypeError, match="broadcast needs a typed number, got 0"):

        @af.kernel
        def plain() -> None:
            af.broadcast(0, 4)

    with pytest.raises(af.ProgramTypeError, match="broadcast takes a positive number of lanes, got 0"):

        @af.kernel
        def none() -> None:
            af.broadcast(af.f32(0), 0)
