"""The arith and math dialects, printed in their custom form."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from affdsl.ir.core import Block, Op
from affdsl.ir.dialects import arith
from affdsl.ir.types import I1, VectorType
from affdsl.mlir.constants import dense_text
from affdsl.mlir.literals import constant_name, literal
from affdsl.mlir.printer import Printer


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


WRITERS: dict[type[Op], Callable[..., str | Iterator[Block]]] = {
    arith.Constant: write_constant,
    arith.Select: write_select,
}
