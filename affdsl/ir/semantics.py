"""What every kind of arith, math and reduction computes: tables of rows on plain numbers.

Nothing is undefined: integers wrap; x / 0 and x % 0 are 0; a shift by the width or more gives 0 (shrsi: the sign);
floats are rounded to their type after each operation; a float too large for an integer saturates, and NaN becomes 0.
The C library's functions are computed in double, and rounded once to a shorter type: also in C, where `atan2f` is not
`atan2` rounded. All NaN are alike: a signalling one counts as a quiet one (`pow(1, NaN)` is 1), and which NaN comes out
is left open. In memory, each byte of an i1 that is not 0 is true, and of other odd widths the lower bits count.

A lookup such as `binary("addi", I8)` gives a function on numbers as `affdsl.ir.numeric` holds them. Call those on
floats under `numeric.quiet()`.

>>> from affdsl.ir.types import I8
>>> binary("addi", I8)(127, 1)
-128
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING, TypeAlias

from affdsl.ir.dialects.arith import ROUNDING
from affdsl.ir.numeric import (
    Number,
    from_bits,
    nearest,
    number_of,
    rounder,
    signed,
    to_bits,
    toward,
    unsigned,
    width,
    wrap,
)
from affdsl.ir.types import FloatType, IndexType, IntegerType, ScalarType
from affdsl.later import Later

if TYPE_CHECKING:
    import numpy as np
else:
    np = Later("numpy")

Integer: TypeAlias = IndexType | IntegerType
Function: TypeAlias = Callable[..., Number]
Test: TypeAlias = Callable[..., int]


def binary(kind: str, type: ScalarType) -> Function:
    """What a binary kind of arith or math does to two numbers; `type` is that of the result."""
    if not isinstance(type, FloatType):
        return _integer_binary(INTEGER_BINARY[kind], width(type))
    if kind == "fpowi":
        return _fpowi(type)
    exact_in_type = FLOAT_BINARY.get(kind)
    return _rounded(exact_in_type, type) if exact_in_type else _rounded_once(LIBM_BINARY[kind], type)


def unary(kind: str, type: ScalarType) -> Function:
    """What a unary kind of arith or math does to a number of `type`."""
    if not isinstance(type, FloatType):
        return _integer_unary(INTEGER_UNARY[kind], width(type))
    if kind in FLOAT_TESTS:
        test = FLOAT_TESTS[kind]
        smallest = rounder(type)(SMALLEST_NORMAL[type.name])
        return lambda x: int(test(x, smallest))
    exact_in_type = FLOAT_UNARY.get(kind)
    return _rounded(exact_in_type, type) if exact_in_type else _rounded_once(LIBM_UNARY[kind], type)


def compare(predicate: str, type: ScalarType) -> Test:
    """What cmpi or cmpf (as the type says) with a predicate says about two numbers of `type`: 0 or 1."""
    if isinstance(type, FloatType):
        return _float_test(predicate)
    order, w = INTEGER_ORDER[predicate[-2:]], width(type)
    if predicate.startswith("u"):
        return lambda a, b: int(order(unsigned(a, w), unsigned(b, w)))
    if w == 1:
        return lambda a, b: int(order(-a, -b))
    return lambda a, b: int(order(a, b))


def cast(kind: str, source: ScalarType, target: ScalarType, rounding: str = ROUNDING[0]) -> Function:
    """What a cast from `source` to `target` does to a number; a truncf rounds by one of ROUNDING."""
    match kind, source, target:
        case "truncf", FloatType(), FloatType() if rounding != ROUNDING[0]:
            return lambda x: toward(x, target, rounding)
        case "bitcast", _, _:
            return lambda x: from_bits(to_bits(x, source), target)
        case "extf" | "truncf", FloatType(), FloatType():
            return rounder(target)
        case "sitofp" | "uitofp", IntegerType(), FloatType():
            read, bits = _READ[kind], source.width
            return lambda x: nearest(Fraction(read(int(x), bits)), target)
        case "fptosi" | "fptoui", FloatType(), IntegerType():
            low, high = _range(target.width, is_signed=kind == "fptosi")
            return lambda x: wrap(_saturate(float(x), low, high), target.width)
        case _, IndexType() | IntegerType(), IndexType() | IntegerType():
            read, bits, new = _READ[kind], width(source), width(target)
            return lambda x: wrap(read(int(x), bits), new)
    raise ValueError(f"no cast {kind} from {source} to {target}")


def extended(kind: str, type: Integer) -> Callable[[int, int], tuple[int, int]]:
    """What a kind that gives two results does to two integers: (low, high)."""
    bits = width(type)
    read, operation = EXTENDED[kind]

    def function(a: int, b: int) -> tuple[int, int]:
        exact = operation(read(a, bits), read(b, bits))
        return wrap(exact, bits), wrap(exact >> bits, bits)

    return function


def fma(type: FloatType) -> Function:
    """a * b + c, rounded once."""

    def function(a: np.floating, b: np.floating, c: np.floating) -> Number:
        x, y, z = float(a), float(b), float(c)
        if math.isfinite(x) and math.isfinite(y) and math.isfinite(z):
            exact = Fraction(x) * Fraction(y) + Fraction(z)
            if exact:
                return nearest(exact, type)
        elif math.isfinite(x) and math.isfinite(y):  # the product may overflow a double, but z counts alone
            return c
        return rounder(type)(np.float64(x) * np.float64(y) + np.float64(z))

    return function


def constant(value: int | float | bool, type: ScalarType) -> Number:
    """The number that an `arith.constant` gives."""
    return number_of(value, type)


def combine(kind: str, type: ScalarType) -> Function:
    """How a reduction of affine.parallel puts two numbers together; of `assign`, the second one stays."""
    return (lambda a, b: b) if kind == "assign" else binary(REDUCTION_KINDS[kind], type)


def neutral(kind: str, type: ScalarType) -> Number:
    """The number that a reduction starts with, and gives for an empty band. For `assign` it is 0.

    The kind is named as affine.parallel or as arith names it: "maxs" and "maxsi" are the same. KeyError for others.

    It changes no number with which it is combined, to the bit: a sum of nothing is -0.0, since 0.0 + -0.0 is 0.0.
    """
    kind = REDUCTION_KINDS.get(kind, kind)
    if isinstance(type, FloatType):
        return number_of(_NEUTRAL_FLOATS[kind], type)
    low, high = _range(width(type), is_signed=True)
    return wrap({"maxsi": low, "minsi": high, **_NEUTRAL_INTEGERS}[kind], width(type))


def _quotient(a: int, b: int) -> int:
    """a / b rounded toward zero, and 0 where b is 0."""
    return 0 if b == 0 else abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def _floor(a: int, b: int) -> int:
    return 0 if b == 0 else a // b


def _remainder(a: int, b: int) -> int:
    return 0 if b == 0 else a - _quotient(a, b) * b


def _amount(b: int, w: int) -> int:
    """By how much a shift by b really shifts: as far as the width, at most."""
    return min(unsigned(b, w), w)


def _power(a: int, n: int, w: int) -> int:
    """a to the power n; 1 / a**-n rounded toward zero where n is negative."""
    if n >= 0:
        return pow(a, n, 1 << w)
    return {1: 1, -1: -1 if n % 2 else 1}.get(a, 0)


INTEGER_BINARY: dict[str, Callable[[int, int, int], int]] = {
    "addi": lambda a, b, w: a + b,
    "subi": lambda a, b, w: a - b,
    "muli": lambda a, b, w: a * b,
    "divsi": lambda a, b, w: _quotient(a, b),
    "divui": lambda a, b, w: _floor(unsigned(a, w), unsigned(b, w)),
    "remsi": lambda a, b, w: _remainder(a, b),
    "remui": lambda a, b, w: _remainder(unsigned(a, w), unsigned(b, w)),
    "ceildivsi": lambda a, b, w: -_floor(-a, b),
    "ceildivui": lambda a, b, w: -_floor(-unsigned(a, w), unsigned(b, w)),
    "floordivsi": lambda a, b, w: _floor(a, b),
    "andi": lambda a, b, w: a & b,
    "ori": lambda a, b, w: a | b,
    "xori": lambda a, b, w: a ^ b,
    "shli": lambda a, b, w: a << _amount(b, w),
    "shrsi": lambda a, b, w: a >> _amount(b, w),
    "shrui": lambda a, b, w: unsigned(a, w) >> _amount(b, w),
    "maxsi": lambda a, b, w: max(a, b),
    "maxui": lambda a, b, w: max(unsigned(a, w), unsigned(b, w)),
    "minsi": lambda a, b, w: min(a, b),
    "minui": lambda a, b, w: min(unsigned(a, w), unsigned(b, w)),
    "ipowi": _power,
}

INTEGER_UNARY: dict[str, Callable[[int, int], int]] = {
    "absi": lambda a, w: abs(a),
    "ctlz": lambda a, w: w - unsigned(a, w).bit_length(),
    "cttz": lambda a, w: (a & -a).bit_length() - 1 if a else w,
    "ctpop": lambda a, w: unsigned(a, w).bit_count(),
}

EXTENDED: dict[str, tuple[Callable[[int, int], int], Callable[[int, int], int]]] = {
    "addui_extended": (unsigned, lambda a, b: a + b),
    "mulsi_extended": (signed, lambda a, b: a * b),
    "mului_extended": (unsigned, lambda a, b: a * b),
}
"""How the operands are read, and the exact result, whose bits are shared out."""

_READ: dict[str, Callable[[int, int], int]] = {
    "extsi": signed, "extui": unsigned, "trunci": signed, "index_cast": signed, "index_castui": unsigned,
    "sitofp": signed, "uitofp": unsigned,
}  # fmt: skip

INTEGER_ORDER: dict[str, Callable[..., bool]] = {
    "eq": lambda a, b: bool(a == b),
    "ne": lambda a, b: bool(a != b),
    "lt": lambda a, b: bool(a < b),
    "le": lambda a, b: bool(a <= b),
    "gt": lambda a, b: bool(a > b),
    "ge": lambda a, b: bool(a >= b),
}


def _maximum(a: np.floating, b: np.floating) -> np.floating:
    """The larger one; NaN if either is; +0 is larger than -0."""
    if a != a or b != b:
        return a if a != a else b
    if a == b:
        return b if np.signbit(a) else a
    return a if a > b else b


def _minimum(a: np.floating, b: np.floating) -> np.floating:
    """The smaller one; NaN if either is; -0 is smaller than +0."""
    return -_maximum(-a, -b)


def _number(choose: Callable[[np.floating, np.floating], np.floating]) -> Callable[..., np.floating]:
    """choose, where a NaN loses against a number."""
    return lambda a, b: b if a != a else a if b != b else choose(a, b)


def _half_away(x: np.floating) -> np.floating:
    whole = np.trunc(x)
    step = type(x)(1 if abs(x - whole) >= 0.5 else 0)
    return np.copysign(whole + np.copysign(step, x), x) if np.isfinite(x) else x


FLOAT_BINARY: dict[str, Callable[..., np.floating]] = {
    "addf": lambda a, b: a + b,
    "subf": lambda a, b: a - b,
    "mulf": lambda a, b: a * b,
    "divf": lambda a, b: a / b,
    "remf": lambda a, b: np.fmod(a, b),
    "maximumf": _maximum,
    "maxnumf": _number(_maximum),
    "minimumf": _minimum,
    "minnumf": _number(_minimum),
    "copysign": lambda a, b: np.copysign(a, b),
}

FLOAT_UNARY: dict[str, Callable[..., np.floating]] = {
    "negf": lambda x: -x,
    "absf": abs,
    "ceil": lambda x: np.ceil(x),
    "floor": lambda x: np.floor(x),
    "trunc": lambda x: np.trunc(x),
    "round": _half_away,
    "roundeven": lambda x: np.rint(x),
    "sqrt": lambda x: np.sqrt(x),
    "rsqrt": lambda x: type(x)(1) / np.sqrt(x),
}

FLOAT_TESTS: dict[str, Callable[..., np.bool_ | bool]] = {
    "isfinite": lambda x, smallest: np.isfinite(x),
    "isinf": lambda x, smallest: np.isinf(x),
    "isnan": lambda x, smallest: np.isnan(x),
    "isnormal": lambda x, smallest: np.isfinite(x) and abs(x) >= smallest,
}

SMALLEST_NORMAL = {"f16": 2.0**-14, "bf16": 2.0**-126, "f32": 2.0**-126, "f64": 2.0**-1022}


def _libm(function: Callable[..., float], special: str | None = None) -> Callable[..., float]:
    """function of the C library; where Python raises instead of giving inf or NaN, NumPy's of a name gives that."""
    if special is None:
        return function

    def total(*operands: float) -> float:
        try:
            return function(*operands)
        except (ValueError, OverflowError):
            return float(getattr(np, special)(*map(np.float64, operands)))

    return total


