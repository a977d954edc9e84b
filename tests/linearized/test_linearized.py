"""Subscripts that hide dimensions: `A[i * M + j]`."""

from __future__ import annotations

import numpy as np
import pytest

import affdsl as af
from affdsl.codegen.errors import SizeError
from affdsl.mlir.readers import parse
from affdsl.passes.analysis.access import accesses, on_one_grid
from affdsl.passes.analysis.dependence import dependences
from affdsl.passes.analysis.parallelism import of_loops

N, M, K, L, P = af.symbols("N M K L P")


@af.kernel
def rows(A: af.f64[N * M], n: N, m: M):
    with af.for_(N) as i, af.for_(M) as j:
        A[i * M + j] = 1.0


def test_row_and_column_are_recovered():
    assert rows.check().are_proved
    assert [loop.verdict for loop in rows.loops()] == ["parallel", "parallel"]
    assert not [*rows.dependences().all()]
    s = af.Schedule(rows, validate=True)
    s.interchange("i", "j").tile(("j", "i"), (4, 2)).parallel("j_tile")
    a = np.zeros(15)
    s.kernel()(a, 3, 5)
    assert a.all()


def test_one_element_behind_the_last_row_is_found_with_an_example():
    with pytest.raises(af.ProgramIndexError) as caught:

        @af.kernel
        def behind(A: af.f64[N * M], n: N, m: M):
            with af.for_(N) as i, af.for_(M) as j:
                A[i * M + j + 1] = 1.0

    said = str(caught.value)
    assert "A[j + M * i + 1] writes A[N * M] when i = N - 1, j = M - 1" in said
    assert "with N = 1, M = 1 it writes A[1] when i = 0, j = 0, but dimension 0 of A has size 1" in said


def test_other_sizes_than_those_of_the_array_are_checked_by_each_call():
    @af.kernel
    def given(A: af.f64[N * M], n: N, m: M, k: K):
        with af.for_(K) as i, af.for_(M) as j:
            A[i * M + j] = 1.0

    given(np.zeros(6), 2, 3, 2)
    with pytest.raises(SizeError, match="is in bounds only where N >= K or M == 0, but M = 3, N = 2, K = 3: "):
        given(np.zeros(6), 2, 3, 3)


def test_subscripts_that_leave_their_row_are_counted_in_the_next_one():
    """A stencil that takes the end of the row before for its left neighbour, as it is written."""

    @af.kernel
    def wrapping(A: af.f64[N * M], n: N, m: M):
        with af.for_(N) as i, af.for_(M) as j, af.if_(i * M + j >= 1):
            A[i * M + j] = A[i * M + j - 1]

    assert wrapping.check().are_proved
    found = [str(d) for d in wrapping.dependences().all()]
    assert "flow dependence of A at depth 1: [1, 1][-inf, 0]" in found
    assert "flow dependence of A at depth 2: [0, 0][1, 1]" in found


def verdicts(function):
    kernel = af.kernel(function)
    assert kernel.check().are_proved, kernel.check()
    return [loop.verdict for loop in kernel.loops()]


def three(A: af.f64[N * M * K], n: N, m: M, k: K):
    with af.for_(N) as i, af.for_(M) as j, af.for_(K) as k_:
        A[(i * M + j) * K + k_] = 1.0


def padded(A: af.f64[(N + 2) * (M + 2) * (K + 2)], n: N, m: M, k: K):
    with af.for_(N) as i, af.for_(M) as j, af.for_(K) as k_:
        A[((i + 1) * (M + 2) + j + 1) * (K + 2) + k_ + 1] = 1.0


