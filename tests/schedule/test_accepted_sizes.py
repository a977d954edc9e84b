"""What each call checks of the sizes is known to every step: counterexamples keep to it, and so does what is legal."""

import re

import numpy as np
import pytest

import affdsl as af
from affdsl.passes.advice.verbs import VERBS
from affdsl.passes.legality.refusal import IllegalTransform
from tests.loops.ways import agree
from tests.schedule.kernels import replayed

N, M, K = af.symbols("N M K")


@af.kernel
def halves(x: af.f64[2 * N], M: af.index):
    """The first half is made of the second one, as far as that is inside: where M <= N."""
    with af.for_(M) as i:
        x[i] = x[i + N] * 2.0


@af.kernel
def spread(A: af.f64[N], M: af.index):
    """Each element is read, and in the same iterations the first M of them are written."""
    with af.for_(N) as i, af.for_(M) as j:
        A[j] = A[i] * 0.5


@af.kernel
def diagonal(A: af.f64[N, M], B: af.f64[K]):
    """B needs M + 2 elements, but only where there is an iteration: alternatives."""
    with af.for_(1, N) as i, af.for_(M - 1) as j:
        A[i, j] = A[i - 1, j + 1] + B[j + 3]


@af.kernel
def apart(x: af.f64[2 * N], y: af.f64[N], M: af.index):
    """Two loops that touch common elements only where one of them leaves an array."""
    with af.for_(M) as i:
        x[i] = y[i]
    with af.for_(N) as j:
        y[j] = x[j + N]


def ivs(kernel):
    return {each.iv.hint: each.iv for each in kernel.loops()}


def refused(kernel, step):
    with pytest.raises(af.IllegalTransform) as caught:
        step(af.Schedule(kernel))
    return caught.value


@pytest.mark.parametrize(
    ("kernel", "step"),
    [
        (spread, lambda s: s.interchange("i", "j")),
        (spread, lambda s: s.parallel("i")),
        (spread, lambda s: s.tile(("i", "j"), (2, 2))),
        (spread, lambda s: s.reverse("j")),
        (diagonal, lambda s: s.interchange("i", "j")),
        (diagonal, lambda s: s.parallel("i")),
        (diagonal, lambda s: s.reverse("i")),
    ],
)
def test_a_counterexample_holds_for_sizes_that_a_call_accepts(kernel, step):
    error = refused(kernel, step)
    bounds = kernel.check()
    given = {v.hint: v for v in kernel.func.args if v.hint in error.witness.params}
    sizes = {v: error.witness.params[hint] for hint, v in given.items()}
    for v in bounds.sizes:  # it says nothing of those that do not matter: some number of them is accepted
        sizes.setdefault(v, 10)
    assert not [*bounds.refusals(sizes)], f"{sizes}\n{error}"


def test_the_verb_alone_does_not_know_what_a_call_checks():
    """What was said to somebody who asked for a step: two iterations of which one leaves the array."""
    with pytest.raises(IllegalTransform) as caught:
        VERBS["reverse"](halves.func, ivs(halves)["i"])
    params = caught.value.witness.params
    assert params["M"] > params["N"]


@pytest.mark.parametrize("step", [lambda s: s.reverse("i"), lambda s: s.parallel("i")], ids=["reverse", "parallel"])
def test_what_no_accepted_call_violates_is_legal(step):
    s = step(af.Schedule(halves, validate=True))
    made = s.kernel()
    for n in range(5):
        for m in range(n + 1):
            agree(made, halves.interpret, np.arange(2.0 * n), m, ways=[lambda made: made.interpret, lambda made: made])
    assert replayed(s).mlir() == made.mlir()


def test_what_a_step_relies_on_is_checked_from_then_on():
    """Also by whoever has nothing but the text."""
    for made in (af.Schedule(halves).reverse("i").kernel(), af.Schedule(halves).parallel("i").kernel()):
        for call in (made, made.interpret):
            with pytest.raises(af.SizeError, match="halves: it assumes N - M >= 0, but M = 3, N = 2"):
                call(np.arange(4.0), 3)
        assert len(af.parse(made.mlir()).functions[0].assumes) == 2
        assert "Requires N - M >= 0" in made.c()


def test_a_step_that_needs_no_promise_makes_none():
    assert "assume" not in af.Schedule(halves).strip_mine("i", 4).kernel().mlir()


def test_loops_says_what_parallel_does():
    assert [each.verdict for each in halves.loops()] == ["parallel"]
    assert not [*halves.dependences().all()]
    assert "i: may be vectorized" in af.Schedule(halves).explain()


def test_loops_are_fused_where_they_are_apart_in_every_call():
    s = af.Schedule(apart, validate=True).fuse("i", "j", guarded=True)
    for n in range(4):
        for m in range(n + 1):
            given = np.arange(2.0 * n), np.arange(1.0 * n) + 50, m
            agree(s.kernel(), apart.interpret, *given, ways=[lambda made: made.interpret])


def test_the_refusal_is_that_of_a_case_in_which_the_order_matters():
    """In the other one, the loop never runs twice: a refusal of its own that says nothing of most calls."""

    @af.kernel
    def early(n: N, m: M, A: af.u32[N + M + 10, 8], C: af.u32[N + M + 10, 8]):
        with af.for_(N // 2) as i:
            T = af.alloc(af.i32[2])
            F = af.alloc(af.u32[8], space=1)
            A[i + 2, 3] = C[i, 0]
            af.dma_start(A, (i + 2, 0), F, 0, T, 0, 4)
            af.dma_wait(T, 0, 4)
            with af.for_(0, 4) as j:
                C[i, j] += F[j] * 2

    with pytest.raises(af.IllegalTransform, match=r"the store A\[i \+ 2, 3\] .* feeds the read of A") as refused:
        af.Schedule(early).pipeline("i")
    n, m = map(int, re.search(r"for N = (-?\d+), M = (-?\d+)", str(refused.value)).groups())
    shape = (n + m + 10, 8)
    early.interpret(n, m, np.zeros(shape, "u4"), np.zeros(shape, "u4"))  # sizes that a call accepts
