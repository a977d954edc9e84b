"""Turns operations of the index dialect into those of arith that compute the same on indices."""

from __future__ import annotations

from collections.abc import Mapping

from affdsl.ir.attributes import Attribute, IntegerAttr, OpaqueAttr
from affdsl.ir.core import Op
from affdsl.ir.dialects import arith
from affdsl.ir.dialects.func import Module
from affdsl.ir.dialects.opaque import Opaque
from affdsl.ir.traverse import rewrite

_BINARY: Mapping[str, str] = {
    f"index.{name}": kind
    for name, kind in {
        "add": "addi", "sub": "subi", "mul": "muli", "divs": "divsi", "divu": "divui", "ceildivs": "ceildivsi",
        "ceildivu": "ceildivui", "floordivs": "floordivsi", "rems": "remsi", "remu": "remui", "maxs": "maxsi",
        "maxu": "maxui", "mins": "minsi", "minu": "minui", "shl": "shli", "shrs": "shrsi", "shru": "shrui",
        "and": "andi", "or": "ori", "xor": "xori",
    }.items()
}  # fmt: skip
_CASTS: Mapping[str, str] = {"index.casts": "index_cast", "index.castu": "index_castui"}


def index_as_arith(module: Module) -> Module:
    """The same program with `arith` in the place of `index`.

    >>> from affdsl.mlir.readers import parse
    >>> module = parse("func.func @f(%a: index, %b: index) -> index { %c = index.maxs %a, %b return %c : index }")
    >>> print(index_as_arith(module).functions[0].body[0])
    %c = arith.maxsi %a, %b : index
    """

    def rule(op: Op) -> Op | None:
        return _in_arith(op) if isinstance(op, Opaque) and op.kind.startswith("index.") else None

    return rewrite(module, rule)


def _in_arith(op: Opaque) -> Op | None:
    said: Mapping[str, Attribute] = dict((*op.properties, *op.attributes))
    match op:
        case Opaque(kind="index.constant", results=(result,)):
            value = said.get("value")
            return arith.Constant(result, value.value, location=op.location) if isinstance(value, IntegerAttr) else None
        case Opaque(kind="index.bool.constant", results=(result,)):
            return arith.Constant(result, said.get("value") == OpaqueAttr("true"), location=op.location)
        case Opaque(kind="index.cmp", results=(result,), operands=(left, right)):
            match said.get("pred"):
                case OpaqueAttr(text):
                    predicate = text.removeprefix("#index<cmp_predicate ").removesuffix(">")
                    return arith.Compare(result, "cmpi", predicate, left, right, location=op.location)
        case Opaque(kind=kind, results=(result,), operands=(left, right)) if kind in _BINARY:
            return arith.Binary(result, _BINARY[kind], left, right, location=op.location)
        case Opaque(kind=kind, results=(result,), operands=(source,)) if kind in _CASTS:
            return arith.Cast(result, _CASTS[kind], source, location=op.location)
    return None
