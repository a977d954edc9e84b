"""MLIR text as tokens, taken one at a time, and errors that show where."""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import NoReturn

from affdsl.errors import AffdslError
from affdsl.ir.location import Location

_TOKEN = re.compile(
    r"""
    (?:\s+|//[^\n]*)*                                # space and comments, then
    (
      [%\#](?:\d+|[A-Za-z_$.-][\w$.-]*)(?:\#\d+)?   # values and aliases
    | @(?:[A-Za-z_][\w$.]*|"(?:[^"\\\n]|\\.)*")      # symbols
    | [!^](?:\d+|[A-Za-z_$.-][\w$.-]*)
    | "(?:[^"\\\n]|\\.)*"
    | 0x[0-9A-Fa-f]+ | \d+\.\d*(?:[eE][+-]?\d+)? | \d+
    | [A-Za-z_][\w$.]*
    | -> | == | >= | <= | :: | \.\.\. | [^\s]
    |                                                # the end
    )
    """,
    re.X | re.A,
)
_LONGEST_NUMBER = 1000
_DIMENSION = re.compile(r"(\d+|\?)x")


class ParseError(AffdslError):
    """MLIR text that cannot be read: what was expected, with the line and a caret under the place."""


class Scanner:
    """A text and the token at the current place."""

    def __init__(self, text: str, file: str) -> None:
        self.text = text
        self.file = file
        self.start = self.end = 0
        self.token = ""
        self._line_starts = [0, *(m.end() for m in re.finditer("\n", text))]
        self.advance()

    def advance(self) -> str:
        """Go to the next token; the one that was current. At the end of the text the token is empty."""
        before = self.token
        found = _TOKEN.match(self.text, self.end)
        assert found is not None, "a token may be empty"
        self.start, self.end = found.span(1)
        self.token = found[1]
        if len(self.token) > _LONGEST_NUMBER and self.token[0].isdigit():
            self.fail("a number of too many digits")
        return before

    def accept(self, token: str) -> bool:
        """Pass the token if it is the given one."""
        if self.token == token:
            self.advance()
            return True
        return False

    def expect(self, token: str) -> None:
        """Pass the token, which must be the given one."""
        if self.token != token:
            self.fail(f"expected '{token}'")
        self.advance()

    def dimensions(self) -> tuple[int | None, ...]:
        """The sizes after the current token, as in `<4x?xf32`; the element type becomes the current token."""
        found: list[int | None] = []
        place = self.end
        while size := _DIMENSION.match(self.text, place):
            if len(size[1]) > _LONGEST_NUMBER:
                self.fail("a number of too many digits", place)
            found.append(None if size[1] == "?" else int(size[1]))
            place = size.end()
        self.end = place
        self.advance()
        return tuple(found)

    def integer(self) -> int:
        """A whole number, possibly negative."""
        sign = -1 if self.accept("-") else 1
        if not self.token.isdigit():
            self.fail("expected an integer")
        return sign * int(self.advance())

    def string(self) -> str:
        """A string, unescaped."""
        if not self.token.startswith('"'):
            self.fail("expected a string")
        return unescaped(self.advance())

    def word(self) -> str:
        """A bare identifier."""
        if not (self.token[:1].isalpha() or self.token[:1] == "_"):
            self.fail("expected an identifier")
        return self.advance()

    def location(self, offset: int | None = None) -> Location:
        """The line and column of a place, by default of the current token."""
        line, column = self._place(self.start if offset is None else offset)
        return Location(self.file, line, column)

    def fail(self, what: str, offset: int | None = None) -> NoReturn:
        """Raise ParseError at a place, by default at the current token."""
        line, column = self._place(self.start if offset is None else offset)
        shown = self.text.split("\n")[line - 1]
        got = "" if self.token or offset is not None else ", but the text ends"
        raise ParseError(f"{self.file}:{line}:{column}: {what}{got}\n{shown}\n{' ' * (column - 1)}^")

    def _place(self, offset: int) -> tuple[int, int]:
        line = bisect_right(self._line_starts, offset)
        return line, offset - self._line_starts[line - 1] + 1


def unescaped(quoted: str) -> str:
    """What a string literal stands for: \\HH is a byte of UTF-8, \\n, \\t, \\\\ and \\" as usual."""

    def byte(m: re.Match[bytes]) -> bytes:
        kind = m[1]
        return {b"n": b"\n", b"t": b"\t"}.get(kind, kind if len(kind) == 1 else bytes([int(kind, 16)]))

    return re.sub(rb"\\([0-9A-Fa-f]{2}|.)", byte, quoted[1:-1].encode()).decode("utf-8", "surrogateescape")
