"""What lanes of vectors of C are compared, tested and chosen by."""

from __future__ import annotations

from affdsl.codegen.c.context import Context
from affdsl.codegen.c.expressions import UNARY, Code, call, cast, choose, code, infix
from affdsl.codegen.c.masks import is_mask
from affdsl.codegen.c.quirks import is_written
from affdsl.codegen.c.tables import (
    FLOAT_COMPARISON,
    INTEGER_COMPARISON,
    NEGATED_COMPARISON,
    UNSIGNED_COMPARISON,
)
from affdsl.codegen.c.types import suffix
from affdsl.codegen.c.vector_helpers import has_row
from affdsl.codegen.c.vector_types import (
    Mask,
    address_of,
    converted,
    helped,
    integers,
    lane_kind,
    lanes_of,
    on_vectors,
    type_name,
    whole,
)
from affdsl.codegen.targets.target import SIGNS
from affdsl.ir.dialects import arith, math
from affdsl.ir.expr import Value
from affdsl.ir.integers import width
from affdsl.ir.types import FloatType, VectorType

_OF_MASKS = {
    "eq": ("^", True, False), "ne": ("^", True, True),
    "ult": ("&", False, True), "ule": ("|", False, True), "ugt": ("&", True, False), "uge": ("|", True, False),
    "slt": ("&", True, False), "sle": ("|", True, False), "sgt": ("&", False, True), "sge": ("|", False, True),
}  # fmt: skip
"""Masks that are compared: the operator, and whether each is taken as it is. With a sign, true is less: it is -1."""


def compared_lanes(c: Context, op: arith.Compare) -> Code | None:
    """A mask, which may be wider or narrower than what is compared."""
    kind = lane_kind(c, op.left)
    if op.predicate in ("true", "false"):
        return None
    if op.left is op.right and not isinstance(kind, FloatType):
        return _with_itself(c, op)
    left, right = whole(c, op.left), whole(c, op.right)
    if is_mask(op.left):
        sign, is_left, is_right = _OF_MASKS[op.predicate]
        return infix(sign, left if is_left else _inverted(left), right if is_right else _inverted(right))
    if not isinstance(kind, FloatType):
        shown = _ordered(c, op.predicate, op.left, left, right)
    else:
        shown = _compared_floats(op.predicate, left, right)
    return _as_mask(c, shown, op.left, op.result)


def _as_mask(c: Context, shown: Code, of: Value, result: Value) -> Code:
    """What is found of some lanes as a mask, whose lanes may have another width."""
    if (bits := width(lane_kind(c, of))) == c.masks[result]:
        return shown
    if bits == 8 and is_written("lanes_compared"):
        shown = cast(integers(c, "i8", lanes_of(of)), shown)
    return converted(type_name(c, result), shown)


def tested_lanes(c: Context, op: math.Unary) -> Code:
    """Which lanes are no numbers, or infinite, or neither."""
    kind, lanes = lane_kind(c, op.operand), lanes_of(op.operand)
    shown = whole(c, op.operand)
    if op.kind == "isnan":
        return _as_mask(c, infix("!=", shown, shown), op.operand, op.result)
    infinity = call(c.unit.vector_helper("all", suffix(kind), lanes), Code("INFINITY"))
    size = on_vectors(c, "absf", kind, lanes, op.operand)
    c.unit.header("math.h")
    return _as_mask(c, infix("==" if op.kind == "isinf" else "<", size, infinity), op.operand, op.result)


def _with_itself(c: Context, op: arith.Compare) -> Code:
    """Integers compared with themselves, which compilers warn of."""
    none = code(f"({type_name(c, op.result)}){{0}}", UNARY)
    return _inverted(none) if op.predicate in ("eq", "sle", "sge", "ule", "uge") else none


def _compared_floats(predicate: str, left: Code, right: Code) -> Code:
    """All lanes compared: what is unordered is that neither of two opposite comparisons holds."""
    if predicate in FLOAT_COMPARISON:
        return infix(FLOAT_COMPARISON[predicate], left, right)
    if predicate in NEGATED_COMPARISON:
        return _inverted(infix(NEGATED_COMPARISON[predicate], left, right))
    if predicate in ("one", "ueq"):
        unequal = infix("|", infix("<", left, right), infix(">", left, right))
        return unequal if predicate == "one" else _inverted(unequal)
    ordered = infix("&", infix("==", left, left), infix("==", right, right))
    return ordered if predicate == "ord" else _inverted(ordered)


