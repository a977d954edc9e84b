"""Loops whose bounds come from data, as those over the rows of a sparse matrix: the steps that need no bounds."""

import numpy as np
import pytest

import affdsl as af
from tests.harness.judges import copied

K, M, N = af.symbols("K M N")


@af.kernel
def spmv(row: af.i64[M + 1], col: af.i64[K], val: af.f64[K], x: af.f64[N], y: af.f64[M], n: af.index):
    with af.for_(n) as t, af.for_(M) as i:  # noqa: F841 - the loop is called so
        with af.for_(row[i], row[i + 1], iter_args=af.f64(0)) as (k, s):
            af.yield_(s + val[k] * x[col[k]])
        y[i] += s * 0.5


@af.kernel
def spmm(row: af.i64[M + 1], col: af.i64[K], val: af.f64[K], x: af.f64[N, N], y: af.f64[M, N]):
    with af.for_(M) as i, af.for_(row[i], row[i + 1]) as k, af.for_(N) as j:
        y[i, j] += val[k] * x[col[k], j]


@af.kernel
def scaled(row: af.i64[M + 1], val: af.f64[K], by: af.f64[M]):
    with af.for_(M) as i, af.for_(row[i], row[i + 1]) as k:
        val[k] *= by[i]


def matrix(rng):
    """A sparse matrix of 5 rows, of which one is empty, with 7 columns."""
    rows = np.array([0, 2, 2, 5, 9, 10])
    return rows, rng.integers(0, 7, 10), rng.integers(-9, 9, 10).astype("f8")


def same(kernel, tuned, *arguments):
    ours, theirs = (copied(arguments) for _ in range(2))
    kernel.interpret(*theirs)
    for runs in (tuned, tuned.interpret):
        given = copied(ours)
        runs(*given)
        for a, b in zip(given, theirs, strict=True):
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize(
    "steps",
    [
        lambda s: s.parallel("i"),
        lambda s: s.tile(("t", "i"), (2, 2)).parallel("i"),
        lambda s: s.interchange("t", "i").parallel("i"),
        lambda s: s.strip_mine("i", 2).unroll("t", 2),
        lambda s: s.unroll_jam("i", 2),
        lambda s: s.demote("k").unroll_jam("t", 2),
        lambda s: s.demote("k").coalesce(("t", "i")).peel("t_i", first=1),
    ],
)
def test_loops_around_take_steps(steps):
    """Issue 15, 14: loops whose bounds are data (CSR) took no step at all."""
    rng = np.random.default_rng(3)
    rows, columns, values = matrix(rng)
    s = af.Schedule(spmv)
    steps(s)
    same(spmv, s.kernel(), rows, columns, values, rng.integers(-9, 9, 7).astype("f8"), np.zeros(5), 3)


@pytest.mark.parametrize(
    "steps",
    [
        lambda s: s.interchange("k", "j").parallel("j"),
        lambda s: s.interchange("k", "j").interchange("j", "k"),
        lambda s: s.strip_mine("j", 2).parallel("i"),
        lambda s: s.unroll("j", 3).parallel("i"),
        lambda s: s.parallel("j"),
    ],
)
def test_the_loop_and_those_inside_take_steps(steps):
    rng = np.random.default_rng(4)
    rows, columns, values = matrix(rng)
    s = af.Schedule(spmm)
    steps(s)
    same(spmm, s.kernel(), rows, columns, values, rng.integers(-9, 9, (7, 7)).astype("f8"), np.zeros((5, 7)))


@af.kernel
def in_memory(row: af.i64[M + 1], col: af.i64[K], val: af.f64[K], x: af.f64[N], y: af.f64[M], z: af.f64[M]):
    with af.for_(M) as i, af.for_(row[i], row[i + 1]) as k:
        y[i] += val[k] * x[col[k]]
        z[i] += val[k] * z[i] + 1.0


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        (lambda s: s.scalar_replace("k"), "scf.if %runs"),
        (lambda s: s.scalar_replace("k").unroll("k", 3).parallel("i"), "affine.parallel (%i)"),
        (lambda s: s.scalar_replace("k").strip_mine("k", 2), "scf.for %k_strip"),
        (lambda s: s.unroll("k", 2), "scf.for %k_tail = %end to"),
        (lambda s: s.unroll("k", 7).unroll("k", 2), "step %c14"),
        (lambda s: s.strip_mine("k", 3).unroll("k", 2), "scf.for %k = %k_strip to"),
        (lambda s: s.strip_mine("k", 3, name="strip").scalar_replace("k"), "scf.for %strip"),
        (lambda s: s.distribute("k"), "}\n      scf.for"),
        (lambda s: s.distribute("k").scalar_replace("k").parallel("i"), "affine.parallel (%i)"),
    ],
)
def test_the_loop_over_a_row_takes_steps(steps, expected):
    """Issue 15, 14: unroll, strip_mine, distribute and scalar_replace of a loop whose bounds are data."""
    rng = np.random.default_rng(6)
    rows, columns, values = matrix(rng)
    s = af.Schedule(in_memory)
    steps(s)
    assert expected in s.kernel().mlir()
    same(in_memory, s.kernel(), rows, columns, values, rng.integers(-9, 9, 7).astype("f8"), np.ones(5), np.ones(5))


