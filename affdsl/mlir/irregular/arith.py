"""Constants and choices of arith, where no form says it: read, and printed."""

from __future__ import annotations

from collections.abc import Iterator

from affdsl.ir.attributes import DenseAttr, FloatAttr, IntegerAttr, OpaqueAttr
from affdsl.ir.core import Block, Op
from affdsl.ir.dialects import arith
from affdsl.ir.types import I1, OpaqueType, Type, VectorType
from affdsl.mlir.attributes import attribute_text
from affdsl.mlir.constants import constant, dense_text
from affdsl.mlir.enumerations import PROPERTIES
from affdsl.mlir.flags import read_flags
from affdsl.mlir.irregular.table import Table
from affdsl.mlir.literals import constant_name, literal
from affdsl.mlir.parser import Head, Parser
from affdsl.mlir.printer import Printer
from affdsl.mlir.reading.opaque import opaque, parted


def read_constant(p: Parser, head: Head) -> Op:
    """`arith.constant 1.0 : f32`"""
    attributes = p.dictionary()
    place, value = p.scanner.start, p.attribute()
    match value:
        case IntegerAttr(_, type) | FloatAttr(_, type) | DenseAttr(_, type) | OpaqueAttr(_, type) if type is not None:
            return constant(p, head, value, type, attributes, place)
    text = f"expected a number, true, false, or dense<...> with its type, not {attribute_text(value)}"
    return p.scanner.fail(text, place)


def read_select(p: Parser, head: Head) -> Op:
    """`arith.select %c, %a, %b : f32`, or with the type of a vector of choices before"""
    uses = [p.use()]
    for _ in range(2):
        p.scanner.expect(",")
        uses.append(p.use())
    attributes = read_flags(p, head)
    type = p.colon_type()
    chosen: Type = I1
    if p.scanner.accept(","):
        chosen, type = type, p.type()
    values = p.typed(uses, (chosen, type, type))
    if isinstance(type, OpaqueType) or isinstance(chosen, OpaqueType):
        return opaque(p, head, values, (type,), *parted(attributes, PROPERTIES.values()))
    return arith.Select(p.result(head, type), *values, location=head.location, attributes=attributes)


def write_constant(p: Printer, op: arith.Constant) -> Iterator[Block]:
    """`arith.constant 1.0 : f32`"""
    type = op.result.type
    if isinstance(type, VectorType):
        shown = f"dense<{dense_text(op.value, type)}>"
    else:
        assert not isinstance(op.value, tuple), "only a vector has several numbers"
        shown = literal(op.value, type)
    text = f"arith.constant{p.dictionary(op)} {shown}{'' if type == I1 else f' : {p.type(op.result)}'}"
    name = p.names.define(op.result, lambda: "cst" if isinstance(op.value, tuple) else constant_name(op.value, type))
    p.line(op, f"{name} = {text}")
    return iter(())


def write_select(p: Printer, op: arith.Select) -> str:
    """`arith.select %c, %a, %b : f32`, or with the type of a vector of choices before"""
    chosen = "" if op.condition.type == I1 else f"{p.type(op.condition)}, "
    operands = p.list((op.condition, op.if_true, op.if_false))
    return f"arith.select {operands}{p.dictionary(op)} : {chosen}{p.type(op.result)}"


TABLE: Table = {
    arith.Constant: (read_constant, write_constant),
    arith.Select: (read_select, write_select),
}
