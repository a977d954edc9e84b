"""Sums that may be made in any order: in how many lanes, and of how many rows at once."""

from __future__ import annotations

import numpy as np

from benchmarks.polybench.suite import named


def test_a_triangular_system_takes_rows_at_once_in_lanes():
    trisolv = named("trisolv")
    fast = trisolv.kernel.optimize("avx2", threads=1, reassociate=True)
    assert "in strips of i" in fast.explain()
    assert "4 iterations of i run at once, and each sums up in 4 lanes" in fast.explain()
    for n in (1, 3, 4, 5, 8, 33):
        given = trisolv.random_arguments({"N": n}, np.random.default_rng(n))
        lower, b = np.tril(np.nan_to_num(given["L"])), given["b"]
        fast(*given.values())
        np.testing.assert_allclose(given["x"], np.linalg.solve(lower, b), rtol=1e-12)
