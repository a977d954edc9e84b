"""The arith and math dialects, printed in their custom form."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from affdsl.ir.attributes import IntegerAttr, OpaqueAttr
from affdsl.ir.core import Block, Op
from affdsl.ir.dialects import arith, math
from affdsl.ir.types import I1, VectorType
from affdsl.mlir.constants import dense_text
from affdsl.mlir.literals import constant_name, literal
from affdsl.mlir.printer import Printer

_FLAGS = ("fastmath", "overflowFlags", "isExact", "nonNeg", "roundingmode")


def flags(p: Printer, op: Op) -> str:
    """` to_nearest_even overflow<nsw> fastmath<fast> exact nneg {attributes}`, each of them where it is said"""
    if not op.attributes:
        return ""
    said = dict(op.attributes)
    text = ""
    match said.get("roundingmode"):
        case IntegerAttr(number) if 0 <= number < len(arith.ROUNDING):
            text += f" {arith.ROUNDING[number]}"
    for name in ("overflowFlags", "fastmath"):
        match said.get(name):
            case OpaqueAttr(shown):
                text += f" {shown.removeprefix('#arith.')}"
    text += " exact" if "isExact" in said else ""
    text += " nneg" if "nonNeg" in said else ""
    return text + p.dictionary(op, *_FLAGS)


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


def write_binary(p: Printer, op: arith.Binary | math.Binary) -> str:
    """`arith.addf %a, %b fastmath<fast> : f32`"""
    power = f", {p.type(op.right)}" if op.kind == "fpowi" else ""
    return f"{op.name}.{op.kind} {p.names(op.left)}, {p.names(op.right)}{flags(p, op)} : {p.type(op.left)}{power}"


def write_extended(p: Printer, op: arith.Extended) -> str:
    """`arith.addui_extended %a, %b : i8, i1`"""
    carry = f", {p.type(op.high)}" if op.kind == "addui_extended" else ""
    return f"arith.{op.kind} {p.list((op.left, op.right))}{flags(p, op)} : {p.type(op.low)}{carry}"


def write_negate(p: Printer, op: arith.Negate) -> str:
    """`arith.negf %a : f32`"""
    return f"arith.negf {p.names(op.operand)}{flags(p, op)} : {p.type(op.operand)}"


def write_compare(p: Printer, op: arith.Compare) -> str:
    """`arith.cmpi slt, %a, %b : i32`"""
    return f"arith.{op.kind} {op.predicate}, {p.list((op.left, op.right))}{flags(p, op)} : {p.type(op.left)}"


def write_cast(p: Printer, op: arith.Cast) -> str:
    """`arith.extf %a : f32 to f64`"""
    return f"arith.{op.kind} {p.names(op.operand)}{flags(p, op)} : {p.type(op.operand)} to {p.type(op.result)}"


def write_select(p: Printer, op: arith.Select) -> str:
    """`arith.select %c, %a, %b : f32`, or with the type of a vector of choices before"""
    chosen = "" if op.condition.type == I1 else f"{p.type(op.condition)}, "
    operands = p.list((op.condition, op.if_true, op.if_false))
    return f"arith.select {operands}{p.dictionary(op)} : {chosen}{p.type(op.result)}"


def write_unary(p: Printer, op: math.Unary) -> str:
    """`math.exp %a fastmath<fast> : f32`"""
    return f"math.{op.kind} {p.names(op.operand)}{flags(p, op)} : {p.type(op.operand)}"


def write_fma(p: Printer, op: math.Fma) -> str:
    """`math.fma %a, %b, %c : f32`"""
    return f"math.fma {p.list((op.a, op.b, op.c))}{flags(p, op)} : {p.type(op.a)}"


WRITERS: dict[type[Op], Callable[..., str | Iterator[Block]]] = {
    arith.Constant: write_constant,
    arith.Binary: write_binary,
    arith.Extended: write_extended,
    arith.Negate: write_negate,
    arith.Compare: write_compare,
    arith.Cast: write_cast,
    arith.Select: write_select,
    math.Unary: write_unary,
    math.Binary: write_binary,
    math.Fma: write_fma,
}
