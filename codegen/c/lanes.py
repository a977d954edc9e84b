"""Vector values in C: arrays of their lanes in row-major order, filled by loops; one expression if all are equal."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod

from affdsl.errors import UnsupportedError
from affdsl.ir.expr import Value
from affdsl.ir.types import ScalarType, VectorType
from codegen.c.expressions import PRIMARY, Code, code, number
from codegen.c.memory import Memory, plus, times
from codegen.c.names import Scope
from codegen.c.types import scalar, value_type

MOST_LANES = 1 << 13
"""So many lanes a vector may have that lies on the stack."""

Place = Sequence[Code]
"""A lane: its number along each dimension."""


class Lanes(Memory):
    """Names vectors, and writes the loops over their lanes."""

    def _vector_type(self, value: Value) -> VectorType:
        type = value.type
        assert isinstance(type, VectorType)
        if any(type.scalable):
            raise UnsupportedError(f"C output has no scalable vectors, such as {value.hint or 'one'!r} of type {type}")
        if prod(type.shape) > MOST_LANES:
            raise UnsupportedError(f"C output keeps vectors on the stack; {type} has more than {MOST_LANES} lanes")
        return type

    def _lane(self, value: Value, place: Place) -> Code:
        """One lane of a vector as an expression."""
        return self._flat_lane(value, flat(self._vector_type(value).shape, place))

    def _flat_lane(self, value: Value, place: Code) -> Code:
        """The lane of a number in row-major order."""
        if value in self._splats:
            self.used.add(self._splats[value].text)
            return self._splats[value]
        name = self._codes[value]
        self.used.add(name.text)
        return code(f"{name}[{place}]", PRIMARY, name, place)

    def _again(self, value: Value) -> Code:
        """A scalar as an expression that may be written in a loop over lanes: a literal or a name."""
        if value in self._codes and not self._codes[value].variables:
            return self._value(value)
        return self._stable(value)

    def _splat(self, value: Value, shown: Code) -> None:
        """All lanes of value are shown, which may be written again and again."""
        self._vector_type(value)
        self._splats[value] = shown

    def _new(self, value: Value, hint: str = "") -> str:
        """Declare the array of a vector."""
        type = self._vector_type(value)
        name = self._scope.declare(value.hint or hint, self._temporary)
        self._declared.append((name, len(self.lines)))
        self._line(f"{value_type(type.element)} {name}[{prod(type.shape)}];")
        self._codes[value] = Code(name)
        return name

    def _fill(self, value: Value, make: Callable[[Place], Code]) -> str:
        """Declare a vector, and give each lane what make says of its place."""
        name = self._new(value)
        shape = self._vector_type(value).shape
        place = self._loops(shape)
        self._line(f"{name}[{flat(shape, place)}] = {make(place)};")
        self._end(place)
        return name

    def _fill_flat(self, value: Value, make: Callable[[Code], Code]) -> str:
        """Declare a vector, and give each lane what make says of its number."""
        name = self._new(value)
        (lane,) = self._loops((prod(self._vector_type(value).shape),))
        self._line(f"{name}[{lane}] = {make(lane)};")
        self._end((lane,))
        return name

    def _listed(self, value: Value, items: Sequence[Code]) -> None:
        """Declare a vector whose lanes are listed."""
        type = self._vector_type(value)
        name = self._scope.declare(value.hint, self._temporary)
        self._declared.append((name, len(self.lines)))
        text = ", ".join(item.text for item in items)
        self._line(f"const {value_type(type.element)} {name}[{len(items)}] = {{{text}}};")
        self._codes[value] = Code(name)

    def _assign_lanes(self, name: str, value: Value) -> None:
        """Copy a vector into an array."""
        (lane,) = self._loops((prod(self._vector_type(value).shape),))
        self._line(f"{name}[{lane}] = {self._flat_lane(value, lane)};")
        self._end((lane,))

    def _loops(self, shape: Sequence[int]) -> tuple[Code, ...]:
        """Open loops over a shape; gives their counters."""
        counters = []
        for size in shape:
            name = Scope(self._scope).declare("", "lane")
            self._open(f"for (int64_t {name} = 0; {name} < {size}; ++{name})")
            self._scope.reserve(name)
            counters.append(Code(name))
        return tuple(counters)

    def _end(self, loops: Sequence[object]) -> None:
        for _ in loops:
            self._close()


def lane_type(value: Value) -> ScalarType:
    """The type of a scalar, or of the lanes of a vector."""
    return scalar(value.type.element if isinstance(value.type, VectorType) else value.type)


def flat(shape: Sequence[int], place: Place) -> Code:
    """The number of a lane in row-major order."""
    found = number(0)
    for size, part in zip(shape, place, strict=True):
        found = plus(times(found, number(size)), part)
    return found
