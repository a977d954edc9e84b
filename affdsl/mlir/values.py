"""The values that MLIR text has names for: what a name stands for where it is read, and where that ends."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from affdsl.ir.dialects.opaque import UNTYPED
from affdsl.ir.expr import Value
from affdsl.ir.location import Location
from affdsl.ir.types import Type
from affdsl.mlir.attributes import AttributeReader
from affdsl.mlir.scanner import Scanner

_UNNAMED = re.compile(r"%(?:arg)?\d+(?:#\d+)?")


class Use(NamedTuple):
    """A value's name where it is read, before its type is known."""

    name: str
    offset: int


class Head(NamedTuple):
    """What stands before an operation's operands: the names of its results, its name, its place."""

    results: tuple[Use, ...]
    name: str
    offset: int
    location: Location


class ValueReader(AttributeReader):
    """Reads names of values at the scanner's place, and knows what they stand for."""

    def __init__(self, scanner: Scanner) -> None:
        super().__init__(scanner)
        self._values: dict[str, Value] = {}
        self._defined: list[str] = []
        self._hints: dict[str, str] = {}  # by name
        self._outer: list[tuple[dict[str, Value], list[str], dict[str, int]]] = []
        self._awaited: dict[str, int] = {}  # where values that are defined below are read first
        self._untyped: set[Value] = set()  # which get the type as which they are read first

    @property
    def is_value(self) -> bool:
        """Whether the current token names a value."""
        return self.scanner.token[:1] == "%" and len(self.scanner.token) > 1

    def use(self) -> Use:
        """A value's name."""
        s = self.scanner
        if s.token[:1] != "%" or s.token == "%":
            s.fail("expected a value, like %x")
        offset = s.start
        return Use(s.advance(), offset)

    def uses(self) -> list[Use]:
        """Names separated by commas, at least one."""
        found = [self.use()]
        while self.scanner.accept(","):
            found.append(self.use())
        return found

    def uses_or_none(self) -> list[Use]:
        """Names separated by commas, or none."""
        return self.uses() if self.is_value else []

    def resolve(self, use: Use, type: Type) -> Value:
        """The value that a name stands for here, which must have the type."""
        value = self._values.get(use.name)
        if value is None:
            value = self._values.get(use.name.removesuffix("#0")) or self._await(use, type)
        if value.type is not type and value.type != type:
            if value in self._untyped:
                value.type = type
                self._untyped.discard(value)
                return value
            self.scanner.fail(f"{use.name} has the type {value.type}, but {type} is needed", use.offset)
        return value

    def known(self, name: str) -> Value | None:
        """The value that a name stands for here, if it does."""
        return self._values.get(name) or self._values.get(name.removesuffix("#0"))

    def untyped_results(self, head: Head) -> tuple[Value, ...]:
        """The results of an operation that does not say their types: what reads one of them first does."""
        values = tuple([self.define(use, UNTYPED) for use in head.results])
        self._untyped.update(values)
        return values

    def operand(self, type: Type) -> Value:
        """A value of a type that is known already."""
        return self.resolve(self.use(), type)

    def typed(self, uses: Sequence[Use], types: Sequence[Type], offset: int | None = None) -> tuple[Value, ...]:
        """The values that names stand for, with a type for each."""
        if len(uses) != len(types):
            self.scanner.fail(f"{len(uses)} values, but {len(types)} types", offset)
        return tuple([self.resolve(u, t) for u, t in zip(uses, types, strict=True)])

    def define(self, use: Use, type: Type, location: Location | None = None) -> Value:
        """A new value, known by its name until the block ends."""
        name = use.name
        known = self._values.get(name)
        if known is not None:
            return self._defined_late(use, known, type)
        if "#" in name and self.scanner.text.startswith(name, use.offset):
            self.scanner.fail(f"a new value has no number in its name: {name}", use.offset)
        hint = self._hints.get(name)
        if hint is None:
            hint = self._hints[name] = _hint(name)
        value = Value(type, hint, location or self.scanner.location(use.offset))
        if name:
            self._values[name] = value
            self._defined.append(name)
        return value

    def results(self, head: Head, types: Sequence[Type]) -> tuple[Value, ...]:
        """The results of an operation: all of them named, or none."""
        names = head.results or (Use("", head.offset),) * len(types)
        if len(names) != len(types):
            self.scanner.fail(f"{head.name} has {len(types)} results, but {len(names)} names", head.offset)
        return tuple([self.define(name, type) for name, type in zip(names, types, strict=True)])

    def result(self, head: Head, type: Type) -> Value:
        """The result of an operation that has one."""
        if len(head.results) == 1:
            return self.define(head.results[0], type)
        return self.results(head, (type,))[0]

    def unnamed(self, type: Type) -> Value:
        """A new value that the text has no name for."""
        return Value(type, "", self.scanner.location())

    def no_results(self, head: Head) -> None:
        """Refuse a name for the results of an operation that has none."""
        self.results(head, ())

    def enter(self) -> int:
        """Begin a block or region: give the number back to `leave`."""
        return len(self._defined)

    def leave(self, before: int) -> None:
        """Forget what was defined since `enter`."""
        for name in self._defined[before:]:
            del self._values[name]
        del self._defined[before:]

    def enter_isolated(self) -> None:
        """Begin a function or module, inside which no value from outside is known."""
        self._outer.append((self._values, self._defined, self._awaited))
        self._values, self._defined, self._awaited = {}, [], {}

    def leave_isolated(self) -> None:
        """End what `enter_isolated` began."""
        self.check_defined()
        self._values, self._defined, self._awaited = self._outer.pop()

    def check_defined(self) -> None:
        """Refuse what is read, but defined neither above nor below."""
        for name, offset in self._awaited.items():
            self.scanner.fail(f"{name} is not defined", offset)

    def _await(self, use: Use, type: Type) -> Value:
        """A value that must be defined below: whether it may be read before that is for the verifier to say."""
        value = Value(type, use.name[1:].replace("#", "_"))
        self._awaited[use.name] = use.offset
        self._values[use.name] = value
        return value

    def _defined_late(self, use: Use, known: Value, type: Type) -> Value:
        if use.name not in self._awaited:
            self.scanner.fail(f"{use.name} is defined already", use.offset)
        place = self._awaited.pop(use.name)
        if known.type != type:
            self.scanner.fail(f"{use.name} is read as {known.type}, but has the type {type}", place)
        known.location = self.scanner.location(use.offset)
        self._defined.append(use.name)
        return known


def _hint(name: str) -> str:
    """What a value is called; nothing for a number that a printer gave it."""
    if name[1:2].isdigit() or name.startswith("%arg"):
        return "" if _UNNAMED.fullmatch(name) else name[1:].replace("#", "_")
    return name[1:].replace("#", "_")
