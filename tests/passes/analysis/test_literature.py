"""The parallel loops and the distances of algorithms that the literature has treated, for any size.

What must come out is worked out by hand: the comments say how, and where the algorithm is treated. Dependences are
those of memory, so a write that is overwritten still counts: a distance along a loop that is repeated for the same
element is [1, +inf].
"""

from __future__ import annotations

import affdsl as af
from affdsl.passes.analysis.dependence import Dependences
from affdsl.passes.analysis.parallelism import Parallelism, of_loops
from affdsl.passes.analysis.polyhedral import Dim, Map

N, T = af.symbols("N T")

Coefficients = tuple[str, str]
"""A kind of dependence, and its distances."""


def dependences_of(kernel: af.Kernel) -> Dependences:
    """The dependences of a kernel."""
    return Dependences(kernel.func, kernel.module)


def rows(of: Dependences) -> set[Coefficients]:
    """Every dependence between two iterations, or within one: all of them must be exact."""
    found = list(of.all())
    assert all(d.is_exact for d in found)
    return {(d.kind, "".join(map(str, d.distances))) for d in found}


def loops(of: Dependences) -> list[tuple[str, str]]:
    """The verdict on each loop, by its name; with the kinds of its reductions."""
    return [(each.iv.hint, shown(each)) for each in of_loops(of)]


def shown(of: Parallelism) -> str:
    reductions = " ".join(str(r) for r in of.reductions)
    return f"{of.verdict}: {reductions}" if reductions else of.verdict


def test_gauss_seidel() -> None:
    # Wolfe, "High Performance Compilers for Parallel Computing", ch. 9, and Xue, "Loop Tiling for Parallelism", 2000:
    # within a sweep (1, 0) and (0, 1), so no loop is parallel; between sweeps also (1, -1, 0) and (1, 0, -1), so the
    # sweeps have to be skewed before they are tiled.
    @af.kernel
    def gauss_seidel(T: af.index, A: af.f64[N, N]):
        with af.for_(T), af.for_(1, N - 1) as i, af.for_(1, N - 1) as j:
            A[i, j] = (A[i - 1, j] + A[i, j - 1] + A[i, j] + A[i, j + 1] + A[i + 1, j]) * 0.2

    of = dependences_of(gauss_seidel)
    neighbours = [(-1, 0), (0, -1), (0, 0), (0, 1), (1, 0)]
    # A write is read in each later sweep by whoever has it as a neighbour; and the other way round. All of this also
    # says that each element is written again in each later sweep.
    later = {("flow", f"[1, +inf][{-i}, {-i}][{-j}, {-j}]") for i, j in neighbours}
    later |= {("anti", f"[1, +inf][{i}, {i}][{j}, {j}]") for i, j in neighbours}
    later |= {("output", "[1, +inf][0, 0][0, 0]")}
    # In one sweep the upper and the left neighbour are new, the lower and the right one old.
    within = {(kind, f"[0, 0]{d}") for kind in ("flow", "anti") for d in ("[1, 1][0, 0]", "[0, 0][1, 1]")}
    # The element itself is read before it is written.
    assert rows(of) == later | within | {("anti", "[0, 0][0, 0][0, 0]")}
    assert [verdict for _, verdict in loops(of)] == ["sequential"] * 3


def test_jacobi_with_two_arrays() -> None:
    # Bandishti, Pananilath, Bondhugula, "Tiling stencil computations to maximize parallelism", SC 2012: each sweep is
    # parallel, the sweeps come one after the other.
    @af.kernel
    def jacobi(T: af.index, A: af.f64[N, N], B: af.f64[N, N]):
        with af.for_(T) as t:  # noqa: F841 - what the loop is called
            with af.for_(1, N - 1) as i, af.for_(1, N - 1) as j:
                B[i, j] = (A[i - 1, j] + A[i, j - 1] + A[i, j] + A[i, j + 1] + A[i + 1, j]) * 0.2
            with af.for_(1, N - 1) as i, af.for_(1, N - 1) as j:
                A[i, j] = B[i, j]

    of = dependences_of(jacobi)
    # Between the two sweeps only t is common: B is written before it is read, A is read before it is written.
    both = {(kind, d) for kind in ("flow", "anti") for d in ("[0, 0]", "[1, +inf]")}
    assert rows(of) == both | {("output", "[1, +inf][0, 0][0, 0]")}
    assert loops(of) == [("t", "sequential"), *[("i", "parallel"), ("j", "parallel")] * 2]


