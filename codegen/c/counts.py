"""How many lanes of a mask are set, as one function: most instruction sets have an instruction for it."""

from __future__ import annotations

from affdsl.ir.core import Op
from affdsl.ir.dialects import arith, func, vector
from affdsl.ir.expr import Value
from affdsl.ir.traverse import definitions, walk
from affdsl.ir.types import I1, IntegerType, VectorType

LEAST_BITS = 8
"""So many bits hold the number of lanes of any vector type."""


def counts(function: func.Func) -> dict[vector.Reduction, Value]:
    """The masks whose lanes are added up as numbers that are 1 or 0, by the operations that do so."""
    made = definitions(function)
    found = ((op, _mask(op, made.get(op.source))) for op in walk(function) if isinstance(op, vector.Reduction))
    return {op: mask for op, mask in found if mask is not None}


def _mask(op: vector.Reduction, maker: Op | None) -> Value | None:
    is_sum = op.combine == "add" and isinstance(op.result.type, IntegerType) and op.result.type.width >= LEAST_BITS
    if not is_sum or not isinstance(maker, arith.Cast) or maker.kind != "extui":
        return None
    type = maker.operand.type
    return maker.operand if isinstance(type, VectorType) and type.element == I1 and type.rank == 1 else None
