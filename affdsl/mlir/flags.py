"""The flags of arithmetic between operands and types, `fastmath<fast>` and the like: read, and printed."""

from __future__ import annotations

from affdsl.ir.attributes import Attribute, Attributes, IntegerAttr, OpaqueAttr, UnitAttr
from affdsl.ir.core import Op
from affdsl.ir.dialects import arith
from affdsl.ir.types import I32
from affdsl.mlir.enumerations import FLAGS, PROPERTIES, problem_of_flag, problem_of_words
from affdsl.mlir.parser import Head, Parser
from affdsl.mlir.printer import Printer

_PRINTED = (*PROPERTIES.values(), "nonNeg")


def read_flags(p: Parser, head: Head) -> Attributes:
    """`to_nearest_even fastmath<fast> {attributes}`, `overflow<nsw>` or `exact`: what the operation takes, or none."""
    s = p.scanner
    if s.token == ":":
        return ()
    taken = FLAGS.get(head.name, ())
    found: list[tuple[str, Attribute]] = []
    for flag in taken:
        if flag == "roundingmode":
            if s.token in arith.ROUNDING:
                found.append((flag, IntegerAttr(arith.ROUNDING.index(s.advance()), I32)))
        elif s.accept(flag):
            text = "" if flag == "exact" else _words(p, flag)
            found.append((PROPERTIES[flag], OpaqueAttr(f"#arith.{flag}{text}") if text else UnitAttr()))
    if s.is_word:
        s.fail(f"{head.name} has no {s.token} here")
    place, said = s.start, p.dictionary()
    for name, attribute in said:
        if name in [PROPERTIES[flag] for flag in taken] and (problem := problem_of_flag(name, attribute)) is not None:
            s.fail(problem, place)
        if name in dict(found):
            s.fail(f"{name} is said twice", place)
    return (*found, *said)


def _words(p: Parser, flag: str) -> str:
    """`<nnan, ninf>`"""
    place, text = p.scanner.start, p.scanner.balanced()
    if (problem := problem_of_words(f"arith.{flag}", text[1:-1])) is not None:
        p.scanner.fail(problem, place)
    return text


def write_flags(p: Printer, op: Op) -> str:
    """` to_nearest_even overflow<nsw> fastmath<fast> exact nneg {attributes}`, each of them where it is said"""
    if not op.attributes:
        return ""
    said = dict(op.attributes)
    text = ""
    match said.get("roundingmode"):
        case IntegerAttr(number) if 0 <= number < len(arith.ROUNDING):
            text += f" {arith.ROUNDING[number]}"
    for name in ("overflowFlags", "fastmath"):
        match said.get(name):
            case OpaqueAttr(shown):
                text += f" {shown.removeprefix('#arith.')}"
    text += " exact" if "isExact" in said else ""
    text += " nneg" if "nonNeg" in said else ""
    return text + p.dictionary(op, *_PRINTED)