def strided(A: af.f64[N * M], n: N, m: M):
    with af.for_(N) as i, af.for_(M // 2) as j:
        A[i * M + 2 * j] = 1.0
        A[i * M + 2 * j + 1] = 2.0


def wide(A: af.f64[N * (2 * M)], n: N, m: M):
    with af.for_(N) as i, af.for_(2 * M) as j:
        A[i * (2 * M) + j] = 1.0


def tiles(A: af.f64[N * M], n: N, m: M):
    with af.for_(0, N, 8) as ii, af.for_(0, M, 8) as jj:
        with af.for_(ii, af.min(ii + 8, N)) as i, af.for_(jj, af.min(jj + 8, M)) as j:
            A[i * M + j] = 1.0


def tiles_of_a_symbol(A: af.f64[N * P * M], n: N, m: M, p: P):
    with af.for_(N) as ii, af.for_(P) as i, af.for_(M) as j:
        A[(ii * P + i) * M + j] = 1.0


def arguments(A: af.f64[L], n: af.index, m: af.index):
    af.assume(n * m == L)
    with af.for_(n) as i, af.for_(m) as j:
        A[i * m + j] = 1.0


def larger(A: af.f64[L], n: af.index, m: af.index):
    af.assume(n * m <= L)
    with af.for_(n) as i, af.for_(m) as j:
        A[i * m + j] = 1.0


def reversed_rows(A: af.f64[N * M], n: N, m: M):
    with af.for_(N) as i, af.for_(M) as j:
        A[N * M - 1 - i * M - j] = 1.0


def square(A: af.f64[N * N], n: N):
    with af.for_(N) as i, af.for_(i, N) as j:
        A[i * N + j] = 1.0


def condition(A: af.f64[N * M], n: N, m: M, k: K):
    with af.for_(K) as i, af.for_(M) as j, af.if_(i * M + j < N * M):
        A[i * M + j] = 1.0


def in_a_dimension(A: af.f64[K, N * M], n: N, m: M):
    with af.for_(K) as k, af.for_(N) as i, af.for_(M) as j:
        A[k, i * M + j] = 1.0


@pytest.mark.parametrize(
    "function",
    [three, padded, strided, wide, tiles, tiles_of_a_symbol, arguments, larger, reversed_rows, square, condition,
     in_a_dimension],
    ids=lambda f: f.__name__,
)  # fmt: skip
def test_every_loop_is_parallel(function):
    assert set(verdicts(function)) == {"parallel"}


def test_a_flattened_loop_stays_in_its_array():
    def flat(A: af.f64[N * M], n: N, m: M):
        with af.for_(N * M) as f:
            A[f] = 1.0

    assert verdicts(flat) == ["parallel"]


def test_a_size_may_be_a_product():
    def planes(A: af.f64[N * M * K], n: N, m: M, k: K):
        with af.for_(N) as i, af.for_(M * K) as f:
            A[i * (M * K) + f] = 1.0

    kernel = af.kernel(planes)
    assert kernel.check().are_proved
    assert [loop.verdict for loop in kernel.loops()] == ["parallel", "parallel"]


def test_an_array_of_each_iteration():
    @af.kernel
    def own(B: af.f64[N], n: N, m: M, k: K):
        with af.for_(N) as i:
            t = af.alloc(af.f64[m * k])
            with af.for_(M) as j, af.for_(K) as k_:
                t[j * K + k_] = 1.0
            with af.if_(M * K >= 1):
                B[i] = t[0]

    assert [loop.verdict for loop in own.loops()] == ["parallel", "parallel", "parallel"]


def test_each_iteration_may_have_its_own_rows():
    @af.kernel
    def scratch(T: af.f64[N * M], B: af.f64[K], n: N, m: M, k: K):
        with af.for_(K) as t, af.for_(N) as i, af.for_(M) as j:
            T[i * M + j] = 1.0
            B[t] += T[i * M + j]

    assert next(iter(scratch.loops())).verdict == "parallel if privatized"


def test_sums_of_rows_are_reductions():
    @af.kernel
    def sums(A: af.f64[N * M * K], S: af.f64[N * M], n: N, m: M, k: K):
        with af.for_(N) as i, af.for_(M) as j, af.for_(K) as k_:
            S[i * M + j] += A[(i * M + j) * K + k_]

    assert sums.check().are_proved
    assert [loop.verdict for loop in sums.loops()] == ["parallel", "parallel", "parallel with reductions"]
    af.Schedule(sums, validate=True).interchange("j", "k_").parallel("i")


def test_a_column_that_is_not_proved_to_be_in_its_row_stays_unknown():
    @af.kernel
    def any_column(A: af.f64[N * M], n: N, m: M, k: K):
        with af.for_(N) as i, af.for_(K) as j, af.if_(i * M + j < N * M):
            A[i * M + j] = 1.0

    assert "%i" not in [loop.iv.hint for loop in any_column.loops() if loop.verdict == "parallel"]
    assert any("semi-affine" in reason for d in any_column.dependences().all() for reason in d.unknown)
    with pytest.raises(af.IllegalTransform):
        af.Schedule(any_column).parallel("i")


def test_one_that_is_not_recovered_is_compared_with_each_as_any_number():
    @af.kernel
    def two(A: af.f64[L], B: af.f64[N], n: N, m: M, k: K):
        af.assume(n * m <= L, L >= 1)
        with af.for_(N) as i, af.for_(M) as j:
            A[i * M + j] = 1.0
        with af.for_(N) as i:
            B[i] = A[0] + 1.0

    found = [d for d in two.dependences().all() if d.kind == "flow"]
    assert [d.unknown for d in found] == [("M * i is semi-affine",)]


def test_sizes_that_are_not_positive_have_no_iterations():
    """M is an argument that a call may give any number: where it is 0 or negative, no j is in 0 <= j < M."""

    @af.kernel
    def any_size(A: af.f64[L], m: af.index, n: af.index):
        af.assume(n * m <= L)
        with af.for_(n) as i, af.for_(m) as j:
            A[i * m + j] += 1.0

    assert any_size.check().are_proved
    a = np.zeros(4)
    for m, n in ((0, 3), (3, 0), (-2, 3), (3, -2), (-2, -2), (2, 2)):
        any_size(a, m, n)
    assert a.tolist() == [1.0] * 4


def test_a_size_that_changes_is_none():
    text = """
    func.func @f(%A: memref<?xf32>, %n: index, %x: f32) {
      affine.for %m = 1 to %n { affine.for %i = 0 to %n { affine.for %j = 0 to #map(%m) {
        %k = arith.muli %i, %m : index
        %l = arith.addi %k, %j : index
        memref.store %x, %A[%l] : memref<?xf32>
      } } }
      return
    }"""
    module = parse("#map = affine_map<(d0) -> (d0)>\n" + text)
    found = [*dependences(module.functions[0]).all()]
    assert found
    assert not any(d.is_exact for d in found)


def test_products_that_affine_apply_computes():
    module = parse("""
    func.func @f(%A: memref<?xf32>, %n: index, %m: index, %x: f32) {
      affine.for %i = 0 to %n { affine.for %j = 0 to %m {
        %k = affine.apply affine_map<(d0)[s0] -> (d0 * s0)>(%i)[%m]
        affine.store %x, %A[%k + %j] : memref<?xf32>
      } }
      return
    }""")
    assert [loop.verdict for loop in of_loops(dependences(module.functions[0]))] == ["parallel", "parallel"]


def test_refusals_name_the_element_as_the_program_does():
    @af.kernel
    def down(A: af.f64[N * M], n: N, m: M):
        with af.for_(1, N) as i, af.for_(M) as j:
            A[i * M + j] = A[(i - 1) * M + j]

    with pytest.raises(af.IllegalTransform) as caught:
        af.Schedule(down).parallel("i")
    said = str(caught.value)
    assert "feeds the load A[j - M + M * i]" in said
    assert "e.g. (i, j) = (1, 0) writes A[1], which (i, j) = (2, 0) reads (for N = 3, M = 1)" in said


def test_witnesses_keep_to_assumptions_that_isl_cannot_express():
    @af.kernel
    def down(A: af.f64[L], n: N, m: M):
        af.assume(L >= N * M)
        with af.for_(1, N) as i, af.for_(M) as j:
            A[i * M + j] = A[(i - 1) * M + j]

    (flow,) = down.dependences().all()
    witness = flow.witness()
    assert witness.params["L"] >= witness.params["N"] * witness.params["M"]
    assert witness.element == (witness.source[0] * witness.params["M"] + witness.source[1],)


def test_a_schedule_of_a_linearized_kernel_is_validated():
    kernel = af.Schedule(rows).tile(("i", "j"), (2, 3)).kernel(validate=True)
    a = np.zeros(35)
    kernel(a, 5, 7)
    assert a.all()


def test_a_product_of_loops_alone_proposes_no_size():
    """The search for a size of A[i * i] did not end: what has no symbol divides everything."""
    n = af.symbols("N")

    @af.kernel
    def of_two(x: af.f64[n], i: af.index, j: af.index):
        x[i * j] = 1.0

    @af.kernel
    def square(A: af.f64[n], count: af.index):
        with af.for_(count) as i:
            of_two(A, i, i)

    assert [finding.verdict for finding in square.check().findings] == ["unknown"]
    (loop,) = square.loops()
    assert loop.verdict == "unknown"


def test_accesses_that_need_no_dimensions_are_compared_as_they_are_written():
    module = parse("""
        func.func @f(%N: index, %M: index, %A: memref<?xf32> {affdsl.shape = affine_map<()[s0, s1] -> (s0 * s1)>},
                     %x: f32) attributes {affdsl.assume = affine_set<()[s0, s1] : (s0 - 9 >= 0, s1 - 9 >= 0)>} {
          affine.for %i = 0 to %N { affine.for %j = 0 to %M {
            affine.store %x, %A[%i * symbol(%M) + %j] : memref<?xf32>
          } }
          affine.store %x, %A[3] : memref<?xf32>
          affine.store %x, %A[4] : memref<?xf32>
          return
        }""")
    nest, *plain = accesses(module.functions[0], module)
    assert nest.recovered is not None
    assert nest.recovered.is_needed
    assert all(each.recovered is not None and not each.recovered.is_needed for each in plain)
    assert on_one_grid(plain) == tuple(plain)
    assert on_one_grid([nest, *plain]) == tuple(each.by_dimensions for each in (nest, *plain))


def test_the_sizes_of_a_witness_keep_what_is_promised_of_products():
    @af.kernel
    def shifted(A: af.f64[L], size: L, n: N, m: M):
        af.assume(n * m <= L)
        with af.for_(1, N) as i, af.for_(M - 1) as j, af.if_(j + 1 <= L):
            A[i * M + j] = A[(i - 1) * M + j + 1]

    with pytest.raises(af.IllegalTransform) as caught:
        af.Schedule(shifted).interchange("i", "j")
    sizes = caught.value.witness.params
    assert sizes["N"] * sizes["M"] <= sizes["L"], sizes
    for dependence in shifted.dependences().all():
        sizes = dependence.witness().params
        assert sizes["N"] * sizes["M"] <= sizes["L"], sizes
