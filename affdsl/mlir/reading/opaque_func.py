"""The custom form of operations that are kept as opaque ones: branches between blocks, functions as values, casts."""

from __future__ import annotations

from collections.abc import Mapping

from affdsl.ir.attributes import Attribute, DenseArrayAttr, SymbolAttr
from affdsl.ir.core import Op
from affdsl.ir.types import I1, I32, FunctionType
from affdsl.mlir.generic.rows import segments
from affdsl.mlir.irregular.arith import read_constant
from affdsl.mlir.parser import Head, Parser, Reader
from affdsl.mlir.reading.opaque import opaque
from affdsl.mlir.reading.regions import read_target


def read_branch(p: Parser, head: Head) -> Op:
    """`cf.br ^bb1(%a : i32)`"""
    label, operands = read_target(p)
    return opaque(p, head, operands, (), said=p.dictionary(), successors=(label,))


def read_conditional_branch(p: Parser, head: Head) -> Op:
    """`cf.cond_br %c, ^bb1(%a : i32), ^bb2`"""
    s = p.scanner
    condition = p.operand(I1)
    weights: tuple[tuple[str, Attribute], ...] = ()
    if s.accept("weights"):
        s.expect("(")
        numbers = p.listed(lambda: str(s.integer()), "[", "]")
        s.expect(")")
        weights = (("branch_weights", DenseArrayAttr(I32, numbers)),)
    s.expect(",")
    then, first = read_target(p)
    s.expect(",")
    orelse, second = read_target(p)
    operands = (condition, *first, *second)
    properties = (*weights, segments(1, len(first), len(second)))
    return opaque(p, head, operands, (), properties, p.dictionary(), successors=(then, orelse))


def read_function_constant(p: Parser, head: Head) -> Op:
    """`constant @f : (f32) -> f32`; in a function also `constant 1.0 : f32`, as it was written in 2019"""
    if p.scanner.token[:1] not in ("@", "{") and not p.scanner.text.startswith("func.", head.offset):
        return read_constant(p, head._replace(name="arith.constant"))
    attributes = p.dictionary()
    path = p.symbol_path()
    return opaque(p, head, (), (p.colon_type(),), (("value", SymbolAttr(path)),), attributes)


def read_call_indirect(p: Parser, head: Head) -> Op:
    """`call_indirect %f(%a) : (f32) -> f32`"""
    callee, uses = p.use(), p.listed(p.use)
    attributes = p.dictionary()
    type = p.colon_function()
    operands = (p.resolve(callee, FunctionType(type.inputs, type.results)), *p.typed(uses, type.inputs))
    return opaque(p, head, operands, type.results, said=attributes)


READERS: Mapping[str, Reader] = {
    "cf.br": read_branch,
    "cf.cond_br": read_conditional_branch,
    "func.constant": read_function_constant,
    "func.call_indirect": read_call_indirect,
}
