"""Operations that are kept as the text that they are: functions of LLVM, scripts of transform, all that is unknown.

Aliases are written out, and the values that the text reads are its operands, whatever they are called later. Each is a
barrier like all others.
"""

from __future__ import annotations

from collections.abc import Mapping

from affdsl.ir.attributes import StringAttr
from affdsl.ir.core import Op
from affdsl.ir.dialects.opaque import Opaque
from affdsl.ir.expr import Value
from affdsl.mlir.attributes import attribute_text
from affdsl.mlir.parser import Head, Parser, Reader
from affdsl.mlir.registry import is_registered

_OPENING, _CLOSING = ("<", "(", "[", "{"), (">", ")", "]", "}")
_UNFINISHED = (",", ":", "=", "->")
"""What no operation ends with, so that the next line is part of it."""


def read_verbatim(p: Parser, head: Head) -> Op:
    """`llvm.func @malloc(i64) -> !llvm.ptr`: what defines a symbol, and has no results"""
    p.no_results(head)
    kept = _Kept(p, head)
    own = (("sym_name", StringAttr(kept.symbol)),) if kept.symbol else ()
    return Opaque(head.name, tuple(kept.values), (), own, location=head.location, text=kept.text)


def read_unknown(p: Parser, head: Head) -> Op:
    """`%0 = tosa.add %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>`: an operation without a form here"""
    if not p.allow_unregistered and not is_registered(head.name):
        p.scanner.fail(
            f"{head.name} belongs to no dialect that is known; --allow-unregistered-dialect lets it pass", head.offset
        )
    defines = p.is_module_level and not head.results
    kept = _Kept(p, head)
    own = (("sym_name", StringAttr(kept.symbol)),) if kept.symbol and defines else ()
    results = p.untyped_results(head)
    return Opaque(head.name, tuple(kept.values), results, own, location=head.location, text=kept.text)


class _Kept:
    """The text from a name of an operation up to where the next one begins, and the values and the symbol in it."""

    def __init__(self, p: Parser, head: Head) -> None:
        self._parser, self._head = p, head
        self._pieces: list[str | int] = [head.name]
        self.values: dict[Value, int] = {}
        self.symbol = ""
        self._read()

    @property
    def text(self) -> tuple[str | int, ...]:
        """The pieces, of which every second one is a name."""
        *pieces, last = self._pieces
        return (*pieces, last.rstrip() if isinstance(last, str) else last)

    def _read(self) -> None:
        p, s = self._parser, self._parser.scanner
        # The scanner is behind the name already.
        start = end = _end_of_last(p)
        open_brackets: list[str] = []
        while s.token and (open_brackets or not (s.token == "}" or self._is_next(end))):
            token = s.token
            if token == "loc" and s.peek() == "(":
                self._add(s.text[start : s.start])
                p.trailing_location()
                start = end = _end_of_last(p)
                continue
            if token[0] in "#!" and p.is_alias(token):
                self._add(s.text[start : s.start] + self._expanded(token))
                start = end = _end_of_last(p)
                continue
            if token[0] == "%":
                self._add(s.text[start : s.start])
                self._name(token, at_top=not open_brackets)
                start = s.end
            elif token[0] == "^" and "{" not in open_brackets:
                s.fail(f'{self._head.name} is kept as text, which names no blocks; write it in generic form, as '
                       "mlir-opt --mlir-print-op-generic FILE does")  # fmt: skip
            elif token in _OPENING:
                open_brackets.append(token)
            elif token in _CLOSING:
                if not open_brackets:
                    s.fail("this bracket closes none that is open")
                open_brackets.pop()
            elif token[0] == "@" and not self.symbol and not open_brackets:
                self.symbol = token[1:].strip('"')
            end = s.end
            s.advance()
        if open_brackets:
            s.fail("a bracket is not closed", self._head.offset)
        self._add(s.text[start:end])

    def _add(self, text: str) -> None:
        if isinstance(last := self._pieces[-1], str) and len(self._pieces) % 2:
            self._pieces[-1] = last + text
        else:
            self._pieces.append(text)

    def _expanded(self, alias: str) -> str:
        return attribute_text(self._parser.attribute()) if alias[0] == "#" else str(self._parser.type())

    def _name(self, name: str, *, at_top: bool) -> None:
        value = self._parser.known(name)
        if value is not None:
            self._pieces.append(self.values.setdefault(value, len(self.values)))
        elif at_top:
            self._parser.scanner.fail(f"{name} is not defined above {self._head.name}, which is kept as text")
        else:
            self._pieces.append(name)

    def _is_next(self, end: int) -> bool:
        """Whether the current token, the first one on its line, begins an operation or an alias."""
        p, s = self._parser, self._parser.scanner
        before, token = s.text[end : s.start], s.token
        if "\n" not in before or s.text[:end].endswith(_UNFINISHED):
            return False
        return token[0] in '%"^' or token == "{-#" or (token[0] in "#!" and s.peek() == "=") or p.names_an_operation


def _end_of_last(p: Parser) -> int:
    """Where the token before the current one ends in the text."""
    place = p.scanner.place
    p.scanner.go_to(place - 1)
    end = p.scanner.end
    p.scanner.go_to(place)
    return end


READERS: Mapping[str, Reader] = dict.fromkeys(
    (
        "emitc.func", "irdl.dialect", "llvm.comdat", "llvm.func", "llvm.mlir.global", "ml_program.func",
        "ml_program.global", "omp.declare_reduction", "omp.private", "pdl.pattern", "spirv.module",
        "transform.named_sequence", "transform.sequence",
    ),
    read_verbatim,
)  # fmt: skip
