"""The custom form of what takes the structs and arrays of the llvm dialect apart, and of constants of spirv."""

from __future__ import annotations

import re
from collections.abc import Sequence

from affdsl.ir.attributes import DenseArrayAttr, DenseAttr, FloatAttr, IntegerAttr
from affdsl.ir.core import Op
from affdsl.ir.types import I64, Type
from affdsl.later import pattern
from affdsl.mlir.attributes import AttributeReader
from affdsl.mlir.parser import Head, Parser
from affdsl.mlir.reading.opaque import opaque
from affdsl.mlir.scanner import Scanner

_STRUCT = pattern(r'(?:!llvm\.)?struct<(?:"[^"]*"\s*,\s*)?(?:packed\s*)?\((.*)\)\s*>', re.S)
_ARRAY = pattern(r"(?:!llvm\.)?array<\s*(\d+)\s*x\s*(.*)>", re.S)
_OF_LLVM = pattern(r"(ptr|struct|array|func|void|x86_\w+|ppc_\w+|target)\b")
"""The types that stand without !llvm. inside of others."""


def read_extractvalue(p: Parser, head: Head) -> Op:
    """`llvm.extractvalue %s[0, 1] : !llvm.struct<...>`"""
    use = p.use()
    position = _position(p)
    said = p.dictionary()
    type = p.colon_type()
    found = _member(p, head, type, position.items)
    return opaque(p, head, p.typed([use], [type], head.offset), [found], [("position", position)], said)


def read_insertvalue(p: Parser, head: Head) -> Op:
    """`llvm.insertvalue %x, %s[0, 1] : !llvm.struct<...>`"""
    value = p.use()
    p.scanner.expect(",")
    container = p.use()
    position = _position(p)
    said = p.dictionary()
    type = p.colon_type()
    types = [type, _member(p, head, type, position.items)]
    return opaque(p, head, p.typed([container, value], types, head.offset), [type], [("position", position)], said)


def read_spirv_constant(p: Parser, head: Head) -> Op:
    """`spirv.Constant 3 : i32`"""
    place = p.scanner.start
    value = p.attribute()
    if not isinstance(value, IntegerAttr | FloatAttr | DenseAttr):
        p.scanner.fail("a spirv.Constant of this type is read in generic form only", place)
    return opaque(p, head, (), [value.type], [("value", value)], p.dictionary())


def _position(p: Parser) -> DenseArrayAttr:
    return DenseArrayAttr(I64, tuple(p.listed(lambda: str(p.scanner.integer()), "[", "]")))


def _member(p: Parser, head: Head, type: Type, position: Sequence[str]) -> Type:
    """The type of what stands at a position of a struct or array."""
    text = str(type)
    for number in map(int, position):
        if (found := _ARRAY.fullmatch(text)) and number < int(found[1]):
            text = found[2].strip()
        elif (found := _STRUCT.fullmatch(text)) and number < len(members := _members(found[1])):
            text = members[number]
        else:
            p.scanner.fail(f"{head.name}: {type} has nothing at [{', '.join(position)}]", head.offset)
    return AttributeReader(Scanner(f"!llvm.{text}" if _OF_LLVM.match(text) else text, "")).type()


def _members(text: str) -> list[str]:
    """The types of a list, which commas separate that stand in no brackets."""
    found, depth = [""], 0
    for c in text.replace("->", "\0"):
        depth += (c in "<([") - (c in ">)]")
        if c == "," and depth == 0:
            found.append("")
        else:
            found[-1] += c
    return [part.replace("\0", "->").strip() for part in found if part.strip()]
