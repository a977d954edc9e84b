"""Products whose tiles begin, sum up and end before the next one: to the bit what the loops as written leave."""

import re

import numpy as np
import pytest

import affdsl as af
from affdsl.codegen.targets.avx512 import AVX512
from affdsl.optimize.options import Options
from affdsl.optimize.recipes import finished
from affdsl.optimize.recipes.apart import in_memory
from affdsl.optimize.recipes.unfit import UnfitError
from affdsl.schedule.schedule import Schedule
from tests.effort import some

B, M, N, K = af.symbols("B M N K")
SAID = "with what comes before and after its sums in the same tiles"
SHAPES = [
    (0, 130, 3), (130, 0, 3), (97, 99, 0), (1, 200, 1), (200, 1, 5), (96, 96, 8), (101, 107, 33), (40, 171, 256),
    (64, 90, 257), (90, 60, 300), (7, 5, 3), (129, 33, 64),
]  # fmt: skip


@af.kernel
def layer(x: af.f32[M, K], w: af.f32[K, N], bias: af.f32[N], y: af.f32[M, N]):
    with af.for_(M) as i, af.for_(N) as j:
        y[i, j] = bias[j]
        with af.for_(K) as k:
            y[i, j] += x[i, k] * w[k, j]
        y[i, j] = af.max(y[i, j], 0.0)


@af.kernel
def scores(x: af.f64[M, K], w: af.f64[N, K], bias: af.f64[N], y: af.f64[M, N]):
    with af.for_(M) as i, af.for_(N) as j:
        total = af.var(af.f64(0))
        with af.for_(K) as k:
            total += x[i, k] * w[j, k]
        y[i, j] = (total + bias[j]) * 0.125


@af.kernel
def whole(x: af.i32[M, K], w: af.i32[K, N], bias: af.i32[N], y: af.i32[M, N]):
    with af.for_(M) as i, af.for_(N) as j:
        y[i, j] = 0
        with af.for_(K) as k:
            y[i, j] -= x[i, k] * w[k, j]
        y[i, j] = y[i, j] * y[i, j] + bias[j]


@af.kernel
def heads(x: af.f32[B, M, K], w: af.f32[B, K, N], y: af.f32[B, M, N]):
    with af.for_(B) as b, af.for_(M) as i, af.for_(N) as j:
        y[b, i, j] = 0.0
        with af.for_(K) as k:
            y[b, i, j] += x[b, i, k] * w[b, k, j]
        y[b, i, j] = y[b, i, j] * 0.5


@af.kernel
def symmetric(x: af.f64[M, K], y: af.f64[M, M]):
    with af.for_(M) as i, af.for_(i + 1) as j:
        y[i, j] = 0.0
        with af.for_(K) as k:
            y[i, j] += x[i, k] * x[j, k]
        y[i, j] = y[i, j] * 0.5


def given(kernel, m, n, k):
    """The arrays of a kernel, for three heads where it has such."""
    random, dtype = np.random.default_rng(m + n + k), kernel.program.parameters[0].type.dtype.numpy
    shapes = {layer: [(m, k), (k, n), n, (m, n)], scores: [(m, k), (n, k), n, (m, n)],
              whole: [(m, k), (k, n), n, (m, n)], heads: [(3, m, k), (3, k, n), (3, m, n)],
              symmetric: [(m, k), (m, m)]}[kernel]  # fmt: skip
    return [(9 * random.standard_normal(shape)).astype(dtype) for shape in shapes]


@pytest.mark.parametrize("target", some(["avx512", "neon"], 1))
def test_they_are_taken_where_something_is_made_of_the_sums(target):
    fast = layer.optimize(target, threads=1)
    assert re.search(rf"for .* of at most \d+: a product of matrices: .*{SAID}", fast.explain())
    assert "(K <= " in str(fast.schedule)


@pytest.mark.parametrize(
    ("kernel", "threads"), some([(whole, 1), (symmetric, 2), (layer, 1), (scores, 2), (heads, 1)], 2)
)
def test_they_leave_the_same_to_the_bit(kernel, threads):
    fast = kernel.optimize(threads=threads)
    assert SAID in fast.explain()
    for shape in SHAPES:
        wanted, found = given(kernel, *shape), given(kernel, *shape)
        kernel(*wanted)
        fast(*found)
        np.testing.assert_array_equal(found[-1], wanted[-1], err_msg=str(shape))


def test_threads_share_rows():
    assert f"; threads share its rows, {SAID}" in layer.optimize("avx2", threads=2).explain()
    assert SAID not in heads.optimize("avx2", threads=2).explain(), "threads share the heads"


def fixed(terms):
    @af.kernel
    def layer(x: af.f64[80, terms], w: af.f64[terms, 70], y: af.f64[80, 70]):
        with af.for_(80) as i, af.for_(70) as j:
            y[i, j] = 0.0
            with af.for_(terms) as k:
                y[i, j] += x[i, k] * w[k, j]
            y[i, j] = y[i, j] / 3.0

    return layer


def test_fixed_sizes_need_no_versions():
    kernel = fixed(40)
    fast = kernel.optimize("avx512", threads=1)
    assert SAID in fast.explain()
    assert "specialize(" not in str(fast.schedule)
    random = np.random.default_rng(0)
    x, w, wanted, found = random.random((80, 40)), random.random((40, 70)), np.empty((80, 70)), np.empty((80, 70))
    kernel(x, w, wanted)
    kernel.optimize(threads=1)(x, w, found)
    np.testing.assert_array_equal(found, wanted)