@pytest.mark.parametrize(
    "steps",
    [lambda s: s.unroll("k", 2), lambda s: s.strip_mine("k", 3), lambda s: s.strip_mine("k", 1).unroll("k_strip", 4)],
)
def test_sums_are_carried_through_turns_and_strips(steps):
    rng = np.random.default_rng(7)
    rows, columns, values = matrix(rng)
    s = af.Schedule(spmv)
    steps(s)
    same(spmv, s.kernel(), rows, columns, values, rng.integers(-9, 9, 7).astype("f8"), np.zeros(5), 2)


@pytest.mark.parametrize(
    "bounds", [(0, 0), (3, 2), (-2, 5), (9, -9), (2**62, -(2**62)), (-(2**63), -(2**63) + 5), (2**63 - 3, 2**63 - 1)]
)
@pytest.mark.parametrize("steps", [lambda s: s.unroll("k", 3), lambda s: s.strip_mine("k", 2)])
def test_any_bounds_will_do(steps, bounds):
    """Empty loops, and those from and to negative numbers, also where their difference does not fit into 64 bits."""

    @af.kernel
    def count(ends: af.i64[2], n: af.i64[1], sums: af.i64[1]):
        with af.for_(ends[0], ends[1]) as k:
            n[0] += 1
            sums[0] += af.i64(k + 0)

    s = af.Schedule(count)
    steps(s)
    for kernel in (s.kernel(), s.kernel().interpret):
        n, sums = np.zeros(1, "i8"), np.zeros(1, "i8")
        kernel(np.array(bounds), n, sums)
        every = range(*bounds)
        assert n[0] == len(every)
        assert sums[0] == np.array(list(every), "i8").sum()


def test_an_element_is_stored_only_where_the_loop_runs():
    """Outside of its array it may lie otherwise, and belong to another iteration."""

    @af.kernel
    def sums(row: af.i64[M + 1], val: af.f64[K], y: af.f64[N]):
        with af.for_(M) as i, af.for_(row[i], row[i + 1]) as k:
            y[i] += val[k]

    kernel = af.Schedule(sums).scalar_replace("k").kernel()
    y = np.zeros(2)
    kernel.interpret(np.array([0, 1, 3, 3, 3]), np.ones(3), y)
    assert y.tolist() == [1.0, 2.0]


def test_what_is_the_same_for_a_row_is_computed_before_it():
    @af.kernel
    def weighted(row: af.i64[M + 1], val: af.f64[K], by: af.f64[M], p: af.f64):
        with af.for_(M) as i, af.for_(row[i], row[i + 1]) as k:
            val[k] *= by[i] * af.sqrt(p)

    s = af.Schedule(weighted).hoist("k")
    text = s.kernel().mlir()
    assert text.index("%by[%i]") < text.index("math.sqrt") < text.index("scf.for")
    rows, _, values = matrix(np.random.default_rng(8))
    same(weighted, s.kernel(), rows, values, np.arange(5.0), 2.0)


