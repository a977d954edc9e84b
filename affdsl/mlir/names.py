"""Names for MLIR text: unique SSA names from the user's hints, bare identifiers, function symbols."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from affdsl.ir.expr import Value

_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_$.]*")
_FOREIGN = re.compile(r"[^A-Za-z0-9_$.]+")
_PLAIN = re.compile(r"[ !#-\[\]-~]*")  # what stands in a string as it is
_AFFINE_KEYWORDS = {"ceildiv", "floordiv", "mod", "symbol"}
_LONGEST = 64


def identifier(hint: str) -> str:
    """hint as an identifier that a person still recognizes, at most 64 characters long; empty if nothing is left of it.

    >>> identifier("Δt"), identifier("naïve sum"), identifier('"; system("rm")'), identifier("2nd")
    ('Delta_t', 'naive_sum', 'system_rm', '_2nd')
    """
    if len(hint) <= _LONGEST and (not hint or (hint.isascii() and hint.isidentifier()) or _IDENTIFIER.fullmatch(hint)):
        return hint
    plain = hint[:_LONGEST]
    if not plain.isascii():
        plain = "".join(_latin(c) for c in unicodedata.normalize("NFKD", plain))
    # What is foreign at an end leaves nothing behind; inside, it separates.
    words = [word for word in _FOREIGN.split(plain) if word]
    name = "_".join(words)[:_LONGEST]
    return f"_{name}"[:_LONGEST] if name and not _IDENTIFIER.fullmatch(name) else name


def function_symbol(name: str) -> str:
    """name as a reference to a function: bare where that is possible, otherwise quoted.

    >>> print(function_symbol("matmul"), function_symbol('a "b"'))
    @matmul @"a \\22b\\22"
    """
    return f"@{name}" if _IDENTIFIER.fullmatch(name) else f"@{string(name)}"


def string(text: str) -> str:
    """text as a string literal, every byte that is not plain ASCII written in hexadecimal."""
    if _PLAIN.fullmatch(text):
        return f'"{text}"'
    return '"' + "".join(_escaped(byte) for byte in text.encode("utf-8", "surrogatepass")) + '"'


def bare_names(names: Iterable[str]) -> list[str]:
    """SSA names as identifiers for the symbols of one affine map or set: unique, and no keyword of an expression.

    >>> bare_names(["%M", "%mod", "%0", "%c-1"])
    ['M', 'mod_0', 's2', 's3']
    """
    used: set[str] = set()
    result = []
    for position, name in enumerate(names):
        base = name.removeprefix("%")
        base = base if _IDENTIFIER.fullmatch(base) else f"s{position}"
        chosen, suffix = base, 0
        while chosen in used or chosen in _AFFINE_KEYWORDS:
            chosen, suffix = f"{base}_{suffix}", suffix + 1
        used.add(chosen)
        result.append(chosen)
    return result


class Names:
    """What each value of one function is called, `%` included.

    A name is unique among the values that are in scope with it; a scope that has ended gives its names back.
    `around`: the names around a function, which nothing in it can mean, but which mlir-opt lets nothing in it have.
    `given`: names that values have whatever their hints are, and that no other value gets.
    """

    def __init__(self, around: Names | None = None, *, given: Mapping[Value, str] | None = None) -> None:
        self.given: Mapping[Value, str] = given or (around.given if around is not None else {})
        self._taken: Collection[str] = {n[1:] for n in self.given.values()} if around is None else around._taken
        self._names: dict[Value, str] = {}
        self._used: set[str] = set(around._used) if around is not None else set()
        self._suffixes: dict[str, int] = {}
        self._numbers: dict[str, int] = (
            dict(around._numbers) if around is not None else dict.fromkeys(("", "arg"), len(self.given))
        )
        self._given: list[tuple[Value, str, int]] = []  # with the base, and its next suffix before

    def __call__(self, value: Value) -> str:
        """The name of a value; one that nothing in the text defines is called by its hint too."""
        return self._names.get(value) or self.given.get(value) or self.define(value)

    def define(self, value: Value, default: Callable[[], str] | None = None) -> str:
        """Name a value by its hint, or by what `default` says, or by the next number."""
        if value in self.given:
            return self.given[value]
        base = identifier(value.hint) or (default() if default is not None else "")
        return self._give(value, base or self._numbered(""))

    def define_together(self, values: Sequence[Value]) -> str:
        """Name the results of an operation: `%a, %b`, or `%0:2` where they are %0#0 and %0#1."""
        names = [self.define(v) for v in values]
        base, mark, _ = names[0].partition("#")
        return f"{base}:{len(names)}" if mark else ", ".join(names)

    def define_argument(self, value: Value) -> str:
        """Name an argument of a block by its hint, or %arg0, %arg1 ..."""
        if value in self.given:
            return self.given[value]
        return self._give(value, identifier(value.hint) or self._numbered("arg"))

    @contextmanager
    def scope(self) -> Iterator[None]:
        """Names given inside are free again afterwards."""
        given, numbers = len(self._given), dict(self._numbers)
        yield
        while len(self._given) > given:
            value, base, suffix = self._given.pop()
            self._used.discard(self._names.pop(value)[1:])
            self._suffixes[base] = suffix
        self._numbers = numbers

    def _give(self, value: Value, base: str) -> str:
        if value in self._names:  # used before it is defined: the IR is wrong, but it must print
            return self._names[value]
        before = suffix = self._suffixes.get(base, 0)
        name = base
        while name in self._used or name in self._taken:
            name, suffix = f"{base}_{suffix}", suffix + 1
        self._suffixes[base] = suffix
        self._used.add(name)
        self._given.append((value, base, before))
        shown = self._names[value] = f"%{name}"
        return shown

    def _numbered(self, prefix: str) -> str:
        number = self._numbers[prefix]
        self._numbers[prefix] = number + 1
        return f"{prefix}{number}"


def _latin(character: str) -> str:
    """A character in ASCII letters: accents fall away, Greek letters are spelled out, others are numbers."""
    if character.isascii():
        return character
    if unicodedata.combining(character):
        return ""
    greek = re.match(r"GREEK (SMALL|CAPITAL) LETTER (?:FINAL )?([A-Z]+)\b", unicodedata.name(character, ""))
    if greek:
        name = greek[2].lower() if greek[1] == "SMALL" else greek[2].capitalize()
        return f"{name} "
    return f"u{ord(character):04X} " if character.isalnum() else " "


def _escaped(byte: int) -> str:
    if byte == ord("\\"):
        return "\\\\"
    return chr(byte) if 0x20 <= byte < 0x7F and byte != ord('"') else f"\\{byte:02X}"
