"""Products between what begins a sum and what is made of it, as in layers of networks: to the bit as written."""

import numpy as np
import pytest

import affdsl as af
from tests.effort import some

B, M, N, K = af.symbols("B M N K")
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


@pytest.mark.parametrize(
    ("kernel", "threads"), some([(whole, 1), (symmetric, 2), (layer, 1), (scores, 2), (heads, 1)], 2)
)
def test_they_leave_the_same_to_the_bit(kernel, threads):
    fast = kernel.optimize(threads=threads)
    assert "a product of matrices" in fast.explain()
    for shape in SHAPES:
        wanted, found = given(kernel, *shape), given(kernel, *shape)
        kernel(*wanted)
        fast(*found)
        np.testing.assert_array_equal(found[-1], wanted[-1], err_msg=str(shape))