def test_jacobi_with_time_as_a_dimension() -> None:
    # Karp, Miller, Winograd, "The organization of computations for uniform recurrence equations", J. ACM 1967: every
    # value is kept, and (1, 1), (1, 0), (1, -1) are all there is.
    @af.kernel
    def jacobi(A: af.f64[T, N]):
        with af.for_(1, T) as t, af.for_(1, N - 1) as i:
            A[t, i] = A[t - 1, i - 1] + A[t - 1, i] + A[t - 1, i + 1]

    of = dependences_of(jacobi)
    assert rows(of) == {("flow", f"[1, 1][{d}, {d}]") for d in (1, 0, -1)}
    assert loops(of) == [("t", "sequential"), ("i", "parallel")]


def test_jacobi_in_one_array_of_two_halves() -> None:
    # The form of Frigo and Strumpen, "Cache oblivious stencil computations", ICS 2005: A[t % 2]. A half is written in
    # every second step, so what is written in a step is read after 1, 3, 5, ... steps, and what is read is written
    # over after 1, 3, 5, ... and written again after 2, 4, 6, ... steps.
    @af.kernel
    def jacobi(T: af.index, A: af.f64[2, N]):
        with af.for_(T) as t, af.for_(1, N - 1) as i:
            A[(t + 1) % 2, i] = A[t % 2, i - 1] + A[t % 2, i] + A[t % 2, i + 1]

    of = dependences_of(jacobi)
    expected = {(kind, f"[1, +inf][{d}, {d}]") for kind in ("flow", "anti") for d in (1, 0, -1)}
    assert rows(of) == expected | {("output", "[2, +inf][0, 0]")}
    for dependence in of.all():
        assert remainders(dependence.map()) == ({1} if dependence.kind != "output" else {0})
    assert loops(of) == [("t", "sequential"), ("i", "parallel")]


def remainders(pairs: Map) -> set[int]:
    """The distances of the outermost loop by 2."""
    deltas = pairs.deltas()
    stride = deltas.get_stride(0).to_python()
    assert stride % 2 == 0
    return {deltas.dim_min_val(0).to_python() % 2}


def test_matrix_product() -> None:
    # Allen, Kennedy, "Optimizing Compilers for Modern Architectures", 2001, ch. 1 and 6: i and j are parallel, and k
    # carries the sum, over (=, =, <).
    @af.kernel
    def gemm(A: af.f64[N, N], B: af.f64[N, N], C: af.f64[N, N]):
        with af.for_(N) as i, af.for_(N) as j, af.for_(N) as k:
            C[i, j] += A[i, k] * B[k, j]

    of = dependences_of(gemm)
    carried = {(kind, "[0, 0][0, 0][1, +inf]") for kind in ("flow", "anti", "output")}
    assert rows(of) == carried | {("anti", "[0, 0][0, 0][0, 0]")}
    assert loops(of) == [("i", "parallel"), ("j", "parallel"), ("k", "parallel with reductions: addf of C, rounded")]


