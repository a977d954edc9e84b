"""Value flow in arrays whose subscripts hide dimensions, and what the validator proves by it."""

from __future__ import annotations

import pytest

import affdsl as af
from affdsl.passes.analysis.flow import Flow
from affdsl.passes.proof.polyhedral import Reference

N, M, K, L = af.symbols("N M K L")


@af.kernel
def down(A: af.f64[N * M], n: N, m: M):
    with af.for_(1, N) as i, af.for_(M) as j:
        A[i * M + j] = A[(i - 1) * M + j] + 1.0


@af.kernel
def larger(A: af.f64[L], n: N, m: M):
    af.assume(N * M <= L)
    with af.for_(1, N) as i, af.for_(M) as j:
        A[i * M + j] = A[(i - 1) * M + j] + 1.0


def compared(before, after):
    return Reference(before.func, before.program.module).compared(after.func, after.program.module)


@pytest.mark.parametrize("kernel", [down, larger], ids=lambda k: k.__name__)
def test_steps_are_proved_for_all_sizes(kernel):
    assert (
        compared(kernel, af.Schedule(kernel).interchange("i", "j").tile(("j", "i"), (3, 2)).kernel()).verdict
        == "proved"
    )
    assert compared(kernel, af.Schedule(kernel).split("j", 4).copy("A", "j").kernel()).verdict == "proved"


def test_another_row_differs():
    @af.kernel
    def up(A: af.f64[N * M], n: N, m: M):
        with af.for_(1, N) as i, af.for_(M) as j:
            A[(N - i) * M + j] = A[(N - i - 1) * M + j] + 1.0

    found = compared(down, up)
    assert found.verdict == "differs"
    assert found.sizes == ({"arg1": 3, "arg2": 1},)


def test_an_access_behind_the_rows_is_not_proved():
    """In an array that may be larger: one more row may be there, but nobody said so."""

    @af.kernel
    def further(A: af.f64[L], n: N, m: M):
        af.assume(N * M <= L)
        with af.for_(1, N) as i, af.for_(M) as j:
            A[i * M + j] = A[(i - 1) * M + j] + 1.0
        with af.for_(M) as j:
            A[N * M + j] = A[N * M + j]

    assert compared(larger, further).verdict == "unknown"


def test_rows_of_other_sizes_are_not_compared():
    @af.kernel
    def by_columns(A: af.f64[N * M], n: N, m: M):
        with af.for_(1, M) as i, af.for_(N) as j:
            A[i * N + j] = A[(i - 1) * N + j] + 1.0

    found = compared(down, by_columns)
    assert (found.verdict, found.why) == ("unknown", "the subscripts of A are divided by other sizes")


def test_a_read_sees_the_row_above():
    flow = Flow(down.dependences())
    assert [str(last.instances()).partition("-> ")[2] for last in flow.all()] == [
        "{ [i, j] -> [i' = 1 + i, j' = j] : N >= 0 and M >= 0 and 0 < i <= -2 + N and 0 <= j < M }"
    ]
    (read,) = (a for a in flow.dependences.compared if a.kind == "read")
    assert flow.live_in(read) is not None


def test_a_private_array_of_each_iteration():
    @af.kernel
    def scratch(B: af.f64[K, N, M], n: N, m: M):
        t = af.alloc(af.f64[n * m])
        with af.for_(K) as k:
            with af.for_(N) as i, af.for_(M) as j:
                t[i * M + j] = B[k, i, j] * 2.0
            with af.for_(N) as i, af.for_(M) as j:
                B[k, i, j] = t[i * M + j]

    s = af.Schedule(scratch).privatize("t", "k").parallel("k")
    assert "affine.parallel (%k)" in s.kernel().mlir()
