"""`while_`: what it becomes, what may be done to the loops around it and inside of it, and what is in the way."""

import re
from collections.abc import Callable

import numpy as np
import pytest

import affdsl as af
from affdsl.ir.dialects import scf
from affdsl.ir.traverse import walk
from tests.effort import TRIES_ALL
from tests.harness.judges import copied
from tests.loops.kernels import CASES, Case, arguments, collatz, jacobi, mandelbrot
from tests.loops.ways import agree

N = af.symbols("N")


@af.kernel
def root(a: af.f64, tolerance: af.f64 = 1e-12):
    with af.while_(lambda x: af.abs(x * x - a) > tolerance * a, iter_args=a) as x:
        af.yield_((x + a / x) / 2)
    return x


def test_the_c_is_what_one_would_write():
    assert (
        "    double x = a;\n    while (fabs(x * x - a) > tolerance * a) {\n        x = (x + a / x) / 2.0;\n    }\n"
        in (root.c())
    )
    assert root(2.0) == root.interpret(2.0)
    assert root(0.0) == 0, "it does not run at all"
    assert abs(root(2.0, tolerance=0.5) - 2**0.5) > 0.01


def test_the_condition_may_be_a_function_with_blocks_of_its_own():
    """Whether any element is above 1 is a loop itself: it runs before each iteration."""

    @af.kernel
    def halve(x: af.f64[N], rounds: af.i32[1]):
        def some_are_large():
            with af.for_(N, iter_args=af.bool_(False)) as (i, large):
                af.yield_(large | (x[i] > 1))
            return large

        with af.while_(some_are_large):
            rounds[0] += 1
            with af.for_(N) as i:
                x[i] /= 2

    def wanted(x, rounds):
        while (x > 1).any():
            rounds[0] += 1
            x /= 2

    for n in (0, 1, 5):
        agree(halve, wanted, np.linspace(0, 99, n), np.zeros(1, "i4"))


def test_vectors_are_carried():
    @af.kernel
    def sums(x: af.f32[N, 8], y: af.f32[8]):
        af.assume(N >= 1)
        first = af.vector_load(x, (0, 0), 8)
        with af.while_(lambda i, v: i < N, iter_args=(af.index(1), first)) as (i, v):
            af.yield_(i + 1, v + af.vector_load(x, (i, 0), 8))
        af.vector_store(v, y, (0,))

    def wanted(x, y):
        y[:] = 0
        for row in x:
            y += row

    for n in (1, 2, 7):
        agree(sums, wanted, np.random.default_rng(n).normal(size=(n, 8)).astype("f4"), np.zeros(8, "f4"))


def test_an_access_outside_is_found_in_it():
    @af.kernel(boundscheck=True)
    def first(x: af.i32[N], wanted: af.i32):
        with af.while_(lambda i: x[i] != wanted, iter_args=af.index(0)) as i:
            af.yield_(i + 1)
        return i

    assert first(np.arange(5, dtype="i4"), 3) == 3
    with pytest.raises(af.OutOfBoundsError, match=r"test_while.py:\d+: x\[.*: index 5 is out of bounds"):
        first(np.arange(5, dtype="i4"), 9)


def test_iterations_around_it_may_run_in_any_order():
    assert [loop.verdict for loop in collatz.loops()] == ["parallel"]
    assert [loop.verdict for loop in mandelbrot.loops()] == ["parallel", "parallel"]
    s = af.Schedule(mandelbrot).tile(("i", "j"), (4, 4)).parallel("i_tile")
    wanted, found = np.zeros((2, 9, 9), "i4")
    re_, im = np.linspace(-2, 0.5, 9), np.linspace(-1, 1, 9)
    mandelbrot(re_, im, wanted)
    s.kernel()(re_, im, found)
    assert wanted.any()
    assert (wanted == found).all()


def test_a_refusal_says_what_is_in_the_way():
    with pytest.raises(af.IllegalTransform) as caught:
        af.Schedule(jacobi).fuse("i#1", "i#2")
    text = str(caught.value)
    assert re.search(r"it may be that the load x\[j\] at line \d+ must come before the store x\[i\] at line \d+", text)
    assert "affdsl.while_ repeats its blocks as often as is known at run time" in text


VERBS: dict[str, Callable[[af.Schedule, str], object]] = {
    "reverse": lambda s, loop: s.reverse(loop),
    "strip_mine": lambda s, loop: s.strip_mine(loop, 2),
    "unroll": lambda s, loop: s.unroll(loop, 2),
    "unroll_jam": lambda s, loop: s.unroll_jam(loop, 2),
    "vectorize": lambda s, loop: s.vectorize(loop, 4),
    "parallel": lambda s, loop: s.parallel(loop),
    "peel": lambda s, loop: s.peel(loop, first=1),
    "hoist": lambda s, loop: s.hoist(loop),
    "scalar_replace": lambda s, loop: s.scalar_replace(loop),
    "distribute": lambda s, loop: s.distribute(loop),
    "normalize": lambda s, loop: s.normalize(loop),
    "unswitch": lambda s, loop: s.unswitch(loop),
}


def loops_of(kernel: af.Kernel) -> list[str]:
    """The names of the loops, as a schedule has them."""
    lines = str(af.Schedule(kernel).loops()).splitlines()
    return [found[1] for line in lines if (found := re.match(r"\s*(\S+) =", line))]


@pytest.mark.parametrize("case", CASES if TRIES_ALL else CASES[::5], ids=str)
def test_what_is_legal_changes_nothing(case: Case):
    """Each verb on each loop, around while loops and inside of them: refused, or it does what Python does."""
    for loop in loops_of(case.kernel):
        for verb in VERBS.values():
            s = af.Schedule(case.kernel)
            try:
                verb(s, loop)
            except af.AffdslError:
                continue
            _same(s.kernel(), case)


PIPELINES = ("canonicalize,cse,affine-scalrep", "affine-loop-invariant-code-motion,lower-affine,canonicalize")


@pytest.mark.parametrize("case", CASES if TRIES_ALL else CASES[1::5], ids=str)
def test_passes_change_nothing(case: Case):
    for pipeline in PIPELINES:
        made = case.kernel.apply(pipeline)
        _same(made, case)


def _same(kernel: af.Kernel, case: Case) -> None:
    for given in arguments(case, (0, 1, 5)):
        expected = copied(given)
        found = copied(given)
        case.wanted(*expected)
        kernel.interpret(*found)
        for a, b in zip(expected, found, strict=True):
            np.testing.assert_array_equal(a, b)


def test_half_of_the_kernels_have_one():
    assert sum(any(isinstance(op, scf.While) for op in walk(case.kernel.func)) for case in CASES) >= 15