def test_lu_factorization_by_outer_products() -> None:
    # Golub, Van Loan, "Matrix Computations", 3.2 (kij): step k divides a column, then changes all that is to the right
    # and below; each step is parallel, the steps are not.
    @af.kernel
    def lu(A: af.f64[N, N]):
        with af.for_(N) as k:
            with af.for_(k + 1, N) as i:
                A[i, k] /= A[k, k]
            with af.for_(k + 1, N) as i, af.for_(k + 1, N) as j:
                A[i, j] -= A[i, k] * A[k, j]

    of = dependences_of(lu)
    assert loops(of) == [("k", "sequential"), ("i", "parallel"), ("i", "parallel"), ("j", "parallel")]
    # The update (k, i, j) writes A[i, j]. It is read by the update of the same element in each later step (0, 0), as
    # the factor A[i, k'] of its row, in step k' = j, by (i, j') with j' > j: (+, 0, +); and as A[k', j] in step k' = i
    # by (i', j) with i' > i: (+, +, 0).
    update = [a for a in of.compared if len(a.ivs) == 3]
    write = next(a for a in update if a.kind == "write")
    # No later step changes a factor again: what an update reads is written later only if it is its own element.
    read = {"".join(map(str, d.distances)) for a in update for d in of.between(a, write) if d.depth == 1}
    assert read == {"[1, +inf][0, 0][0, 0]"}
    found = {"".join(map(str, d.distances)) for a in update for d in of.between(write, a) if d.kind == "flow"}
    assert found == {
        "[1, +inf][0, 0][0, 0]", "[1, +inf][0, 0][1, +inf]", "[1, +inf][1, +inf][0, 0]"
    }  # fmt: skip


def test_lu_factorization_row_by_row() -> None:
    # The form of PolyBench (ijk): the sums over k are reductions, and a row of U, whose elements need only rows above,
    # is parallel; an element of L needs those to the left of it.
    @af.kernel
    def lu(A: af.f64[N, N]):
        with af.for_(N) as i:
            with af.for_(i) as j:
                with af.for_(j) as k:
                    A[i, j] -= A[i, k] * A[k, j]
                A[i, j] /= A[j, j]
            with af.for_(i, N) as j, af.for_(i) as k:
                A[i, j] -= A[i, k] * A[k, j]

    reduction = "parallel with reductions: addf of A, rounded"
    assert loops(dependences_of(lu)) == [
        ("i", "sequential"),
        ("j", "sequential"), ("k", reduction),
        ("j", "parallel"), ("k", reduction),
    ]  # fmt: skip


def test_cholesky_factorization() -> None:
    # Golub, Van Loan, 4.2.6 (outer products): as LU, in the lower triangle.
    @af.kernel
    def cholesky(A: af.f64[N, N]):
        with af.for_(N) as k:
            A[k, k] = af.sqrt(A[k, k])
            with af.for_(k + 1, N) as i:
                A[i, k] /= A[k, k]
            with af.for_(k + 1, N) as j, af.for_(j, N) as i:
                A[i, j] -= A[i, k] * A[j, k]

    of = dependences_of(cholesky)
    assert loops(of) == [("k", "sequential"), ("i", "parallel"), ("j", "parallel"), ("i", "parallel")]
    write = next(a for a in of.compared if len(a.ivs) == 3 and a.kind == "write")
    reads = [a for a in of.compared if len(a.ivs) == 3 and a.kind == "read"]
    found = {"".join(map(str, d.distances)) for a in reads for d in of.between(write, a)}
    # (k, j, i) writes A[i, j]. It is read again as A[i, j]: (+, 0, 0); in step k' = j as A[i', k'] with i' = i by all
    # columns j < j' <= i: (+, +, 0); and as A[j', k'] with j' = i, by all rows i' >= i: (+, i - j >= 1, >= 0), where
    # i > j because j' > k' = j.
    assert found == {"[1, +inf][0, 0][0, 0]", "[1, +inf][1, +inf][0, 0]", "[1, +inf][1, +inf][0, +inf]"}


