"""The custom form of operations that have one in `form`: read, and printed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any, TypeAlias

from affdsl.frozen import Frozen
from affdsl.ir.attributes import Attribute
from affdsl.ir.core import Block, Op
from affdsl.ir.opaque_types import shaped, truth_text
from affdsl.ir.types import I1, I32, INDEX, ComplexType, MemRefType, OpaqueType, Type, VectorType, same_shape
from affdsl.ir.verifier.types import truth
from affdsl.mlir.attributes import AttributeReader
from affdsl.mlir.enumerations import PROPERTIES
from affdsl.mlir.form import Form
from affdsl.mlir.generic import forms, row_of
from affdsl.mlir.generic.rows import segments
from affdsl.mlir.parser import Head, Parser, Reader
from affdsl.mlir.pieces import Fields, Found, Piece, pieces, template
from affdsl.mlir.printer import Printer, Writer
from affdsl.mlir.reading.opaque import by_name, opaque, parted
from affdsl.mlir.scanner import Scanner

TypesOf: TypeAlias = Callable[[Found, int], tuple[Type, ...]]
"""The types of some operands or results, which follow from others, and how many there are."""


Template: TypeAlias = "tuple[str, tuple[Callable[[Printer, Any], str], ...], tuple[Callable[[Any], bool], ...]]"
"""What is printed, as the format of some parts, and what says that there is more to say."""


class _Compiled(Frozen):
    """A form, ready to read and print by."""

    form: Form
    pieces: tuple[Piece, ...]
    rules: Mapping[str, TypesOf]
    attributes: Mapping[str, Callable[[Any], Attribute]]

    def types(self, found: Found, name: str, count: int) -> tuple[Type, ...]:
        """The types of operands or results: as they stand there, or as they follow."""
        known = found.types.get(name)
        if known is not None:
            return known
        rule = self.rules.get(name)
        return rule(found, count) if rule is not None else ()


def _compiled(form: Form, found: tuple[Piece, ...]) -> _Compiled:
    attributes = {name: make for piece in found for name, make in piece.attributes.items()}
    rules: dict[str, TypesOf] = {}
    made = _Compiled(form, found, rules, attributes)
    rules.update({name: _rule(rule, made) for name, rule in form.types.items()})
    return made


def _rule(rule: str | Callable[[Any], tuple[Type, ...]], compiled: _Compiled) -> TypesOf:
    if not isinstance(rule, str):
        return lambda found, count: rule(found)
    *what, other = rule.split()
    match what:
        case ["i1", "like"]:
            return lambda found, count: (same_shape(compiled.types(found, other, 1)[0], I1),) * count
        case ["i1", "each"]:
            return lambda found, count: (I1,) * len(found.fields.get(other, ()))
        case ["element"]:
            return lambda found, count: (_element(found, found.types[other][0]),) * count
        case ["truth"]:
            return lambda found, count: (_truth(compiled.types(found, other, 1)[0]),)
        case _ if other in _TYPES or other[0] == "!":
            type = _TYPES.get(other) or _type_of(other)
            return lambda found, count: (type,) * count
        case _:
            return lambda found, count: compiled.types(found, other, 1)


_TYPES: Mapping[str, Type] = {"index": INDEX, "i1": I1, "i32": I32}


def _truth(type: Type) -> Type:
    """The type of a comparison: i1, or a vector or tensor of i1."""
    if isinstance(type, OpaqueType):
        return OpaqueType(truth_text(type)) if type.text.startswith("tensor") else I1
    return truth(type)


def _element(found: Found, type: Type) -> Type:
    if isinstance(type, MemRefType | VectorType):
        return type.element
    if isinstance(type, ComplexType):
        return type.part
    of = shaped(type)
    text = str(type)
    if of is not None:
        return _type_of(of.element)
    if text.startswith("complex<"):
        return _type_of(text[len("complex<") : -1])
    found.p.scanner.fail(f"{found.head.name} needs a tensor or a complex number, not {type}", found.head.offset)


def _type_of(text: str) -> Type:
    return AttributeReader(Scanner(text, "")).type()


# Operations without a class


@cache
def _of_opaque(form: Form) -> _Compiled:
    return _compiled(form, tuple([piece for _, piece in pieces(form, None)]))


def read_opaque(p: Parser, head: Head, form: Form) -> Op:
    """An operation that is kept as it is."""
    compiled, found = _of_opaque(form), Found(p, head)
    for piece in compiled.pieces:
        piece.read(found)
    words = form.text.split()
    said = form.order.split() or [w.strip("%*") for w in words if w[0] == "%"]
    said += [w[7:-1] for w in words if w.startswith("[mixed:")]
    groups = [_values(found, name, compiled) for name in said]
    results = [t for n in ("result", "result2") for t in compiled.types(found, n, len(found.types.get(n, (1,))))]
    given = [name for name in compiled.attributes if name in found.fields]
    properties = [(name, compiled.attributes[name](found.fields[name])) for name in given]
    if form.segments:
        properties.append(segments(*map(len, groups)))
    own, rest = parted(found.attributes, form.own.split())
    return opaque(p, head, [v for group in groups for v in group], results, by_name((*properties, *own)), rest)


def _values(found: Found, name: str, compiled: _Compiled) -> tuple[Any, ...]:
    given = found.fields.get(name)
    if not given or f"static_{name}" in found.fields:
        return given or ()
    return found.p.typed(given, compiled.types(found, name, len(given)), found.head.offset)


# Operations with a class


class _Custom(Frozen):
    """The custom form of a class, or of one of its kinds."""

    cls: Callable[..., Op]
    kind: str
    form: Form
    compiled: _Compiled
    reads: tuple[Callable[[Found], None], ...]
    operands: tuple[tuple[str, bool], ...]  # those not known to be indices, and whether they are several
    results: tuple[tuple[str, bool], ...]
    single: str  # the result, where there is just one
    template: Template

    def read(self, p: Parser, head: Head) -> Op:
        """The operation after its name."""
        found, form = Found(p, head), self.form
        if head.results and not self.results:
            p.no_results(head)
        for read in self.reads:
            read(found)
        fields, types = found.fields, found.types
        for name, several in self.operands:
            uses = fields.get(name)
            if uses:
                of = types.get(name) or self.compiled.types(found, name, len(uses))
                fields[name] = p.typed(uses, of, head.offset) if several else p.resolve(uses[0], of[0])
            else:
                fields[name] = ()
        if form.foreign and any(isinstance(of[0], form.foreign) for of in types.values()):
            return self._opaque(found)
        if self.single:
            of = types.get(self.single) or self.compiled.types(found, self.single, 1)
            fields[self.single] = p.result(head, of[0])
        elif self.results:
            self._define(found)
        if self.kind:
            fields["kind"] = self.kind
        if form.made is not None:
            form.made(fields)
        return self.cls(**fields, location=head.location, attributes=found.attributes, written=found.written)

    def _define(self, found: Found) -> None:
        """Several results."""
        given = self._result_types(found)
        rest = list(found.p.results(found.head, [type for types in given for type in types]))
        for (name, several), types in zip(self.results, given, strict=True):
            values = tuple([rest.pop(0) for _ in types])
            found.fields[name] = values if several else values[0]

    def _result_types(self, found: Found) -> list[tuple[Type, ...]]:
        return [found.types.get(name) or self.compiled.types(found, name, 1) for name, _ in self.results]

    def _opaque(self, found: Found) -> Op:
        """An operation on types without a class: it is kept as it is."""
        operands = [found.fields[name] for name, _ in self.operands]
        types = [type for of in self._result_types(found) for type in of]
        own, rest = parted(found.attributes, PROPERTIES.values())
        said = [(name, make(found.fields[name])) for name, make in self.compiled.attributes.items()]
        return opaque(found.p, found.head, operands, types, (*said, *own), rest)


@cache
def _custom(name: str) -> _Custom:
    row, form = row_of(name), FORMS[name]
    several = frozenset([part.name for part in (*row.operands, *row.results) if part.kind == "many"])
    spaced = pieces(form, Fields(several, {prop.name: prop for prop in row.properties}, row.cls._defaults))
    text, parts = template([(" " if form.text[0] not in "{(" else "", spaced[0][1]), *spaced[1:]])
    compiled = _compiled(form, tuple([piece for _, piece in spaced]))
    operands = tuple([
        (part.name, part.kind == "many")
        for part in row.operands
        if part.kind in ("one", "many") and form.types.get(part.name) != "index"
        and f"static_{part.name}" not in compiled.attributes
    ])  # fmt: skip
    results = tuple([(part.name, part.kind == "many") for part in row.results])
    limits = tuple([piece.limit for piece in compiled.pieces if piece.limit is not None])
    kind = name.partition(".")[2] if row.forms else ""
    reads = tuple([piece.read for piece in compiled.pieces])
    single = results[0][0] if [several for _, several in results] == [False] else ""
    return _Custom(row.cls, kind, form, compiled, reads, operands, results, single, (text, parts, limits))


def read_custom(p: Parser, head: Head) -> Op:
    """An operation with a class and a form."""
    return _custom(head.name).read(p, head)


def write_custom(p: Printer, op: Op) -> str | Iterator[Block]:
    """An operation with a form."""
    return _write(p, op, op.name)


def write_kind(p: Printer, op: Any) -> str | Iterator[Block]:  # noqa: ANN401
    """An operation of a class that stands for several; a kind that does not exist is printed as one that does."""
    return _write(p, op, f"{op.name}.{op.kind}")


def _write(p: Printer, op: Op, name: str) -> str | Iterator[Block]:
    template = _templates.get(name)
    if template is None:
        text, parts, limits = _custom(name if name in FORMS else _A_NAME[type(op)]).template
        template = _templates[name] = f"{name}{text}", parts, limits
    text, parts, limits = template
    for says_more in limits:
        if says_more(op):
            return p.generic(op)
    return text % tuple([part(p, op) for part in parts])


_templates: dict[str, Template] = {}
FORMS = forms()
_A_NAME = {row_of(name).cls: name for name in FORMS}
READERS: Mapping[str, Reader] = dict.fromkeys(FORMS, read_custom)
WRITERS: Mapping[type[Op], Writer] = {row.cls: write_kind if row.forms else write_custom for row in map(row_of, FORMS)}
