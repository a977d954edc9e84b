"""The rules of complex numbers: which operands each operation takes."""

from __future__ import annotations

from collections.abc import Iterator

from affdsl.ir.dialects import complex as complex_
from affdsl.ir.types import ComplexType, IntegerType
from affdsl.ir.verifier.types import must_agree, must_be, must_be_known, must_have


def constant(op: complex_.Constant) -> Iterator[str]:
    """The value is a complex number."""
    yield from must_be("complex number", op.result)
    value: object = op.value
    if not isinstance(value, complex):
        yield f"{value!r} is no number of type {op.result.type}"


def create(op: complex_.Create) -> Iterator[str]:
    """Both parts have the type of a part of the result."""
    yield from must_be("complex number", op.result)
    if isinstance(op.result.type, ComplexType):
        yield from must_have(op.result.type.part, op.real, op.imaginary)


def part(op: complex_.Part) -> Iterator[str]:
    """The result has the type of a part of the operand."""
    yield from must_be_known(op.kind, complex_.PARTS)
    yield from must_be("complex number", op.operand)
    if isinstance(op.operand.type, ComplexType):
        yield from must_have(op.operand.type.part, op.result)


def unary(op: complex_.Unary) -> Iterator[str]:
    """Operand and result have one type."""
    yield from must_be_known(op.kind, complex_.UNARY)
    yield from must_be("complex number", op.operand)
    yield from must_agree(op.operand, op.result)


def binary(op: complex_.Binary) -> Iterator[str]:
    """Operands and result have one type."""
    yield from must_be_known(op.kind, complex_.BINARY)
    yield from must_be("complex number", op.left)
    yield from must_agree(op.left, op.right, op.result)


def compare(op: complex_.Compare) -> Iterator[str]:
    """Two numbers of one type; the result is i1."""
    yield from must_be_known(op.kind, complex_.COMPARISONS)
    yield from must_be("complex number", op.left)
    yield from must_agree(op.left, op.right)
    yield from must_have(IntegerType(1), op.result)
