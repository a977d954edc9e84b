"""MLIR text as tokens, and errors that show where."""

from __future__ import annotations

import re
from bisect import bisect_right
from itertools import accumulate
from typing import NoReturn

from affdsl.errors import AffdslError, public
from affdsl.ir.location import Location

_TOKEN = re.compile(
    r"""(
      \{-\# | \#-\}
    | [%\#](?:\d+|[A-Za-z_$.-][\w$.-]*)(?:\#\d+)?   # values and aliases
    | @(?:[A-Za-z_][\w$.]*|"(?:[^"\\\n]|\\(?:["\\nt]|[0-9A-Fa-f]{2}))*")      # symbols
    | [!^](?:\d+|[A-Za-z_$.-][\w$.-]*)
    | "(?:[^"\\\n]|\\(?:["\\nt]|[0-9A-Fa-f]{2}))*"
    | 0x[0-9A-Fa-f]+ | \d+\.\d*(?:[eE][+-]?\d+)? | \d+
    | [A-Za-z_][\w$.]*
    | -> | == | >= | <= | :: | \.\.\.
    | //[^\n]*                                        # dropped
    | [^\s]
    )""",
    re.X | re.A,
)
_LONGEST_NUMBER = 1000
_LONGEST_SHOWN = 4000  # characters of a line, and of a message
_AROUND = 160  # characters on each side of the caret that are shown of a longer line
_DIMENSION = re.compile(r"\s*(\d+|\?)\s*x")
_SCALABLE = re.compile(r"\s*(\d+|\[\d+\])\s*x")


@public
class ParseError(AffdslError):
    """MLIR text that cannot be read: what was expected, with the line and a caret under the place.

    `file`, `line`, `column` and `problem` say the same in parts.

    >>> import affdsl as af
    >>> try:
    ...     af.parse("func.func @f(", file="f.mlir")
    ... except af.ParseError as error:
    ...     print(error.file, error.line, error.column)
    f.mlir 1 14
    """

    def __init__(self, file: str, line: int, column: int, problem: str, shown: str, caret: int) -> None:
        super().__init__(f"{file}:{line}:{column}: {problem}\n{shown}\n{' ' * caret}^")
        self.file = file
        self.line = line
        self.column = column
        self.problem = problem