def counted(c: Context, mask: Value) -> Code | None:
    """How many lanes of a comparison are set, without a mask between, where a machine counts so; None elsewhere."""
    if (found := _comparison(c, mask)) is None:
        return None
    compare, sign = found
    kind, lanes = lane_kind(c, compare.left), lanes_of(compare.left)
    stem = f"count_{sign}"
    return on_vectors(c, stem, kind, lanes, compare.left, compare.right) if has_row(stem, suffix(kind), lanes) else None


def _chosen_by_others(c: Context, op: arith.Select) -> Code | None:
    """A choice by a comparison of lanes of another width, without a mask between; None where no machine has it."""
    if (found := _comparison(c, op.condition)) is None:
        return None
    compare, sign = found
    of, kind, lanes = lane_kind(c, compare.left), lane_kind(c, op.result), lanes_of(op.result)
    stem = f"{sign}_{suffix(of)}"
    if not has_row(stem, suffix(kind), lanes):
        return None
    integers(c, f"i{width(kind)}", lanes)
    x, y = (address_of(c, type_name(c, v), whole(c, v)) for v in (compare.left, compare.right))
    return helped(c, stem, op.result, x, y, op.if_true, op.if_false)


def _comparison(c: Context, mask: Value) -> tuple[arith.Compare, str] | None:
    """What a mask compares, and how; None where it is none that `SIGNS` has."""
    compare = c.definitions.get(mask) if is_written("masks_as_vectors") else None
    if not isinstance(compare, arith.Compare) or is_mask(compare.left) or compare.left is compare.right:
        return None
    is_float = isinstance(lane_kind(c, compare.left), FloatType)
    for signs, end in ((FLOAT_COMPARISON, ""),) if is_float else ((INTEGER_COMPARISON, ""), (UNSIGNED_COMPARISON, "u")):
        if compare.predicate in signs:
            return compare, SIGNS[signs[compare.predicate]] + end
    return None


def _inverted(mask: Code) -> Code:
    return code(f"~{mask.at(UNARY)}", UNARY, mask)


def _ordered(c: Context, predicate: str, of: Value, left: Code, right: Code) -> Code:
    """Integers compared, lane by lane."""
    if predicate not in UNSIGNED_COMPARISON:
        return infix(INTEGER_COMPARISON[predicate], left, right)
    bits = width(lane_kind(c, of))
    unsigned = c.unit.vector_type(f"u{bits}", f"uint{bits}_t", lanes_of(of))
    return infix(UNSIGNED_COMPARISON[predicate], cast(unsigned, left), cast(unsigned, right))


def selected_lanes(c: Context, op: arith.Select) -> Code:
    """One of two vectors, or of each lane."""
    if not isinstance(op.condition.type, VectorType):
        return choose(c.values.of(op.condition), whole(c, op.if_true), whole(c, op.if_false))
    if (stem := extreme(c, op)) is not None:
        return helped(c, stem, op.result, op.if_true, op.if_false)
    if (chosen := _chosen_by_others(c, op)) is not None:
        return chosen
    return helped(c, "choose", op.result, Mask(op.condition), op.if_true, op.if_false)


def extreme(c: Context, op: arith.Select) -> str | None:
    """The helper that is a choice between two numbers by comparing them: the first of equal ones, the second for NaN.

    a < b ? a : b, and likewise where the numbers change places; a < b ? b : a is b > a ? b : a.
    """
    compare = c.definitions.get(op.condition)
    if not isinstance(compare, arith.Compare) or compare.predicate not in ("olt", "ogt"):
        return None
    is_less = compare.predicate == "olt"
    match (op.if_true, op.if_false):
        case (compare.left, compare.right):
            return "lesser" if is_less else "greater"
        case (compare.right, compare.left):
            return "greater" if is_less else "lesser"
    return None
