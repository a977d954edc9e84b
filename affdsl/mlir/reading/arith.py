"""The arith and math dialects, read from their custom form."""

from __future__ import annotations

from collections.abc import Mapping

from affdsl.ir.attributes import Attribute, Attributes, DenseAttr, FloatAttr, IntegerAttr, OpaqueAttr, UnitAttr
from affdsl.ir.core import Op
from affdsl.ir.dialects import arith, math
from affdsl.ir.types import I1, IntegerType, Type
from affdsl.ir.verifier.types import truth
from affdsl.mlir.constants import constant
from affdsl.mlir.parser import Head, Parser, Reader, Use


def read_constant(p: Parser, head: Head) -> Op:
    """`arith.constant 1.0 : f32`"""
    attributes = p.dictionary()
    place, value = p.scanner.start, p.attribute()
    match value:
        case IntegerAttr(_, type) | FloatAttr(_, type) | DenseAttr(_, type) | OpaqueAttr(_, type) if type is not None:
            return constant(p, head, value, type, attributes, place)
    return p.scanner.fail("expected a number, true, false, or dense<...> with its type", place)


def read_binary(p: Parser, head: Head) -> Op:
    """`arith.addf %a, %b fastmath<fast> : f32`"""
    left, right, flags = _two(p)
    type = p.colon_type()
    kind = head.name.partition(".")[2]
    power = p.type() if kind == "fpowi" and p.scanner.accept(",") else type
    values = p.resolve(left, type), p.resolve(right, power)
    cls = arith.Binary if head.name.startswith("arith.") else math.Binary
    return cls(p.result(head, type), kind, *values, location=head.location, attributes=flags)


def _two(p: Parser) -> tuple[Use, Use, Attributes]:
    left = p.use()
    p.scanner.expect(",")
    return left, p.use(), flags(p)


def flags(p: Parser) -> Attributes:
    """`overflow<nsw> fastmath<fast> exact nneg to_nearest_even {attributes}`, each of them or none"""
    s = p.scanner
    found: list[tuple[str, Attribute]] = []
    while s.token in _FLAGS or s.token in _WORDS or s.token in ROUNDING:
        word = s.advance()
        if word in _FLAGS:
            name, attribute = _FLAGS[word]
            found.append((name, OpaqueAttr(f"#arith.{attribute}{s.balanced()}")))
        elif word in _WORDS:
            found.append((_WORDS[word], UnitAttr()))
        else:
            found.append(("roundingmode", IntegerAttr(ROUNDING.index(word), IntegerType(32))))
    return (*found, *p.dictionary())


_FLAGS = {"fastmath": ("fastmath", "fastmath"), "overflow": ("overflowFlags", "overflow")}
_WORDS = {"exact": "isExact", "nneg": "nonNeg"}
ROUNDING = ("to_nearest_even", "downward", "upward", "toward_zero", "to_nearest_away")
"""How truncf rounds, by the number that stands for it in the generic form."""


def read_extended(p: Parser, head: Head) -> Op:
    """`arith.addui_extended %a, %b : i8, i1`"""
    left, right, attributes = _two(p)
    type = p.colon_type()
    high = type
    if head.name == "arith.addui_extended":
        p.scanner.expect(",")
        high = p.type()
    a, b = p.typed((left, right), (type, type))
    low, over = p.results(head, (type, high))
    kind = head.name.partition(".")[2]
    return arith.Extended(low, over, kind, a, b, location=head.location, attributes=attributes)


def read_unary(p: Parser, head: Head) -> Op:
    """`math.exp %a fastmath<fast> : f32`"""
    use, attributes = p.use(), flags(p)
    type = p.colon_type()
    value = p.resolve(use, type)
    if head.name == "arith.negf":
        return arith.Negate(p.result(head, type), value, location=head.location, attributes=attributes)
    kind = head.name.partition(".")[2]
    result = p.result(head, truth(type) if kind in math.FLOAT_TESTS else type)
    return math.Unary(result, kind, value, location=head.location, attributes=attributes)


def read_compare(p: Parser, head: Head) -> Op:
    """`arith.cmpi slt, %a, %b : i32`"""
    s = p.scanner
    predicates = arith.INTEGER_PREDICATES if head.name == "arith.cmpi" else arith.FLOAT_PREDICATES
    predicate = s.token[1:-1] if s.is_string else s.token
    if predicate not in predicates:
        s.fail(f"expected a predicate: {', '.join(predicates)}")
    s.advance()
    s.expect(",")
    left, right, attributes = _two(p)
    type = p.colon_type()
    values = p.typed((left, right), (type, type))
    kind = head.name.partition(".")[2]
    result = p.result(head, truth(type))
    return arith.Compare(result, kind, predicate, *values, location=head.location, attributes=attributes)


def read_cast(p: Parser, head: Head) -> Op:
    """`arith.extf %a : f32 to f64`"""
    use, attributes = p.use(), flags(p)
    value = p.resolve(use, p.colon_type())
    p.scanner.expect("to")
    result, kind = p.result(head, p.type()), head.name.partition(".")[2]
    return arith.Cast(result, kind, value, location=head.location, attributes=attributes)


def read_select(p: Parser, head: Head) -> Op:
    """`arith.select %c, %a, %b : f32`, or with the type of a vector of choices before"""
    condition, if_true, if_false, attributes = _three(p)
    type = p.colon_type()
    chosen: Type = I1
    if p.scanner.accept(","):
        chosen, type = type, p.type()
    values = p.typed((condition, if_true, if_false), (chosen, type, type))
    return arith.Select(p.result(head, type), *values, location=head.location, attributes=attributes)


def read_fma(p: Parser, head: Head) -> Op:
    """`math.fma %a, %b, %c : f32`"""
    a, b, c, attributes = _three(p)
    type = p.colon_type()
    values = p.typed((a, b, c), (type,) * 3)
    return math.Fma(p.result(head, type), *values, location=head.location, attributes=attributes)


def _three(p: Parser) -> tuple[Use, Use, Use, Attributes]:
    a = p.use()
    p.scanner.expect(",")
    b = p.use()
    p.scanner.expect(",")
    return a, b, p.use(), flags(p)


READERS: Mapping[str, Reader] = {
    "arith.constant": read_constant, "arith.cmpi": read_compare, "arith.cmpf": read_compare,
    "arith.select": read_select, "arith.negf": read_unary, "math.fma": read_fma,
} | {f"arith.{kind}": read_binary for kind in (*arith.INTEGER_BINARY, *arith.FLOAT_BINARY)} \
  | {f"arith.{kind}": read_cast for kind in arith.CASTS} \
  | {f"arith.{kind}": read_extended for kind in arith.EXTENDED} \
  | {f"math.{kind}": read_unary for kind in (*math.FLOAT_UNARY, *math.FLOAT_TESTS, *math.INTEGER_UNARY)} \
  | {f"math.{kind}": read_binary for kind in (*math.FLOAT_BINARY, "fpowi", "ipowi")}  # fmt: skip
