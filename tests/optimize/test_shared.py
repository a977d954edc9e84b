"""Which loops threads share where those around must run one iteration after the other."""

from __future__ import annotations

import numpy as np

import affdsl as af
from affdsl.optimize.options import Choices, Options, targets
from affdsl.optimize.order import blocks
from benchmarks.polybench.suite import named


def test_threads_share_the_rows_of_a_block_of_a_factorization():
    """Each row waits for blocks before it, and for no other row of its own; the last block is not whole."""
    kernel, a = named("cholesky").kernel, np.random.default_rng(3).normal(size=(207, 207))
    given = a @ a.T + 207 * np.eye(207)
    wanted, found = given.copy(), given.copy()
    kernel(wanted)
    made, _ = blocks.in_blocks(af.Schedule(kernel), "i", (), 64, Choices(), threads=2)
    assert 'strip_mine("i", 32, name="i_strip_2")' in str(made)
    assert str(made).count(".parallel(") == 1
    made.kernel()(found)
    np.testing.assert_array_equal(found, wanted)
    _, said = blocks.take(af.Schedule(kernel), "i", Options(targets()["avx2"], threads=2), 64)
    assert any(each.done == "threads share the rows of each block" for each in said)
    alone, _ = blocks.in_blocks(af.Schedule(kernel), "i", (), 64, Choices(), threads=1)
    assert ".parallel(" not in str(alone)


def test_a_nest_that_steps_for_another_one_take_in_is_left_out():
    durbin, r = named("durbin").kernel, 0.4 ** np.arange(1.0, 41.0)
    wanted, found = np.zeros(40), np.zeros(40)
    durbin(r, wanted)
    durbin.optimize("native", threads=2, contract=True, reassociate=True, reciprocal=True)(r, found)
    np.testing.assert_allclose(found, wanted, atol=1e-9)
