"""Small problems: what is summed up along columns stays in registers, and blocks are for sizes that have several."""

import numpy as np
import pytest

import affdsl as af
from affdsl.ir.traverse import walk

M, N = af.symbols("M N")


@af.kernel
def project(A: af.f64[M, N], q: af.f64[M], r: af.f64[N]):
    """What of each column lies along q, and the rest of it."""
    with af.for_(N) as j:
        r[j] = 0.0
        with af.for_(M) as i:
            r[j] += q[i] * A[i, j]
        with af.for_(M) as i:
            A[i, j] -= q[i] * r[j]


@af.kernel
def along(A: af.f64[M, N], q: af.f64[M], r: af.f64[N]):
    """What of each column lies along q."""
    with af.for_(N) as j:
        r[j] = 0.0
        with af.for_(M) as i:
            r[j] += q[i] * A[i, j]


@pytest.mark.parametrize("target", ["native", "avx2"])
def test_columns_that_are_summed_up_and_used_again_are_a_strip(target):
    fast = project.optimize(target, threads=1)
    assert "j runs on vectors of" in fast.explain()
    assert "each lane with the loops inside of it; 4 vectors at once" in fast.explain()
    assert 'scalar_replace("' in str(fast.schedule), "sums are in registers"
    random = np.random.default_rng(0)
    for m, n in ((0, 5), (5, 0), (1, 1), (3, 33), (40, 71)):
        given = random.uniform(-1, 1, (m, n)), random.uniform(-1, 1, m), np.full(n, np.nan)
        wanted, found = [tuple(each.copy() for each in given) for _ in range(2)]
        project.interpret(*wanted)
        fast(*found)
        for a, b in zip(wanted, found, strict=True):
            assert a.tobytes() == b.tobytes(), f"{m} x {n}"


def test_columns_that_are_read_once_are_read_along_rows():
    said = along.optimize("avx2", threads=1).explain()
    assert "runs innermost" in said
    assert "each lane with the loops inside" not in said


@af.kernel
def symmetric(A: af.f64[M, M], B: af.f64[M, N], C: af.f64[M, N]):
    """The product of a symmetric matrix, of which the lower triangle is there, and another."""
    with af.for_(M) as i, af.for_(N) as j:
        with af.for_(i, iter_args=af.f64(0)) as (k, total):
            C[k, j] += B[i, j] * A[i, k]
            af.yield_(total + B[k, j] * A[i, k])
        C[i, j] += B[i, j] * A[i, i] + total


def test_a_triangle_of_one_block_has_no_blocks():
    fast = symmetric.optimize("avx2", threads=1)
    assert "for M of 65 and more: in blocks of 64 rows" in fast.explain()
    assert "for smaller sizes: " in fast.explain()
    random = np.random.default_rng(0)
    for m, n in ((0, 5), (1, 1), (20, 30), (64, 9), (65, 9)):
        given = random.uniform(-1, 1, (m, m)), random.uniform(-1, 1, (m, n)), random.uniform(-1, 1, (m, n))
        wanted, found = [tuple(each.copy() for each in given) for _ in range(2)]
        symmetric(*wanted)
        fast(*found)
        assert wanted[2].tobytes() == found[2].tobytes(), f"{m} x {n}"


K = af.symbols("K")


@af.kernel
def multiply(A: af.f64[M, K], B: af.f64[K, N], C: af.f64[M, N]):
    """A product of matrices; the innermost loop sums up."""
    with af.for_(M) as i, af.for_(N) as j, af.for_(K) as k:
        C[i, j] += A[i, k] * B[k, j]


@af.kernel
def multiply_rows(A: af.f64[M, K], B: af.f64[K, N], C: af.f64[M, N]):
    """The same; the innermost loop runs along rows."""
    with af.for_(M) as i, af.for_(K) as k, af.for_(N) as j:
        C[i, j] += A[i, k] * B[k, j]


