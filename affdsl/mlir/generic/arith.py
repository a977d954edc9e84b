"""The arith and math dialects in generic form."""

from __future__ import annotations

from affdsl.ir.attributes import Attribute, DenseAttr, FloatAttr, IntegerAttr, OpaqueAttr, without
from affdsl.ir.core import Op
from affdsl.ir.dialects import arith, math
from affdsl.ir.dialects.opaque import Opaque
from affdsl.ir.types import I64, FloatType, MemRefType, OpaqueType, Type, VectorType
from affdsl.mlir.attributes import attribute_text
from affdsl.mlir.constants import NotNumbersError, Reals, dense_text, reals_of
from affdsl.mlir.form import Form
from affdsl.mlir.generic.rows import Property, Reading, Row, Writing, named
from affdsl.mlir.literals import literal


def constant_attribute(value: Reals, type: Type) -> Attribute:
    """The attribute of a constant of a type."""
    if isinstance(type, VectorType):
        return DenseAttr(dense_text(value, type), type)
    assert not isinstance(value, tuple), "only a vector has several numbers"
    if isinstance(type, FloatType):
        return FloatAttr(literal(value, type), type)
    return IntegerAttr(int(value), type)


def _write_constant(op: arith.Constant, writing: Writing) -> Opaque:
    value = constant_attribute(op.value, op.result.type)
    return Opaque(op.name, (), (op.result,), (("value", value),), attributes=op.attributes, location=op.location)


def _read_constant(opaque: Opaque, reading: Reading) -> Op:
    value = named(opaque.properties or opaque.attributes, "value")
    match value:
        case IntegerAttr(_, type) | FloatAttr(_, type) | DenseAttr(_, type) if not opaque.operands:
            if [v.type for v in opaque.results] != [type]:
                shown = ", ".join([str(v.type) for v in opaque.results]) or "none"
                reading.refuse(opaque, f"arith.constant gives one value, of the type {type} of its number, not {shown}")
        case OpaqueAttr() if len(opaque.results) == 1 and not opaque.operands:
            return opaque
        case _:
            reading.refuse(opaque, "arith.constant needs a number, true, false, or dense<...> as its value")
    try:
        number = reals_of(value, type)
    except NotNumbersError as problem:
        if problem.opaque:
            return opaque
        reading.refuse(opaque, str(problem))
    rest = opaque.attributes if opaque.properties else without(opaque.attributes, "value")
    return arith.Constant(opaque.results[0], number, location=opaque.location, attributes=rest)


_FASTMATH: dict[str, Attribute | None] = {"fastmath": OpaqueAttr("#arith.fastmath<none>")}
_FLAGS = _FASTMATH | {
    "overflowFlags": OpaqueAttr("#arith.overflow<none>"), "isExact": None, "nonNeg": None, "roundingmode": None,
}  # fmt: skip


def _comparison(kind: str, predicates: tuple[str, ...]) -> Row:
    def to(predicate: str) -> Attribute:
        return IntegerAttr(predicates.index(predicate), I64)

    def back(attribute: Attribute | None) -> str:
        if (
            not isinstance(attribute, IntegerAttr)
            or attribute.type != I64
            or not 0 <= attribute.value < len(predicates)
        ):
            given = attribute_text(attribute) if attribute is not None else "nothing"
            raise ValueError(f"must be a number of type i64 from 0 to {len(predicates) - 1}, not {given}")
        return predicates[attribute.value]

    form = Form(
        f"predicate:{kind}, %left, %right{{flags}} : <left,right>", {"result": "truth left"}, foreign=(OpaqueType,)
    )
    return Row(
        arith.Compare, forms={kind: form}, properties=(Property("predicate", "predicate", to, back),),
        inherent=_FASTMATH,
    )  # fmt: skip


_BINARY = Form("%left, %right{flags} : <left,right,result>", foreign=(OpaqueType,))
_UNARY = Form("%operand{flags} : <operand,result>", foreign=(OpaqueType,))
_EXTENDED = Form("%left, %right{flags} : <low,high,left,right>", foreign=(OpaqueType,))

ROWS = (
    Row(arith.Constant, write=_write_constant, read=_read_constant),
    Row(arith.Binary, forms=dict.fromkeys((*arith.INTEGER_BINARY, *arith.FLOAT_BINARY), _BINARY), inherent=_FLAGS),
    Row(
        arith.Extended,
        forms={
            "mulsi_extended": _EXTENDED, "mului_extended": _EXTENDED,
            "addui_extended": Form("%left, %right{flags} : <low,left,right>, <high>", foreign=(OpaqueType,)),
        },
    ),
    Row(arith.Negate, _UNARY, inherent=_FASTMATH),
    _comparison("cmpi", arith.INTEGER_PREDICATES),
    _comparison("cmpf", arith.FLOAT_PREDICATES),
    Row(
        arith.Cast, inherent=_FLAGS,
        forms=dict.fromkeys(
            arith.CASTS, Form("%operand{flags} : <operand> to <result>", foreign=(OpaqueType, MemRefType))
        ),
    ),
    Row(arith.Select),
    Row(
        math.Unary, inherent=_FASTMATH,
        forms=dict.fromkeys((*math.FLOAT_UNARY, *math.INTEGER_UNARY), _UNARY)
        | dict.fromkeys(
            math.FLOAT_TESTS, Form("%operand{flags} : <operand>", {"result": "truth operand"}, foreign=(OpaqueType,))
        ),
    ),
    Row(
        math.Binary, inherent=_FASTMATH,
        forms=dict.fromkeys((*math.FLOAT_BINARY, "ipowi"), _BINARY)
        | {
            "fpowi": Form(
                "%left, %right{flags} : <left,result>(?, <right>?)", {"right": "left"}, foreign=(OpaqueType,)
            )
        },
    ),
    Row(math.Fma, Form("%a, %b, %c{flags} : <a,b,c,result>", foreign=(OpaqueType,)), inherent=_FASTMATH),
)  # fmt: skip