def test_triangular_solve_by_rows() -> None:
    # Golub, Van Loan, 3.1.1 (row-oriented forward substitution): an unknown needs all before it, and sums them up.
    @af.kernel
    def solve(L: af.f64[N, N], x: af.f64[N]):
        with af.for_(N) as i:
            with af.for_(i) as j:
                x[i] -= L[i, j] * x[j]
            x[i] /= L[i, i]

    of = dependences_of(solve)
    assert loops(of) == [("i", "sequential"), ("j", "parallel with reductions: addf of x, rounded")]
    # x[j] is final when x[i] for i > j reads it: the quotient is 1, 2, ... iterations away.
    quotient = next(a for a in of.compared if a.kind == "write" and len(a.ivs) == 1)
    reads = [a for a in of.compared if a.kind == "read" and a.buffer.name == "x" and len(a.ivs) == 2]
    assert {str(d) for a in reads for d in of.between(quotient, a)} == {"flow dependence of x at depth 1: [1, +inf]"}


def test_triangular_solve_by_columns() -> None:
    # Golub, Van Loan, 3.1.3 (column-oriented): when an unknown is there, all others are changed at once.
    @af.kernel
    def solve(L: af.f64[N, N], x: af.f64[N]):
        with af.for_(N) as j:
            x[j] /= L[j, j]
            with af.for_(j + 1, N) as i:
                x[i] -= L[i, j] * x[j]

    of = dependences_of(solve)
    assert loops(of) == [("j", "sequential"), ("i", "parallel")]
    write = next(a for a in of.compared if a.kind == "write" and len(a.ivs) == 2)
    reads = [a for a in of.compared if a.kind == "read" and a.buffer.name == "x" and len(a.ivs) == 2]
    found = {d.kind + "".join(map(str, d.distances)) for a in reads for d in of.between(write, a)}
    # x[i] is changed again in all columns before i; as x[j'] with j' = i it is the factor for all i' > i.
    assert found == {"flow[1, +inf][0, 0]", "flow[1, +inf][1, +inf]"}


def test_floyd_warshall() -> None:
    # Cormen, Leiserson, Rivest, Stein, "Introduction to Algorithms", 25.2: in step k, row k and column k are read by
    # all. They stay as they are if no cycle is negative, which no dependence analysis knows: what it must find is that
    # the only dependences within a step come from them, or go to them.
    @af.kernel
    def floyd_warshall(d: af.i32[N, N]):
        with af.for_(N) as k, af.for_(N) as i, af.for_(N) as j:
            d[i, j] = af.min(d[i, j], d[i, k] + d[k, j])

    of = dependences_of(floyd_warshall)
    assert loops(of) == [("k", "sequential"), ("i", "sequential"), ("j", "sequential")]
    same = "[0, 0]"
    # d[k, j] is written by row k and read by all: before it, and after it. d[i, k] likewise by column k.
    within = {(kind, same + "[1, +inf]" + same) for kind in ("flow", "anti")}
    within |= {(kind, same + same + "[1, +inf]") for kind in ("flow", "anti")}
    assert {row for row in rows(of) if row[1].startswith(same)} == within | {("anti", same * 3)}
    # Between steps each element is written and read again; d[i, k] and d[k, j] are in any column, and any row.
    any_, later = "[-inf, +inf]", "[1, +inf]"
    assert {row for row in rows(of) if row[1].startswith(later)} == {
        ("output", later + same + same),
        *((kind, later + d) for kind in ("flow", "anti") for d in (same + same, same + any_, any_ + same)),
    }
    for dependence in of.all():
        if dependence.depth in (2, 3):
            assert touches_step(dependence.map(), dependence.depth - 1)


def touches_step(pairs: Map, loop: int) -> bool:
    """Whether in all pairs of iterations (k, i, j) the source or the sink lies in row, or column, k."""
    in_source, in_sink = pairs.equate(Dim.in_, 0, Dim.in_, loop), pairs.equate(Dim.out, 0, Dim.out, loop)
    return bool(pairs.is_subset(in_source.union(in_sink)))


