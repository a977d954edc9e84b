"""Folds and rewrites of arithmetic on floats, exact for all numbers, infinities and NaN, unless flags permit more."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

from affdsl.ir import semantics
from affdsl.ir.attributes import OpaqueAttr
from affdsl.ir.dialects import arith
from affdsl.ir.numeric import Number
from affdsl.ir.types import FloatType
from affdsl.passes.cleanup.canonicalize.graph import Graph, OpNode
from affdsl.passes.cleanup.canonicalize.numbers import binary, element_of, is_float, known, lanes, numbers
from affdsl.passes.cleanup.canonicalize.rules import Folded

if TYPE_CHECKING:
    import numpy as np

_IDENTITY = {"addf": -0.0, "subf": 0.0, "mulf": 1.0, "divf": 1.0, "maximumf": -math.inf, "minimumf": math.inf}
"""The right operand with which each kind gives its left operand, to the bit of a zero's sign."""
_IDEMPOTENT = frozenset({"maximumf", "maxnumf", "minimumf", "minnumf"})


def fold_binary(graph: Graph, op: arith.Binary) -> Folded:
    """An operation on floats as one of its operands, or as a constant."""
    element = element_of(op.result.type)
    if not isinstance(element, FloatType):
        return None
    right = numbers(graph, op.right)
    if is_float(right):
        wanted = _IDENTITY.get(op.kind)
        number = float(right)
        if wanted is not None and number == wanted and math.copysign(1, number) == math.copysign(1, wanted):
            return op.left
        if op.kind in ("maxnumf", "minnumf") and math.isnan(number):
            return op.left
        if op.kind == "mulf" and number == 0 and _permits(op, "nnan", "nsz"):
            return op.right
    if op.left is op.right and op.kind in _IDEMPOTENT:
        return op.left
    left = numbers(graph, op.left)
    if left is None or right is None:
        return None
    function = binary(op.kind, op.result.type)

    def without_sign(a: np.floating, b: np.floating) -> Number:
        made = function(a, b)
        is_signed = made != made and math.copysign(1, float(made)) < 0
        return -made if is_signed else made  # the sign of a computed NaN says nothing

    return known(lanes(without_sign, left, right), op.result.type)


def _permits(op: arith.Binary, *wanted: str) -> bool:
    """Whether an operation has all of some fastmath flags."""
    for name, attribute in op.attributes:
        if name == "fastmath" and isinstance(attribute, OpaqueAttr):
            given = set(re.findall(r"\w+", attribute.text.partition("<")[2]))
            return "fast" in given or given.issuperset(wanted)
    return False


def fold_negate(graph: Graph, op: arith.Negate) -> Folded:
    """The opposite of a constant, or of an opposite."""
    match graph.definition(op.operand):
        case arith.Negate(operand=x):
            return x
    number, element = numbers(graph, op.operand), element_of(op.result.type)
    if number is None or element is None:
        return None
    return known(lanes(semantics.unary("negf", element), number), op.result.type)


def both_negated(graph: Graph, node: OpNode, op: arith.Binary) -> bool:
    """`-x * -y` as `x * y`, and likewise for a quotient."""
    if op.kind not in ("mulf", "divf"):
        return False
    match graph.definition(op.left), graph.definition(op.right):
        case arith.Negate(operand=x), arith.Negate(operand=y):
            graph.set(node, left=x, right=y)
            return True
    return False
