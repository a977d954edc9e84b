"""Writes arithmetic on numbers of one format, or on vectors of them."""

from __future__ import annotations

from collections.abc import Sequence
from struct import pack, unpack

from affdsl.ir.attributes import Attributes, OpaqueAttr
from affdsl.ir.core import Op
from affdsl.ir.dialects import arith, math
from affdsl.ir.expr import Value
from affdsl.ir.formats import F64, Format
from affdsl.ir.location import Location
from affdsl.ir.numeric import rounder
from affdsl.ir.traverse import with_fields
from affdsl.ir.types import I1, IntegerType, ScalarType, Type, VectorType

_CONTRACT: Attributes = (("fastmath", OpaqueAttr("#arith.fastmath<contract>")),)


class Maker:
    """Operations of arith, one after the other, on values of one type."""

    def __init__(self, type: Type, format: Format, location: Location | None, made: list[Op] | None = None) -> None:
        self.format = format
        self.made: list[Op] = [] if made is None else made
        self._type = type
        self._location = location

    def in_f64(self) -> Maker:
        """What goes on with numbers of f64 in place of these."""
        return Maker(self._like(F64.type), F64, self._location, self.made)

    def extended(self, value: Value) -> Value:
        """A number of f32 as one of f64."""
        return self.cast("extf", value, F64.type)

    def narrowed(self, value: Value) -> Value:
        """A number of f64 as one of the format."""
        return self.cast("truncf", value, self.format.type)

    def absolute(self, value: Value) -> Value:
        """A number without its sign."""
        return self._add(math.Unary(Value(value.type), "absf", value, location=self._location))

    def negated(self, value: Value) -> Value:
        """A number with the other sign."""
        return self._add(arith.Negate(Value(value.type), value, location=self._location))

    def equals(self, left: Value, right: Value) -> Value:
        """Whether two integers are the same."""
        return self.compares("eq", left, right)

    def compares(self, predicate: str, left: Value, right: Value) -> Value:
        """Whether a comparison of arith.cmpi holds for two integers."""
        return self._add(arith.Compare(Value(self._like(I1)), "cmpi", predicate, left, right, location=self._location))

    def select(self, condition: Value, if_true: Value, if_false: Value) -> Value:
        """One of two numbers."""
        return self._add(arith.Select(Value(if_true.type), condition, if_true, if_false, location=self._location))

    def number(self, number: float) -> Value:
        """A number of the format."""
        return self.constant(self._type, float(rounder(self.format.type)(number)))

    def integer(self, number: int) -> Value:
        """An integer with as many bits."""
        return self.constant(self._like(IntegerType(self.format.bits)), number)

    def add(self, left: Value, right: Value) -> Value:
        """left + right."""
        return self._binary("addf", left, right)

    def subtract(self, left: Value, right: Value) -> Value:
        """left - right."""
        return self._binary("subf", left, right)

    def multiply(self, left: Value, right: Value) -> Value:
        """left * right."""
        return self._binary("mulf", left, right)

    def divide(self, left: Value, right: Value) -> Value:
        """left / right."""
        return self._binary("divf", left, right)

    def multiply_add(self, left: Value, right: Value, other: Value) -> Value:
        """left * right + other, which a compiler may round once or twice."""
        return self._binary("addf", self._binary("mulf", left, right, _CONTRACT), other, _CONTRACT)

    def of_integers(self, kind: str, left: Value, right: Value) -> Value:
        """An operation of arith on integers."""
        return self._binary(kind, left, right)

    def bits_of(self, number: float) -> Value:
        """The bits of a number that is known, as an integer."""
        as_number, as_integer = ("<f", "<i") if self.format.bits == 32 else ("<d", "<q")
        return self.integer(unpack(as_integer, pack(as_number, number))[0])

    def bits(self, value: Value) -> Value:
        """The bits of a number as an integer."""
        return self.cast("bitcast", value, IntegerType(self.format.bits))

    def of_bits(self, value: Value) -> Value:
        """The number that has the bits of an integer."""
        return self.cast("bitcast", value, self.format.type)

    def from_integer(self, value: Value) -> Value:
        """An integer as a number."""
        return self.cast("sitofp", value, self.format.type)

    def choose(self, predicate: str, left: Value, right: Value, if_true: Value, if_false: Value) -> Value:
        """if_true where a comparison of arith.cmpf holds, if_false elsewhere."""
        condition = Value(self._like(I1))
        self._add(arith.Compare(condition, "cmpf", predicate, left, right, location=self._location))
        return self.select(condition, if_true, if_false)

    def polynomial(self, coefficients: Sequence[float], x: Value) -> Value:
        """The first coefficient + the second one times x + ..., by Horner's rule."""
        *others, last = map(self.number, coefficients)
        found = last
        for coefficient in reversed(others):
            found = self.add(self.multiply(found, x), coefficient)
        return found

    def giving(self, found: Value, result: Value) -> tuple[Op, ...]:
        """All operations, of which the one that defines `found` defines `result`."""
        (last,) = (op for op in self.made if found in op.defines())
        return tuple(with_fields(op, result=result) if op is last else op for op in self.made)

    def _binary(self, kind: str, left: Value, right: Value, flags: Attributes = ()) -> Value:
        op = arith.Binary(Value(left.type), kind, left, right, location=self._location, attributes=flags)
        return self._add(op)

    def cast(self, kind: str, value: Value, element: ScalarType) -> Value:
        """A number as one of another type, by a cast of arith."""
        return self._add(arith.Cast(Value(self._like(element)), kind, value, location=self._location))

    def constant(self, type: Type, number: float) -> Value:
        """A number that is known, in all lanes."""
        return self._add(arith.Constant(Value(type), number, location=self._location))

    def _like(self, element: ScalarType) -> Type:
        return VectorType(self._type.shape, element) if isinstance(self._type, VectorType) else element

    def _add(self, op: Op) -> Value:
        self.made.append(op)
        (result,) = op.defines()
        return result
