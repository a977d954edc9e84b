"""What loops() calls a reduction, parallel() takes: with the same results in every way to run it, and to replay it."""

import re

import numpy as np
import pytest

import affdsl as af
from tests.loops.ways import WAYS, agree, lowered
from tests.schedule.kernels import replayed

N, M = af.symbols("N M")


@af.kernel
def subtracted(x: af.i64[N], out: af.i64[1]):
    with af.for_(N) as i:
        out[0] -= x[i]


@af.kernel
def updated_twice_once_under_a_condition(x: af.i64[N], out: af.i64[1]):
    with af.for_(N) as i:
        out[0] += 1
        with af.if_(x[i] > 3):
            out[0] += 1


@af.kernel
def updated_in_both_branches(x: af.i8[N], out: af.i8[1]):
    with af.for_(N) as i:
        with af.if_(x[i] > 3):
            out[0] += x[i] * 2
        with af.else_():
            out[0] -= x[i]
        out[0] -= 1


@af.kernel
def least_of_integers(x: af.i32[N], out: af.i32[1]):
    with af.for_(3, N, 2) as i:
        out[0] = af.min(out[0], x[i])


@af.kernel
def greatest_without_a_sign(x: af.u16[N], out: af.u16[1]):
    with af.for_(N) as i:
        out[0] = af.max(out[0], x[i])


@af.kernel
def greatest_of_a_row_under_a_condition(x: af.i32[N], out: af.i32[1]):
    with af.for_(N) as i:
        with af.if_(x[i] < 40):
            out[0] = af.max(out[0], x[i])


@af.kernel
def exclusive_or(x: af.i64[N], out: af.i64[1]):
    with af.for_(N) as i:
        out[0] = out[0] ^ x[i]


@af.kernel
def several_at_once(x: af.i64[N], out: af.i64[1]):
    with af.for_(N, iter_args=[af.i64(-3), af.i64(5), af.i64(9), out[0]]) as (i, s, t, u, v):
        af.yield_(af.max(s, x[i]), t - x[i] - af.i64(i), u, v + x[i])
    out[0] = s * 3 + t * 7 + u * 11 + v


@af.kernel
def rows_of_integers(x: af.i32[N], out: af.i32[1]):
    with af.for_(N, iter_args=[out[0]]) as (i, s):
        with af.for_(3, iter_args=[s]) as (j, t):
            af.yield_(af.max(t, x[i] * af.i32(j - 1)))
        af.yield_(t)
    out[0] = s


@af.kernel
def floats_subtracted(x: af.f64[N], out: af.f64[1]):
    with af.for_(N) as i:
        out[0] -= x[i]


@af.kernel
def floats_twice(x: af.f32[N], out: af.f32[1]):
    with af.for_(N) as i:
        out[0] = af.max(out[0], x[i])
        with af.if_(x[i] < 0.0):
            out[0] = af.max(out[0], -x[i])


@af.kernel
def sums_of_columns(x: af.i64[N, M], y: af.i64[M]):
    with af.for_(N) as i, af.for_(M) as j:
        y[j] += x[i, j]


TYPES = {
    subtracted: np.int64, updated_twice_once_under_a_condition: np.int64, updated_in_both_branches: np.int8,
    least_of_integers: np.int32, greatest_without_a_sign: np.uint16, greatest_of_a_row_under_a_condition: np.int32,
    exclusive_or: np.int64, several_at_once: np.int64, rows_of_integers: np.int32,
    floats_subtracted: np.float64, floats_twice: np.float32,
}  # fmt: skip


def in_values(kernel):
    """A schedule of which every sum is a value that the loop carries."""
    s = af.Schedule(kernel)
    return s.scalar_replace("i") if kernel.loops()[0].reductions[0].value is None else s


def numbers(kernel, n):
    """An array whose sums are exact, and what the sum begins with."""
    type = TYPES[kernel]
    given = np.random.default_rng(n).integers(0, 100, n) - (0 if type is np.uint16 else 50)
    return given.astype(type), np.array([7], type)


@pytest.mark.parametrize("kernel", TYPES, ids=lambda kernel: kernel.name)
def test_a_reduction_of_loops_is_parallel_in_every_way(kernel):
    """A difference, several updates of one sum, under conditions, the least and the greatest of integers, and mixed."""
    assert kernel.loops()[0].verdict == "parallel with reductions"
    s = af.Schedule(kernel).parallel("i", reassociate=issubclass(TYPES[kernel], np.floating))
    made = s.kernel()
    assert "affine.parallel" in made.mlir()
    for n in (0, 1, 70, 1025):
        agree(made, kernel.interpret, *numbers(kernel, n), ways=[lambda made: made.interpret, lambda made: made])
    if kernel in (updated_in_both_branches, least_of_integers, exclusive_or):
        agree(made, kernel.interpret, *numbers(kernel, 70), ways=[lowered])
    assert replayed(s).mlir() == made.mlir()


