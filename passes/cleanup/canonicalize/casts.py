"""Folds and rewrites of casts between numbers."""

from __future__ import annotations

import math

from affdsl.ir import semantics
from affdsl.ir.dialects import arith
from affdsl.ir.numeric import Number, to_bits
from affdsl.ir.types import FloatType, IndexType, IntegerType, ScalarType, Type
from affdsl.mlir.literals import literal
from affdsl.passes.cleanup.canonicalize.graph import Graph, OpNode
from affdsl.passes.cleanup.canonicalize.numbers import all_lanes, element_of, integer, known, lanes, numbers
from affdsl.passes.cleanup.canonicalize.rules import Folded, Rules

_MANTISSA = {"f16": 11, "bf16": 8, "f32": 24, "f64": 53}


def fold_cast(graph: Graph, op: arith.Cast) -> Folded:
    """A cast of a constant, one that changes nothing, or one that takes another back."""
    if op.kind == "bitcast" and op.operand.type == op.result.type:
        return op.operand
    found = _computed(graph, op)
    if found is not None:
        return found
    match graph.definition(op.operand):
        case arith.Cast(kind=inner, operand=x) if x.type == op.result.type and _takes_back(op.kind, inner, op):
            return x
    return None


def _takes_back(outer: str, inner: str, op: arith.Cast) -> bool:
    match outer, inner:
        case "bitcast", "bitcast":
            return True
        case "trunci", "extsi" | "extui":
            return True
        case "truncf", "extf":
            return True
        case ("index_cast", "index_cast") | ("index_castui", "index_castui"):
            return _width(op.operand.type) >= _width(op.result.type)
    return False


def _computed(graph: Graph, op: arith.Cast) -> Folded:
    number, source, target = numbers(graph, op.operand), element_of(op.operand.type), element_of(op.result.type)
    if number is None or source is None or target is None:
        return None
    function = semantics.cast(op.kind, source, target)
    made = lanes(function, number)
    match op.kind:
        case "bitcast" if not all_lanes(lambda x: _is_plain(x, target), made):
            return None
        case "truncf" if not all_lanes(_is_same, number, made):
            return None
        case "fptosi" | "fptoui" if not all_lanes(lambda x: _fits(x, target, is_signed=op.kind == "fptosi"), number):
            return None
    return known(made, op.result.type)


def _is_plain(number: Number, type: ScalarType) -> bool:
    """Whether a constant can hold a number to the bit: all but a NaN that carries something."""
    if not isinstance(type, FloatType) or number == number:
        return True
    return literal(float(number), type) == f"0x{to_bits(number, type):0{type.width // 4}X}"


def _is_same(a: Number, b: Number) -> bool:
    return bool(float(a) == float(b)) or bool(a != a)


def _fits(number: Number, type: object, *, is_signed: bool) -> bool:
    """Whether a float, rounded towards zero, is a number of an integer type."""
    assert isinstance(type, IntegerType)
    if not math.isfinite(float(number)):
        return False
    low, high = (-(1 << (type.width - 1)), (1 << (type.width - 1)) - 1) if is_signed else (0, (1 << type.width) - 1)
    return low <= math.trunc(float(number)) <= high


def _width(type: Type) -> int:
    match element_of(type):
        case IntegerType() | FloatType() as found:
            return found.width
        case IndexType():
            return 64
    return 0


def cast_of_cast(graph: Graph, node: OpNode, op: arith.Cast) -> bool:
    """Two casts as one, where that is the same."""
    inner = graph.definition(op.operand)
    if not isinstance(inner, arith.Cast):
        return False
    x = inner.operand
    match op.kind, inner.kind:
        case ("extui", "extui") | ("extsi", "extsi") | ("trunci", "trunci") | ("bitcast", "bitcast"):
            graph.set(node, operand=x)
        case "extsi", "extui":
            graph.update(node, arith.Cast(op.result, "extui", x, location=op.location))
        case "trunci", "extsi" | "extui" if _width(op.result.type) < _width(x.type):
            graph.set(node, operand=x)
        case "trunci", "extsi" | "extui":
            graph.update(node, arith.Cast(op.result, inner.kind, x, location=op.location))
        case "truncf", "extf" if _width(op.result.type) < _width(x.type):
            graph.set(node, operand=x)
        case ("index_cast", "extsi") | ("index_castui", "extui"):
            graph.update(node, arith.Cast(op.result, op.kind, x, location=op.location))
        case "truncf", "sitofp" | "uitofp" if op.rounding == arith.ROUNDING[0] and _is_exact(x.type, op.operand.type):
            graph.update(node, arith.Cast(op.result, inner.kind, x, location=op.location))
        case _:
            return False
    return True


def _is_exact(source: Type, target: Type) -> bool:
    """Whether a float type has all integers of a type: then rounding once more is rounding for the first time."""
    element = element_of(target)
    return isinstance(element, FloatType) and _width(source) <= _MANTISSA[element.name] and element.name != "f16"


def truncated_shift(graph: Graph, node: OpNode, op: arith.Cast) -> bool:
    """The upper bits alone do not know whether what came in above them was the sign."""
    if op.kind != "trunci":
        return False
    match graph.definition(op.operand):
        case arith.Binary(kind="shrsi", result=shifted, left=x, right=by):
            amount = integer(graph, by)
            if amount is not None and amount + _width(op.result.type) == _width(shifted.type):
                source = graph.node(shifted)
                assert source is not None
                new = type(shifted)(shifted.type, shifted.hint, shifted.location)
                graph.insert(arith.Binary(new, "shrui", x, by, location=op.location), node)
                graph.set(node, operand=new)
                return True
    return False


CASTS = Rules(folds={arith.Cast: fold_cast}, rules={arith.Cast: (cast_of_cast, truncated_shift)})
