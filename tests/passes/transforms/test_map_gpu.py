"""map_gpu: pictures, refusals, the same results for sizes around those of blocks and threads, and PTX of it."""

import numpy as np
import pytest

import affdsl as af
from tests import oracles
from tests.handed_on.gpu import lowered

K, M, N = af.symbols("K M N")


@af.kernel
def product(A: af.f64[M, K], B: af.f64[K, N], C: af.f64[M, N]):
    with af.for_(M) as i, af.for_(N) as j, af.for_(K) as k:
        C[i, j] += A[i, k] * B[k, j]


@af.kernel
def down(A: af.f64[M, N]):
    with af.for_(1, M) as i, af.for_(N) as j:
        A[i, j] += A[i - 1, j]


def test_blocks_and_threads_are_perfectly_nested_bands() -> None:
    s = af.Schedule(product).map_gpu("i", "j", blocks=3, threads=4)
    assert [line.partition("  tests")[0].rstrip() for line in str(s.loops()).splitlines()] == [
        "parallel block = 0 to 3",
        "  parallel thread = 0 to 4",
        "    i = block to M step 3",
        "      j = thread to N step 4",
        "        k = 0 to K",
    ]
    assert [str(step) for step in s.steps] == ['map_gpu("i", "j", blocks=3, threads=4)']


@pytest.mark.parametrize("sizes", [(0, 0, 0), (1, 2, 3), (7, 9, 5), (2, 8, 0)])
def test_it_computes_the_same(sizes: tuple[int, int, int]) -> None:
    m, n, k = sizes
    rng = np.random.default_rng(1)
    a, b, c = rng.normal(size=(m, k)), rng.normal(size=(k, n)), rng.normal(size=(m, n))
    wanted = c.copy()
    product.interpret(a, b, wanted)
    for step in (
        lambda s: s.map_gpu("i", "j", blocks=3, threads=4),
        lambda s: s.map_gpu("i", blocks=2, threads=2),
        lambda s: s.map_gpu("i", "j", blocks=1, threads=4),
    ):
        made, found = step(af.Schedule(product)).kernel(), c.copy()
        made(a, b, found)
        np.testing.assert_array_equal(found, wanted)


def test_bands_become_loops_and_steps_and_offsets_stay() -> None:
    @af.kernel
    def scaled(x: af.f64[M, N]):
        with af.parallel(M, N) as (i, j):
            x[i, j] *= 2.0

    @af.kernel
    def every_third(x: af.f64[N]):
        with af.for_(2, N, 3) as i:
            x[i] = 1.0

    x = np.arange(35.0).reshape(5, 7)
    s = af.Schedule(scaled).map_gpu("i", "j", blocks=2, threads=3)
    s.kernel()(x)
    np.testing.assert_array_equal(x, 2 * np.arange(35.0).reshape(5, 7))
    y, z = np.zeros(50), np.zeros(50)
    every_third.interpret(y)
    s = af.Schedule(every_third).map_gpu("i", blocks=2, threads=3)
    assert "step 18" in str(s.loops())
    s.kernel()(z)
    np.testing.assert_array_equal(y, z)


def test_what_depends_on_other_iterations_is_refused() -> None:
    with pytest.raises(af.IllegalTransform) as error:
        af.Schedule(down).map_gpu("i")
    assert "cannot map i to a GPU (of down" in str(error.value)
    assert "the iterations of i are not independent (sequential)" in str(error.value)
    with pytest.raises(af.IllegalTransform, match="the iterations of i are not independent"):
        af.Schedule(down).map_gpu("i", "j", blocks=1)  # threads do not wait for each other between rows
    af.Schedule(down).map_gpu("i", blocks=1, threads=1)


def test_loops_that_are_not_perfectly_nested_are_refused() -> None:
    @af.kernel
    def sums(A: af.f64[M, N], x: af.f64[M]):
        with af.for_(M) as i:
            x[i] = 0.0
            with af.for_(N) as j:
                A[i, j] += 1.0

    with pytest.raises(af.IllegalTransform, match="j is not perfectly nested in i"):
        af.Schedule(sums).map_gpu("i", "j")
    with pytest.raises(af.ScheduleError, match="the number of blocks is a whole number of at least 1"):
        af.Schedule(sums).map_gpu("i", blocks=0)


@pytest.mark.parametrize("target", ["nvvm", "rocdl"])
def test_mlir_makes_a_kernel_of_the_bands(target: str) -> None:
    text = af.Schedule(product).map_gpu("i", "j").kernel().mlir()
    made = lowered(text, target)
    assert ".visible .entry product_kernel" in made if target == "nvvm" else ".amdhsa_kernel product_kernel" in made
    assert "gpu.launch_func" in oracles.mlir_opt(text, f"--pass-pipeline={launches()}")


def launches() -> str:
    return (
        "builtin.module(func.func(lower-affine,gpu-map-parallel-loops),convert-parallel-loops-to-gpu,"
        "gpu-kernel-outlining)"
    )
