"""How properties stand in the custom form of operations: a table of kinds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from affdsl.frozen import FrozenValue
from affdsl.ir.attributes import (
    Attribute,
    IntegerAttr,
    OpaqueAttr,
    StringAttr,
    SymbolAttr,
    TypeAttr,
)
from affdsl.ir.dialects import arith, vector
from affdsl.ir.types import I32, I64, INDEX, Type
from affdsl.mlir.generic.views import groups_attribute, static_attribute
from affdsl.mlir.names import function_symbol
from affdsl.mlir.parser import Parser


def _itself(attribute: Attribute) -> Attribute:
    return attribute


class Kind(FrozenValue):
    """How a property is read, how a field of this kind is printed, and what it is as an attribute."""

    read: Callable[[Parser], Any]
    write: Callable[[Any], str] = str
    attribute: Callable[[Any], Attribute] = _itself


def _integer(type: Type) -> Kind:
    return Kind(lambda p: p.scanner.integer(), attribute=lambda n: IntegerAttr(n, type))


def _list(numbers: Sequence[int]) -> str:
    return str(list(numbers))


def _integers(p: Parser) -> tuple[int, ...]:
    return p.listed(p.scanner.integer, "[", "]")


def _truth(p: Parser) -> Attribute:
    if p.scanner.token not in ("true", "false"):
        p.scanner.fail("expected true or false")
    return OpaqueAttr(p.scanner.advance())


def _within(dialect: str) -> Kind:
    """A word as `#dialect<... word>`"""
    return Kind(lambda p: OpaqueAttr(f"#{dialect} {p.scanner.word()}>"))


def _flags(dialect: str) -> Kind:
    """`<a, b>` as `#dialect<a, b>`"""
    return Kind(lambda p: OpaqueAttr(f"#{dialect}{p.scanner.balanced()}"))


def _comparison(names: str) -> Kind:
    """A string as the number of a predicate."""
    known = names.split()

    def read(p: Parser) -> Attribute:
        place, word = p.scanner.start, p.scanner.string()
        if word not in known:
            p.scanner.fail(f"expected one of {', '.join(known)}", place)
        return IntegerAttr(known.index(word), I64)

    return Kind(read)


def _predicate(known: Sequence[str]) -> Kind:
    """`slt`, or `"slt"` as it was written in 2019"""

    def read(p: Parser) -> str:
        s = p.scanner
        predicate = s.token[1:-1] if s.is_string else s.token
        if predicate not in known:
            s.fail(f"expected a predicate: {', '.join(known)}, not {predicate}")
        s.advance()
        return predicate

    return Kind(read, attribute=lambda predicate: IntegerAttr(known.index(predicate), I64))


def read_combine(p: Parser) -> str:
    """`<add>`, or `"add"` as it was written in 2019"""
    s = p.scanner
    if s.is_string:
        place, name = s.start, s.string()
    else:
        s.expect("<")
        place, name = s.start, s.word()
        s.expect(">")
    if name not in vector.KINDS and name not in vector.OLD_KINDS:
        s.fail(f"there is no kind {name}; known: {', '.join(vector.KINDS)}", place)
    return name


def _either(what: str, first: str, second: str, chosen: str) -> Kind:
    """Whether the chosen one of two words stands there."""
    other = second if chosen == first else first

    def read(p: Parser) -> bool:
        s = p.scanner
        if s.token not in (first, second):
            s.fail(f"{what} has to be '{first}' or '{second}', not {s.token}")
        return s.advance() == chosen

    return Kind(read, lambda on: chosen if on else other)


def _locality(p: Parser) -> int:
    """`locality<3>`"""
    s = p.scanner
    s.expect("locality")
    s.expect("<")
    number = s.natural()
    s.expect(">")
    return number


KINDS: Mapping[str, Kind] = {
    "access": _either("rw specifier", "read", "write", "write"),
    "attr": Kind(lambda p: p.attribute()),
    "bool": Kind(_truth),
    "cache": _either("cache type", "data", "instr", "data"),
    "cmp": _within("index<cmp_predicate"),
    "cmpf": _predicate(arith.FLOAT_PREDICATES),
    "cmpi": _predicate(arith.INTEGER_PREDICATES),
    "combine": Kind(read_combine, lambda kind: f"<{kind}>"),
    "dimension": _within("gpu<dim"),
    "fastmath": _flags("arith.fastmath"),
    "fcmp": _comparison("_false oeq ogt oge olt ole one ord ueq ugt uge ult ule une uno _true"),
    "groups": Kind(
        lambda p: p.listed(lambda: _integers(p), "[", "]"),
        lambda groups: f"[{', '.join(map(_list, groups))}]",
        groups_attribute,
    ),
    "i32": _integer(I32),
    "i64": _integer(I64),
    "icmp": _comparison("eq ne slt sle sgt sge ult ule ugt uge"),
    "index": _integer(INDEX),
    "llvmfast": _flags("llvm.fastmath"),
    "locality": Kind(_locality, lambda number: f"locality<{number}>"),
    "name": Kind(lambda p: p.symbol(), function_symbol),
    "numbers": Kind(_integers, _list, static_attribute),
    "overflow": _flags("llvm.overflow"),
    "reduction": _within("gpu<all_reduce_op"),
    "shuffle": _within("gpu<shuffle_mode"),
    "string": Kind(lambda p: StringAttr(p.scanner.string())),
    "symbol": Kind(lambda p: SymbolAttr(p.symbol_path())),
    "type": Kind(lambda p: TypeAttr(p.type())),
}
