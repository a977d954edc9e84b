"""Integers that grow by the same from lane to lane: computed once, for the first lane, and as they wrap."""

from __future__ import annotations

from affdsl.ir.core import Op, roles
from affdsl.ir.dialects import arith
from affdsl.ir.expr import Value
from affdsl.ir.traverse import like, with_fields
from affdsl.ir.types import IntegerType
from affdsl.passes.transforms.vectorize.lanes import Lanes


def is_even(at: Lanes, op: Op) -> bool:
    """Whether what an operation gives grows by the same from lane to lane, which it is defined as then.

        index_cast i : index to i32   ->   the same of the first lane, and 0, 1, 2, ... for the others

    So do sums of such numbers, and products of one with a known number: all of them modulo the size of their type.
    """
    match op:
        case arith.Cast(kind="index_cast", operand=operand) if operand in at.exprs:
            step = at.step(at.exprs[operand])
        case arith.Cast(kind="trunci", operand=operand):
            step = _step(at, operand)
        case arith.Binary(kind="addi" | "subi" as kind):
            left, right = _step(at, op.left), _step(at, op.right)
            step = None if left is None or right is None else left + right if kind == "addi" else left - right
        case arith.Binary(kind="muli"):
            step = _product(at, op.left, op.right) or _product(at, op.right, op.left)
        case _:
            return False
    (result,) = op.defines()
    if not step or not isinstance(result.type, IntegerType) or result.type.width == 1:
        return False
    made = like(result)
    first = {name: at.in_lane(getattr(op, name), 0) for name in roles(type(op)).operands}
    at.emit(with_fields(op, result=made, **first))
    at.define_even(result, made, step)
    return True


def _step(at: Lanes, value: Value) -> int | None:
    """How much an integer grows from lane to lane, where it is known to be even."""
    even = at.even(value)
    return even[1] if even is not None else None if at.varies(value) else 0


def _product(at: Lanes, value: Value, factor: Value) -> int | None:
    """How much the product of an integer with a known number grows."""
    step, number = _step(at, value), at.constants.get(factor)
    return None if step is None or number is None or at.varies(factor) else step * number
