"""The custom form of operations that have one in `form`: read, and printed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any, TypeAlias

from affdsl.frozen import Frozen
from affdsl.ir.attributes import Attribute, DenseArrayAttr
from affdsl.ir.core import Block, Op
from affdsl.ir.opaque_types import shaped, truth_text
from affdsl.ir.types import I1, I32, INDEX, MemRefType, OpaqueType, Type, VectorType
from affdsl.ir.verifier.types import truth
from affdsl.mlir.attributes import AttributeReader
from affdsl.mlir.enumerations import PROPERTIES
from affdsl.mlir.form import Form
from affdsl.mlir.generic import forms, row_of
from affdsl.mlir.parser import Head, Parser, Reader
from affdsl.mlir.pieces import Fields, Found, Piece, pieces, template
from affdsl.mlir.printer import Printer, Writer
from affdsl.mlir.reading.opaque import by_name, opaque, parted
from affdsl.mlir.scanner import Scanner

TypesOf: TypeAlias = Callable[[Found, int], tuple[Type, ...]]
"""The types of some operands or results, which follow from others, and how many there are."""


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
            return lambda found, count: (_truth_like(compiled.types(found, other, 1)[0]),) * count
        case ["i1", "each"]:
            return lambda found, count: (I1,) * len(found.uses.get(other, ()))
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


def _truth_like(type: Type) -> Type:
    return VectorType(type.shape, I1, type.scalable) if isinstance(type, VectorType) else I1


def _truth(type: Type) -> Type:
    """The type of a comparison: i1, or a vector or tensor of i1."""
    if isinstance(type, OpaqueType):
        return OpaqueType(truth_text(type)) if type.text.startswith("tensor") else I1
    return truth(type)


def _element(found: Found, type: Type) -> Type:
    if isinstance(type, MemRefType | VectorType):
        return type.element
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
        properties.append(("operandSegmentSizes", DenseArrayAttr(I32, tuple([str(len(group)) for group in groups]))))
    own, rest = parted(found.attributes, form.own.split())
    return opaque(p, head, [v for group in groups for v in group], results, by_name((*properties, *own)), rest)


def _values(found: Found, name: str, compiled: _Compiled) -> tuple[Any, ...]:
    if name in found.fields:
        return tuple(found.fields[name])
    uses = found.uses.get(name, ())
    return found.p.typed(uses, compiled.types(found, name, len(uses)), found.head.offset) if uses else ()


# Operations with a class


class _Custom(Frozen):
    """The custom form of a class, or of one of its kinds."""

    cls: Callable[..., Op]
    kind: str
    compiled: _Compiled
    operands: tuple[tuple[str, bool], ...]  # those not known to be indices, and whether they are several
    results: tuple[tuple[str, bool], ...]
    text: str  # what is printed, as the format of `parts`
    parts: tuple[Callable[[Printer, Any], str], ...]
    limits: tuple[Callable[[Any], bool], ...]

    def read(self, p: Parser, head: Head) -> Op:
        """The operation after its name."""
        found = Found(p, head)
        if not self.results:
            p.no_results(head)
        for piece in self.compiled.pieces:
            piece.read(found)
        fields, types = found.fields, self.compiled.types
        values: list[Any] = []
        for name, several in self.operands:
            uses = found.uses.get(name, ())
            resolved = p.typed(uses, types(found, name, len(uses))) if uses else ()
            fields[name] = resolved if several else resolved[0]
            values += resolved
        given = [types(found, name, 1) for name, _ in self.results]
        form = self.compiled.form
        if form.foreign and any(isinstance(t, form.foreign) for t in (*[v.type for v in values], *sum(given, ()))):
            return self._opaque(found, values, sum(given, ()))
        if len(given) == 1 and not self.results[0][1]:
            fields[self.results[0][0]] = p.result(head, given[0][0])
        elif given:
            rest = list(p.results(head, sum(given, ())))
            for (name, several), part in zip(self.results, given, strict=True):
                fields[name] = tuple(rest[: len(part)]) if several else rest[0]
                del rest[: len(part)]
        if self.kind:
            fields["kind"] = self.kind
        if form.made is not None:
            form.made(fields)
        return self.cls(
            **fields, location=head.location, attributes=found.attributes, written=found.written or None
        )  # fmt: skip

    def _opaque(self, found: Found, values: list[Any], types: tuple[Type, ...]) -> Op:
        """An operation on types without a class: it is kept as it is."""
        own, rest = parted(found.attributes, PROPERTIES.values())
        said = [(name, make(found.fields[name])) for name, make in self.compiled.attributes.items()]
        return opaque(found.p, found.head, values, types, (*said, *own), rest)

    def write(self, p: Printer, op: Op) -> str | Iterator[Block]:
        """The operation, in generic form where the custom form has no place for what it says."""
        if any(limit(op) for limit in self.limits):
            return p.generic(op)
        return self.text % tuple([part(p, op) for part in self.parts])


@cache
def _custom(name: str) -> _Custom:
    row, form = row_of(name), FORMS[name]
    several = frozenset([part.name for part in (*row.operands, *row.results) if part.kind == "many"])
    spaced = pieces(form, Fields(several, {prop.name: prop for prop in row.properties}, row.cls._defaults))
    text, parts = template([(" " if form.text[0] != "{" else "", spaced[0][1]), *spaced[1:]])
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
    return _Custom(row.cls, kind, compiled, operands, results, f"{name}{text}", parts, limits)


def read_custom(p: Parser, head: Head) -> Op:
    """An operation with a class and a form."""
    return _custom(head.name).read(p, head)


def write_custom(p: Printer, op: Op) -> str | Iterator[Block]:
    """An operation with a form."""
    return _custom(op.name).write(p, op)


def write_kind(p: Printer, op: Any) -> str | Iterator[Block]:  # noqa: ANN401
    """An operation with a form, of a class that stands for several."""
    return _custom(f"{op.name}.{op.kind}").write(p, op)


FORMS = forms()
READERS: Mapping[str, Reader] = dict.fromkeys(FORMS, read_custom)
WRITERS: Mapping[type[Op], Writer] = {row.cls: write_kind if row.forms else write_custom for row in map(row_of, FORMS)}
