"""MLIR text as IR: operations, blocks, and the values in scope; `reading` has the custom form of each operation."""

from __future__ import annotations

import gc
from collections.abc import Callable, Generator, Mapping, Sequence, Sized
from typing import TypeAlias, TypeVar

from affdsl.frozen import FrozenValue
from affdsl.ir.applied import Applied, applied
from affdsl.ir.attributes import Attributes
from affdsl.ir.core import Block, Op
from affdsl.ir.dialects.opaque import must_end
from affdsl.ir.expr import Value
from affdsl.ir.location import Location
from affdsl.ir.messages import op_name
from affdsl.ir.nesting import DEEPEST, TOO_DEEP
from affdsl.ir.traverse import with_fields
from affdsl.ir.types import INDEX, FunctionType, MemRefType, Type
from affdsl.ir.written import Tree
from affdsl.mlir.registry import OPERATIONS
from affdsl.mlir.resources import read_resources
from affdsl.mlir.scanner import Scanner
from affdsl.mlir.values import Head as Head
from affdsl.mlir.values import Use as Use
from affdsl.mlir.values import ValueReader

T = TypeVar("T")
OpT = TypeVar("OpT", bound=Op)
DEFAULT_DIALECTS = {"func.func": "func"}
"""The operations in whose blocks names may leave out their dialect."""
_MODULES, _FUNCTIONS = ("module", "builtin.module"), ("func", "func.func")


class Parameter(FrozenValue):
    """An argument of a block or function as written."""

    use: Use
    type: Type
    attributes: Attributes
    location: Location | None


Reading: TypeAlias = Generator[None, Block, Op]
"""Reads an operation with blocks: where it yields, the operations up to the next `}` or `^label` are read for it."""
Reader = Callable[["Parser", Head], "Op | Reading"]


