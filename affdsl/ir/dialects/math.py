"""The math dialect: elementary functions, as tables of kinds."""

from __future__ import annotations

from affdsl.ir.core import Lanewise, Operand, Result

FLOAT_UNARY = (
    "absf", "acos", "acosh", "asin", "asinh", "atan", "atanh", "cbrt", "ceil", "cos", "cosh", "erf", "erfc", "exp",
    "exp2", "expm1", "floor", "log", "log10", "log1p", "log2", "round", "roundeven", "rsqrt", "sin", "sinh", "sqrt",
    "tan", "tanh", "trunc",
)  # fmt: skip
FLOAT_TESTS = ("isfinite", "isinf", "isnan", "isnormal")
INTEGER_UNARY = ("absi", "ctlz", "cttz", "ctpop")
FLOAT_BINARY = ("atan2", "copysign", "powf")


class Unary(Lanewise):
    """result = kind(operand), kind in FLOAT_UNARY or INTEGER_UNARY; in FLOAT_TESTS the result is an i1"""

    name = "math"
    result: Result
    kind: str
    operand: Operand


class Binary(Lanewise):
    """result = kind(left, right), kind in FLOAT_BINARY; fpowi: a float to an integer power; ipowi: integers"""

    name = "math"
    result: Result
    kind: str
    left: Operand
    right: Operand


class Fma(Lanewise):
    """result = a * b + c, rounded once"""

    name = "math.fma"
    result: Result
    a: Operand
    b: Operand
    c: Operand
