"""The pieces of a form: what reads and what prints each of its words."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from operator import attrgetter
from typing import Any, TypeAlias

from affdsl.frozen import Frozen, field, replace
from affdsl.ir.applied import Applied
from affdsl.ir.attributes import Attribute, Attributes, OpaqueAttr, UnitAttr, without
from affdsl.ir.core import Op
from affdsl.ir.expr import Value
from affdsl.ir.mixed import Mixed, mixed, unmixed
from affdsl.ir.types import INDEX, FunctionType, MemRefType, Type, VectorType
from affdsl.mlir.attributes import dictionary_text
from affdsl.mlir.flags import read_flags, write_flags
from affdsl.mlir.form import Form
from affdsl.mlir.generic.rows import Property
from affdsl.mlir.generic.views import static_attribute
from affdsl.mlir.kinds import KINDS
from affdsl.mlir.parser import Head, Parser
from affdsl.mlir.printer import Printer

CLASSES: Mapping[str, tuple[type[Type], str]] = {
    "buffer": (MemRefType, "{name} needs a memref, got {type}"),
    "lanes": (VectorType, "{name} needs a vector, not {type}"),
    "memref": (MemRefType, "{name} needs a memref of known rank, not {type}"),
    "vector": (VectorType, "expected a type like vector<4xf32>, got {type}"),
}
"""The classes of types that a form may ask for, and what is said of any other type."""


class Found:
    """What has been read of one operation; operands whose types are not known yet are `Use`s among its fields."""

    __slots__ = ("attributes", "fields", "head", "p", "s", "types", "written")

    def __init__(self, p: Parser, head: Head) -> None:
        self.p, self.s, self.head = p, p.scanner, head
        self.types: dict[str, tuple[Type, ...]] = {}
        self.fields: dict[str, Any] = {}
        self.written: dict[str, Applied] | None = None
        self.attributes: Attributes = ()

    @property
    def names(self) -> int:
        """The number of names that the results have."""
        return len(self.head.results)


class Fields(Frozen):
    """What is known of the fields of a class: those that hold several values, properties, and defaults."""

    several: frozenset[str]
    properties: Mapping[str, Property]
    defaults: Mapping[str, object]


class Piece(Frozen):
    """What reads and what prints a word.

    `begins` says whether it stands at the current token: of words with which a part begins that may be left out.
    `is_there` says whether an operation has it; `limit` whether an operation says more than there is a place for.
    `attributes` says what properties that it reads are as attributes.
    """

    read: Callable[[Found], None]
    write: Callable[[Printer, Any], str] | str = ""
    begins: Callable[[Parser], bool] | None = None
    is_there: Callable[[Any], bool] | None = None
    limit: Callable[[Any], bool] | None = None
    attributes: Mapping[str, Callable[[Any], Attribute]] = field(default_factory=dict)


Spaced: TypeAlias = tuple[str, Piece]
"""A piece, and the space that is printed before it if it is there."""


WORD = re.compile(
    r"""(?P<space>\s*)(?:
      (?P<open>\(\?) | (?P<close>\?\))
    | (?P<listed>[\[(](?:%\w+\*|mixed:\w+|\w+:affine)[\])])
    | (?P<operand>%\w+\*?)
    | <(?P<types>[\w,]+\*?(?::\w+)?)>
    | \{(?P<dictionary>[^}]*)\}
    | (?P<property>[\w=]+:\w+)
    | (?P<signature>fn\b)
    | (?P<word>\w+|->|\S)
    )""",
    re.X,
)


def pieces(form: Form, fields: Fields | None) -> tuple[Spaced, ...]:
    """The pieces of a form, with the fields of the operation's class if it has one."""
    return tuple(_pieces(WORD.finditer(form.text), form, fields))


def _pieces(words: Iterator[re.Match[str]], form: Form, fields: Fields | None) -> Iterator[Spaced]:
    for word in words:
        kind = word.lastgroup or ""
        if kind == "close":
            return
        if kind == "open":
            yield word["space"], _part(tuple(_pieces(words, form, fields)))
        else:
            yield word["space"], _MAKERS[kind](word[kind], form, fields)


def template(spaced: Iterable[Spaced]) -> tuple[str, tuple[Callable[[Printer, Any], str], ...]]:
    """What prints pieces, as the format of a text and what stands in it."""
    text, parts = "", []
    for space, piece in spaced:
        if isinstance(piece.write, str):
            text += space + piece.write.replace("%", "%%")
        elif piece.is_there is None:
            text += f"{space}%s"
            parts.append(piece.write)
        else:
            text += "%s"
            parts.append(_where(piece.is_there, space, piece.write))
    return text, tuple(parts)


def _where(
    is_there: Callable[[Any], bool], space: str, write: Callable[[Printer, Any], str]
) -> Callable[[Printer, Any], str]:
    return lambda p, op: f"{space}{write(p, op)}" if is_there(op) else ""


