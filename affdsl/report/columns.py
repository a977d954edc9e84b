"""Python, affine IR, C and assembly of a kernel beside each other: each line with the lines of the source it is of."""

from __future__ import annotations

import inspect
import linecache
import re
from collections.abc import Collection, Iterator, Mapping

from affdsl.frozen import Frozen
from affdsl.ir.location import Location
from affdsl.ir.traverse import walk
from affdsl.kernel import Kernel
from affdsl.mlir.writers import print_op
from affdsl.seeing.assembly import Assembly, ShownLoop

_LOC = re.compile(r' loc\("(?P<file>(?:[^"\\]|\\.)*)":(?P<line>\d+):\d+\)$')
_OF_VALUE = re.compile(r' loc\("(?:[^"\\]|\\.)*":\d+:\d+\)')


MOST_LINES = 1500
"""So many lines of assembly are shown, about."""


class Line(Frozen):
    """One line of a column.

    Attributes
    ----------
    number
        Its number in its file, from 1; 0 where it is of none.
    of
        The lines of the source that it is of, as keys that all columns share; empty where nobody knows.
    """

    text: str
    number: int = 0
    of: tuple[str, ...] = ()


class Column(Frozen):
    """One form of the kernel: `language` is that of the lexer, and `note` says what it is."""

    title: str
    language: str
    lines: tuple[Line, ...]
    note: str = ""


class Keys:
    """What lines of the source are called on the page: `a12` is line 12 of the first file that was met."""

    def __init__(self) -> None:
        self._files: dict[str, str] = {}

    def of(self, where: Location | None) -> tuple[str, ...]:
        """The key of a place; none for none."""
        return () if where is None else (self.key(where.file, where.line),)

    def key(self, file: str, line: int) -> str:
        """The key of a line of a file."""
        return f"{self._files.setdefault(file, _letters(len(self._files)))}{line}"


def _letters(number: int) -> str:
    """a, b, ..., z, ba, bb, ... for 0, 1, ...

    >>> _letters(0), _letters(25), _letters(26)
    ('a', 'z', 'ba')
    """
    high, low = divmod(number, 26)
    return (_letters(high) if high else "") + chr(ord("a") + low)


def python_of(kernel: Kernel, keys: Keys) -> Column:
    """The functions of the kernel and of those that it calls, as far as their text can be found."""
    lines: list[Line] = []
    for file, first, last in _spans(kernel):
        lines += [Line("")] * bool(lines)
        for number in range(first, last + 1):
            text = linecache.getline(file, number).rstrip("\n")
            lines.append(Line(text, number, (keys.key(file, number),)))
    note = "" if lines else "The text of the function is no more to be found."
    return Column("Python", "python", tuple(lines), note)


def _spans(kernel: Kernel) -> Iterator[tuple[str, int, int]]:
    """The file and the first and last line of each function: as the module has it, or as operations say."""
    found: dict[str, set[int]] = {}
    for function in kernel.written.module.functions:
        for op in walk(function):
            if op.location is not None and linecache.getline(op.location.file, op.location.line):
                found.setdefault(op.location.file, set()).add(op.location.line)
    wrapped = inspect.unwrap(kernel)
    code = getattr(wrapped, "__code__", None)
    if code is not None and code.co_filename in found:
        try:
            text, first = inspect.getsourcelines(wrapped)
            found[code.co_filename] |= {first, first + len(text) - 1}
        except (OSError, TypeError):
            pass
    for file, lines in found.items():
        yield file, min(lines), max(lines)


def mlir_of(kernel: Kernel, keys: Keys) -> Column:
    """The affine IR. A loop is of the line that its closing brace names."""
    texts: list[str] = []
    of: list[tuple[str, ...]] = []
    opened: dict[int, int] = {}
    for function in kernel.module.functions:
        for line in print_op(function, locations=True).split("\n"):
            plain = line
            keys_of: tuple[str, ...] = ()
            if found := _LOC.search(line):
                plain = line[: found.start()]
                keys_of = (keys.key(_unquoted(found["file"]), int(found["line"])),)
            plain = _OF_VALUE.sub("", plain)
            indent = len(plain) - len(plain.lstrip())
            if plain.lstrip().startswith("}") and indent in opened and keys_of:
                of[opened[indent]] = keys_of
            if plain.endswith("{"):
                opened[indent] = len(texts)
            texts.append(plain)
            of.append(keys_of)
    lines = tuple(Line(text, n, each) for n, (text, each) in enumerate(zip(texts, of, strict=True), 1))
    return Column("Affine IR", "mlir", lines)


def _unquoted(text: str) -> str:
    return text.replace('\\"', '"').replace("\\\\", "\\")


def c_of(shown: Assembly, keys: Keys) -> Column:
    """The C that is compiled, without what stands before the first function of the kernel and behind the last one."""
    texts = shown.c.split("\n")
    known: Mapping[int, Location] = shown.c_locations
    first, last = _begin(texts, min(known, default=1)), _end(texts, max(known, default=len(texts)))
    lines = tuple(Line(texts[n - 1], n, keys.of(known.get(n))) for n in range(first, last + 1))
    return Column("C", "c", lines, f"Lines {first} to {last} of {len(texts)}: the others are helpers and checks.")


def _begin(texts: list[str], line: int) -> int:
    """The line in which a function begins: the last one at the margin that is no brace, with its parameters."""
    while line > 1 and (not texts[line - 1][:1].strip() or texts[line - 1].startswith(("{", "}"))):
        line -= 1
    return line


def _end(texts: list[str], line: int) -> int:
    """The line with the brace that ends a function."""
    while line < len(texts) and not texts[line - 1].startswith("}"):
        line += 1
    return line


def assembly_of(shown: Assembly, keys: Keys, first: Collection[str] = ()) -> Column:
    """The loops as the compiler made them, innermost first, each below a line with its name.

    Where they are very long, those of some names come `first`, and the others are left out.
    """
    wanted = sorted(shown.loops, key=lambda loop: loop.name not in first)
    kept, room = set[ShownLoop](), MOST_LINES
    for loop in wanted:
        room -= len(loop.lines)
        kept |= {loop} if room > 0 or not kept else set()
    lines: list[Line] = []
    for loop in shown.loops:
        if loop in kept:
            lines += [Line("")] * bool(lines)
            lines += _loop(loop, keys)
    gone = len(shown.loops) - len(kept)
    left = f" {gone} more loops are left out: asm() has all of them." if gone else ""
    return Column("Assembly", "asm", tuple(lines), f"The loops, innermost first.{left} {shown.command}")


def _loop(loop: ShownLoop, keys: Keys) -> Iterator[Line]:
    inside = f" in {', '.join(loop.around)}" if loop.around else ""
    yield Line(f"# loop {loop.name}{inside}: {len(loop.instructions)} instructions", 0, keys.of(loop.location))
    for line in loop.lines:
        text = line.text if line.kind == "label" else f"    {line.text}"
        text = f"    # {line.text}" if line.kind == "loop" else text
        yield Line(text, line.c_line or 0, keys.of(line.location))