class Scanner:
    """A text and the token at the current place. At the end of the text the token is empty."""

    def __init__(self, text: str, file: str) -> None:
        self.text = text
        self.file = file
        # Gaps and tokens by turns; the last gap begins what the end of the text is to us, an empty token.
        pieces = _TOKEN.split(text)
        self.tokens = [*pieces[1::2], ""]
        self._starts = list(accumulate(map(len, pieces)))[::2]
        if "//" in text:
            kept = [place for place, token in enumerate(self.tokens) if token[:2] != "//"]
            self.tokens = [self.tokens[place] for place in kept]
            self._starts = [self._starts[place] for place in kept]
        self._line_starts = [0, *accumulate([len(line) + 1 for line in text.split("\n")])]
        self._at = 0
        self.token = self.tokens[0]
        self.start = self._starts[0]

    def advance(self) -> str:
        """Go to the next token; the one that was current."""
        before = self.token
        if before:
            at = self._at = self._at + 1
            self.token = self.tokens[at]
            self.start = self._starts[at]
        return before

    @property
    def end(self) -> int:
        """Where the token ends in the text."""
        return self.start + len(self.token)

    @property
    def place(self) -> int:
        """The number of the current token, to come back to with `go_to`."""
        return self._at

    def go_to(self, place: int) -> None:
        """Make the token of a number the current one."""
        self._at = place
        self.token = self.tokens[place]
        self.start = self._starts[place]

    def peek(self) -> str:
        """The token after the current one; empty beyond the end of the text."""
        at = self._at + 1
        return self.tokens[at] if at < len(self.tokens) else ""

    def accept(self, token: str) -> bool:
        """Pass the token, which must not be empty, if it is the given one."""
        if self.token != token:
            return False
        at = self._at = self._at + 1
        self.token = self.tokens[at]
        self.start = self._starts[at]
        return True

    def expect(self, token: str) -> None:
        """Pass the token, which must be the given one."""
        if self.token != token:
            self.fail(f"expected '{token}'")
        at = self._at = self._at + 1
        self.token = self.tokens[at]
        self.start = self._starts[at]

    def jump(self, offset: int) -> None:
        """Go to the token at an offset of the text, or to the rest of the one that reaches over it."""
        at = self._at
        while self._starts[at] + len(self.tokens[at]) <= offset and self.tokens[at]:
            at += 1
        self.go_to(at)
        if self.start < offset:
            self.token = self.text[offset : self.end]
            self.start = offset

    def dimensions(self) -> tuple[int | None, ...]:
        """The sizes after the current token, as in `<4x?xf32`; the element type becomes the current token."""
        return tuple(None if size == "?" else self._size(size, at) for size, at in self._sizes(_DIMENSION))

    def scalable_dimensions(self) -> tuple[tuple[int, ...], tuple[bool, ...]]:
        """The sizes after the current token, and which of them stand in brackets, as in `<2x[4]xf32`."""
        found = self._sizes(_SCALABLE)
        return tuple(self._size(size.strip("[]"), at) for size, at in found), tuple(s[0] == "[" for s, _ in found)

    def _sizes(self, pattern: re.Pattern[str]) -> list[tuple[str, int]]:
        found = []
        place = self.end
        while size := pattern.match(self.text, place):
            found.append((size[1], place))
            place = size.end()
        self.jump(place)
        return found

    def _number(self, digits: str, offset: int) -> int:
        if len(digits) > _LONGEST_NUMBER:
            self.fail("a number of too many digits", offset)
        return int(digits)

    def _size(self, digits: str, offset: int) -> int:
        size = self._number(digits, offset)
        if size >= 2**63:
            self.fail(f"the size {size} does not fit into 64 bits", offset)
        return size

    def integer(self) -> int:
        """A whole number of 64 bits, possibly negative."""
        place, sign = self.start, -1 if self.accept("-") else 1
        number = sign * self.natural()
        if not -(2**63) <= number < 2**63:
            self.fail(f"{number} does not fit into 64 bits", place)
        return number

    def natural(self) -> int:
        """A whole number without a sign."""
        if not (self.token.isdigit() or self.token[:2] == "0x"):
            self.fail("expected an integer")
        number = int(self.token, 16) if self.token[:2] == "0x" else self._number(self.token, self.start)
        self.advance()
        return number

    def string(self) -> str:
        """A string, unescaped."""
        if not self.is_string:
            self.fail("expected a string")
        return unescaped(self.advance())

    @property
    def is_string(self) -> bool:
        """Whether the token is a whole string."""
        return len(self.token) > 1 and self.token[0] == '"'

    @property
    def is_word(self) -> bool:
        """Whether the token is a bare identifier."""
        return self.token[:1].isalpha() or self.token[:1] == "_"

    def word(self) -> str:
        """A bare identifier."""
        if not self.is_word:
            self.fail("expected an identifier")
        return self.advance()

    def balanced(self) -> str:
        """The text of a group in brackets, from the current token to the one that closes it; all of it is passed."""
        first = self.start
        closing: list[str] = []
        if self.token not in _BRACKETS:
            self.fail("expected a bracket that opens")
        while True:
            if self.token in _BRACKETS:
                closing.append(_BRACKETS[self.token])
            elif self.token in (">", ")", "]", "}"):
                if not closing or closing.pop() != self.token:
                    self.fail("this bracket closes none that is open")
            elif not self.token:
                self.fail("a bracket is not closed", first)
            end = self.end
            self.advance()
            if not closing:
                return self.text[first:end]

    def location(self, offset: int | None = None) -> Location:
        """The line and column of a place, by default of the current token."""
        return Location(self.file, *self._place(self.start if offset is None else offset))

    def fail(self, what: str, offset: int | None = None) -> NoReturn:
        """Raise ParseError at a place, by default at the current token."""
        if self.token == '"' and offset is None:
            what = _BROKEN_STRING
        line, column = self._place(self.start if offset is None else offset)
        got = "" if self.token or offset is not None else ", but the text ends"
        first = self._line_starts[line - 1]
        shown, caret = _excerpt(self.text[first : self._line_starts[line] - 1], column - 1)
        raise ParseError(self.file, line, column, f"{_excerpt(what, 0)[0]}{got}", shown, caret)

    def _place(self, offset: int) -> tuple[int, int]:
        line = bisect_right(self._line_starts, offset)
        return line, offset - self._line_starts[line - 1] + 1


_BROKEN_STRING = r"a string must end on its line, and has no escapes but \n, \t, \", \\ and two hexadecimal digits"
_BRACKETS = {"<": ">", "(": ")", "[": "]", "{": "}"}


def _excerpt(line: str, caret: int) -> tuple[str, int]:
    """A line, and where the caret stands under it; of a very long one the part around the caret."""
    if len(line) <= _LONGEST_SHOWN:
        return line, caret
    first = max(0, caret - _AROUND)
    last = caret + _AROUND
    before, after = "..." if first else "", "..." if last < len(line) else ""
    return f"{before}{line[first:last]}{after}", caret - first + len(before)


def unescaped(quoted: str) -> str:
    """What a string literal stands for: \\HH is a byte of UTF-8, \\n, \\t, \\\\ and \\" as usual."""

    def byte(m: re.Match[bytes]) -> bytes:
        kind = m[1]
        return {b"n": b"\n", b"t": b"\t"}.get(kind, kind if len(kind) == 1 else bytes([int(kind, 16)]))

    if "\\" not in quoted:
        return quoted[1:-1]
    encoded = quoted[1:-1].encode("utf-8", "surrogatepass")
    return re.sub(rb"\\([0-9A-Fa-f]{2}|.)", byte, encoded).decode("utf-8", "surrogateescape")
