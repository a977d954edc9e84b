"""Loops of kernels that a kernel calls: schedules reach them, and the optimizer says something about each."""

from __future__ import annotations

import numpy as np

import affdsl as af

M, N = af.symbols("M N")


@af.kernel
def halved(x: af.f64[M, N]):
    """Half of each number, in an array of its own."""
    y = af.alloc(af.f64[M, N])
    with af.parallel(M, N) as (i, j):
        y[i, j] = x[i, j] / 2
    return y


@af.kernel
def smoothed(x: af.f64[M, N], y: af.f64[M, N]):
    """The mean of three in a row."""
    af.assume(N >= 2)
    with af.for_(M) as i, af.for_(1, N - 1) as j:
        y[i, j] = (x[i, j - 1] + x[i, j] + x[i, j + 1]) / 3


@af.kernel
def both(x: af.f64[M, N], y: af.f64[M, N]):
    """Both of them."""
    smoothed(halved(x), y)


def test_a_schedule_reaches_the_loops_of_kernels_that_are_called():
    assert not [*af.Schedule(both).loops()]
    s = af.Schedule(both, inline=True)
    assert [row.names for row in s.loops()] == [("i#1", "j#1"), ("i#2",), ("j#2",)]
    s.interchange("i#2", "j#2")
    assert "s = af.Schedule(both, inline=True)" in str(s)
    x = np.random.default_rng(0).random((5, 7))
    wanted, found = np.zeros_like(x), np.zeros_like(x)
    both.interpret(x, wanted)
    s.kernel(validate=True)(x, found)
    assert wanted.tobytes() == found.tobytes()
    assert "inline" not in str(af.Schedule(halved, inline=True)), "it calls nobody"


def test_the_optimizer_says_something_about_each_loop_of_kernels_that_are_called():
    fast = both.optimize("avx2", threads=1)
    said = [(note.done, note.why, note.sizes) for note in fast.explain().notes]
    assert said == [
        ("", ("its iterations run in parallel, as it is written",), ""),
        ("j runs on vectors of 4", (), "M + N of 16 and more"),
    ]
    replayed = {}
    exec(str(fast.schedule), replayed)
    assert replayed["fast"].kernel().mlir() == fast.mlir()
    for shape in [(0, 2), (3, 2), (4, 9)]:
        x = np.random.default_rng(1).random(shape)
        wanted, found = np.zeros_like(x), np.zeros_like(x)
        both.interpret(x, wanted)
        fast(x, found)
        assert wanted.tobytes() == found.tobytes()
    refusals = []
    for kernel in (both, fast):
        try:
            kernel(np.zeros((3, 1)), np.zeros((3, 1)))
        except af.SizeError as error:
            refusals.append(str(error))
    assert refusals == ["both: it assumes N - 2 >= 0, but N = 1"] * 2


def test_a_kernel_without_loops_is_said_to_have_none():
    @af.kernel
    def one(x: af.f64[N]):
        with af.if_(N >= 1):
            x[0] = 1.0

    assert one.optimize("avx2").explain().splitlines()[1].strip() == "as written: it has no loops"