@pytest.mark.parametrize("kernel", [multiply, multiply_rows])
def test_products_choose_by_the_sizes_of_the_call(kernel):
    fast = kernel.optimize("avx2", threads=1)
    rows = 5 if kernel is multiply_rows else 1
    large = "M of 5 and more, N of 48 and more, K of 9 and more" if rows > 1 else "N of 48 and more, K of 9 and more"
    assert f"for {large}: a product of matrices: " in fast.explain()
    assert "; smaller ones without copies, on vectors of j, 4 rows at once" in fast.explain()
    assert str(fast.schedule).count("specialize(") == 2
    random = np.random.default_rng(0)
    shapes = {(m, n, 7) for m in (0, 1, 3, 4, 5) for n in (0, 1, 3, 4, 5)}
    shapes |= {(5, n, k) for n in (47, 48) for k in (0, 1, 2, 8, 9)} | {(m, 49, 9) for m in (0, 1, 4, 5)}
    for m, n, k in shapes:
        given = random.uniform(-1, 1, (m, k)), random.uniform(-1, 1, (k, n)), random.uniform(-1, 1, (m, n))
        wanted, found = [tuple(each.copy() for each in given) for _ in range(2)]
        kernel(*wanted)
        fast(*found)
        assert wanted[2].tobytes() == found[2].tobytes(), f"{m} x {n} x {k}"


def test_a_version_for_small_sizes_is_a_step_that_replays():
    fast = multiply.optimize("avx2", threads=1)
    s = af.Schedule(multiply)
    for step in fast.schedule.steps:
        exec(f"s.{step}", {"s": s, "M": M, "N": N, "K": K})
    assert s.kernel().mlir() == fast.mlir()


def test_nests_smaller_than_two_vectors_are_as_they_were():
    @af.kernel
    def add_up(A: af.f64[M, N], x: af.f64[M]):
        with af.for_(M) as i, af.for_(N) as j:
            x[i] += A[i, j]

    fast = add_up.optimize("avx2", threads=2)
    said = fast.explain()
    assert "for M + N of 16 and more: " in said
    assert "smaller ones run as written" in said
    assert 'parallel("i_else")' not in str(fast.schedule), "no threads are woken for small sizes"
    random = np.random.default_rng(0)
    for m, n in ((0, 0), (1, 0), (0, 15), (0, 16), (7, 8), (8, 8), (9, 8), (15, 0), (1, 15), (12, 5)):
        a, wanted = random.uniform(-1, 1, (m, n)), random.uniform(-1, 1, m)
        found = wanted.copy()
        add_up(a, wanted)
        fast(a, found)
        assert wanted.tobytes() == found.tobytes(), f"{m} x {n}"


def test_few_iterations_are_not_made_of_many_lanes_one_after_the_other():
    @af.kernel
    def kept(x: af.i8[8, 4], out: af.i8[9]):
        each = [af.var(af.i8(0)) for _ in range(8)]
        total = af.var(af.i8(0))
        with af.for_(4) as i:
            for k in range(8):
                with af.if_(x[k, i] > 3):
                    each[k].set(each[k] + (each[k] ^ x[k, i]))
            total += x[0, i]
        for k in range(8):
            out[k] = each[k]
        out[8] = total

    fast = kept.optimize("avx512", threads=1)
    assert "its code would be longer by more than 2048 operations" in fast.explain()
    assert len([*walk(fast.func)]) < 2 * len([*walk(kept.func)])


@af.kernel
def neighbours(A: af.f64[M, 20], B: af.f64[M, 20]):
    with af.for_(M) as i, af.for_(1, 19) as j:
        B[i, j] = A[i, j - 1] + A[i, j + 1]


@af.kernel
def of_long_rows(A: af.f64[M, N], B: af.f64[M, N]):
    with af.for_(M) as i, af.for_(1, N - 1) as j:
        B[i, j] = A[i, j - 1] + A[i, j + 1]


@pytest.mark.parametrize("target", ["native", "avx512", "avx2"])
def test_short_rows_end_in_half_a_vector(target):
    fast = neighbours.optimize(target, threads=1)
    assert 'tail="halved"' in str(fast.schedule)
    assert 'tail="overlapped"' in str(of_long_rows.optimize(target, threads=1).schedule)
    A = np.random.default_rng(0).uniform(-1, 1, (7, 20))
    wanted, found = np.zeros_like(A), np.zeros_like(A)
    neighbours.interpret(A, wanted)
    fast(A, found)
    assert wanted.tobytes() == found.tobytes()
