"""Two vectors of integers that become short and lie behind each other, as one function: it may be one instruction."""

from __future__ import annotations

from collections import Counter

from affdsl.codegen.c.vector_helpers import has_row
from affdsl.ir.dialects import arith, func, vector
from affdsl.ir.expr import Value
from affdsl.ir.traverse import definitions, walk
from affdsl.ir.types import IntegerType, VectorType


def shortened(function: func.Func) -> dict[vector.Shuffle, tuple[Value, Value]]:
    """The shuffles of a function that put integers behind each other which had twice as many bits, and those before."""
    made, read = definitions(function), Counter(v for op in walk(function) for v in op.reads())
    found: dict[vector.Shuffle, tuple[Value, Value]] = {}
    for op in walk(function):
        if isinstance(op, vector.Shuffle) and op.left is not op.right and read[op.left] == read[op.right] == 1:
            casts = [each for v in (op.left, op.right) if isinstance(each := made.get(v), arith.Cast)]
            if len(casts) == 2 and all(each.kind == "trunci" for each in casts) and _is_joined(op, casts[0], casts[1]):
                found[op] = casts[0].operand, casts[1].operand
    return found


def _is_joined(op: vector.Shuffle, left: arith.Cast, right: arith.Cast) -> bool:
    """Whether a shuffle puts the results of two casts behind each other, and there is a function for all of that."""
    narrow, wide, lanes = op.result.type, left.operand.type, len(op.mask)
    if not isinstance(narrow, VectorType) or not isinstance(narrow.element, IntegerType):
        return False
    bits = narrow.element.width
    is_whole = op.mask == tuple(range(lanes)) and wide == right.operand.type
    is_half = wide == VectorType((lanes // 2,), IntegerType(2 * bits))
    return is_whole and is_half and has_row(f"joined_i{2 * bits}", f"i{bits}", lanes)
