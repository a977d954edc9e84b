"""The complex dialect: numbers of two floats, as tables of kinds."""

from __future__ import annotations

from affdsl.ir.core import Operand, Pure, Result

PARTS = ("re", "im", "abs", "angle")
"""Kinds that make a float of a complex number."""
UNARY = ("neg", "conj", "exp", "log", "sqrt", "sin", "cos", "tan", "tanh")
BINARY = ("add", "sub", "mul", "div", "pow")
COMPARISONS = ("eq", "neq")


class ComplexOp(Pure):
    """An operation of the dialect: it has a result for all operands."""


class Constant(ComplexOp):
    """result = value, a complex number"""

    name = "complex.constant"
    result: Result
    value: complex


class Create(ComplexOp):
    """result = real + imaginary * i, of two floats"""

    name = "complex.create"
    result: Result
    real: Operand
    imaginary: Operand


class Part(ComplexOp):
    """result, a float = kind(operand), kind in PARTS"""

    name = "complex"
    result: Result
    kind: str
    operand: Operand


class Unary(ComplexOp):
    """result = kind(operand), kind in UNARY"""

    name = "complex"
    result: Result
    kind: str
    operand: Operand


class Binary(ComplexOp):
    """result = kind(left, right), kind in BINARY"""

    name = "complex"
    result: Result
    kind: str
    left: Operand
    right: Operand


class Compare(ComplexOp):
    """result = left <kind> right, an i1; kind in COMPARISONS"""

    name = "complex"
    result: Result
    kind: str
    left: Operand
    right: Operand