LIBM_UNARY: dict[str, Callable[..., float]] = {
    "acos": _libm(math.acos, "arccos"),
    "acosh": _libm(math.acosh, "arccosh"),
    "asin": _libm(math.asin, "arcsin"),
    "asinh": _libm(math.asinh),
    "atan": _libm(math.atan),
    "atanh": _libm(math.atanh, "arctanh"),
    "cbrt": _libm(math.cbrt),
    "cos": _libm(math.cos, "cos"),
    "cosh": _libm(math.cosh, "cosh"),
    "erf": _libm(math.erf),
    "erfc": _libm(math.erfc),
    "exp": _libm(math.exp, "exp"),
    "exp2": _libm(math.exp2, "exp2"),
    "expm1": _libm(math.expm1, "expm1"),
    "log": _libm(math.log, "log"),
    "log10": _libm(math.log10, "log10"),
    "log1p": _libm(math.log1p, "log1p"),
    "log2": _libm(math.log2, "log2"),
    "sin": _libm(math.sin, "sin"),
    "sinh": _libm(math.sinh, "sinh"),
    "tan": _libm(math.tan, "tan"),
    "tanh": _libm(math.tanh),
}

LIBM_BINARY: dict[str, Callable[..., float]] = {
    "atan2": _libm(math.atan2),
    "powf": _libm(math.pow, "power"),
}

