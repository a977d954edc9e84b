"""Operations as MLIR text that mlir-opt accepts, with the names that the user gave."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any, TypeAlias

from affdsl.frozen import Frozen, field
from affdsl.ir.attributes import DenseArrayAttr, without
from affdsl.ir.core import Block, Op
from affdsl.ir.dialects import affine, func
from affdsl.ir.dialects.opaque import UNTYPED, Opaque, OpaqueBlock, OpaqueRegion
from affdsl.ir.expr import Value
from affdsl.ir.location import Location
from affdsl.ir.messages import op_name
from affdsl.ir.spelling import tree_of
from affdsl.ir.types import Type
from affdsl.ir.written import spell_tree
from affdsl.mlir.attributes import attribute_text, dictionary_text, location_text
from affdsl.mlir.generic import generic_form
from affdsl.mlir.linalg import KEYWORDS, NAMED, NOT_SAID
from affdsl.mlir.names import Names, string
from affdsl.mlir.positions import Positional, map_of, set_of, symbolic_values

_WITH_DIMS = (affine.For, affine.Parallel, affine.Apply)
"""The operations that define dimensions."""

Writer: TypeAlias = "Callable[[Printer, Any], str | Iterator[Block]]"
"""Gives an operation's text less its results; or prints lines and yields its blocks to be printed between them."""
OpaqueWriter: TypeAlias = "Callable[[Printer, Opaque], Iterator[Block] | None]"
"""Prints lines and yields blocks to be printed between them; None if only the generic form can say all of it."""


class Spelling(Frozen):
    """How a version of MLIR writes what is not as today.

    `changes` make the writers of operations from those of today, one after the other; `names` are what operations are
    called in generic form, where `properties` are apart from attributes or not; `spell` spells a type.
    """

    changes: tuple[tuple[type[Op], Callable[[Writer], Writer]], ...] = ()
    names: Mapping[str, str] = field(default_factory=dict)
    properties: bool = True
    spell: Callable[[Type], str] = str

    def writers(self, today: Mapping[type[Op], Writer]) -> Mapping[type[Op], Writer]:
        """The writers of the version."""
        if not self.changes:
            return today
        made = dict(today)
        for kind, change in self.changes:
            made[kind] = change(made[kind])
        return made


TODAY = Spelling()


