"""Sums of products of narrow integers: few accumulators, to each of which some neighbouring lanes are added at once."""

from __future__ import annotations

from affdsl.frozen import FrozenValue
from affdsl.ir.core import Op
from affdsl.ir.dialects import affine, arith, vector
from affdsl.ir.expr import Affine, Value
from affdsl.ir.maps import AffineMap, dim
from affdsl.ir.traverse import walk
from affdsl.ir.types import IntegerType, VectorType
from affdsl.passes.transforms.vectorize.lanes import Lanes

_ROW, _LANE = Affine.of(dim(0)), Affine.of(dim(1))
MAPS = (AffineMap(2, 0, (_ROW, _LANE)), AffineMap(2, 0, (_ROW, _LANE)), AffineMap(2, 0, (_ROW,)))
"""Both factors have an accumulator and a number of a lane that is added to it."""
FEWEST = 4
"""So many accumulators there are at least."""


class Narrow(FrozenValue):
    """A sum that a loop carries: the addition, the product, and how many lanes go to one accumulator."""

    addition: arith.Binary
    product: arith.Binary
    ratio: int


def narrow_sum(loop: affine.For, position: int, width: int) -> Narrow | None:
    """The sum of products of integers that are widened before, where no other operation reads it; None if it is none.

    The lanes of the narrow integers fill as many bits as the accumulators do, so that one instruction may do it all.
    """
    makers = {v: op for op in loop.body for v in op.defines()}
    carried, last = loop.carried[position], loop.body[-1]
    assert isinstance(last, affine.Yield)
    addition = makers.get(last.values[position])
    if not isinstance(addition, arith.Binary) or addition.kind != "addi":
        return None
    added = addition.right if addition.left is carried else addition.left
    product = makers.get(added)
    if carried not in (addition.left, addition.right) or not isinstance(product, arith.Binary):
        return None
    read = [v for op in walk(loop) for v in op.reads()]
    if any(read.count(v) != 1 for v in (carried, added, addition.result)) or product.kind != "muli":
        return None
    casts = [makers.get(v) for v in (product.left, product.right)]
    ratios = {_ratio(cast) for cast in casts}
    if len(ratios) > 1 or (ratio := ratios.pop()) is None or width % ratio or width // ratio < FEWEST:
        return None
    return Narrow(addition, product, ratio)


def _ratio(op: Op | None) -> int | None:
    """How many bits a sign or zero extension to 32 bits makes of one; None for any other operation."""
    if not isinstance(op, arith.Cast) or op.kind not in ("extsi", "extui") or op.result.type != IntegerType(32):
        return None
    assert isinstance(op.operand.type, IntegerType)
    return 32 // op.operand.type.width if op.operand.type.width in (8, 16) else None


def add_narrow(at: Lanes, sum: Narrow, accumulators: Value) -> None:
    """Both operations: the products of the lanes that run are added to the accumulators, neighbours to one of them."""
    location = sum.addition.location
    left, right = (at.vector(v) for v in (sum.product.left, sum.product.right))
    if at.mask is not None:
        left = at.chosen(left, 0)
    type = accumulators.type
    assert isinstance(type, VectorType)
    rows = [Value(VectorType((*type.shape, sum.ratio), type.element)) for _ in "lr"]
    for made, given in zip(rows, (left, right), strict=True):
        at.emit(vector.ShapeCast(made, given, location=location))
    result = Value(type, sum.addition.result.hint)
    iterators = ("parallel", "reduction")
    at.emit(vector.Contract(result, rows[0], rows[1], accumulators, maps=MAPS, iterators=iterators, location=location))
    at.define(sum.addition.result, result)
