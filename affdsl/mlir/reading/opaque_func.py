"""The custom form of operations that are kept as opaque ones: branches between blocks, functions as values, casts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from affdsl.ir.attributes import Attribute, DenseArrayAttr, SymbolAttr
from affdsl.ir.core import Op
from affdsl.ir.expr import Value
from affdsl.ir.types import I1, FunctionType, IntegerType, Type
from affdsl.mlir.flags import read_flags
from affdsl.mlir.parser import Head, Parser, Reader, Use
from affdsl.mlir.reading.arith import read_constant
from affdsl.mlir.reading.opaque import opaque, parted
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
        weights = (("branch_weights", DenseArrayAttr(IntegerType(32), numbers)),)
    s.expect(",")
    then, first = read_target(p)
    s.expect(",")
    orelse, second = read_target(p)
    sizes = DenseArrayAttr(IntegerType(32), ("1", str(len(first)), str(len(second))))
    operands = (condition, *first, *second)
    properties = (*weights, ("operandSegmentSizes", sizes))
    return opaque(p, head, operands, (), properties, p.dictionary(), successors=(then, orelse))


def read_function_constant(p: Parser, head: Head) -> Op:
    """`constant @f : (f32) -> f32`; in a function also `constant 1.0 : f32`, as it was written in 2019"""
    if p.scanner.token[:1] not in ("@", "{") and not p.scanner.text.startswith("func.", head.offset):
        return read_constant(p, replace(head, name="arith.constant"))
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


def read_conversion(p: Parser, head: Head) -> Op:
    """`builtin.unrealized_conversion_cast %a : f32 to i32`"""
    s = p.scanner
    operands: tuple[Value, ...] = ()
    if p.is_value:
        uses = p.uses()
        s.expect(":")
        operands = p.typed(uses, p.type_list())
    s.expect("to")
    types = p.type_list()
    return opaque(p, head, operands, types, said=p.dictionary())


def read_clamp(p: Parser, head: Head) -> Op:
    """`math.clampf %x to [%low, %high] : f32`"""
    s = p.scanner
    value = p.use()
    s.expect("to")
    low, high = _pair(p)
    attributes = read_flags(p, head)
    type = p.colon_type()
    return _with_fastmath(p, head, p.typed((value, low, high), (type,) * 3), (type,), attributes)


def _pair(p: Parser) -> tuple[Use, Use]:
    p.scanner.expect("[")
    low = p.use()
    p.scanner.expect(",")
    high = p.use()
    p.scanner.expect("]")
    return low, high


def read_sine_and_cosine(p: Parser, head: Head) -> Op:
    """`math.sincos %x : f32`"""
    use, attributes = p.use(), read_flags(p, head)
    type = p.colon_type()
    return _with_fastmath(p, head, (p.resolve(use, type),), (type, type), attributes)


def read_scaling(p: Parser, head: Head) -> Op:
    """`arith.scaling_truncf %x, %scale : f32, f8E8M0FNU to f8E5M2`"""
    s = p.scanner
    value = p.use()
    s.expect(",")
    scale = p.use()
    attributes = read_flags(p, head)
    s.expect(":")
    first = p.type()
    s.expect(",")
    second = p.type()
    s.expect("to")
    operands = p.typed((value, scale), (first, second))
    return _with_fastmath(p, head, operands, (p.type(),), attributes)


def _with_fastmath(
    p: Parser,
    head: Head,
    operands: tuple[Value, ...],
    results: tuple[Type, ...],
    said: tuple[tuple[str, Attribute], ...],
) -> Op:
    return opaque(p, head, operands, results, *parted(said, ("fastmath", "roundingmode")))


READERS: Mapping[str, Reader] = {
    "cf.br": read_branch,
    "cf.cond_br": read_conditional_branch,
    "func.constant": read_function_constant,
    "func.call_indirect": read_call_indirect,
    "builtin.unrealized_conversion_cast": read_conversion,
    "math.clampf": read_clamp,
    "math.sincos": read_sine_and_cosine,
    "arith.scaling_truncf": read_scaling,
    "arith.scaling_extf": read_scaling,
}
