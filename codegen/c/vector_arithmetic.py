"""Arithmetic of lanes by the operators of C's vector types, or by helpers."""

from __future__ import annotations

from math import copysign

from affdsl.codegen.c.context import Context
from affdsl.codegen.c.expressions import UNARY, Code, cast, code, infix, negate, number
from affdsl.codegen.c.masks import is_mask
from affdsl.codegen.c.powers import Power
from affdsl.codegen.c.quotients import is_product, reciprocal_parts
from affdsl.codegen.c.tables import literal
from affdsl.codegen.c.types import suffix
from affdsl.codegen.c.vector_casts import cast_lanes
from affdsl.codegen.c.vector_comparisons import compared_lanes, selected_lanes, tested_lanes
from affdsl.codegen.c.vector_helpers import EXTREMES, IN_DOUBLES, NARROW, has_row
from affdsl.codegen.c.vector_types import (
    Mask,
    address,
    helped,
    integers,
    is_narrow,
    is_native,
    lane_kind,
    lanes_of,
    on_vectors,
    type_name,
    vector_of,
    whole,
)
from affdsl.ir.core import Op
from affdsl.ir.dialects import arith, math, vector
from affdsl.ir.expr import Value
from affdsl.ir.integers import width
from affdsl.ir.types import FloatType, VectorType

OPERATORS = {
    "addf": "+", "subf": "-", "mulf": "*", "divf": "/",
    "addi": "+", "subi": "-", "muli": "*", "andi": "&", "ori": "|", "xori": "^",
}  # fmt: skip
_SHIFTS = {"shli": ("<<", "shl"), "shrsi": (">>", "shr"), "shrui": (">>", "shru")}
"""The operator, and the helper for numbers of bits that may be too large for it."""
_DIVISIONS = ("divsi", "divui", "floordivsi")
_WRAPPING = frozenset(("addi", "subi", "muli"))
"""What overflows as unsigned numbers do."""
_BITS = frozenset(("andi", "ori", "xori"))
_EXTREMES = {"maxsi": "maxs", "minsi": "mins", "maxui": "maxu", "minui": "minu"}
"""The helpers that choose between two integers."""
_BESIDE_NUMBERS = {
    "maximumf": ("greater", -1.0, True), "minimumf": ("lesser", 1.0, True),
    "maxnumf": ("greater", 1.0, False), "minnumf": ("lesser", -1.0, False),
}  # fmt: skip
"""How they choose between a float and a number, the sign of a zero that this may be, and whether NaN is the result."""


def computed(c: Context, op: Op) -> Code | None:
    """An operation on whole vectors as an expression; None where C has none, or all lanes of the operands are equal."""
    (result,) = op.defines()
    if not isinstance(result.type, VectorType) or not is_native(c, result.type):
        return None
    vectors = [v for v in op.reads() if isinstance(v.type, VectorType)]
    if all(v in c.values.splats for v in op.reads()) or not all(is_native(c, vector_of(v)) for v in vectors):
        return None
    match op:
        case arith.Binary():
            return _binary(c, op)
        case arith.Negate():
            return negate(whole(c, op.operand))
        case arith.Compare():
            return compared_lanes(c, op)
        case arith.Select():
            return selected_lanes(c, op)
        case arith.Cast():
            return cast_lanes(c, op)
        case math.Fma():
            return fused(c, op)
        case math.Unary(kind="isnan" | "isinf" | "isfinite"):
            return tested_lanes(c, op)
        case math.Unary(kind="absf" | "roundeven"):
            return helped(c, op.kind, op.result, op.operand)
        case math.Unary(kind="absi"):
            integers(c, f"u{width(lane_kind(c, op.result))}", lanes_of(op.result))
            return helped(c, "abs", op.result, op.operand)
        case math.Unary(kind=kind) if kind in IN_DOUBLES:
            row = kind, suffix(lane_kind(c, op.result)), lanes_of(op.result)
            return helped(c, kind, op.result, op.operand) if has_row(*row) else None
    return None


def fused(c: Context, op: math.Fma | vector.Fma) -> Code | None:
    """a * b + c, rounded once; None for lanes that C does not compute with."""
    if not is_native(c, vector_of(op.result)) or is_narrow(op.result):
        return None
    return helped(c, "fma", op.result, op.a, op.b, op.c)


def _binary(c: Context, op: arith.Binary) -> Code | None:
    kind, element = op.kind, lane_kind(c, op.result)
    lanes = lanes_of(op.result)
    if (power := c.powers.get(op)) is not None:
        return _scaled(c, op, power)
    if is_mask(op.result):
        return infix(OPERATORS[kind], whole(c, op.left), whole(c, op.right)) if kind in _BITS else None
    if kind in _WRAPPING:
        bits = width(element)
        unsigned = c.unit.vector_type(f"u{bits}", f"uint{bits}_t", lanes)
        doubled = _doubled(c, op) if kind == "muli" and bits > NARROW else None
        if doubled is not None:
            value, times = doubled
            return cast(type_name(c, op.result), infix("<<", cast(unsigned, whole(c, value)), number(times)))
        left, right = (cast(unsigned, whole(c, v)) for v in (op.left, op.right))
        return cast(type_name(c, op.result), infix(OPERATORS[kind], left, right))
    if kind == "divf" and (quotient := _by_number(c, op)) is not None:
        return quotient
    if kind in OPERATORS:
        either = _scalar_or_whole if isinstance(element, FloatType) else whole
        return infix(OPERATORS[kind], either(c, op.left), either(c, op.right))
    if kind in _SHIFTS:
        return _shifted(c, op)
    if kind in _DIVISIONS:
        return _divided(c, op)
    if kind in EXTREMES and isinstance(element, FloatType):
        return _beside_number(c, op) or helped(c, kind, op.result, op.left, op.right)
    if kind in _EXTREMES and op.left is op.right:
        return whole(c, op.left)
    if kind in _EXTREMES:
        integers(c, f"u{width(element)}", lanes)
        return helped(c, _EXTREMES[kind], op.result, op.left, op.right)
    return None


