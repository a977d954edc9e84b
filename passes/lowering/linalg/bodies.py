"""What one iteration of a named operation of linalg computes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from affdsl.ir.core import Block
from affdsl.ir.dialects import arith, math
from affdsl.ir.expr import Value
from affdsl.ir.types import FloatType, IntegerType, Type

Body: TypeAlias = tuple[Block, Value]
"""Operations, and the value that they come to."""

_BINARY: Mapping[str, tuple[str, str]] = {
    "add": ("addf", "addi"), "sub": ("subf", "subi"), "mul": ("mulf", "muli"), "div": ("divf", "divsi"),
    "max": ("maximumf", "maxsi"), "min": ("minimumf", "minsi"), "div_unsigned": ("", "divui"),
}  # fmt: skip
"""The kinds of arith for floats and for integers."""
_UNARY: Mapping[str, str] = {
    "abs": "absf", **{name: name for name in "ceil erf exp floor log round rsqrt sqrt tanh".split()},
}  # fmt: skip
"""The kinds of math, for floats."""
ELEMENTWISE = frozenset((*_BINARY, *_UNARY, "negf", "reciprocal", "square", "powf", "select"))
"""The operations that compute an element of one element of each input."""
POOLING: Mapping[str, tuple[str, str]] = {
    "max": _BINARY["max"], "min": _BINARY["min"], "sum": _BINARY["add"],
}  # fmt: skip
"""How windows are reduced."""


def converted(value: Value, type: Type) -> Body | None:
    """A number as one of another type, as named operations take it: integers are signed."""
    if value.type == type:
        return (), value
    match value.type, type:
        case FloatType(width=a), FloatType(width=b) if a != b:
            kind = "extf" if a < b else "truncf"
        case IntegerType(a), IntegerType(b):
            kind = "extsi" if a < b else "trunci"
        case IntegerType(), FloatType():
            kind = "sitofp"
        case FloatType(), IntegerType():
            kind = "fptosi"
        case _:
            return None
    op = arith.Cast(Value(type), kind, value)
    return (op,), op.result


def multiply_add(left: Value, right: Value, out: Value) -> Body | None:
    """out + left * right, in the type of out."""
    parts = [converted(value, out.type) for value in (left, right)]
    if parts[0] is None or parts[1] is None or _kind("mul", out.type) is None:
        return None
    product = _binary("mul", parts[0][1], parts[1][1])
    total = _binary("add", out, product.result)
    return (*parts[0][0], *parts[1][0], product, total), total.result


def pooling(kinds: tuple[str, str], taken: Value, _: Value, out: Value) -> Body | None:
    """The element of the window together with what came of those before."""
    part = converted(taken, out.type)
    kind = kinds[0] if isinstance(out.type, FloatType) else kinds[1]
    if part is None or not isinstance(out.type, FloatType | IntegerType):
        return None
    op = arith.Binary(Value(out.type), kind, out, part[1])
    return (*part[0], op), op.result


def elementwise(name: str, values: Sequence[Value]) -> Body | None:
    """What a named operation makes of an element of each input; None where their types differ."""
    type = values[-1].type
    match name, [*values]:
        case "select", [choice, first, second] if choice.type == IntegerType(1) and first.type == type:
            return _alone(arith.Select(Value(type), choice, first, second))
        case _ if any(value.type != type for value in values):
            return None
        case _, [left, right] if name in _BINARY and _kind(name, type) is not None:
            return _alone(_binary(name, left, right))
        case "powf", [left, right] if isinstance(type, FloatType):
            return _alone(math.Binary(Value(type), "powf", left, right))
        case _, [value] if name in _UNARY and isinstance(type, FloatType):
            return _alone(math.Unary(Value(type), _UNARY[name], value))
        case "negf", [value] if isinstance(type, FloatType):
            return _alone(arith.Negate(Value(type), value))
        case "square", [value] if _kind("mul", type) is not None:
            return _alone(_binary("mul", value, value))
        case "reciprocal", [value] if isinstance(type, FloatType):
            one = arith.Constant(Value(type), 1.0)
            op = _binary("div", one.result, value)
            return (one, op), op.result
    return None


def _alone(op: arith.Binary | arith.Negate | arith.Select | math.Binary | math.Unary) -> Body:
    return (op,), op.result


def _kind(name: str, type: Type) -> str | None:
    of_floats, of_integers = _BINARY[name]
    if isinstance(type, FloatType):
        return of_floats or None
    return of_integers if isinstance(type, IntegerType) else None


def _binary(name: str, left: Value, right: Value) -> arith.Binary:
    kind = _kind(name, left.type)
    assert kind is not None, "asked before"
    return arith.Binary(Value(left.type), kind, left, right)
