"""Writes arithmetic on numbers of one format, or on vectors of them."""

from __future__ import annotations

from collections.abc import Sequence
from struct import pack, unpack

from affdsl.ir.attributes import Attributes, OpaqueAttr
from affdsl.ir.core import Op
from affdsl.ir.dialects import arith
from affdsl.ir.emitter import Emitter
from affdsl.ir.expr import Value
from affdsl.ir.formats import F64, Format
from affdsl.ir.location import Location
from affdsl.ir.numeric import rounder
from affdsl.ir.types import IntegerType, ScalarType, Type, same_shape

_CONTRACT: Attributes = (("fastmath", OpaqueAttr("#arith.fastmath<contract>")),)


class Maker(Emitter):
    """Operations of arith, one after the other, on values of one type."""

    def __init__(self, type: Type, format: Format, location: Location | None, ops: list[Op] | None = None) -> None:
        super().__init__(location, ops)
        self.format = format
        self._type = type

    def in_f64(self) -> Maker:
        """What goes on with numbers of f64 in place of these."""
        return Maker(self._like(F64.type), F64, self.location, self.ops)

    def extended(self, value: Value) -> Value:
        """A number of f32 as one of f64."""
        return self._cast("extf", value, F64.type)

    def narrowed(self, value: Value) -> Value:
        """A number of f64 as one of the format."""
        return self._cast("truncf", value, self.format.type)

    def absolute(self, value: Value) -> Value:
        """A number without its sign."""
        return self.function("absf", value)

    def negated(self, value: Value) -> Value:
        """A number with the other sign."""
        return self.made(arith.Negate, value.type, value)

    def equals(self, left: Value, right: Value) -> Value:
        """Whether two integers are the same."""
        return self.compare("eq", left, right)

    def number(self, number: float) -> Value:
        """A number of the format."""
        return self.constant(float(rounder(self.format.type)(number)), self._type)

    def integer(self, number: int) -> Value:
        """An integer with as many bits."""
        return self.constant(number, self._like(IntegerType(self.format.bits)))

    def add(self, left: Value, right: Value) -> Value:
        """left + right."""
        return self.binary("addf", left, right)

    def subtract(self, left: Value, right: Value) -> Value:
        """left - right."""
        return self.binary("subf", left, right)

    def multiply(self, left: Value, right: Value) -> Value:
        """left * right."""
        return self.binary("mulf", left, right)

    def divide(self, left: Value, right: Value) -> Value:
        """left / right."""
        return self.binary("divf", left, right)

    def multiply_add(self, left: Value, right: Value, other: Value) -> Value:
        """left * right + other, which a compiler may round once or twice."""
        return self.binary("addf", self.binary("mulf", left, right, _CONTRACT), other, _CONTRACT)

    def bits_of(self, number: float) -> Value:
        """The bits of a number that is known, as an integer."""
        as_number, as_integer = ("<f", "<i") if self.format.bits == 32 else ("<d", "<q")
        return self.integer(unpack(as_integer, pack(as_number, number))[0])

    def bits(self, value: Value) -> Value:
        """The bits of a number as an integer."""
        return self._cast("bitcast", value, IntegerType(self.format.bits))

    def of_bits(self, value: Value) -> Value:
        """The number that has the bits of an integer."""
        return self._cast("bitcast", value, self.format.type)

    def from_integer(self, value: Value) -> Value:
        """An integer as a number."""
        return self._cast("sitofp", value, self.format.type)

    def choose(self, predicate: str, left: Value, right: Value, if_true: Value, if_false: Value) -> Value:
        """if_true where a comparison of arith.cmpf holds, if_false elsewhere."""
        return self.select(self.compare(predicate, left, right), if_true, if_false)

    def polynomial(self, coefficients: Sequence[float], x: Value) -> Value:
        """The first coefficient + the second one times x + ..., by Horner's rule."""
        *others, last = map(self.number, coefficients)
        found = last
        for coefficient in reversed(others):
            found = self.add(self.multiply(found, x), coefficient)
        return found

    def _cast(self, kind: str, value: Value, element: ScalarType) -> Value:
        return self.cast(kind, value, self._like(element))

    def _like(self, element: ScalarType) -> Type:
        return same_shape(self._type, element)