def _by_number(c: Context, op: arith.Binary) -> Code | None:
    """A vector divided by a known number of which products give the same; None elsewhere."""
    kind, lanes, divisor = lane_kind(c, op.result), lanes_of(op.result), _known_float(c, op.right)
    if divisor is None or not is_product(divisor, kind, lanes):
        return None
    parts = reciprocal_parts(divisor, kind) or ()
    return helped(c, "divided", op.result, op.left, *(literal(each, kind) for each in (divisor, *parts)))


def _beside_number(c: Context, op: arith.Binary) -> Code | None:
    """The smaller or larger one of a float and a known number, by fewer instructions than of any two floats.

    Of two numbers that are equal, or where one is NaN, `lesser` and `greater` give the second one.
    """
    stem, sign, nan_wins = _BESIDE_NUMBERS[op.kind]
    for x, known in ((op.left, op.right), (op.right, op.left)):
        number_ = _known_float(c, known)
        if number_ is None or number_ != number_:
            continue
        if number_ or copysign(1.0, number_) == sign:
            return helped(c, stem, op.result, *((known, x) if nan_wins else (x, known)))
        if op.kind == "maximumf":
            return helped(c, "rectified", op.result, x)
        if nan_wins:  # the zero that wins: x < 0 ? x : 0, and x where it is no number
            shown, lanes = whole(c, x), lanes_of(op.result)
            found = helped(c, stem, op.result, x, known)
            chosen = c.lines.keep("", c.values.temporary, type_name(c, op.result), found)
            none = Mask(infix("!=", shown, shown))
            return on_vectors(c, "choose", lane_kind(c, op.result), lanes, none, x, code(f"&{chosen}", UNARY, chosen))
    return None


def _known_float(c: Context, value: Value) -> float | None:
    """The number that all lanes of a vector are; None where they differ, or nobody knows."""
    maker = c.definitions.get(value)
    if isinstance(maker, vector.Broadcast):
        maker = c.definitions.get(maker.source)
    found = maker.value if isinstance(maker, arith.Constant) else None
    numbers = {found} if not isinstance(found, tuple) else {*found}
    single = numbers.pop() if len(numbers) == 1 else None
    return float(single) if isinstance(single, float) else None


def _scaled(c: Context, op: arith.Binary, power: Power) -> Code:
    """A vector times powers of 2."""
    lanes, bits = lanes_of(op.result), width(lane_kind(c, op.result))
    integers(c, f"u{bits}", lanes)
    return helped(c, "scaled", op.result, power.factor, address(c, f"i{bits}", power.exponent))


def _doubled(c: Context, op: arith.Binary) -> tuple[Value, int] | None:
    """A vector and how often a product with a known number doubles it: products of long lanes take several steps."""
    for value, other in ((op.left, op.right), (op.right, op.left)):
        times = c.values.splats.get(other)
        if times is not None and isinstance(times.number, int) and times.number > 1 and times.number.bit_count() == 1:
            return value, times.number.bit_length() - 1
    return None


def _shifted(c: Context, op: arith.Binary) -> Code | None:
    """Lanes shifted by one number of bits, where it is known, and else by a function: C leaves open what large ones do.

    None for narrow lanes, which few machines shift by a number each.
    """
    amount, element, lanes = c.values.splats.get(op.right), lane_kind(c, op.result), lanes_of(op.result)
    bits, (sign, stem) = width(element), _SHIFTS[op.kind]
    if amount is None or amount.number is None or not 0 <= amount.number < bits:
        if bits <= NARROW:
            return None
        integers(c, f"u{bits}", lanes)
        return helped(c, stem, op.result, op.left, op.right)
    shown = whole(c, op.left)
    if op.kind != "shrsi":
        shown = cast(integers(c, f"u{bits}", lanes), shown)
    return cast(type_name(c, op.result), infix(sign, shown, amount))


def _divided(c: Context, op: arith.Binary) -> Code | None:
    """Lanes divided by one number that is known, which compilers do by products; None elsewhere.

    Not by 0, nor by -1, which overflows.
    """
    divisor, bits = c.values.splats.get(op.right), width(lane_kind(c, op.result))
    if divisor is None or divisor.number is None or not 0 < divisor.number < 1 << bits - 1:
        return None
    if op.kind == "floordivsi":
        return helped(c, "divfloor", op.result, op.left, op.right)
    left, right = whole(c, op.left), whole(c, op.right)
    if op.kind == "divsi":
        return infix("/", left, right)
    unsigned = c.unit.vector_type(f"u{bits}", f"uint{bits}_t", lanes_of(op.result))
    return cast(type_name(c, op.result), infix("/", cast(unsigned, left), cast(unsigned, right)))


def _scalar_or_whole(c: Context, value: Value) -> Code:
    """A vector beside another one: a number stands for all of its lanes."""
    shown = c.values.splats.get(value)
    if shown is None:
        return whole(c, value)
    c.lines.read(shown.text)
    return shown
