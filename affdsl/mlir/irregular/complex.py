"""Constants of the complex dialect, which no form says: read, and printed."""

from __future__ import annotations

from collections.abc import Iterator

from affdsl.ir.core import Block, Op
from affdsl.ir.dialects import complex as complex_
from affdsl.ir.types import ComplexType
from affdsl.mlir.constants import NotNumbersError
from affdsl.mlir.generic.complex import constant_of, constant_parts
from affdsl.mlir.irregular.table import Table
from affdsl.mlir.parser import Head, Parser
from affdsl.mlir.printer import Printer
from affdsl.mlir.reading.opaque import opaque


def read_constant(p: Parser, head: Head) -> Op:
    """`complex.constant [1.0, 2.0] : complex<f64>`"""
    place, value = p.scanner.start, p.attribute()
    attributes, type = p.dictionary(), p.colon_type()
    own = (("value", value),)
    if not isinstance(type, ComplexType):
        return opaque(p, head, (), (type,), own, attributes)
    try:
        number = constant_of(value, type)
    except NotNumbersError as problem:
        if problem.opaque:
            return opaque(p, head, (), (type,), own, attributes)
        p.scanner.fail(str(problem), place)
    return complex_.Constant(p.result(head, type), number, location=head.location, attributes=attributes)


def write_constant(p: Printer, op: complex_.Constant) -> Iterator[Block]:
    """`complex.constant [1.0, 2.0] : complex<f64>`"""
    type = op.result.type
    assert isinstance(type, ComplexType), "the verifier has seen it"
    texts = [part.text for part in constant_parts(op.value, type)]
    shown = [text if _says_f64(text, type) else f"{text} : {type.part}" for text in texts]
    name = p.names.define(op.result, lambda: "cst")
    p.line(op, f"{name} = complex.constant [{', '.join(shown)}]{p.dictionary(op)} : {p.type(op.result)}")
    return iter(())


def _says_f64(text: str, type: ComplexType) -> bool:
    """Whether a number is read as an f64 without its type beside it: the bits of one are not."""
    return type.part.name == "f64" and not text.startswith("0x")


TABLE: Table = {
    complex_.Constant: (read_constant, write_constant),
}
