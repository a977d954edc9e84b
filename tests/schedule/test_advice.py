"""What refusals of schedules propose can be taken, and makes the refused step legal."""

import re

import numpy as np
import pytest

import affdsl as af
from affdsl.codegen.errors import SizeError
from examples.cholesky import cases as cholesky_cases
from examples.cholesky import cholesky
from tests.schedule.kernels import (
    N,
    advised,
    buffered,
    gemm_rows,
    jacobi,
    matmul,
    replayed,
    run_both,
    scaled,
    scaled_often,
    solve,
    summed,
    sweep,
)


def test_bands_that_are_not_perfect_are_refused_with_what_makes_them_so():
    s = af.Schedule(matmul)
    with pytest.raises(af.IllegalTransform) as caught:
        s.tile(("i", "j", "k"), 8)
    first, *rest = str(caught.value).splitlines()
    assert first.partition(": ")[2].startswith("cannot tile loops i, j, k (of matmul, ")
    reason = (
        r"    the loop j does not hold the loop k and nothing else: the store C\[i, j\] at line \d+ stands beside it"
    )
    assert re.fullmatch(reason, rest[0])
    assert rest[1:] == ['    legal: s.distribute("j").distribute("i")']
    s.distribute("j")
    with pytest.raises(
        af.IllegalTransform, match="the loop i does not hold the loop j and nothing else: another loop j_2"
    ):
        s.tile(("i", "j"), 8)
    s.distribute("i").tile(("i_2", "j_2", "k"), 8)
    with pytest.raises(af.IllegalTransform) as caught:
        af.Schedule(jacobi).tile(("t", "i"), 8)
    assert "legal" not in str(caught.value)


def test_triangles_are_peeled_and_made_perfect_as_advised():
    s = af.Schedule(cholesky)
    assert advised(lambda: s.tile(("i", "j"), 8)) == 's.peel("i", first=1).make_perfect("i", "j") first'
    s.peel("i", first=1).make_perfect("i", "j").tile(("i", "j"), 8)
    for case in cholesky_cases():
        case.check(s.kernel())
        case.check(s.kernel().interpret)


def test_advice_is_legal_when_it_is_taken():
    s = af.Schedule(sweep)
    with pytest.raises(af.IllegalTransform, match=r"cannot interchange loops t and i") as caught:
        s.interchange("t", "i")
    assert caught.value.alternative == 's.skew("t", "i", 1) first'
    assert caught.value.dependence is not None
    assert caught.value.witness is not None
    exec(caught.value.alternative.removesuffix(" first"), {"s": s})
    s.interchange("t", "i")
    assert [str(step) for step in s.steps] == ['skew("t", "i", 1)', 'interchange("t", "i")']


def test_advice_names_the_variable_of_the_schedule():
    tuned = af.Schedule(sweep)
    with pytest.raises(af.IllegalTransform, match=r'legal: tuned\.skew\("t", "i", 1\) first'):
        tuned.interchange("t", "i")


def test_options_are_advised_with_the_whole_step():
    @af.kernel
    def total(x: af.f64[N], s: af.f64[1]):
        with af.for_(N) as i:
            s[0] += x[i]

    s = af.Schedule(total)
    with pytest.raises(af.IllegalTransform, match=r'legal: s\.reverse\("i", reassociate=True\)$'):
        s.reverse("i")
    s.reverse("i", reassociate=True)
    assert str(s).endswith('\ns.reverse("i", reassociate=True)')


def test_arrays_are_privatized_as_advised():
    s = af.Schedule(buffered)
    assert advised(lambda: s.parallel("i")) == 's.privatize("t", "i") first'
    s.privatize("t", "i").parallel("i")
    rng = np.random.default_rng(9)
    run_both(buffered, s.kernel(), rng.random((5, 8)), rng.random((5, 8)))


def test_loops_are_normalized_and_made_perfect():
    @af.kernel
    def rows(A: af.f64[N, 4], S: af.f64[N]):
        with af.for_(1, N, 3) as i:
            S[i] = 0.0
            with af.for_(4) as j:
                S[i] += A[i, j]

    s = af.Schedule(rows)
    assert advised(lambda: s.interchange("i", "j")) == 's.make_perfect("i", "j") first'
    s.make_perfect("i", "j").interchange("i", "j").normalize("i")
    assert [row.text for row in s.loops()] == ["j = 0 to 4", "i = 0 to (N + 1) // 3"]
    rng = np.random.default_rng(11)
    run_both(rows, s.kernel(), rng.random((11, 4)), rng.random(11))


@pytest.mark.parametrize(
    ("at", "advice"), [(1, ""), (2, '\n    legal: s.unroll("i", 2)'), (9, '\n    legal: s.unroll("i", 4)')]
)
def test_advice_about_unrolling_can_be_taken(at, advice):
    s = af.Schedule(gemm_rows).split("i", at)
    with pytest.raises(af.IllegalTransform) as refused:
        s.unroll("i")
    assert str(refused.value).endswith(f"its trip count is min(M, {at}), not a number{advice}")
    if advice:
        s.unroll("i", min(at, 4))


def run_on_small_products(before, after):
    rng = np.random.default_rng(14)
    for m, n, k in [(0, 2, 1), (1, 1, 1), (3, 4, 5)]:
        a, b = rng.integers(-4, 5, (m, k)).astype("f4"), rng.integers(-4, 5, (k, n)).astype("f4")
        run_both(before, after, a, b, rng.integers(-4, 5, (m, n)).astype("f4"), 2.0)