def _part(spaced: tuple[Spaced, ...]) -> Piece:
    """`(? ... ?)`"""
    inner = [piece for _, piece in spaced]
    begins = inner[0].begins
    assert begins is not None, "a part that may be left out begins with a word that can be told from others"
    conditions = [piece.is_there for piece in inner if piece.is_there is not None]
    text, parts = template([(space, replace(piece, is_there=None)) for space, piece in spaced])

    def read(found: Found) -> None:
        if begins(found.p):
            for piece in inner:
                piece.read(found)

    def write(p: Printer, op: Any) -> str:  # noqa: ANN401
        return text % tuple([part(p, op) for part in parts])

    is_there = (lambda op: all(there(op) for there in conditions)) if conditions else None
    attributes = {name: make for piece in inner for name, make in piece.attributes.items()}
    return Piece(read, write, is_there=is_there, attributes=attributes)


def _word(text: str, form: Form, fields: Fields | None) -> Piece:
    return Piece(lambda found: found.s.expect(text), text, lambda p: p.scanner.token == text)


def _operand(text: str, form: Form, fields: Fields | None) -> Piece:
    """`%x`, `%x*`; an index is resolved at once, if it belongs to a class"""
    name, get = text.strip("%*"), attrgetter(text.strip("%*"))
    is_index = fields is not None and form.types.get(name) == "index"

    def index(found: Found) -> None:
        found.fields[name] = found.p.operand(INDEX)

    def indices(found: Found) -> None:
        found.fields[name] = tuple([found.p.resolve(use, INDEX) for use in found.p.uses_or_none()])

    def one(found: Found) -> None:
        found.fields[name] = (found.p.use(),)

    def many(found: Found) -> None:
        found.fields[name] = tuple(found.p.uses_or_none())

    read = (indices if is_index else many) if text[-1] == "*" else index if is_index else one
    begins = attrgetter("is_value")
    if fields is not None and name in fields.several:
        return Piece(read, lambda p, op: p.list(get(op)), begins, is_there=get)
    return Piece(read, lambda p, op: p.names(get(op)), begins)


def _listed(text: str, form: Form, fields: Fields | None) -> Piece:
    """`[%x*]`, `[mixed:x]`, `[x:affine]`, and the first two in parentheses"""
    opening, word, closing = text[0], text[1:-1], text[-1]
    name = word.strip("%*").removeprefix("mixed:").removesuffix(":affine")
    get = attrgetter(name)
    if word[0] == "%":
        assert form.types.get(name) == "index", "operands in brackets are indices"

        def read(found: Found) -> None:
            p = found.p
            found.fields[name] = p.listed(lambda: p.operand(INDEX), opening, closing)

        return Piece(read, lambda p, op: f"{opening}{p.list(get(op))}{closing}")
    if word.endswith(":affine"):
        return _affine(name)
    static = attrgetter(f"static_{name}")

    def read_mixed(found: Found) -> None:
        found.fields[f"static_{name}"], found.fields[name] = unmixed(mixed_list(found.p, opening, closing))

    return Piece(
        read_mixed,
        lambda p, op: f"{opening}{mixed_text(p, mixed(static(op), get(op)))}{closing}",
        attributes={f"static_{name}": static_attribute},
    )


def mixed_list(p: Parser, opening: str = "[", closing: str = "]") -> Mixed:
    """`[%n, 4]`"""
    return p.listed(lambda: p.operand(INDEX) if p.is_value else p.scanner.integer(), opening, closing)


def mixed_text(p: Printer, parts: Mixed) -> str:
    """`%n, 4`"""
    return ", ".join([p.names(part) if isinstance(part, Value) else str(part) for part in parts])


def _affine(name: str) -> Piece:
    """`[%i, %j + 1]`"""

    def read(found: Found) -> None:
        applied = found.p.subscripts()
        found.fields[name] = applied.exprs
        found.written = {**(found.written or {}), name: applied}

    return Piece(
        read, lambda p, op: f"[{', '.join(p.subscripts(op, name))}]", limit=lambda op: has_two_roles(op, name)
    )  # fmt: skip


def has_two_roles(op: Op, field: str) -> bool:
    """Whether a value was written as a dimension and as a symbol: subscripts have no place for that."""
    applied = op.spelling(field)
    return applied is not None and not set(applied.dims).isdisjoint(applied.symbols)


