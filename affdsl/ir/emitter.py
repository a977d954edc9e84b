"""Writes operations of arith and of math, one after the other."""

from __future__ import annotations

from collections.abc import Callable

from affdsl.ir.attributes import Attributes
from affdsl.ir.core import Op
from affdsl.ir.dialects import arith, math
from affdsl.ir.expr import Value
from affdsl.ir.location import Location
from affdsl.ir.traverse import with_fields
from affdsl.ir.types import I1, FloatType, Type, element_of, same_shape


class Emitter:
    """Operations at one place in the source, in `ops`."""

    def __init__(self, location: Location | None, ops: list[Op] | None = None) -> None:
        self.location = location
        self.ops: list[Op] = [] if ops is None else ops

    def emit(self, op: Op) -> None:
        self.ops.append(with_fields(op, location=self.location))

    def made(self, cls: Callable[..., Op], type: Type, *operands: object, **others: object) -> Value:
        """The result of an operation whose first field is its result."""
        result = Value(type)
        self.ops.append(cls(result, *operands, location=self.location, **others))
        return result

    def constant(self, number: float | bool, type: Type) -> Value:
        return self.made(arith.Constant, type, number)

    def binary(self, kind: str, left: Value, right: Value, flags: Attributes = ()) -> Value:
        return self.made(arith.Binary, left.type, kind, left, right, attributes=flags)

    def compare(self, predicate: str, left: Value, right: Value) -> Value:
        element = element_of(left.type)
        kind = "cmpf" if isinstance(element, FloatType) else "cmpi"
        return self.made(arith.Compare, same_shape(left.type, I1), kind, predicate, left, right)

    def select(self, condition: Value, yes: Value, no: Value) -> Value:
        return self.made(arith.Select, yes.type, condition, yes, no)

    def cast(self, kind: str, operand: Value, type: Type) -> Value:
        return self.made(arith.Cast, type, kind, operand)

    def function(self, kind: str, operand: Value) -> Value:
        return self.made(math.Unary, operand.type, kind, operand)

    def giving(self, found: Value, result: Value) -> tuple[Op, ...]:
        """All operations, of which the one that defines `found` defines `result`."""
        (last,) = (op for op in self.ops if found in op.defines())
        return tuple(with_fields(op, result=result) if op is last else op for op in self.ops)
