"""Kernels on dask's arrays: block by block, with halos, what NumPy gives on the whole."""

import numpy as np
import pytest
from dask import array
from dask.base import tokenize

import affdsl as af
from examples import heat_blocks
from tests.effort import some
from tests.halo.test_halo import clamped, heat, in_three_dimensions, one_sided, two_steps_of_two, wider_edges

M, N = af.symbols("M N")


def on_new(kernel: af.Kernel, *more: object):
    """A function of a block that gives what the kernel writes to a new one."""

    def run(block):
        made = np.full_like(block, 7.0)
        kernel(block, made, *more)
        return made

    return run


@pytest.mark.parametrize(
    ("kernel", "more"),
    [(heat, (0.25,)), (one_sided, ()), (wider_edges, ()), (clamped, ()), (in_three_dimensions, ())],
    ids=lambda x: getattr(x, "name", ""),
)
@pytest.mark.parametrize("scheduler", some(["threads", "synchronous"], 1))
def test_blocks_with_halos_are_the_whole(kernel, more, scheduler):
    depth = kernel.halo("A")
    whole = np.random.default_rng(1).random((23, 17, 9)[: len(depth)] if len(depth) > 1 else 50)
    blocks = array.from_array(whole, chunks=((7, 5, 11) if len(depth) > 1 else (20, 13, 17), (6, 11), 5)[: len(depth)])
    run = on_new(af.kernel(kernel._function), *more)
    for given in (depth, dict(enumerate(depth))):
        found = blocks.map_overlap(run, depth=given, boundary="none").compute(scheduler=scheduler)
        np.testing.assert_array_equal(found, on_new(kernel, *more)(whole))


def test_several_arrays_have_one_depth():
    @af.kernel
    def upwind(A: af.f64[M, N], speed: af.f64[M, N], B: af.f64[M, N]):
        with af.for_(1, M) as i, af.for_(2, N) as j:
            B[i, j] = A[i, j] - speed[i - 1, j] * A[i, j - 2]

    def run(a, c):
        made = np.zeros_like(a)
        upwind(a, c, made)
        return made

    depth = upwind.halo("A", "speed")
    assert depth == ((1, 0), (2, 0))
    a, c = np.random.default_rng(2).random((2, 20, 30))
    found = array.map_overlap(
        run, array.from_array(a, chunks=(7, 9)), array.from_array(c, chunks=(7, 9)), depth=depth, boundary="none"
    )
    np.testing.assert_array_equal(found.compute(scheduler="synchronous"), run(a, c))


def test_several_steps_are_one_exchange():
    def run(block):
        block = block.copy()
        two_steps_of_two(block, block.copy())
        return block

    whole = np.random.default_rng(3).random((30, 40))
    found = array.from_array(whole, chunks=(13, 11)).map_overlap(run, depth=two_steps_of_two.halo("A", of="A"),
                                                                 boundary="none")  # fmt: skip
    np.testing.assert_array_equal(found.compute(scheduler="synchronous"), run(whole))


def test_what_needs_no_halo_is_mapped_on_blocks():
    @af.kernel
    def softplus(x: af.strided(af.f32[M, N])):
        made = af.alloc(af.f32[M, N])
        with af.for_(M) as i, af.for_(N) as j:
            made[i, j] = af.max(x[i, j], 0.0) + 1.0
        return made

    assert softplus.halo("x") == ((0, 0), (0, 0))
    whole = np.random.default_rng(4).normal(size=(9, 14)).astype("f4")
    found = array.from_array(whole, chunks=(4, 5)).T.map_blocks(softplus, dtype="f4", meta=np.empty((0, 0), "f4"))
    np.testing.assert_array_equal(found.compute(scheduler="synchronous"), np.maximum(whole, 0).T + 1)


def test_dask_knows_a_kernel_by_what_it_does():
    """Results are kept by such names."""

    def scaled(by):
        @af.kernel
        def scale(x: af.f64[N]):
            with af.for_(N) as i:
                x[i] *= by

        return scale

    assert tokenize(scaled(2.0)) == tokenize(scaled(2.0))
    assert tokenize(scaled(2.0)) != tokenize(scaled(3.0))


def test_the_example_on_a_cluster_of_two_processes(monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["heat_blocks", "900", "1100"])
    heat_blocks.main()
    assert capsys.readouterr().out.splitlines() == [
        "70 x 90 in blocks of 20 x 31: equal to NumPy on the whole after 3 steps; halo ((1, 1), (1, 1))",
        "900 x 1100, 8 MB, on two workers of 350MB each: equal",
    ]