_FLOAT_ORDER: dict[str, Callable[..., bool]] = {
    **INTEGER_ORDER,
    "ne": lambda a, b: bool(a < b or a > b),
    "rd": lambda a, b: bool(a == a and b == b),
}

REDUCTION_KINDS = {
    "addf": "addf", "mulf": "mulf", "maximumf": "maximumf", "minimumf": "minimumf",
    "addi": "addi", "muli": "muli", "andi": "andi", "ori": "ori",
    "maxs": "maxsi", "mins": "minsi", "maxu": "maxui", "minu": "minui",
}  # fmt: skip
"""Which arith kind each reduction of affine.parallel applies."""

_NEUTRAL_FLOATS = {
    "addf": -0.0, "mulf": 1.0, "maximumf": -math.inf, "minimumf": math.inf, "assign": 0.0,
}  # fmt: skip
_NEUTRAL_INTEGERS = {
    "addi": 0, "muli": 1, "andi": -1, "ori": 0, "xori": 0, "maxui": 0, "minui": -1, "assign": 0,
}  # fmt: skip


def _integer_binary(row: Callable[[int, int, int], int], w: int) -> Function:
    if w == 1:
        return lambda a, b: row(-a, -b, 1) & 1
    half, mask = 1 << (w - 1), (1 << w) - 1
    return lambda a, b: ((row(a, b, w) + half) & mask) - half


