"""Which loops ask for the lines of what they go over, some iterations ahead."""

from dataclasses import replace

import numpy as np
import pytest

import affdsl as af
from affdsl.codegen.targets.avx2 import AVX2
from affdsl.codegen.targets.avx512 import AVX512
from affdsl.lang.annotations import ArrayType
from affdsl.optimize.optimizer import decided
from affdsl.optimize.options import Options

M, N, K = af.symbols("M N K")
LARGE = replace(AVX512, caches=(48 << 10, 2 << 20, 260 << 20))


@af.kernel
def scaled(x: af.f64[N], y: af.f64[N]):
    with af.for_(N) as i:
        y[i] = 3.0 * x[i]


@af.kernel
def added_rows(x: af.f32[M, N], y: af.f32[M, N], z: af.f32[M, N]):
    with af.for_(M) as i, af.for_(N) as j:
        z[i, j] = x[i, j] + y[i, j]


@af.kernel
def is_large(x: af.f64[N], y: af.bool_[N]):
    with af.for_(N) as i:
        y[i] = x[i] > 0.5


@af.kernel
def summed_beside(x: af.f64[N], y: af.f64[N], s: af.f64[1]):
    with af.for_(N) as i:
        y[i] = 3.0 * x[i]
        s[0] += x[i]


@af.kernel
def updated(x: af.f64[N], y: af.f64[N]):
    with af.for_(N) as i:
        y[i] += x[i]


@af.kernel
def back_and_forth(steps: af.index, x: af.f64[N], y: af.f64[N]):
    with af.for_(steps):
        with af.for_(1, N - 1) as i:
            y[i] = (x[i - 1] + x[i] + x[i + 1]) * 0.3
        with af.for_(1, N - 1) as i:
            x[i] = (y[i - 1] + y[i] + y[i + 1]) * 0.3


@af.kernel
def rounded(x: af.f64[N], y: af.f64[N]):
    with af.for_(N) as i:
        y[i] = af.roundeven(x[i] * 100.0)


@af.kernel
def filled(x: af.f64[N]):
    with af.for_(N) as i:
        x[i] = 1.0


@af.kernel
def summed(x: af.f64[N], y: af.f64[N], s: af.f64[1]):
    with af.for_(N) as i:
        s[0] += x[i] * y[i]


@af.kernel
def short(x: af.f64[200], y: af.f64[200]):
    with af.for_(200) as i:
        y[i] = 3.0 * x[i]


@af.kernel
def five_points(x: af.f64[M, N], y: af.f64[M, N]):
    with af.for_(1, M - 1) as i, af.for_(1, N - 1) as j:
        y[i, j] = x[i - 1, j] + x[i + 1, j] + x[i, j - 1] + x[i, j + 1] - 4.0 * x[i, j]


@af.kernel
def product(A: af.f64[M, K], B: af.f64[K, N], C: af.f64[M, N]):
    with af.for_(M) as i, af.for_(N) as j, af.for_(K) as k:
        C[i, j] += A[i, k] * B[k, j]


@af.kernel
def down_and_up(x: af.f64[M, N], y: af.f64[M, N], q: af.f64[N, M]):
    with af.for_(N) as j:
        q[j, 0] = x[0, j]
        with af.for_(1, M) as i:
            q[j, i] = (x[i, j] - q[j, i - 1]) / 3.0
        y[M - 1, j] = q[j, M - 1]
        with af.for_(1, M) as back:
            y[M - 1 - back, j] = q[j, M - 1 - back] + 0.5 * y[M - back, j]


@af.kernel
def polynomial(x: af.f64[N], y: af.f64[N]):
    with af.for_(N) as i:
        y[i] = ((((x[i] + 1.0) * x[i] + 2.0) * x[i] + 3.0) * x[i] + 4.0) * x[i] + 5.0


def prefetches(kernel, target, **permissions):
    """The arrays and distances of the steps that `optimize()` takes."""
    schedule = decided(kernel, Options(target, **permissions)).schedule()
    steps = [step.call for step in schedule.steps if step.call.verb == "prefetch"]
    assert all(call.arguments[1] == call.arguments[2] for call in steps)
    return [(call.arguments[0], dict(call.options)["distance"]) for call in steps]


@pytest.mark.parametrize(
    ("kernel", "wanted"),
    [
        (scaled, {("x", 8), ("y", 8)}),
        (added_rows, {("x", 8), ("y", 8), ("z", 8)}),
        (updated, {("x", 8), ("y", 8)}),
        (rounded, {("x", 8), ("y", 8)}),
        (summed_beside, {("x", 8), ("y", 8)}),
    ],
)
def test_a_loop_asks_for_the_lines_of_all_that_it_goes_over(kernel, wanted):
    assert {*prefetches(kernel, LARGE, reassociate=True)} == wanted


def test_stencils_along_a_line_ask_for_what_they_store():
    assert prefetches(back_and_forth, LARGE) == [("y", 8), ("x", 8)]


def test_recurrences_in_lanes_ask_for_the_rows_that_they_go_down_and_up_to():
    schedule = decided(down_and_up, Options(LARGE)).schedule()
    lines = [line for line in str(schedule).split("\n") if "prefetch(" in line]
    assert [line.split("name=")[0] for line in lines if "_" not in line] == [
        'o.prefetch("x", "i", "i", distance=8)',
        'o.prefetch("y", "back", "back", distance=8)',
    ]
    assert not prefetches(down_and_up.specialize(M=30), LARGE)
    assert not prefetches(down_and_up.specialize(N=40), LARGE)


@pytest.mark.parametrize("kernel", [filled, summed, short, five_points, product, polynomial])
def test_one_array_sums_short_loops_several_rows_products_and_many_operations_ask_for_nothing(kernel):
    assert not prefetches(kernel, LARGE, reassociate=True)


@pytest.mark.parametrize(
    "target",
    [AVX512, replace(LARGE, caches=(32 << 10, 1 << 20)), replace(AVX2, caches=LARGE.caches)],
)
def test_other_machines_are_asked_for_nothing(target):
    assert not prefetches(scaled, target)


@pytest.mark.parametrize("kernel", [scaled, added_rows, is_large, rounded])
def test_results_are_those_of_the_loops_to_the_bit(kernel):
    made = decided(kernel, Options(LARGE)).schedule().kernel()
    for n in (0, 1, 7, 63, 64, 65, 700):
        random = np.random.default_rng(n)
        arrays = [random.normal(size=(3, n)[-len(p.type.shape) :]).astype(p.type.dtype.numpy)
                  for p in kernel.program.parameters if isinstance(p.type, ArrayType)]  # fmt: skip
        wanted = [x.copy() for x in arrays]
        made(*arrays)
        kernel.interpret(*wanted)
        for found, right in zip(arrays, wanted, strict=True):
            np.testing.assert_array_equal(found, right)
