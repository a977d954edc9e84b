"""Small problems: what is summed up along columns stays in registers, and blocks are for sizes that have several."""

import pytest

import affdsl as af
from affdsl.ir.traverse import walk
from tests.optimize.recipes import kernels

M, N, K = af.symbols("M N K")
MULTIPLY = kernels("registers")["multiply"]


def test_a_version_for_small_sizes_is_a_step_that_replays():
    fast = MULTIPLY.optimize("avx2", threads=1)
    s = af.Schedule(MULTIPLY)
    for step in fast.schedule.steps:
        exec(f"s.{step}", {"s": s, "M": M, "N": N, "K": K})
    assert s.kernel().mlir() == fast.mlir()


@pytest.mark.parametrize(
    ("trips", "why"),
    [(4, "it runs 4 times at most, and a vector has 64 lanes"), (16, "its code would be longer by more than 2048")],
)
def test_few_iterations_are_not_made_of_many_lanes_one_after_the_other(trips, why):
    @af.kernel
    def kept(x: af.i8[8, trips], out: af.i8[9]):
        each = [af.var(af.i8(0)) for _ in range(8)]
        total = af.var(af.i8(0))
        with af.for_(trips) as i:
            for k in range(8):
                with af.if_(x[k, i] > 3):
                    each[k].set(each[k] + (each[k] ^ x[k, i]))
            total += x[0, i]
        for k in range(8):
            out[k] = each[k]
        out[8] = total

    fast = kept.optimize("avx512", threads=1)
    assert why in fast.explain()
    assert len([*walk(fast.func)]) < 2 * len([*walk(kept.func)])
