"""Sums of narrow integers and of their products, as one function: some instruction sets have an instruction for it."""

from __future__ import annotations

from collections.abc import Mapping

from affdsl.frozen import FrozenValue
from affdsl.ir.core import Op
from affdsl.ir.dialects import arith, func, vector
from affdsl.ir.expr import Value
from affdsl.ir.traverse import definitions, walk
from affdsl.ir.types import IntegerType, VectorType

ACCUMULATORS = (4, 8, 16)


class Dot(FrozenValue):
    """acc[k] + the products of as many lanes of two vectors as there are narrow integers in the bits of one of acc.

    Attributes
    ----------
    kind
        What the narrow integers are: i8, u8, i16 or u16.
    factors
        The two vectors, or the first of them where the other is 1 in all lanes.
    is_mixed
        Whether the first one holds bytes without a sign, and the second one, as `kind` says, such with a sign.
    """

    kind: str
    factors: tuple[Value, ...]
    is_mixed: bool = False

    @property
    def helper(self) -> str:
        """What the function is called that computes it, but for the type of acc."""
        return f"{'dotu' if self.is_mixed else 'dot' if len(self.factors) == 2 else 'sum'}_{self.kind}"


def dots(function: func.Func) -> dict[vector.Contract, Dot]:
    """The contractions of a function that are dot products."""
    made = definitions(function)
    found = ((op, _dot(op, made)) for op in walk(function) if isinstance(op, vector.Contract))
    return {op: dot for op, dot in found if dot is not None}


def _dot(op: vector.Contract, made: Mapping[Value, Op]) -> Dot | None:
    """The dot product that a contraction is, with those that widen its factors before; None if it is none."""
    if tuple(map(vector.map_dims, op.maps)) != ((0, 1), (0, 1), (0,)) or op.combine != "add":
        return None
    rows = [made.get(v) for v in (op.left, op.right)]
    casts = [made.get(each.source) if isinstance(each, vector.ShapeCast) else None for each in rows]
    widened = [each for each in casts if isinstance(each, arith.Cast) and each.kind in ("extsi", "extui")]
    if len(widened) != 2 or len(types := {each.operand.type for each in widened}) != 1:
        return None
    kinds, (given,), total = {each.kind for each in widened}, types, op.result.type
    assert isinstance(given, VectorType)
    assert isinstance(total, VectorType)
    if total.element != IntegerType(32) or total.shape not in [(lanes,) for lanes in ACCUMULATORS]:
        return None
    if not isinstance(given.element, IntegerType) or given.element.width not in (8, 16):
        return None
    if given.shape != (total.shape[0] * 32 // given.element.width,):
        return None
    if len(kinds) == 2:
        unsigned, signed = (each.operand for each in sorted(widened, key=lambda each: each.kind != "extui"))
        return Dot("i8", (unsigned, signed), is_mixed=True) if given.element.width == 8 else None
    left, right = (each.operand for each in widened)
    ones = made.get(right)
    is_one = isinstance(ones, arith.Constant) and ones.value == (1,) * given.shape[0]
    return Dot(f"{'u' if kinds == {'extui'} else 'i'}{given.element.width}", (left,) if is_one else (left, right))
