"""Any operation, read from the generic form."""

from __future__ import annotations

from typing import NoReturn

from affdsl.ir.attributes import Attributes
from affdsl.ir.dialects.opaque import Opaque, OpaqueRegion, symbol_of
from affdsl.ir.types import FunctionType
from affdsl.mlir.generic import typed_form
from affdsl.mlir.parser import Head, Parser, Reading
from affdsl.mlir.reading.legacy import form_today, name_today
from affdsl.mlir.reading.regions import read_region, read_successor
from affdsl.mlir.registry import is_impossible, is_registered

ISOLATED = ("func.func", "builtin.module")


def read_generic(p: Parser, head: Head) -> Reading:
    """`"name"(%a)[^block] <{properties}> ({regions}) {attributes} : (types) -> types`"""
    s = p.scanner
    said = s.string()
    name = name_today(said)
    if not name:
        s.fail("an operation has a name", head.offset)
    if is_impossible(name):
        s.fail(f"there is no operation {name} in MLIR", head.offset)
    if not p.allow_unregistered and not is_registered(name):
        s.fail(f"{name} belongs to no dialect that is known; --allow-unregistered-dialect lets it pass", head.offset)
    uses = p.listed(p.use)
    successors = p.listed(lambda: read_successor(p), "[", "]") if s.token == "[" else ()
    properties: Attributes = ()
    if s.token == "<" and s.peek() == "{":
        s.advance()
        properties = p.dictionary()
        s.expect(">")
    regions: tuple[OpaqueRegion, ...] = ()
    if s.token == "(":
        s.advance()
        if name in ISOLATED:
            p.enter_isolated()
        found = [OpaqueRegion((yield from read_region(p, head)))]
        while s.accept(","):
            found.append(OpaqueRegion((yield from read_region(p, head))))
        regions = tuple(found)
        if name in ISOLATED:
            p.leave_isolated()
        s.expect(")")
    attributes = p.dictionary()
    s.expect(":")
    place, type = s.start, p.type()
    if not isinstance(type, FunctionType):
        s.fail("expected the types of operands and results, like (f32) -> f32", place)
    operands = p.typed(uses, type.inputs, head.offset)
    opaque = Opaque(
        name, operands, p.results(head, type.results), properties, regions, successors,
        location=p.trailing_location() or head.location, attributes=attributes,
    )  # fmt: skip
    opaque = form_today(opaque, said)
    if name == "builtin.module" and p.is_in_function and not symbol_of(opaque):
        return opaque  # of which the function around knows nothing
    return typed_form(opaque, Refusing(p, head.offset))


class Refusing:
    """Refuses at the place where an operation begins."""

    def __init__(self, parser: Parser, offset: int) -> None:
        self._parser = parser
        self._offset = offset

    def refuse(self, op: Opaque, problem: str) -> NoReturn:
        """Raise ParseError."""
        self._parser.scanner.fail(problem, self._offset)
