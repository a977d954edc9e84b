"""How wide the lanes of masks are in C: as most of what they choose, and of what is compared to get them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from affdsl.codegen.c.types import container, scalar
from affdsl.ir.core import Op
from affdsl.ir.dialects import arith, func, math, vector
from affdsl.ir.expr import Value
from affdsl.ir.integers import width
from affdsl.ir.traverse import walk
from affdsl.ir.types import I1, FloatType, ScalarType, Type, VectorType, element_of

NARROWEST = 8


def mask_widths(function: func.Func) -> dict[Value, int]:
    """The bits of a lane of each mask; masks that are combined, or are one another's values, have lanes alike."""
    leaders: dict[Value, Value] = {}

    def leader(value: Value) -> Value:
        while leaders.setdefault(value, value) is not value:
            value = leaders[value]
        return value

    ops = list(walk(function))
    for op in ops:
        masks = [value for value in _together(op) if is_mask(value)]
        for value in masks:
            leaders[leader(value)] = leader(masks[0])
    votes: dict[Value, Counter[int]] = {}
    for wide in (_chosen, _compared):  # of widths that are as many the first one wins: that of what is chosen
        for op in ops:
            for value, bits in wide(op):
                votes.setdefault(leader(value), Counter())[bits] += 1
    found = {value: count.most_common(1)[0][0] for value, count in votes.items()}
    return {value: found.get(leader(value), NARROWEST) for value in leaders}


def is_mask(value: Value) -> bool:
    """Whether a value is a vector of bits."""
    return isinstance(value.type, VectorType) and value.type.element == I1


def _together(op: Op) -> Iterator[Value]:
    """The values that an operation gives, with those that they come from, where no lane changes its width."""
    yield from op.defines()
    if isinstance(op, arith.Select):
        yield from (op.if_true, op.if_false)
    else:
        yield from op.reads()
    for block in op.blocks():
        yield from (value for last in block[-1:] for value in last.reads())
    yield from op.binds()


def _compared(op: Op) -> Iterator[tuple[Value, int]]:
    match op:
        case arith.Compare(left=lanes, result=mask) | math.Unary(operand=lanes, result=mask):
            if is_mask(mask) and not is_mask(lanes):
                yield mask, lane_width(lanes.type)


def _chosen(op: Op) -> Iterator[tuple[Value, int]]:
    """The masks that an operation goes by, and the width of the lanes that it chooses."""
    match op:
        case arith.Select(condition=mask, result=lanes) | vector.MaskedLoad(mask=mask, result=lanes):
            yield from ((m, lane_width(lanes.type)) for m in (mask,) if is_mask(m))
        case vector.MaskedStore(mask=mask, value=lanes) | vector.CompressStore(mask=mask, value=lanes):
            yield mask, lane_width(lanes.type)
        case vector.TransferRead(mask=masks, result=lanes) | vector.TransferWrite(mask=masks, value=lanes):
            yield from ((mask, lane_width(lanes.type)) for mask in masks)


def lane_width(type: Type) -> int:
    """The bits of a lane in C."""
    kind: ScalarType = scalar(element_of(type))
    if isinstance(kind, FloatType):
        return 64 if kind.name == "f64" else 32  # narrow floats are computed with as floats
    return container(width(kind))