def _types(text: str, form: Form, fields: Fields | None) -> Piece:
    """`<x>`, `<x*>`, `<x,y>`, `<x:vector>`"""
    said, _, wanted = text.partition(":")
    names, several = said.rstrip("*").split(","), said[-1] == "*"
    get = attrgetter(names[0])

    def one(found: Found) -> None:
        types = (found.p.type(),)
        for name in names:
            found.types[name] = types

    def each(found: Found) -> None:
        found.types[names[0]] = tuple(found.p.type_list())

    def of_class(found: Found) -> None:
        cls, complaint = CLASSES[wanted]
        place, type = found.s.start, found.p.type()
        if not isinstance(type, cls):
            found.s.fail(complaint.format(name=found.head.name, type=type), place)
        found.types[names[0]] = (type,)

    read = each if several else of_class if wanted else one
    if several or (fields is not None and names[0] in fields.several):
        return Piece(read, lambda p, op: p.types(get(op)))
    of = attrgetter(f"{names[0]}.type")
    return Piece(read, lambda p, op: p.spelled(of(op)))


def _signature(text: str, form: Form, fields: Fields | None) -> Piece:
    """`fn`"""
    operands = re.findall(r"%(\w+)", form.text)

    def read(found: Found) -> None:
        type = found.p.type()
        if not isinstance(type, FunctionType):
            found.s.fail("expected the types of operands and results, like (f32) -> f32", found.head.offset)
        uses = {name: found.fields[name] for name in operands if name in found.fields}
        count = sum(map(len, uses.values()))
        if count != len(type.inputs):
            found.s.fail(f"{count} operands, but {len(type.inputs)} types", found.head.offset)
        inputs = iter(type.inputs)
        found.types |= {name: tuple([next(inputs) for _ in group]) for name, group in uses.items()}
        found.types["result"] = type.results

    return Piece(read)


def _dictionary(text: str, form: Form, fields: Fields | None) -> Piece:
    """`{}`, `{flags}`, `{generic}`, `{x y:numbers}`"""
    if text == "flags":

        def read_before(found: Found) -> None:
            found.attributes = read_flags(found.p, found.head)

        return Piece(read_before, write_flags)

    def read(found: Found) -> None:
        if found.s.token == "{":
            found.attributes += found.p.dictionary()

    if text == "generic":
        return Piece(read, limit=lambda op: bool(op.attributes))
    if not text:
        return Piece(read, Printer.dictionary)
    assert fields is not None, "fields of an operation with a class"
    return _with_fields(text.split(), fields)


def _with_fields(words: list[str], fields: Fields) -> Piece:
    """`{x y:numbers}`: in the order of the names; what a field is by default is not printed"""
    kinds = dict([word.partition(":")[::2] for word in words])
    said = [(fields.properties[name], kinds[name]) for name in kinds]
    names = {prop.property for prop, _ in said}

    def read(found: Found) -> None:
        p = found.p
        place, attributes = p.scanner.start, p.dictionary()
        given = dict(attributes)
        for prop, kind in said:
            if prop.property in given:
                found.fields[prop.name] = field_of(p, prop, given[prop.property], place)
            elif kind:
                p.scanner.fail(f"{found.head.name} needs the attribute {prop.property}", place)
        found.attributes = without(attributes, *names)

    def entry(op: Op, prop: Property, kind: str) -> Attribute | None:
        value = getattr(op, prop.name)
        if kind:
            return OpaqueAttr(KINDS[kind].write(value))
        return None if value == fields.defaults.get(prop.name) else prop.to_attribute(value)

    def write(p: Printer, op: Any) -> str:  # noqa: ANN401
        shown = [(prop.property, attribute) for prop, kind in said if (attribute := entry(op, prop, kind)) is not None]
        text = dictionary_text(tuple(sorted([*shown, *op.attributes], key=lambda entry: entry[0])))
        return f" {text}" if text else ""

    return Piece(read, write)


def field_of(p: Parser, prop: Property, attribute: Attribute, place: int) -> Any:  # noqa: ANN401
    """What a property makes of a field, read at a place."""
    try:
        return prop.from_attribute(attribute)
    except ValueError as problem:
        p.scanner.fail(f"the attribute {prop.property} {problem}", place)


def _property(text: str, form: Form, fields: Fields | None) -> Piece:
    """`name:kind`, `name:unit`, `name=word:unit`"""
    said, _, of = text.partition(":")
    name, _, keyword = said.partition("=")
    get = attrgetter(name)
    if of == "unit":
        word = keyword or name

        def read_word(found: Found) -> None:
            if found.s.accept(word):
                found.fields[name] = True

        return Piece(read_word, lambda p, op: word, is_there=get, attributes={name: lambda on: UnitAttr()})
    kind = KINDS[of]

    def read(found: Found) -> None:
        found.fields[name] = kind.read(found.p)

    return Piece(read, lambda p, op: kind.write(get(op)), attributes={name: kind.attribute})


_MAKERS: Mapping[str, Callable[[str, Form, Fields | None], Piece]] = {
    "listed": _listed, "operand": _operand, "types": _types, "dictionary": _dictionary, "property": _property,
    "signature": _signature, "word": _word,
}  # fmt: skip