def test_another_access_to_the_element_keeps_it_in_memory():
    @af.kernel
    def seen(row: af.i64[M + 1], col: af.i64[K], y: af.f64[M]):
        with af.for_(M) as i, af.for_(row[i], row[i + 1]) as k:
            y[i] += y[col[k]]

    s = af.Schedule(seen).scalar_replace("k")
    text = s.kernel().mlir()
    assert text.index("affine.store") < text.index("scf.yield")
    same(seen, s.kernel(), np.array([0, 2, 4, 5]), np.array([1, 0, 1, 2, 0]), np.array([1.0, 2.0, 5.0]))

    @af.kernel
    def written(row: af.i64[M + 1], col: af.i64[K], y: af.f64[M]):
        with af.for_(M) as i, af.for_(row[i], row[i + 1]) as k:
            y[i] += 1.0
            y[col[k]] = 2.0

    with pytest.raises(af.IllegalTransform, match="several stores may have written what it loads"):
        af.Schedule(written).scalar_replace("k")
    text = af.Schedule(written).hoist("k").kernel().mlir()  # the constants
    assert text.index("arith.constant 2.0") < text.index("scf.for") < text.index("affine.load %y")
    with pytest.raises(af.IllegalTransform, match="cannot distribute loop k"):
        af.Schedule(written).distribute("k")


def test_a_loop_with_bounds_of_data_runs_in_parallel():
    rows, _, values = matrix(np.random.default_rng(5))
    s = af.Schedule(scaled).parallel("k")
    assert "scf.parallel" in s.kernel().mlir()
    same(scaled, s.kernel(), rows, values, np.arange(5.0))
    with pytest.raises(af.IllegalTransform):
        af.Schedule(scaled).parallel("i")  # nobody knows that the rows do not overlap


def test_sums_over_a_row_are_combined_in_any_order():
    """Issue 15, 14: reductions in a parallel loop whose bounds are data. Small integers, so that nothing is rounded."""
    rng = np.random.default_rng(9)
    rows, columns, values = matrix(rng)
    s = af.Schedule(spmv).parallel("k", reassociate=True)
    assert "scf.reduce(" in s.kernel().mlir()
    assert "#pragma omp parallel for reduction(reduce_addf_f" in s.kernel().c()
    same(spmv, s.kernel(), rows, columns, values, rng.integers(-9, 9, 7).astype("f8"), np.zeros(5), 2)
    s = af.Schedule(in_memory).distribute("k").scalar_replace("k").parallel("k", reassociate=True)
    x = rng.integers(-9, 9, 7).astype("f8")
    same(in_memory, s.kernel(), rows, columns, values, x, np.zeros(5), np.zeros(5))

    @af.kernel
    def largest(row: af.i64[M + 1], val: af.i64[K], y: af.i64[M], n: af.i64[M]):
        with af.for_(M) as i:
            with af.for_(row[i], row[i + 1], iter_args=(y[i], n[i])) as (k, top, count):
                af.yield_(af.max(top, val[k]), count + 1)
            y[i], n[i] = top, count

    same(largest, af.Schedule(largest).parallel("k").kernel(), rows, columns, np.full(5, 3), np.zeros(5, "i8"))


def test_what_needs_the_bounds_is_refused():
    with pytest.raises(af.IllegalTransform, match="come from data; demote, distribute, hoist, interchange, parallel, "):
        af.Schedule(spmv).split("k", 2)
    with pytest.raises(af.IllegalTransform, match="the bounds of the loop k come from data"):
        af.Schedule(spmv).unroll("k")
    with pytest.raises(af.IllegalTransform, match=r"rounded in another way\n    legal: .*reassociate=True"):
        af.Schedule(spmv).parallel("k")
    with pytest.raises(af.IllegalTransform, match=r'legal: s.scalar_replace\("k"\).parallel\("k", reass'):
        af.Schedule(in_memory).distribute("k").parallel("k", reassociate=True)
    with pytest.raises(af.IllegalTransform, match="the loop i does not hold the loop k and nothing else"):
        af.Schedule(spmm).interchange("i", "k")

    @af.kernel
    def halved(to: af.i64[1], A: af.f64[N, N]):
        af.assume(N >= 3)
        with af.for_(1) as t, af.for_(af.index(to[t])) as k, af.for_(N - 1) as j:
            A[2, j] = A[2, j + 1] + af.f64(k + 0)

    with pytest.raises(af.IllegalTransform, match=r"it may be that the store A\[2, j\] .* feeds the load"):
        af.Schedule(halved).interchange("k", "j")

    @af.kernel
    def within(to: af.i64[9], A: af.f64[9, 9]):
        with af.for_(9) as i, af.for_(to[i], 9) as k:
            A[0, i] += 1.0 + af.f64(k + 0)

    with pytest.raises(af.IllegalTransform, match="does not hold the loop k and nothing else"):
        af.Schedule(within).interchange("i", "k")
