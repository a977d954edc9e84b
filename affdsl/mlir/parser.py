"""MLIR text as IR: modules, functions, blocks and the values in scope; `readers` has the operations."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeVar

from affdsl.ir.core import Block, Op
from affdsl.ir.dialects import func
from affdsl.ir.expr import Affine, Constraint, Value
from affdsl.ir.location import Location
from affdsl.ir.maps import AffineMap
from affdsl.ir.types import INDEX, MemRefType, Type
from affdsl.mlir.attributes import Attributes
from affdsl.mlir.scanner import Scanner, unescaped

T = TypeVar("T")
_UNNAMED = re.compile(r"%(?:arg)?\d+(?:#\d+)?")


@dataclass(frozen=True)
class Use:
    """A value's name where it is read, before its type is known."""

    name: str
    offset: int


@dataclass(frozen=True)
class Head:
    """What stands before an operation's operands: the names of its results, its name, its place."""

    results: tuple[str, ...]
    name: str
    offset: int
    location: Location


Reader = Callable[["Parser", Head], Op]


class Parser(Attributes):
    """Reads a text; `readers` says how each operation continues after its name."""

    def __init__(self, text: str, file: str, readers: Mapping[str, Reader]) -> None:
        super().__init__(Scanner(text, file))
        self._readers = readers
        self._values: dict[str, Value] = {}
        self._defined: list[str] = []
        self._symbols: set[str] = set()

    def module(self) -> func.Module:
        """The whole text."""
        s = self.scanner
        while s.token.startswith("#"):
            name = s.advance()
            s.expect("=")
            self.aliases[name] = self.map() if s.token == "affine_map" else self.set()
        wrapped = s.accept("module")
        if wrapped:
            s.expect("{")
        functions = []
        while s.token not in ("}", ""):
            functions.append(self._function())
        if wrapped:
            s.expect("}")
        if s.token:
            s.fail("expected the end of the text")
        return func.Module(tuple(functions))

    # Values

    def use(self) -> Use:
        """A value's name."""
        s = self.scanner
        if not s.token.startswith("%"):
            s.fail("expected a value, like %x")
        offset = s.start
        return Use(s.advance(), offset)

    def resolve(self, use: Use, type: Type) -> Value:
        """The value that a name stands for here, which must have the type."""
        value = self._values.get(use.name.removesuffix("#0")) or self._values.get(use.name)
        if value is None:
            self.scanner.fail(f"{use.name} is not defined here", use.offset)
        if value.type != type:
            self.scanner.fail(f"{use.name} has the type {value.type}, but {type} is needed", use.offset)
        return value

    def operand(self, type: Type) -> Value:
        """A value of a type that is known already."""
        return self.resolve(self.use(), type)

    def uses(self) -> list[Use]:
        """Names separated by commas."""
        found = [self.use()]
        while self.scanner.accept(","):
            found.append(self.use())
        return found

    def typed(self, uses: Sequence[Use], types: Sequence[Type], offset: int | None = None) -> tuple[Value, ...]:
        """The values that names stand for, with a type for each."""
        if len(uses) != len(types):
            self.scanner.fail(f"{len(uses)} values, but {len(types)} types", offset)
        return tuple(map(self.resolve, uses, types))

    def define(self, name: str, type: Type, offset: int | None = None) -> Value:
        """A new value, known by its name until the block ends."""
        known = self._values.get(name)
        if known is not None:
            self.scanner.fail(f"{name} is defined already", offset)
        value = Value(
            type, "" if _UNNAMED.fullmatch(name) else name[1:].replace("#", "_"), self.scanner.location(offset)
        )
        if name:
            self._values[name] = value
            self._defined.append(name)
        return value

    def results(self, head: Head, types: Sequence[Type]) -> tuple[Value, ...]:
        """The results of an operation: all of them named, or none."""
        names = head.results or ("",) * len(types)
        if len(names) != len(types):
            self.scanner.fail(f"{head.name} has {len(types)} results, but {len(names)} names", head.offset)
        return tuple(self.define(name, type, head.offset) for name, type in zip(names, types, strict=True))

    def result(self, head: Head, type: Type) -> Value:
        """The result of an operation that has one."""
        return self.results(head, (type,))[0]

    # Affine operands

    def subscript(self) -> Affine:
        """An affine expression over values, `symbol(%n)` or plain."""
        return self.expression(self._subscript_atom)

    def _subscript_atom(self) -> Affine:
        s = self.scanner
        if s.accept("symbol"):
            s.expect("(")
            value = self.operand(INDEX)
            s.expect(")")
            return Affine.of(value)
        return Affine.of(self.operand(INDEX))

    def map_operands(self) -> tuple[tuple[Value, ...], tuple[Value, ...]]:
        """`(%dims)[%symbols]`"""
        dims = self.listed(lambda: self.operand(INDEX))
        return dims, self.listed(lambda: self.operand(INDEX), "[", "]") if self.scanner.token == "[" else ()

    def applied_map(self) -> tuple[Affine, ...]:
        """A map with its operands."""
        place, map = self.scanner.start, self.map()
        dims, symbols = self.map_operands()
        return self._checked(lambda: map.apply(dims, symbols), place)

    def applied_set(self) -> tuple[Constraint, ...]:
        """A set with its operands."""
        place, set = self.scanner.start, self.set()
        dims, symbols = self.map_operands()
        return self._checked(lambda: set.apply(dims, symbols), place)

    def _checked(self, make: Callable[[], T], place: int) -> T:
        try:
            return make()
        except (ValueError, ZeroDivisionError) as error:
            self.scanner.fail(str(error), place)

    # Blocks

    @contextmanager
    def scope(self) -> Iterator[None]:
        """Forget on leaving what is defined inside."""
        before = len(self._defined)
        yield
        for name in self._defined[before:]:
            del self._values[name]
        del self._defined[before:]

    def block(self) -> Block:
        """`{ operations }`; a terminator without values is left out."""
        s = self.scanner
        s.expect("{")
        ops: list[Op] = []
        with self.scope():
            while s.token not in ("}", ""):
                place, op = s.start, self._operation()
                if ops and ops[-1].is_terminator:
                    s.fail(f"nothing may follow {ops[-1].name} in its block", place)
                ops.append(op)
        s.expect("}")
        if ops and ops[-1].is_terminator and not any(True for _ in ops[-1].reads()):
            ops.pop()
        return tuple(ops)

    def no_attributes(self, head: Head) -> None:
        """Refuse a dictionary of attributes: the IR would lose it."""
        if self.scanner.token in ("{", "attributes", "loc"):
            self.scanner.fail(f"attributes and locations of {head.name} are not kept yet")

    def _operation(self) -> Op:
        s = self.scanner
        location = s.location()
        names: list[str] = []
        while s.token.startswith("%"):
            name = s.advance()
            count = s.integer() if s.accept(":") else 1
            names += [name] if count == 1 else [f"{name}#{n}" for n in range(count)]
            if not s.accept(","):
                s.expect("=")
        offset = s.start
        reader = self._readers.get(s.token)
        if reader is None:
            s.fail(f"the operation {s.token or 'here'} is not known" if s.token else "expected an operation or '}'")
        return reader(self, Head(tuple(names), s.advance(), offset, location))

    # Functions

    def symbol(self) -> str:
        """`@name` or `@"any name"`."""
        s = self.scanner
        if not s.token.startswith("@"):
            s.fail("expected a symbol, like @name")
        text = s.advance()[1:]
        return unescaped(text) if text.startswith('"') else text

    def _function(self) -> func.Func:
        s = self.scanner
        location = s.location()
        s.expect("func.func")
        private = s.accept("private")
        place, symbol = s.start, self.symbol()
        if symbol in self._symbols:
            s.fail(f"the function @{symbol} is defined twice", place)
        self._symbols.add(symbol)
        with self.scope():
            parameters = self.listed(self._parameter)
            args = tuple(value for value, _, _ in parameters)
            results = self._function_results()
            assumes = self._assumptions(args)
            if s.token != "{":
                s.fail("expected the body of the function: one that is defined elsewhere is not read yet")
            body = self.block()
        return func.Func(
            symbol, args, body, tuple(type for type, _ in results),
            self._shapes(args, [shape for _, shape, _ in parameters], place), assumes,
            frozenset(n for n, (_, _, unsigned) in enumerate(parameters) if unsigned),
            frozenset(n for n, (_, unsigned) in enumerate(results) if unsigned), private, location=location,
        )  # fmt: skip

    def _parameter(self) -> tuple[Value, AffineMap | None, bool]:
        use = self.use()
        self.scanner.expect(":")
        value = self.define(use.name, self.type(), use.offset)
        shape, unsigned = self._contract_attributes()
        return value, shape, unsigned

    def _contract_attributes(self) -> tuple[AffineMap | None, bool]:
        """`{affdsl.shape = affine_map<...>, affdsl.unsigned}`"""
        s = self.scanner
        shape, unsigned = None, False
        if s.accept("{"):
            while True:
                if s.accept("affdsl.unsigned"):
                    unsigned = True
                elif s.accept("affdsl.shape"):
                    s.expect("=")
                    shape = self.map()
                else:
                    s.fail("this attribute of an argument or result is not kept yet")
                if not s.accept(","):
                    break
            s.expect("}")
        return shape, unsigned

    def _function_results(self) -> tuple[tuple[Type, bool], ...]:
        if not self.scanner.accept("->"):
            return ()
        if self.scanner.token != "(":
            return ((self.type(), False),)

        def one() -> tuple[Type, bool]:
            type = self.type()
            return type, self._contract_attributes()[1]

        return self.listed(one)

    def _assumptions(self, args: Sequence[Value]) -> tuple[Constraint, ...]:
        s = self.scanner
        if not s.accept("attributes"):
            return ()
        s.expect("{")
        if s.token != "affdsl.assume":
            s.fail("this attribute of a function is not kept yet")
        s.advance()
        s.expect("=")
        place, set = s.start, self.set()
        s.expect("}")
        return self._checked(lambda: set.apply((), [a for a in args if a.type == INDEX]), place)

    def _shapes(
        self, args: Sequence[Value], maps: Sequence[AffineMap | None], place: int
    ) -> tuple[tuple[Affine, ...] | None, ...]:
        """The contract's sizes; those of static types are not written out."""
        if all(map is None for map in maps):
            return ()
        sizes = [a for a in args if a.type == INDEX]
        shapes: list[tuple[Affine, ...] | None] = []
        for arg, map in zip(args, maps, strict=True):
            if map is not None:
                shapes.append(self._checked(lambda map=map: map.apply((), sizes), place))  # type: ignore[misc]
            elif isinstance(arg.type, MemRefType) and None not in arg.type.shape:
                shapes.append(tuple(Affine((), size) for size in arg.type.shape if size is not None))
            else:
                shapes.append(None)
        return tuple(shapes)