@af.kernel
def nothing(x: af.f64[M, K], w: af.f64[K, N], y: af.f64[M, N]):
    with af.for_(M) as i, af.for_(N) as j:
        y[i, j] = 0.0
        with af.for_(K) as k:
            y[i, j] += x[i, k] * w[k, j]


@af.kernel
def upper(x: af.f64[M, K], y: af.f64[M, M]):
    with af.for_(M) as i, af.for_(i, M) as j:
        y[i, j] = 0.0
        with af.for_(K) as k:
            y[i, j] += x[i, k] * x[j, k]
        y[i, j] = y[i, j] * 0.5


@af.kernel
def columns(x: af.f64[M, K], w: af.f64[K, N], y: af.f64[M, N]):
    with af.for_(N) as j, af.for_(M) as i:
        y[i, j] = 0.0
        with af.for_(K) as k:
            y[i, j] += x[i, k] * w[k, j]
        y[i, j] = y[i, j] * 0.5


@af.kernel
def scaled(x: af.f64[M, K], w: af.f64[K, N], y: af.f64[M, N], alpha: af.f64):
    with af.for_(M) as i, af.for_(N) as j:
        y[i, j] = 0.0
        with af.for_(K) as k:
            y[i, j] += alpha * x[i, k] * w[k, j]
        y[i, j] = y[i, j] * 0.5


@af.kernel
def twice(x: af.f64[M, K], w: af.f64[K, N], y: af.f64[M, N]):
    with af.for_(M) as i, af.for_(N) as j:
        y[i, j] = 0.0
        with af.for_(K) as k:
            y[i, j] += x[i, k] * w[k, j]
        with af.for_(K) as k:
            y[i, j] += x[i, k] * w[k, j]
        y[i, j] = y[i, j] * 0.5


@af.kernel
def asked(x: af.f64[M, K], w: af.f64[K, N], y: af.f64[M, N]):
    with af.for_(M) as i, af.for_(N) as j:
        y[i, j] = 0.0
        with af.for_(K) as k:
            y[i, j] += x[i, k] * w[k, j]
        with af.if_(i > j):
            y[i, j] = y[i, j] * 0.5


@af.kernel
def vector(x: af.f64[M, K], w: af.f64[K], y: af.f64[M]):
    with af.for_(M) as i:
        y[i] = 0.0
        with af.for_(K) as k:
            y[i] += x[i, k] * w[k]
        y[i] = y[i] * 0.5


@af.kernel
def handed_on(x: af.f64[M, K], w: af.f64[K, N], y: af.f64[M, N], last: af.f64[1]):
    """What is made of one result begins the next one: nothing can be taken apart."""
    with af.for_(M) as i, af.for_(N) as j:
        y[i, j] = last[0]
        with af.for_(K) as k:
            y[i, j] += x[i, k] * w[k, j]
        last[0] = y[i, j] * 0.5


@af.kernel
def only_if(x: af.f64[M, K], w: af.f64[K, N], y: af.f64[M, N]):
    with af.for_(M) as i, af.for_(N) as j:
        y[i, j] = 0.0
        with af.if_(i > j), af.for_(K) as k:
            y[i, j] += x[i, k] * w[k, j]
        y[i, j] = y[i, j] * 0.5


@af.kernel
def quotients(x: af.i32[M, K], w: af.i32[K, N], y: af.i32[M, N]):
    with af.for_(M) as i, af.for_(N) as j:
        y[i, j] = 0
        with af.for_(K) as k:
            y[i, j] += x[i, k] * w[k, j]
        y[i, j] = y[i, j] // (x[i, 0] + 1)


@af.kernel
def turned(x: af.f64[M, K], w: af.f64[K, N], y: af.f64[M, N], z: af.f64[N, M]):
    with af.for_(M) as i, af.for_(N) as j:
        y[i, j] = 0.0
        with af.for_(K) as k:
            y[i, j] += x[i, k] * w[k, j]
        z[j, i] = y[i, j] * 0.5


@af.kernel
def narrow(x: af.f64[M, K], w: af.f64[K, 40], y: af.f64[M, 40]):
    with af.for_(M) as i, af.for_(40) as j:
        y[i, j] = 0.0
        with af.for_(K) as k:
            y[i, j] += x[i, k] * w[k, j]
        y[i, j] = y[i, j] * 0.5


@pytest.mark.parametrize(("kernel", "reason"), [
    (only_if, "beside conditions, or in one"), (quotients, "integer divisions"), (turned, "lane by lane"),
    (narrow, "too small for tiles"),
    (nothing, "nothing is made of its sums"), (upper, "a triangle"),
    (columns, "along its columns"), (scaled, "multiplied by numbers before"), (twice, "not three"),
    (asked, "beside conditions, or in one"), (vector, "not three"), (handed_on, "no loops of their own"),
    (fixed(400), "more terms than a tile"),
])  # fmt: skip
def test_others_are_not_finished_so(kernel, reason):
    s = Schedule(kernel)
    in_memory(s, [row.names[0] for row in s.loops()])
    before = str(s)
    with pytest.raises(UnfitError, match=reason):
        finished.take(s, next(iter(s.loops())).names[0], Options(AVX512))
    assert str(s) == before


def test_long_code_beside_sums_stays_in_loops_of_its_own():
    @af.kernel
    def polynomial(x: af.f64[M, K], w: af.f64[K, N], y: af.f64[M, N]):
        with af.for_(M) as i, af.for_(N) as j:
            y[i, j] = 0.0
            with af.for_(K) as k:
                y[i, j] += x[i, k] * w[k, j]
            t = y[i, j]
            for n in range(12):
                t = t * y[i, j] + float(n)
            y[i, j] = t

    said = polynomial.optimize("avx2", threads=1).explain()
    assert "a product of matrices" in said
    assert SAID not in said