class Parser(ValueReader):
    """Reads a text.

    `readers` says how each operation continues after its name, `legacy` the same for names of former times, `generic`
    reads the generic form, and `unknown` an operation whose custom form nobody here knows.
    """

    def __init__(
        self,
        text: str,
        file: str,
        readers: Mapping[str, Reader],
        legacy: Mapping[str, Reader],
        generic: Reader,
        unknown: Reader,
    ) -> None:
        super().__init__(Scanner(text, file))
        self._readers = readers
        self._legacy = legacy
        self._generic = generic
        self._unknown = unknown
        self.successors: list[tuple[str, int]] = []  # labels of blocks, and where they are named
        self.last = 0  # where the last operation begins that has been read as a whole
        self.default_dialect = ["builtin"]
        self.allow_unregistered = True
        self.resources = ""
        self._emitted: list[Op] = []
        self._ends: list[list[Location | None]] = []  # of the open operations
        self._kinds: list[str] = []  # of the open operations

    def operations(self) -> Block:
        """All operations up to the end of the text or a `}` that closes nothing."""
        # Nothing that is made here is garbage, and all of it stays: to look for cycles among it is a third of the time.
        collects = gc.isenabled()
        gc.disable()
        try:
            found = self._operations()
            self.check_defined()
            return found
        finally:
            if collects:
                gc.enable()

    def _operations(self) -> Block:
        open_ops: list[tuple[Reading | None, Head | None, list[Op]]] = [(None, None, [])]
        s = self.scanner
        while True:
            reading, head, ops = open_ops[-1]
            if s.token in ("}", "") or s.token[0] == "^":
                if reading is None:
                    return tuple(ops)
                assert head is not None, "what reads blocks began with a head"
                try:
                    reading.send(tuple(ops))
                except StopIteration as done:
                    # Only now, so that a mistake inside is told first, and of those too deep the outermost one.
                    if len(open_ops) > DEEPEST + 1 and _levels(open_ops) == DEEPEST + 1:
                        s.fail(TOO_DEEP, head.offset)
                    open_ops.pop()
                    open_ops[-1][2].append(self._finished(done.value))
                    self.last = head.offset
                else:
                    open_ops[-1] = (reading, head, [])
                continue
            if s.token[0] in "#!" and s.peek() == "=":
                self._pass_alias(inside=len(open_ops) > 1)
                continue
            if s.token == "{-#":
                if len(open_ops) > 1:
                    s.fail("'{-#' stands outside of all operations")
                self.resources = read_resources(s)
                continue
            head = self._head()
            if ops and must_end(ops[-1]):
                s.fail(f"{op_name(ops[-1])} must be the last operation of its block", self.last)
            read = self._read(head)
            if isinstance(read, Op):
                if self._emitted:
                    ops += self._emitted
                    self._emitted = []
                ops.append(self._located(read) if s.token == "loc" else read)
                self.last = head.offset
            else:
                self._begin(read, head, open_ops)

    def _begin(
        self, reading: Reading, head: Head, open_ops: list[tuple[Reading | None, Head | None, list[Op]]]
    ) -> None:
        is_generic = head.name.startswith('"')  # which says nothing of the names inside
        self.default_dialect.append(
            self.default_dialect[-1] if is_generic else DEFAULT_DIALECTS.get(head.name, "builtin")
        )
        self._ends.append([])
        self._kinds.append(head.name.strip('"'))
        try:
            next(reading)
        except StopIteration as done:
            open_ops[-1][2].append(self._finished(done.value))
            self.last = head.offset
        else:
            open_ops.append((reading, head, []))

    def emit(self, op: Op) -> None:
        """Put an operation before the one that is being read."""
        self._emitted.append(op)

    def same_numbers(self, head: Head, ivs: Sized, lower: Sized, upper: Sized, steps: Sized) -> None:
        """A nest has a bound on each side and a step for each of its variables."""
        counts = [len(ivs), len(lower), len(upper), len(steps)]
        if len(set(counts)) > 1:
            shown = "{}, {}, {} and {}".format(*counts)
            self.scanner.fail(f"the numbers of variables, bounds and steps differ: {shown}", head.offset)

    # Affine operands

    def subscripts(self, opening: str = "[", closing: str = "]") -> Applied:
        """Affine expressions over values, plain or as `symbol(%n)`."""
        plain = self._plain_subscripts() if opening == "[" else None
        if plain is not None:
            return plain
        written = Subscripts(self)
        place = self.scanner.start
        trees = self.listed(lambda: self.expression(written.atom), opening, closing)
        return self.apply(trees, None, written.dims, written.symbols, place)

    def _plain_subscripts(self) -> Applied | None:
        """`[%i, %j]`, which is what most accesses have; None, and nothing passed, if there is more than names in it."""
        tokens, first = self.scanner.tokens, self.scanner.place
        at = first
        while tokens[at] == ("," if at > first else "[") and tokens[at + 1][:1] == "%":
            at += 2
        names = tokens[first + 1 : at : 2]
        if tokens[at] != "]" or not names or len(set(names)) != len(names):
            return None
        values: list[Value] = []
        for _ in names:
            self.scanner.advance()
            values.append(self.operand(INDEX))
        self.scanner.advance()
        trees: tuple[Tree, ...] = tuple([f"d{n}" for n in range(len(values))])
        return Applied(trees, tuple(values), ())

    def map_operands(self) -> tuple[list[Value], list[Value]]:
        """`(%dims)[%symbols]`"""
        dims = self.listed(lambda: self.operand(INDEX))
        symbols = self.listed(lambda: self.operand(INDEX), "[", "]") if self.scanner.token == "[" else ()
        return list(dims), list(symbols)

    def applied_map(self) -> Applied:
        """A map with its operands."""
        place, map = self.scanner.start, self.map()
        return self._apply_checked(map.written, None, (map.dims, map.symbols), place)

    def applied_set(self) -> Applied:
        """A set with its operands."""
        place, set = self.scanner.start, self.set()
        trees, equalities = tuple([t for t, _ in set.written]), tuple([e for _, e in set.written])
        return self._apply_checked(trees, equalities, (set.dims, set.symbols), place)

    def _apply_checked(
        self, trees: tuple[Tree, ...], equalities: tuple[bool, ...] | None, counts: tuple[int, int], place: int
    ) -> Applied:
        dims, symbols = self.map_operands()
        if (len(dims), len(symbols)) != counts:
            given = f"{len(dims)} and {len(symbols)}"
            self.scanner.fail(f"this takes {counts[0]} dimensions and {counts[1]} symbols, got {given}", place)
        return self.apply(trees, equalities, dims, symbols, place)

    def apply(
        self,
        trees: tuple[Tree, ...],
        equalities: tuple[bool, ...] | None,
        dims: Sequence[Value],
        symbols: Sequence[Value],
        place: int | None = None,
    ) -> Applied:
        """Trees over operands; a division that means nothing is refused at a place."""
        try:
            return applied(trees, tuple(dims), tuple(symbols), equalities)
        except ZeroDivisionError as error:
            self.scanner.fail(str(error), place)

    # Pieces of operations

    def colon_type(self) -> Type:
        """`: type`"""
        self.scanner.expect(":")
        return self.type()

    def assignment(self) -> tuple[Use, Use]:
        """`%a = %b`: a name, and the value that it stands for."""
        name = self.use()
        self.scanner.expect("=")
        return name, self.use()

    def colon_memref(self, head: Head) -> MemRefType:
        """`: memref<...>`"""
        self.scanner.expect(":")
        return self.memref(head)

    def memref(self, head: Head) -> MemRefType:
        """`memref<...>`"""
        place, type = self.scanner.start, self.type()
        if not isinstance(type, MemRefType):
            self.scanner.fail(f"{head.name} needs a memref of known rank, not {type}", place)
        return type

    def colon_function(self) -> FunctionType:
        """`: (inputs) -> results`"""
        self.scanner.expect(":")
        place, type = self.scanner.start, self.type()
        if not isinstance(type, FunctionType):
            self.scanner.fail("expected the type of a function, like (f32) -> f32", place)
        return type

    def type_list(self) -> list[Type]:
        """Types separated by commas, at least one."""
        types = [self.type()]
        while self.scanner.accept(","):
            types.append(self.type())
        return types

    def parameter(self) -> Parameter:
        """`%x: type {attributes} loc(...)`"""
        use = self.use()
        self.scanner.expect(":")
        return Parameter(use, self.type(), self.dictionary(), self.trailing_location())

    def block_parameter(self) -> Parameter:
        """`%x: type loc(...)`"""
        use = self.use()
        self.scanner.expect(":")
        return Parameter(use, self.type(), (), self.trailing_location())

    def closed(self, ops: Block, terminator: type[Op]) -> Block:
        """End a block with `}`; a terminator of its own kind that says nothing is left out."""
        self.scanner.expect("}")
        silent = bool(ops) and isinstance(ops[-1], terminator) and says_nothing(ops[-1])
        self._ends[-1].append(ops[-1].location if silent else None)
        return ops[:-1] if silent else ops

    def _finished(self, op: Op) -> Op:
        """An operation whose blocks have been read."""
        self.default_dialect.pop()
        self._kinds.pop()
        ends = tuple(self._ends.pop())
        return self._located(with_fields(op, ends=ends) if any(ends) else op)

    def _located(self, op: Op) -> Op:
        location = self.trailing_location()
        return op if location is None else with_fields(op, location=location)

    def _head(self) -> Head:
        s = self.scanner
        names: list[Use] = []
        if s.token[0] == "%" and s.peek() == "=":
            name, offset = s.token, s.start
            if "#" not in name and name != "%":
                s.go_to(s.place + 2)
                return Head((Use(name, offset),), s.token, s.start, s.location())
        if s.token[0] == "%":
            while True:
                use = self.use()
                if "#" in use.name:
                    s.fail("a result is named without '#'", use.offset)
                place, count = s.start, s.natural() if s.accept(":") else 1
                if not 1 <= count <= 100_000:
                    s.fail("an operation that has names for results has at least one", place)
                names += [use, *(Use(f"{use.name}#{n}", use.offset) for n in range(1, count))]
                if not s.accept(","):
                    break
            s.expect("=")
        return Head(tuple(names), s.token, s.start, s.location())

    def _read(self, head: Head) -> Op | Reading:
        s = self.scanner
        reader = self._readers.get(head.name)
        if reader is None:
            if s.is_string:
                return self._generic(self, head)
            if not s.is_word:
                s.fail("expected an operation or '}'")
            full = f"{self.default_dialect[-1]}.{head.name}"
            if full in self._readers:
                head = head._replace(name=full)
            reader = self._readers.get(full) or self._legacy.get(head.name.removeprefix("std."))
        if reader is None and "." in head.name and head.name.partition(".")[0] not in OPERATIONS:
            reader = self._unknown
        if reader is None:
            s.fail(
                f'the operation {s.token} is not known here; write it in generic form, "{s.token}"(...), as '
                "mlir-opt --mlir-print-op-generic FILE does"
            )
        s.advance()
        return reader(self, head)

    @property
    def is_module_level(self) -> bool:
        """Whether the operations that are read stand in modules alone, where symbols are defined."""
        return all(kind.endswith("module") for kind in self._kinds)

    @property
    def is_in_function(self) -> bool:
        """Whether the operations that are read stand in a function."""
        return any(kind in _FUNCTIONS for kind in self._kinds)

    @property
    def names_an_operation(self) -> bool:
        """Whether the current token is the name of an operation, or has the form of one."""
        token = self.scanner.token
        is_known = token in self._readers or f"{self.default_dialect[-1]}.{token}" in self._readers
        return is_known or ("." in token and token[0].isalpha())

    def _pass_alias(self, *, inside: bool) -> None:
        """An alias becomes known; one that nothing uses is read all the same, for it may be wrong."""
        s = self.scanner
        start, name = s.start, s.token
        if inside:
            s.fail(f"an alias such as {name} stands outside of all operations")
        if "." in name:
            s.fail(f"the name of an alias has no '.', for that is kept for the names of dialects: {name}")
        if name in self._aliases:
            s.fail(f"{name} is defined already", start)
        s.advance()
        s.expect("=")
        place = s.place
        if name[0] == "!":
            self.type()
        elif s.token == "(":
            self.map_or_set()
        else:
            self.attribute()
        self.define_alias(name, place)