def test_what_a_kernel_should_promise_is_advised():
    s = af.Schedule(scaled)
    assert advised(lambda: s.make_perfect("j", "k")) == 'affdsl.assume(K >= 1) in scaled, then s.make_perfect("j", "k")'
    promised = af.Schedule(scaled_often)
    promised.make_perfect("j", "k")
    run_on_small_products(scaled_often, promised.kernel())
    with pytest.raises(SizeError, match="it assumes K - 1 >= 0, but K = 0"):
        promised.kernel()(np.zeros((2, 0), "f4"), np.zeros((0, 2), "f4"), np.zeros((2, 2), "f4"), 2.0)


def test_a_sum_of_a_loop_that_may_not_run_is_carried_as_a_value_too():
    s = af.Schedule(scaled)
    s.parallel("k", reassociate=True)
    run_on_small_products(scaled, s.kernel())
    empty = np.ones((2, 2), "f4")
    run_both(scaled, s.kernel(), np.zeros((2, 0), "f4"), np.zeros((0, 2), "f4"), empty, 2.0)


def test_other_loops_are_advised_where_no_rounding_is_allowed():
    s = af.Schedule(scaled)
    assert advised(lambda: s.parallel("k")) == 's.parallel("j")'
    s.parallel("j")


def test_loops_that_are_not_perfect_are_distributed_for_all_that_reorders():
    for step in ('permute(("i", "k", "j"))', 'interchange("j", "k")', 'coalesce(("i", "j", "k"))'):
        s = af.Schedule(scaled)
        with pytest.raises(af.IllegalTransform) as caught:
            exec(f"s.{step}", {"s": s})
        advice = 's.distribute("j")' if "interchange" in step else 's.distribute("j").distribute("i")'
        assert caught.value.alternative == advice
        exec(advice, {"s": s})
        renamed = step.replace('"i"', '"i_2"').replace('"j"', '"j_2"')
        exec(f"s.{renamed}", {"s": s})
        rng = np.random.default_rng(15)
        run_both(scaled, s.kernel(), rng.random((3, 4), "f4"), rng.random((4, 2), "f4"), np.ones((3, 2), "f4"), 2.0)


def test_a_triangle_is_peeled_so_that_its_inner_loop_runs():
    s = af.Schedule(solve)
    with pytest.raises(af.IllegalTransform, match=r"the loop j may not run, and the load x\[i\] at line") as caught:
        s.make_perfect("i", "j")
    assert caught.value.alternative == 's.peel("i", first=1) first'
    s.peel("i", first=1).make_perfect("i", "j")
    rng = np.random.default_rng(16)
    for n in (0, 1, 2, 7):
        run_both(solve, s.kernel(), rng.uniform(1, 2, (n, n)), rng.random(n))


def test_what_falls_apart_into_parallel_loops_is_distributed():
    @af.kernel
    def two(A: af.f64[N], B: af.f64[N], C: af.f64[N]):
        with af.for_(1, N) as i:
            A[i] = C[i] * 2
            B[i] = A[i - 1]

    s = af.Schedule(two)
    assert advised(lambda: s.parallel("i")) == 's.distribute("i") first'
    s.distribute("i").parallel("i").parallel("i_2")
    with pytest.raises(af.IllegalTransform) as caught:
        af.Schedule(solve).parallel("i")
    assert "distribute" not in caught.value.alternative


def test_a_band_has_no_gaps():
    s = af.Schedule(gemm_rows)
    with pytest.raises(af.IllegalTransform) as caught:
        s.tile(("i", "k"), 8)
    assert "    between i and k there is the loop j: a band has no gaps; name it, too, or" in str(caught.value)
    assert caught.value.alternative == 's.permute(("k", "j")) first'
    assert advised(lambda: s.interchange("i", "k")) == 's.permute(("k", "j", "i"))'
    s.permute(("k", "j", "i"))
    assert [row.names for row in s.loops()] == [("k",), ("j",), ("i",)]


def test_what_may_not_run_so_often_is_kept_in_values_where_the_kernel_promises_that_it_does():
    @af.kernel
    def plain(A: af.f64[N, N], B: af.f64[N]):
        with af.for_(2, N) as j:
            B[j] = A[j - 2, N - 3] + A[j, N - 3]

    @af.kernel
    def promising(A: af.f64[N, N], B: af.f64[N]):
        af.assume(N >= 4)
        with af.for_(2, N) as j:
            B[j] = A[j - 2, N - 3] + A[j, N - 3]

    s = af.Schedule(plain)
    with pytest.raises(af.IllegalTransform, match="the loop may run less than 2 times") as caught:
        s.scalar_replace("j")
    assert str(caught.value).count("legal: ") <= 1
    af.Schedule(promising).scalar_replace("j")


def test_sums_in_memory_are_tiled_where_another_rounding_is_allowed():
    s = af.Schedule(summed)
    assert advised(lambda: s.tile(("i", "j"), 3)) == 's.tile(("i", "j"), 3, reassociate=True)'
    s.tile(("i", "j"), 3, reassociate=True)
    assert 's.tile(("i", "j"), 3, reassociate=True, names=("i_tile", "j_tile"))' in str(s)
    assert replayed(s).mlir() == s.kernel().mlir()
    rng = np.random.default_rng(17)
    for n, m in [(0, 1), (1, 5), (7, 8)]:
        run_both(summed, s.kernel(), rng.integers(-9, 9, (n, m)).astype("f8"), np.zeros(1))