def test_what_another_order_rounds_is_asked_for():
    s = in_values(floats_subtracted)
    with pytest.raises(
        af.IllegalTransform, match=r"rounded in another way\n    legal: s\.parallel\(\"i\", reassociate=True\)"
    ):
        s.parallel("i")


def test_a_sum_in_memory_is_carried_as_a_value():
    assert af.Schedule(subtracted).parallel("i").kernel().mlir() == in_values(subtracted).parallel("i").kernel().mlir()
    message = r'out, by addf, which rounds\n    legal: s\.parallel\("i", reassociate=True\)'
    with pytest.raises(af.IllegalTransform, match=message):
        af.Schedule(floats_subtracted).parallel("i")


def test_what_cannot_be_a_value_is_refused():
    """Rows of y are no elements: each iteration adds to all of one."""
    with pytest.raises(af.IllegalTransform, match="all iterations update the same elements of y, by addi"):
        af.Schedule(sums_of_columns).parallel("i")


def test_loops_inside_of_a_part_have_verbs_of_their_own():
    s = in_values(least_of_integers).parallel("i").vectorize("i", 8)
    for n in (1023, 5000, 70_000):  # the parts take turns
        agree(s.kernel(), least_of_integers, *numbers(least_of_integers, n), ways=[lambda kernel: kernel])


def test_optimize_of_such_sums():
    for kernel in (updated_in_both_branches, greatest_without_a_sign):
        fast = in_values(kernel).parallel("i").kernel().optimize("avx2", threads=2)
        for n in (0, 1, 1025):
            agree(fast, kernel.interpret, *numbers(kernel, n), ways=[lambda fast: fast])


@af.kernel
def peaks(x: af.i32[N, M], y: af.u8[N]):
    with af.parallel(N, (0, M, 2), reduce=[("maxs", af.i32), ("addi", af.i32)]) as (i, j, most, total):
        af.yield_(x[i, j], x[i, j])
    with af.parallel(N, reduce=[("minu", af.u8)]) as (k, least):
        af.yield_(y[k])
    return most, total, least


@pytest.mark.parametrize(("n", "m"), [(0, 0), (1, 1), (70, 3), (3000, 2)])
def test_bands_of_the_language_reduce_to_the_least_and_the_greatest_integer(n, m):
    random = np.random.default_rng(n)
    x, y = random.integers(-(2**31), 2**31, (n, m)).astype(np.int32), random.integers(3, 127, n).astype(np.uint8)

    def wanted(x, y):
        seen = x[:, ::2]
        return seen.max(initial=-(2**31)), seen.sum(dtype=np.int32), y.min(initial=255)

    agree(peaks, wanted, x, y, ways=WAYS if n == 70 else WAYS[:2])


@af.kernel
def again_and_again(x: af.i32[N], out: af.i32[M]):
    with af.for_(M) as t:
        with af.for_(N, iter_args=[out[t]]) as (i, s):
            af.yield_(af.max(s, x[i] - af.i32(t)))
        with af.parallel(N, reduce=[("mins", af.i32)]) as (k, least):
            af.yield_(x[k])
        out[t] = s + least


def test_the_elements_for_parts_are_allocated_once():
    """What a loop allocates on the stack, LLVM gives back when the function ends: this would take 20 MB."""
    made = af.Schedule(again_and_again).parallel("i").kernel()
    before, _, after = made.mlir().partition("affine.for %t")
    assert (before.count("memref.alloca()"), after.count("memref.alloca()")) == (2, 0)
    x, out = np.arange(3, dtype=np.int32), np.full(40_000, 7, np.int32)
    wanted = np.maximum(7, 2 - np.arange(40_000))
    agree(made, lambda x, out: np.copyto(out, wanted), x, out, ways=[lambda made: made, lowered])


def test_iterations_that_run_at_once_have_elements_of_their_own():
    s = af.Schedule(again_and_again).parallel("i")
    legal = 'legal: s.privatize("i_parts", "t").privatize("least_parts", "t") first'
    with pytest.raises(af.IllegalTransform, match=re.escape(legal)):
        s.parallel("t")
    made = s.privatize("least_parts", "t").privatize("i_parts", "t").parallel("t").kernel()
    x, out = np.arange(3000, dtype=np.int32), np.full(50, 7, np.int32)
    agree(made, again_and_again, x, out, ways=[lambda made: made])
    agree(made, again_and_again.interpret, x[:300], out, ways=[lambda made: made.interpret])
