"""Folds and rewrites of comparisons and choices."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

from affdsl.ir import semantics
from affdsl.ir.dialects import arith
from affdsl.ir.expr import Value
from affdsl.ir.numeric import nearest
from affdsl.ir.types import I1, FloatType, IntegerType, Type, VectorType
from affdsl.passes.cleanup.canonicalize.graph import Graph, OpNode
from affdsl.passes.cleanup.canonicalize.numbers import element_of, integer, is_float, known, lanes, numbers
from affdsl.passes.cleanup.canonicalize.rules import Folded, Known, Rules

if TYPE_CHECKING:
    import numpy as np

NOT = {
    "eq": "ne", "ne": "eq", "slt": "sge", "sge": "slt", "sgt": "sle", "sle": "sgt",
    "ult": "uge", "uge": "ult", "ugt": "ule", "ule": "ugt",
}  # fmt: skip
"""The comparison that holds where one does not."""
_SWAPPED = {
    "eq": "eq", "ne": "ne", "slt": "sgt", "sgt": "slt", "sle": "sge", "sge": "sle",
    "ult": "ugt", "ugt": "ult", "ule": "uge", "uge": "ule",
}  # fmt: skip
_TRUE_ON_EQUAL = frozenset({"eq", "sle", "sge", "ule", "uge"})
_MANTISSA = {"f16": 11, "bf16": 8, "f32": 24, "f64": 53}
_LARGEST_EXPONENT = {"f16": 15, "bf16": 127, "f32": 127, "f64": 1023}


def fold_compare(graph: Graph, op: arith.Compare) -> Folded:
    """A comparison as a constant, or as the i1 that it looks at."""
    left, right = numbers(graph, op.left), numbers(graph, op.right)
    element = element_of(op.left.type)
    if element is None:
        return None
    if op.kind == "cmpf":
        return _fold_floats(op, left, right, element)
    if op.left is op.right:
        return Known(op.predicate in _TRUE_ON_EQUAL)
    n = integer(graph, op.right)
    if n == 0 and op.predicate == "ne":
        if element == I1:
            return op.left
        match graph.definition(op.left):
            case arith.Cast(kind="extsi" | "extui", operand=flag) if element_of(flag.type) == I1:
                return flag
    if n == 1 and op.predicate == "eq" and element == I1:
        return op.left
    if left is None or right is None:
        return None
    return known(lanes(semantics.compare(op.predicate, element), left, right), op.result.type)


def _fold_floats(op: arith.Compare, left: object, right: object, element: object) -> Folded:
    if isinstance(op.left.type, VectorType) or not isinstance(element, FloatType):
        return None
    if _is_nan(left) or _is_nan(right):
        return Known(op.predicate == "true" or op.predicate.startswith("un") or op.predicate[0] == "u")
    if not is_float(left) or not is_float(right):
        return None
    return Known(bool(semantics.compare(op.predicate, element)(left, right)))


def _is_nan(number: object) -> bool:
    return is_float(number) and bool(number != number)


def constant_right(graph: Graph, node: OpNode, op: arith.Compare) -> bool:
    """`3 < x` as `x > 3`, for integers."""
    if op.kind == "cmpi" and graph.payload(op.left) is not None and graph.payload(op.right) is None:
        graph.set(node, predicate=_SWAPPED[op.predicate], left=op.right, right=op.left)
        return True
    return False


def compare_integer_as_float(graph: Graph, node: OpNode, op: arith.Compare) -> bool:
    """An integer that was made a float and compared with a constant is compared as an integer."""
    if op.kind != "cmpf" or isinstance(op.left.type, VectorType):
        return False
    cast, rhs, type = graph.definition(op.left), numbers(graph, op.right), op.left.type
    if not (isinstance(cast, arith.Cast) and cast.kind in ("sitofp", "uitofp") and is_float(rhs)):
        return False
    integer_type = cast.operand.type
    assert isinstance(type, FloatType)
    assert isinstance(integer_type, IntegerType)
    is_signed = cast.kind == "sitofp"
    if not _keeps_order(float(rhs), integer_type.width, type, is_signed=is_signed):
        return False
    found = _as_integers(op.predicate, rhs, integer_type.width, type, is_signed=is_signed)
    if found is None:
        return False
    if isinstance(found, bool):
        graph.replace(node, (graph.constant(found, op.result.type, node),))
        return True
    predicate, number = found
    constant = graph.constant(_wrapped(number, integer_type.width), integer_type, node)
    graph.update(node, arith.Compare(op.result, "cmpi", predicate, cast.operand, constant, location=op.location))
    return True


def _wrapped(number: int, width: int) -> int | bool:
    return bool(number & 1) if width == 1 else number - (1 << width) if number >> (width - 1) == 1 else number


def _keeps_order(rhs: float, width: int, type: FloatType, *, is_signed: bool) -> bool:
    """Whether rounding an integer to a float cannot change how it compares with rhs."""
    mantissa, bits = _MANTISSA[type.name], width - is_signed
    if width <= mantissa:
        return True
    if math.isinf(rhs):
        return _LARGEST_EXPONENT[type.name] >= bits
    exponent = -1 if rhs == 0 or math.isnan(rhs) else math.frexp(rhs)[1] - 1
    return not mantissa <= exponent <= bits


def _as_integers(
    predicate: str, rhs: np.floating, width: int, type: FloatType, *, is_signed: bool
) -> bool | tuple[str, int] | None:
    """The comparison of an integer that is the same; True or False where there is nothing left to compare."""
    if predicate in ("ord", "uno"):
        return predicate == "ord" if not _is_nan(rhs) else None
    if predicate in ("true", "false") or _is_nan(rhs):
        return None
    order = predicate[1:]
    low, high = (-(1 << (width - 1)), (1 << (width - 1)) - 1) if is_signed else (0, (1 << width) - 1)
    if float(rhs) > float(nearest_of(high, type)):
        return order in ("ne", "lt", "le")
    if float(rhs) < float(nearest_of(low, type)):
        return order in ("ne", "gt", "ge")
    whole = int(rhs)
    if not low <= whole <= high:
        return None
    prefix = "s" if is_signed else "u"
    if whole != float(rhs):
        if order in ("eq", "ne"):
            return order == "ne"
        is_negative = float(rhs) < 0
        if is_negative and not is_signed:
            return order in ("gt", "ge")
        order = {"le": "lt", "lt": "lt", "gt": "ge", "ge": "ge"}[order] if is_negative else _ABOVE[order]
    return (order if order in ("eq", "ne") else prefix + order), whole


_ABOVE = {"le": "le", "lt": "le", "gt": "gt", "ge": "gt"}


def nearest_of(number: int, type: FloatType) -> np.floating:
    """The float nearest to an integer."""
    return nearest(Fraction(number), type)


def fold_select(graph: Graph, op: arith.Select) -> Folded:
    """A choice that does not choose."""
    if op.if_true is op.if_false:
        return op.if_true
    condition = integer(graph, op.condition)
    if condition is not None:
        return op.if_true if condition else op.if_false
    a, b = integer(graph, op.if_true), integer(graph, op.if_false)
    if op.result.type == I1 and (a, b) == (1, 0):
        return op.condition
    match graph.definition(op.condition):
        case arith.Compare(kind="cmpi", predicate="eq" | "ne" as predicate, left=x, right=y):
            if {x, y} == {op.if_true, op.if_false}:
                return op.if_false if predicate == "eq" else op.if_true
    mask, yes, no = (numbers(graph, v) for v in (op.condition, op.if_true, op.if_false))
    if isinstance(op.condition.type, VectorType) and mask is not None and yes is not None and no is not None:
        return known(lanes(lambda c, x, y: x if c else y, mask, yes, no), op.result.type)
    return None


def nested_select(graph: Graph, node: OpNode, op: arith.Select) -> bool:
    """`c ? (c ? a : b) : d` as `c ? a : d`, and likewise on the other side."""
    match graph.definition(op.if_true):
        case arith.Select(condition=condition, if_true=a) if condition is op.condition:
            graph.set(node, if_true=a)
            return True
    match graph.definition(op.if_false):
        case arith.Select(condition=condition, if_false=b) if condition is op.condition:
            graph.set(node, if_false=b)
            return True
    return False


def select_by_not(graph: Graph, node: OpNode, op: arith.Select) -> bool:
    """`!c ? a : b` as `c ? b : a`."""
    match graph.definition(op.condition):
        case arith.Binary(kind="xori", left=c, right=ones) if integer(graph, ones) == 1:
            graph.set(node, condition=c, if_true=op.if_false, if_false=op.if_true)
            return True
    return False


def select_of_flags(graph: Graph, node: OpNode, op: arith.Select) -> bool:
    """`c ? 1 : 0` as extui(c), `c ? 0 : 1` as extui(!c), and `c ? false : true` as !c."""
    type: Type = op.result.type
    if not isinstance(type, IntegerType):
        return False
    match integer(graph, op.if_true), integer(graph, op.if_false):
        case (1, 0) if type != I1:
            graph.update(node, arith.Cast(op.result, "extui", op.condition, location=op.location))
        case (0, 1):
            true = graph.constant(True, I1, node)
            if type == I1:
                graph.update(node, arith.Binary(op.result, "xori", op.condition, true, location=op.location))
            else:
                flag = Value(I1)
                graph.insert(arith.Binary(flag, "xori", op.condition, true, location=op.location), node)
                graph.update(node, arith.Cast(op.result, "extui", flag, location=op.location))
        case _:
            return False
    return True


COMPARISONS = Rules(
    folds={arith.Compare: fold_compare, arith.Select: fold_select},
    rules={
        arith.Compare: (constant_right, compare_integer_as_float),
        arith.Select: (nested_select, select_by_not, select_of_flags),
    },
)