class Printer:
    """One run of `print_op`: what the writers of the dialects share."""

    def __init__(
        self,
        writers: Mapping[type[Op], Writer],
        *,
        aliases: bool,
        generic: bool = False,
        locations: bool = False,
        spelling: Spelling = TODAY,
        names: Mapping[Value, str] | None = None,
        opaque: Mapping[str, OpaqueWriter] | None = None,
    ) -> None:
        self._writers = spelling.writers(writers)
        self._opaque = {} if opaque is None else opaque
        self._spelling = spelling
        self.names = Names(given=names)
        self.depth = 0
        self._generic = generic
        self._locations = locations
        self._lines: list[str] = []
        self._dims: set[Value] = set()  # induction variables and what is computed from them
        self._in_function = -1  # the depth at which `func.` is understood
        self._aliases: dict[str, str] | None = {} if aliases else None  # by what they stand for
        self._counts = {"#map": 0, "#set": 0}
        self._types: dict[int, tuple[Type, str]] = {}  # by identity, which is quicker to tell; kept, so that it stays
        self._texts: dict[tuple[object, ...], str] = {}  # of maps and sets, by their trees and numbers of operands

    def print(self, root: Op) -> str:
        """The whole text."""
        # Open operations and open blocks by turns: nests may be deeper than Python's stack.
        stack: list[Iterator[Op | Block]] = [iter((root,))]
        while stack:
            match next(stack[-1], None):
                case None:
                    stack.pop()
                case Op() as op:
                    if (blocks := self._op(op)) is not None:
                        stack.append(blocks)
                case block:
                    stack.append(self._block(block))
        aliases = dict(sorted((self._aliases or {}).items(), key=lambda alias: alias[1][:2]))  # maps before sets
        if isinstance(root, func.Module) and root.resources:
            self._lines.append(f"\n{root.resources}")
        return "\n".join([f"{alias} = {text}" for text, alias in aliases.items()] + self._lines)

    def _block(self, block: Block) -> Iterator[Op]:
        self.depth += 1
        yield from block
        self.depth -= 1

    def _op(self, op: Op) -> Iterator[Block] | None:
        """Print an operation at once, or as the blocks that it yields get printed."""
        if type(op) in _WITH_DIMS:
            self._note(op)
        writer = self._writers.get(type(op))
        if self._generic or isinstance(op, Opaque):
            if isinstance(op, Opaque) and not self._generic and (of_kind := self._opaque.get(op.kind)) is not None:
                return of_kind(self, op) or self._generic_op(op)
            return self._generic_op(op)
        if writer is None:
            raise TypeError(f"no MLIR text is known for the operation {type(op).__name__} ({op_name(op)})")
        text: str | Iterator[Block] = writer(self, op)
        if not isinstance(text, str):
            return text
        values = tuple(op.defines())
        self.line(op, f"{self.results(values)}{text}" if values else text)
        return None

    def _note(self, op: Op) -> None:
        """Take note of what is a dimension."""
        match op:
            case affine.For():
                self._dims.add(op.iv)
            case affine.Parallel():
                self._dims.update(op.ivs)
            case affine.Apply() if any(v in self._dims for v in op.mentions()):
                self._dims.add(op.result)

    # What writers use

    def line(self, op: Op | None, text: str) -> None:
        """A line of text, the last one of an operation if that is given."""
        if self._locations and op is not None and op.location is not None:
            text = f"{text} {location_text(op.location)}"
        self._lines.append("  " * self.depth + text)

    @contextmanager
    def function(self) -> Iterator[None]:
        """A function: its names are its own, and `func.` is understood in its body, nowhere else."""
        outside = self.names, self._in_function
        self.names, self._in_function = Names(self.names), self.depth + 1
        yield
        self.names, self._in_function = outside

    @property
    def shows_locations(self) -> bool:
        """Whether operations are printed with their places."""
        return self._locations

    @property
    def is_function_level(self) -> bool:
        """Whether operations of the func dialect may leave out their prefix."""
        return self.depth == self._in_function

    def scope(self) -> AbstractContextManager[None]:
        """Names given inside are free again afterwards."""
        return self.names.scope()

    def is_dim(self, value: Value) -> bool:
        """Whether a value is an induction variable or computed from one."""
        return value in self._dims

    def list(self, values: Sequence[Value]) -> str:
        """%a, %b"""
        return ", ".join([self.names(v) for v in values])

    def results(self, values: Sequence[Value]) -> str:
        """`%a, %b = `, or nothing"""
        if len(values) == 1:
            return f"{self.names.define(values[0])} = "
        return f"{self.names.define_together(values)} = " if values else ""

    def type(self, value: Value) -> str:
        """The type of a value."""
        return self.spelled(value.type)

    def types(self, values: Sequence[Value]) -> str:
        """The types of values, separated by commas."""
        return ", ".join([self.spelled(v.type) for v in values])

    def colon_types(self, inputs: Sequence[Value], outputs: Sequence[Value]) -> str:
        """` : (inputs) -> output`, in parentheses where there are not one or it is a function."""
        shown = self.types(outputs)
        plain = len(outputs) == 1 and not shown.startswith("(")
        return f" : ({self.types(inputs)}) -> {shown if plain else f'({shown})'}"

    def result_types(self, values: Sequence[Value]) -> str:
        """The type of one value, those of several in parentheses, nothing for none."""
        return self.types(values) if len(values) == 1 else f"({self.types(values)})" if values else ""

    def spelled(self, type: Type) -> str:
        """A type."""
        known = self._types.get(id(type))
        if known is None:
            known = self._types[id(type)] = (type, self._spelling.spell(type))
        return known[1]

    def dictionary(self, op: Op, *but: str) -> str:
        """The attributes of an operation as ` {a = 1 : i64}`; nothing where there are none but those left out."""
        if not op.attributes:
            return ""
        text = dictionary_text(without(op.attributes, *but))
        return f" {text}" if text else ""

    def argument_location(self, location: Location | None) -> str:
        """` loc(...)` of an argument, where locations are printed."""
        return f" {location_text(location)}" if self._locations and location is not None else ""

    # Affine maps

    def positional(self, op: Op, field: str) -> Positional:
        """The map or set of a field of an operation: as it was written, or from what it means."""
        applied = op.spelling(field)
        if applied is not None:
            shape = (applied.trees, applied.equalities, len(applied.dims), len(applied.symbols))
            text = self._texts.get(shape)
            if text is None:
                text = self._texts[shape] = applied.text
            return Positional(text, applied.dims, applied.symbols)
        part = getattr(op, field)
        if field == "condition":
            return set_of(part, self._dims)
        flat = (
            [e for item in part for e in (item if isinstance(item, tuple) else (item,))]
            if isinstance(part, tuple)
            else [part]
        )
        return map_of(flat, self._dims)

    def map(self, op: Op, field: str) -> str:
        """`#map(%i)[%n]` of a field of an operation."""
        positional = self.positional(op, field)
        symbols = f"[{self.list(positional.symbols)}]" if positional.symbols else ""
        return f"{self.alias(positional.text)}({self.list(positional.dims)}){symbols}"

    def alias(self, text: str) -> str:
        """An affine map or set where it is used: its alias, where those are printed."""
        if self._aliases is None:
            return text
        if text not in self._aliases:
            prefix = "#map" if text.startswith("affine_map") else "#set"
            self._aliases[text] = f"{prefix}{self._counts[prefix] or ''}"
            self._counts[prefix] += 1
        return self._aliases[text]

    def subscripts(self, op: Op, field: str) -> Sequence[str]:
        """The expressions of a field of an operation over names, `symbol(%n)` where that is needed."""
        applied = op.spelling(field)
        if applied is not None and set(applied.dims).isdisjoint(applied.symbols):
            dims = [self.names(v) for v in applied.dims]
            symbols = [f"symbol({self.names(v)})" for v in applied.symbols]
            return [spell_tree(t, lambda n: (dims if n[0] == "d" else symbols)[int(n[1:])]) for t in applied.trees]
        part = getattr(op, field)
        exprs = [e for item in part for e in (item if isinstance(item, tuple) else (item,))]
        # Any value may stand plainly as a dimension. One that is a divisor or a factor must be marked as a symbol, and
        # then everywhere in the list: mlir-opt decides at the first place where it meets a value.
        marked = symbolic_values(exprs, self._dims) - self._dims
        values = list(dict.fromkeys(v for expr in exprs for v in expr.values()))
        position = {v: f"{'s' if v in marked else 'd'}{n}" for n, v in enumerate(values)}
        name = {p: f"symbol({self.names(v)})" if v in marked else self.names(v) for v, p in position.items()}
        return [spell_tree(tree_of(expr, position.__getitem__), name.__getitem__) for expr in exprs]

    # The generic form

    def generic(self, op: Op) -> Iterator[Block]:
        """An operation in generic form, where its custom form has no place for what it says."""
        return self._generic_op(op) or iter(())

    def _generic_op(self, op: Op) -> Iterator[Block] | None:
        """Print an operation at once if it has no regions, or as the blocks that it yields get printed."""
        opaque = op if isinstance(op, Opaque) else generic_form(op, self)
        if opaque.text:
            self.line(op, f"{self.results(opaque.results)}{self._verbatim(opaque)}")
            return None
        if opaque.kind in NAMED and not opaque.regions:
            self.line(op, f"{self.results(opaque.results)}{self._named(opaque)}")
            return None
        operands = self.list(opaque.operands)
        successors = f"[{', '.join([f'^{label}' for label in opaque.successors])}]" if opaque.successors else ""
        own, others = opaque.properties, opaque.attributes
        if not self._spelling.properties:
            own, others = (), (*own, *others)
        properties = f" <{dictionary_text(own)}>" if own else ""
        kind = string(self._spelling.names.get(opaque.kind, opaque.kind))
        start = f"{self.results(opaque.results)}{kind}({operands}){successors}{properties}"
        end = f" {dictionary_text(others)}" if others else ""
        end += self.colon_types(opaque.operands, opaque.results)
        regions = [region for region in opaque.regions if isinstance(region, OpaqueRegion)]
        if regions:
            return self._generic_regions(op, opaque.kind, regions, start, end)
        self.line(op, start + end)
        return None

    def _verbatim(self, op: Opaque) -> str:
        """The text that an operation is kept as, with names of here for its operands, and new ones for all others."""
        own: dict[str, str] = {}
        pieces: list[str] = []
        with self.names.scope():
            for position, piece in enumerate(op.text):
                if isinstance(piece, int):
                    pieces.append(self.names(op.operands[piece]))
                elif position % 2:
                    name, mark, number = piece.partition("#")
                    if name not in own:
                        own[name] = self.names.define(Value(UNTYPED, "" if name[1:].isdigit() else name[1:]))
                    pieces.append(f"{own[name]}{mark}{number}")
                else:
                    pieces.append(piece)
        return "".join(pieces)

    def _named(self, op: Opaque) -> str:
        """`linalg.matmul ins(%a, %b : type, type) outs(%c : type) -> type`"""
        said = dict(op.properties)
        sizes = said.pop("operandSegmentSizes", None)
        first = int(sizes.items[0]) if isinstance(sizes, DenseArrayAttr) else 1
        words = [op.kind]
        words += [f"{name} = {attribute_text(said.pop(name))}" for name in KEYWORDS[:2] if name in said]
        after = [(name, said.pop(name)) for name in KEYWORDS[2:] if name in said]
        attributes = (*said.items(), *op.attributes)
        words += [dictionary_text(attributes)] if attributes else []
        for word, values in (("ins", op.operands[:first]), ("outs", op.operands[first:])):
            words += [f"{word}({self.list(values)} : {self.types(values)})"] if values else []
        for name, numbers in after:
            words.append(f"{name} = [{', '.join(numbers.items) if isinstance(numbers, DenseArrayAttr) else ''}]")
        if op.results and op.kind not in NOT_SAID:
            words.append(f"-> {self.result_types(op.results)}")
        return " ".join(words)

    def _generic_regions(
        self, op: Op, kind: str, regions: Sequence[OpaqueRegion], start: str, end: str
    ) -> Iterator[Block]:
        self.line(None, f"{start} ({{")
        outer = self.names
        if kind in ("func.func", "builtin.module"):
            self.names = Names(given=outer.given)
        for position, region in enumerate(regions):
            if position:
                self.line(None, "}, {")
            with self.names.scope():
                yield from self._generic_region(region)
        self.names = outer
        self.line(op, f"}}){end}")

    def _generic_region(self, region: OpaqueRegion) -> Iterator[Block]:
        blocks = [block for block in region.blocks_inside if isinstance(block, OpaqueBlock)]
        for block in blocks:
            for v in block.args:
                self.names.define_argument(v)
        for position, block in enumerate(blocks):
            if block.label or block.args or position or not block.body:
                args = [f"{self.names(v)}: {self.type(v)}{self.argument_location(v.location)}" for v in block.args]
                shown = f"({', '.join(args)})" if args else ""
                self.line(None, f"^{block.label or f'bb{position}'}{shown}:")
            yield block.body
