"""Small problems: what is summed up along columns stays in registers, and blocks are for sizes that have several."""

import numpy as np
import pytest

import affdsl as af

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
    assert "around loops that go on one by one; 4 of them at once" in fast.explain()
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
    assert "around loops that go on one by one" not in said


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
    assert "in blocks, where M >= 65" in fast.explain()
    assert "i_else" in fast.explain()
    random = np.random.default_rng(0)
    for m, n in ((0, 5), (1, 1), (20, 30), (64, 9), (65, 9)):
        given = random.uniform(-1, 1, (m, m)), random.uniform(-1, 1, (m, n)), random.uniform(-1, 1, (m, n))
        wanted, found = [tuple(each.copy() for each in given) for _ in range(2)]
        symmetric(*wanted)
        fast(*found)
        assert wanted[2].tobytes() == found[2].tobytes(), f"{m} x {n}"
