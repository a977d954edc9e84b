"""The complex dialect in generic form."""

from __future__ import annotations

from affdsl.ir.attributes import ArrayAttr, Attribute, FloatAttr, OpaqueAttr, without
from affdsl.ir.core import Op
from affdsl.ir.dialects import complex as complex_
from affdsl.ir.dialects.opaque import Opaque
from affdsl.ir.types import ComplexType, OpaqueType, Type
from affdsl.mlir.constants import NotNumbersError, number
from affdsl.mlir.form import Form
from affdsl.mlir.generic.rows import Reading, Row, Writing, named
from affdsl.mlir.literals import float_literal


def constant_parts(value: complex, type: ComplexType) -> tuple[FloatAttr, FloatAttr]:
    """The attributes of both parts of a constant."""
    of = type.part
    return FloatAttr(float_literal(value.real, of), of), FloatAttr(float_literal(value.imag, of), of)


def constant_of(attribute: Attribute | None, type: ComplexType) -> complex:
    """The number that the attribute of a constant says. Raises NotNumbersError."""
    match attribute:
        case ArrayAttr((FloatAttr(real, one), FloatAttr(imaginary, other))) if one == other == type.part:
            return complex(float(number(real, type.part)), float(number(imaginary, type.part)))
    raise NotNumbersError(f"complex.constant of type {type} needs a list of two numbers of type {type.part}")


def _write_constant(op: complex_.Constant, writing: Writing) -> Opaque:
    assert isinstance(op.result.type, ComplexType), "the verifier has seen it"
    value = ArrayAttr(constant_parts(op.value, op.result.type))
    return Opaque(op.name, (), (op.result,), (("value", value),), attributes=op.attributes, location=op.location)


def _read_constant(opaque: Opaque, reading: Reading) -> Op:
    types: list[Type] = [v.type for v in opaque.results]
    if opaque.operands or len(types) != 1:
        reading.refuse(opaque, "complex.constant takes no operands and gives one value")
    if not isinstance(types[0], ComplexType):
        return opaque
    try:
        value = constant_of(named(opaque.properties or opaque.attributes, "value"), types[0])
    except NotNumbersError as problem:
        if problem.opaque:
            return opaque
        reading.refuse(opaque, str(problem))
    rest = opaque.attributes if opaque.properties else without(opaque.attributes, "value")
    return complex_.Constant(opaque.results[0], value, location=opaque.location, attributes=rest)


_FASTMATH: dict[str, Attribute | None] = {"fastmath": OpaqueAttr("#arith.fastmath<none>")}
_OTHERS = (OpaqueType,)
_CREATE = Form(
    "%real, %imaginary{} : <result>", {"real": "element result", "imaginary": "element result"}, foreign=_OTHERS
)
_PART = Form("%operand{flags} : <operand>", {"result": "element operand"}, foreign=_OTHERS)
_UNARY = Form("%operand{flags} : <operand,result>", foreign=_OTHERS)
_BINARY = Form("%left, %right{flags} : <left,right,result>", foreign=_OTHERS)
_COMPARE = Form("%left, %right{} : <left,right>", {"result": "i1"}, foreign=_OTHERS)

ROWS = (
    Row(complex_.Constant, write=_write_constant, read=_read_constant),
    Row(complex_.Create, _CREATE),
    Row(complex_.Part, forms=dict.fromkeys(complex_.PARTS, _PART), inherent=_FASTMATH),
    Row(complex_.Unary, forms=dict.fromkeys(complex_.UNARY, _UNARY), inherent=_FASTMATH),
    Row(complex_.Binary, forms=dict.fromkeys(complex_.BINARY, _BINARY), inherent=_FASTMATH),
    Row(complex_.Compare, forms=dict.fromkeys(complex_.COMPARISONS, _COMPARE)),
)