def _levels(open_ops: Sequence[tuple[Reading | None, Head | None, list[Op]]]) -> int:
    """How many loops and branches are open: all operations but the outermost module and the function in it."""
    names = [head.name.strip('"') for _, head, _ in open_ops[:3] if head is not None]
    outermost = [names.pop(0) for of in (_MODULES, _FUNCTIONS) if names and names[0] in of]
    return len(open_ops) - 1 - len(outermost)


def says_nothing(terminator: Op) -> bool:
    """Whether a terminator yields no value and has no attributes: then it is not stored."""
    return not terminator.attributes and not any(True for _ in terminator.reads())


class Subscripts:
    """The values in a list of affine expressions, as dimensions and symbols in the order in which they appear."""

    def __init__(self, parser: Parser) -> None:
        self._parser = parser
        self._names: dict[str, Tree] = {}
        self.dims: list[Value] = []
        self.symbols: list[Value] = []

    def atom(self) -> Tree:
        """A value's name, or symbol(...) of one, as a position."""
        p = self._parser
        s = p.scanner
        is_symbol = s.accept("symbol")
        if is_symbol:
            s.expect("(")
        use = p.use()
        known = self._names.get(use.name)
        if known is None:
            group, letter = (self.symbols, "s") if is_symbol else (self.dims, "d")
            known = self._names[use.name] = f"{letter}{len(group)}"
            group.append(p.resolve(use, INDEX))
        if is_symbol:
            s.expect(")")
        return known