def test_floyd_warshall_without_row_and_column_of_the_step() -> None:
    # What is left out does not change where no cycle is negative; then a step is parallel.
    @af.kernel
    def floyd_warshall(d: af.i32[N, N]):
        with af.for_(N) as k:
            for rows_below in (False, True):
                with af.for_(*((k + 1, N) if rows_below else (0, k))) as i:
                    for columns_right in (False, True):
                        with af.for_(*((k + 1, N) if columns_right else (0, k))) as j:
                            d[i, j] = af.min(d[i, j], d[i, k] + d[k, j])

    verdicts = loops(dependences_of(floyd_warshall))
    assert verdicts == [("k", "sequential"), *[("i", "parallel"), ("j", "parallel"), ("j", "parallel")] * 2]


def test_prefix_sum() -> None:
    # Blelloch, "Prefix sums and their applications", 1990: as a loop it is a recurrence of distance 1, not a reduction.
    @af.kernel
    def scan(a: af.i64[N], s: af.i64[N]):
        with af.for_(1, N) as i:
            s[i] = s[i - 1] + a[i]

    of = dependences_of(scan)
    assert rows(of) == {("flow", "[1, 1]")}
    assert loops(of) == [("i", "sequential")]


def test_prefix_sum_through_a_number() -> None:
    # The same; only without what is stored on the way is the number a reduction.
    @af.kernel
    def scan(a: af.i64[N], s: af.i64[N]):
        with af.for_(N, iter_args=af.i64(0)) as (i, total):
            new = total + a[i]
            s[i] = new
            af.yield_(new)

    @af.kernel
    def reduce(a: af.i64[N]):
        with af.for_(N, iter_args=af.i64(0)) as (i, total):
            af.yield_(total + a[i])
        return total

    assert loops(dependences_of(scan)) == [("i", "sequential")]
    assert loops(dependences_of(reduce)) == [("i", "parallel with reductions: addi of %total")]


def test_longest_common_subsequence() -> None:
    # Wolfe, "Loop skewing: the wavefront method revisited", 1986: (1, 0), (0, 1) and (1, 1); no loop is parallel.
    @af.kernel
    def lcs(a: af.i32[N], b: af.i32[N], c: af.i32[N + 1, N + 1]):
        with af.for_(1, N + 1) as i, af.for_(1, N + 1) as j:
            longer = c[i - 1, j - 1] + 1
            c[i, j] = af.select(a[i - 1] == b[j - 1], longer, af.max(c[i - 1, j], c[i, j - 1]))

    of = dependences_of(lcs)
    assert rows(of) == {("flow", d) for d in ("[1, 1][0, 0]", "[0, 0][1, 1]", "[1, 1][1, 1]")}
    assert [verdict for _, verdict in loops(of)] == ["sequential"] * 2


def test_longest_common_subsequence_by_wavefronts() -> None:
    # The same, skewed: in coordinates (d, i) with d = i + j they are (1, 1), (1, 0) and (2, 1), all carried by d.
    @af.kernel
    def lcs(a: af.i32[N], b: af.i32[N], c: af.i32[N + 1, N + 1]):
        with af.for_(2, N * 2 + 1) as d, af.for_(af.max(1, d - N), af.min(N + 1, d)) as i:
            j = d - i
            longer = c[i - 1, j - 1] + 1
            c[i, j] = af.select(a[i - 1] == b[j - 1], longer, af.max(c[i - 1, j], c[i, j - 1]))

    of = dependences_of(lcs)
    assert rows(of) == {("flow", d) for d in ("[1, 1][1, 1]", "[1, 1][0, 0]", "[2, 2][1, 1]")}
    assert loops(of) == [("d", "sequential"), ("i", "parallel")]


def test_nothing_here_depends_on_a_size() -> None:
    """The distances that end nowhere do so because N has no bound: with one, they end."""

    @af.kernel
    def gemm(C: af.f64[N, N]):
        af.assume(N <= 10)
        with af.for_(N) as i, af.for_(N) as j, af.for_(N):
            C[i, j] += 1.0

    assert {d for _, d in rows(dependences_of(gemm))} == {"[0, 0][0, 0][1, 9]", "[0, 0][0, 0][0, 0]"}
