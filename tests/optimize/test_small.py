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
