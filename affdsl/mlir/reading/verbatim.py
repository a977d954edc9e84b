"""Operations that say nothing of what is around them and hand nothing on: functions of LLVM, scripts of transform ...

They are kept as the text that they are, with aliases written out, and a barrier like all others.
"""

from __future__ import annotations

from collections.abc import Mapping

from affdsl.ir.attributes import StringAttr
from affdsl.ir.core import Op
from affdsl.ir.dialects.opaque import Opaque
from affdsl.mlir.attributes import attribute_text
from affdsl.mlir.parser import Head, Parser, Reader

_OPENING, _CLOSING = ("<", "(", "[", "{"), (">", ")", "]", "}")


def read_verbatim(p: Parser, head: Head) -> Op:
    """`llvm.func @malloc(i64) -> !llvm.ptr`, up to where the next operation begins"""
    s = p.scanner
    p.no_results(head)
    # The scanner is behind the name already.
    pieces: list[str] = [head.name]
    start, depth, symbol = _end_of_last(p), 0, ""
    end = start
    while s.token and not (depth == 0 and (s.token == "}" or _begins(p, end))):
        token = s.token
        if token == "loc" and s.peek() == "(":
            pieces.append(s.text[start : s.start])
            p.trailing_location()
            start = end = _end_of_last(p)
            continue
        if token[0] in "#!" and p.is_alias(token):
            pieces.append(s.text[start : s.start])
            pieces.append(attribute_text(p.attribute()) if token[0] == "#" else str(p.type()))
            start = end = _end_of_last(p)
            continue
        if token in _OPENING:
            depth += 1
        elif token in _CLOSING:
            depth -= 1
            if depth < 0:
                s.fail("this bracket closes none that is open")
        elif token[0] == "@" and not symbol and depth == 0:
            symbol = token[1:].strip('"')
        elif token[0] == "%" and depth == 0:
            s.fail(f"{head.name} is kept as text, and reads no value from outside of it")
        end = s.end
        s.advance()
    if depth:
        s.fail("a bracket is not closed", head.offset)
    pieces.append(s.text[start:end])
    own = (("sym_name", StringAttr(symbol)),) if symbol else ()
    return Opaque(head.name, (), (), own, location=head.location, text="".join(pieces))


def _end_of_last(p: Parser) -> int:
    """Where the token before the current one ends in the text."""
    place = p.scanner.place
    p.scanner.go_to(place - 1)
    end = p.scanner.end
    p.scanner.go_to(place)
    return end


def _begins(p: Parser, end: int) -> bool:
    """Whether the current token, the first one on its line, begins an operation or an alias."""
    s = p.scanner
    if "\n" not in s.text[end : s.start]:
        return False
    token = s.token
    return token[0] in '%"^' or token == "{-#" or (token[0] in "#!" and s.peek() == "=") or _is_name(token)


def _is_name(token: str) -> bool:
    return token in ("module", "func") or ("." in token and token[0].isalpha())


READERS: Mapping[str, Reader] = dict.fromkeys(
    (
        "emitc.func", "irdl.dialect", "llvm.comdat", "llvm.func", "llvm.mlir.global", "ml_program.func",
        "ml_program.global", "omp.declare_reduction", "omp.private", "pdl.pattern", "spirv.module",
        "transform.named_sequence", "transform.sequence",
    ),
    read_verbatim,
)  # fmt: skip
