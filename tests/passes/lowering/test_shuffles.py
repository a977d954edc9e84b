"""Shuffles that several vectors share: what they make, lane by lane, and that they are never more than one by one."""

import pytest

from affdsl.ir.expr import Value
from affdsl.ir.types import F32, VectorType
from affdsl.passes.lowering.shuffles import shuffled, shuffled_together


def made(ops, sources, width):
    """The lanes of all vectors after some shuffles."""
    found = {source: [(source, k) for k in range(width)] for source in sources}
    for op in ops:
        both = found[op.left] + found[op.right]
        found[op.result] = [both[k] for k in op.mask]
    return found


@pytest.mark.parametrize("stride", range(2, 9))
@pytest.mark.parametrize("width", [2, 4, 8, 16, 32])
def test_vectors_at_a_stride_share_shuffles(width, stride):
    for members in (range(stride), range(0, stride, 2), [stride - 1, 0], [0]):
        sources = [Value(VectorType((width,), F32)) for _ in range(stride)]
        place = {m + stride * k: (sources[n], k) for n, m in enumerate(members) for k in range(width)}
        numbers = [[m + stride * k for k in range(width)] for m in members]
        loads = [[(sources[p // width], p % width) for p in of] for of in numbers]
        stores = [[place.get(n * width + k) for k in range(width)] for n in range(stride)]
        for wanted in (loads, [lanes for lanes in stores if any(lanes)]):
            ops, values = shuffled_together(wanted)
            lanes = made(ops, sources, width)
            found = [
                [lane and got for lane, got in zip(of, lanes[v], strict=True)]
                for of, v in zip(wanted, values, strict=True)
            ]
            assert found == wanted
            assert len(ops) <= sum(len(shuffled(of)[0]) for of in wanted)


def test_squares_take_as_many_rounds_as_a_transposition():
    for width, stride, count in ((4, 4, 8), (8, 4, 8), (8, 8, 24), (16, 8, 24)):
        rows = [Value(VectorType((width,), F32)) for _ in range(stride)]
        places = [[m + stride * k for k in range(width)] for m in range(stride)]
        ops, _ = shuffled_together([[(rows[p // width], p % width) for p in of] for of in places])
        assert len(ops) == count
