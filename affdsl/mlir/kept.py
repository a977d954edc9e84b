"""Operations without a class in their custom form, as mlir-opt prints them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TypeAlias

from affdsl.ir.attributes import (
    ArrayAttr,
    Attribute,
    DenseArrayAttr,
    IntegerAttr,
    OpaqueAttr,
    StringAttr,
    SymbolAttr,
    TypeAttr,
)
from affdsl.ir.core import Block
from affdsl.ir.dialects.opaque import Opaque
from affdsl.ir.expr import Value
from affdsl.mlir.attributes import attribute_text, dictionary_text
from affdsl.mlir.form import Form
from affdsl.mlir.pieces import WORD
from affdsl.mlir.printer import OpaqueWriter, Printer
from affdsl.mlir.reading.forms import FORMS

_SEGMENTS = "operandSegmentSizes"
_OPEN = str(-(1 << 63))
"""What stands in a list of numbers where there is a value."""


class _NoPlaceError(Exception):
    """The form has no place for something that an operation says."""


def write_kept(p: Printer, op: Opaque) -> Iterator[Block] | None:
    """An operation by its form; None where only the generic form can say all of it."""
    form = FORMS[op.kind]
    if op.regions or op.successors or op.text:
        return None
    try:
        text = _Kept(p, op, form).text()
    except _NoPlaceError:
        return None
    p.line(op, f"{p.results(op.results)}{op.kind}{text}")
    return iter(())


class _Kept:
    """What one operation says, by the names of its form."""

    def __init__(self, p: Printer, op: Opaque, form: Form) -> None:
        self.p, self.form = p, form
        results = [op.results] if "<result*>" in form.text else [(value,) for value in op.results]
        self.values = {**_operands(op, form), **dict(zip(("result", "result2"), results, strict=False))}
        self.results = op.results
        own = form.own.split()
        said = {name: attribute for name, attribute in op.properties if name != _SEGMENTS}
        self.attributes = tuple(sorted((*((n, a) for n, a in said.items() if n in own), *op.attributes)))
        self.properties = {name: attribute for name, attribute in said.items() if name not in own}

    def text(self) -> str:
        """What stands behind the name."""
        words = list(WORD.finditer(self.form.text))
        made = _joined(self._words(iter(words)))
        if self.properties or (self.attributes and not any(word["dictionary"] == "" for word in words)):
            raise _NoPlaceError
        return made if made[:1] in ("", "(") else f" {made}"

    def _words(self, words: Iterator[re.Match[str]]) -> Iterator[_Shown]:
        before: str | None = ""
        for word in words:
            if word["close"]:
                return
            if word["open"]:
                part = _until_closed(words)
                if self._is_there(part):
                    yield from self._words(iter(part))
            else:
                text, kind = self._word(word), word.lastgroup
                is_sign = kind == "listed" or (kind == "word" and not text[0].isalpha())
                yield text, is_sign, kind == "property" or (word[0].strip()[1:7] == "mixed:" and before == "word")
            before = word.lastgroup

    def _is_there(self, part: list[re.Match[str]]) -> bool:
        """Whether an operation has what stands in a part that may be left out."""
        for word in part:
            match word.lastgroup:
                case "operand" | "listed":
                    return bool(self._group(word[0]))
                case "property":
                    return word[0].strip().partition(":")[0].partition("=")[0] in self.properties
        return False

    def _group(self, word: str) -> tuple[Value, ...]:
        name = re.sub(r"\W", "", word)
        if name not in self.values:
            raise _NoPlaceError
        return self.values[name]

    def _word(self, word: re.Match[str]) -> str:
        text = word[0].strip()
        match word.lastgroup:
            case "operand":
                return self.p.list(self._group(text))
            case "listed" if "%" in text:
                return f"{text[0]}{self.p.list(self._group(text))}{text[-1]}"
            case "listed" if text[1:7] == "mixed:":
                return f"{text[0]}{self._mixed(text[7:-1])}{text[-1]}"
            case "types" if ":" not in text:
                (first, *_) = re.findall(r"\w+", text)
                return self.p.types(self._group(first))
            case "dictionary" if not word["dictionary"]:
                return dictionary_text(self.attributes) if self.attributes else ""
            case "property":
                return self._property(text)
            case "signature":
                inputs = [v for name, group in self.values.items() if not name.startswith("result") for v in group]
                outputs = self.p.result_types(self.results) or "()"
                return f"({self.p.types(inputs)}) -> {outputs}"
            case "word":
                return text
        raise _NoPlaceError

    def _mixed(self, name: str) -> str:
        """`4, %n`"""
        values = iter(self.values[name])
        match self.properties.pop(f"static_{name}", None):
            case DenseArrayAttr(items=items):
                return ", ".join([self.p.names(next(values)) if item == _OPEN else item for item in items])
        raise _NoPlaceError

    def _property(self, text: str) -> str:
        said, _, kind = text.partition(":")
        name, _, keyword = said.partition("=")
        attribute = self.properties.pop(name, None)
        if kind == "unit":
            return "" if attribute is None else keyword or name
        if attribute is None:
            raise _NoPlaceError
        return _shown(attribute, kind)


def _shown(attribute: Attribute, kind: str) -> str:
    match attribute:
        case IntegerAttr(value=number) if kind in ("i32", "i64", "index"):
            return str(number)
        case StringAttr() | SymbolAttr() | TypeAttr():
            return attribute_text(attribute)
        case _ if kind == "attr":
            return attribute_text(attribute)
        case ArrayAttr(items=items) if kind == "groups":
            return f"[{', '.join([_shown(item, kind) for item in items])}]"
        case IntegerAttr(value=number) if kind == "groups":
            return str(number)
        case DenseArrayAttr(items=items) if kind == "numbers":
            return f"[{', '.join(items)}]"
        case OpaqueAttr(text=text) if kind == "bool":
            return text
        case OpaqueAttr(text=text) if kind in ("dimension", "reduction", "shuffle"):
            return f" {text.split()[-1].rstrip('>')}"
    raise _NoPlaceError


def _operands(op: Opaque, form: Form) -> Mapping[str, tuple[Value, ...]]:
    """The operands by the names of the form, in the order of its words."""
    words = [word.replace("mixed:", "*") for word in form.text.split() if "%" in word or "mixed:" in word]
    several = {re.sub(r"\W", "", word) for word in words if "*" in word}
    mixed = [re.sub(r"\W", "", word) for word in words if "%" not in word]
    names = form.order.split() or [re.sub(r"\W", "", word) for word in words if "%" in word]
    names += [name for name in mixed if name not in names]
    sizes = dict(op.properties).get(_SEGMENTS)
    if form.segments:
        counts = [int(n) for n in sizes.items] if isinstance(sizes, DenseArrayAttr) else []
    else:
        rest = len(op.operands) - len(names) + len(several & {*names})
        counts = [rest if name in several else 1 for name in names]
    if len(counts) != len(names) or sum(counts) != len(op.operands) or (len(several) > 1 and not form.segments):
        raise _NoPlaceError
    given = iter(op.operands)
    found = {name: tuple(next(given) for _ in range(count)) for name, count in zip(names, counts, strict=True)}
    return {name: found[name] for name in (re.sub(r"\W", "", word) for word in words)}


def _until_closed(words: Iterator[re.Match[str]]) -> list[re.Match[str]]:
    found: list[re.Match[str]] = []
    depth = 1
    for word in words:
        depth += bool(word["open"]) - bool(word["close"])
        if not depth:
            break
        found.append(word)
    return found


_Shown: TypeAlias = tuple[str, bool, bool]
"""A text, whether it is or ends with a bracket or a sign, and whether a space stands before it though it is one."""


def _joined(words: Iterable[_Shown]) -> str:
    """Words with the spaces that MLIR puts between them."""
    text, was_sign = "", False
    for word, is_sign, is_apart in words:
        if not word:
            continue
        closes, opens = word[0] in ">)],", word[0] in "<([" and not is_apart
        if text and text[-1] not in "<([" and not closes and (was_sign or not opens):
            text += " "
        text, was_sign = text + word, is_sign
    return text


OPAQUE_WRITERS: Mapping[str, OpaqueWriter] = dict.fromkeys(FORMS, write_kept)