def _integer_unary(row: Callable[[int, int], int], w: int) -> Function:
    return lambda a: wrap(row(signed(a, w), w), w)


def _rounded(row: Callable[..., np.floating], type: FloatType) -> Function:
    """row with its result rounded, where the NumPy scalars that hold the type do not do that by themselves."""
    if type.name != "bf16":
        return row
    to_type = rounder(type)
    return lambda *operands: to_type(row(*operands))


def _rounded_once(row: Callable[..., float], type: FloatType) -> Function:
    """row on doubles, with its result rounded to type."""
    to_type = rounder(type)
    return lambda *operands: to_type(np.float64(row(*map(float, operands))))


def _fpowi(type: FloatType) -> Function:
    """A power by squaring, each product rounded: in the order in which MLIR multiplies."""
    to_type = rounder(type)

    def function(x: np.floating, n: int) -> np.floating:
        result, base, left = to_type(1.0), x, abs(n)
        while left:
            if left & 1:
                result = to_type(result * base)
            left >>= 1
            base = to_type(base * base) if left else base
        return to_type(to_type(1.0) / result) if n < 0 else result

    return function


def _float_test(predicate: str) -> Test:
    """o...: ordered, false where an operand is NaN; u...: true there."""
    if predicate in ("true", "false"):
        answer = int(predicate == "true")
        return lambda a, b: answer
    if predicate == "uno":
        return lambda a, b: int(a != a or b != b)
    order = _FLOAT_ORDER[predicate[-2:]]
    if predicate.startswith("o"):
        return lambda a, b: int(order(a, b))
    return lambda a, b: int(a != a or b != b or order(a, b))


def _range(w: int, *, is_signed: bool) -> tuple[int, int]:
    return (-(1 << (w - 1)), (1 << (w - 1)) - 1) if is_signed else (0, (1 << w) - 1)


def _saturate(x: float, low: int, high: int) -> int:
    if x != x:
        return 0
    return low if x <= low else high if x >= high else int(x)
