"""The assembly that a compiler writes, as instructions, each with the lines of the C file of which it was made."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from typing import Literal

from affdsl.frozen import Frozen

FLAGS: Mapping[str, tuple[str, ...]] = {"gcc": ("-gdwarf-4", "-g1", "-dA"), "clang": ("-gline-tables-only",)}
"""What makes a compiler write the lines beside the instructions, which stay what they are without."""
SOURCE = "kernel.c"
"""What the C file is called that is compiled."""


class Instruction(Frozen):
    """One instruction, as it is written.

    Attributes
    ----------
    text
        The mnemonic, its operands, and what the compiler notes of it.
    lines
        The lines of the C file: where it stands, where that function was inlined, and so on; 0 where there is none.
    """

    text: str
    lines: tuple[int, ...] = ()

    @property
    def mnemonic(self) -> str:
        """What it does."""
        words = self.text.split(maxsplit=2)
        return words[1] if words[0] == "notrack" else words[0]

    def labels(self) -> list[str]:
        """The labels among its operands."""
        return _LABEL.findall(self.text)


@dataclass(eq=False)
class Function:
    """The instructions of one function, and its labels between them, in the order of the text."""

    name: str
    items: list[Instruction | str] = field(default_factory=list)
    targets: list[str] = field(default_factory=list)
    """The labels in tables of jumps."""


def functions(text: str, compiler: Literal["gcc", "clang"]) -> list[Function]:
    """The functions of a text that was compiled with `FLAGS`.

    >>> text = '''
    ...     .type f, @function
    ... f:
    ...     .loc 0 3 5   # kernel.c:3:5 @[ kernel.c:9:1 ]
    ...     addq $1, %rax
    ...     ret
    ...     .size f, .-f'''
    >>> for each in functions(text, "clang")[0].items:
    ...     print(each.text, each.lines)
    addq    $1, %rax (3, 9)
    ret (3, 9)
    """
    lines = text.splitlines()
    lines_of = _ClangLines() if compiler == "clang" else _GccLines(lines)
    names = {declared[1] for line in lines if (declared := _TYPE.match(line))}
    found: list[Function] = []
    current: Function | None = None
    for line in lines:
        lines_of.read(line)
        stripped = line.strip()
        if label := _DEFINED.match(line):
            if label[1] in names:
                current = Function(label[1])
                found.append(current)
            elif current is not None and not _OF_DEBUGGING.match(label[1]):
                current.items.append(label[1])
        elif current is not None and stripped.startswith(".size"):
            current = None
        elif current is not None and (entry := _ENTRY.match(line)):
            current.targets.append(entry[1])
        elif current is not None and stripped and stripped[0] not in ".#@/;":
            current.items.append(Instruction(_shown(stripped), lines_of.now()))
    return found


def with_lines(plain: Function, other: Function) -> Function:
    """A function that was compiled without `FLAGS`, with the lines of the one that was compiled with them.

    The compiler may have taken other registers in one of them. Where the instructions differ, those in between have no
    lines.

    >>> plain = Function("f", [Instruction("addq %r8, %rax")])
    >>> made = with_lines(plain, Function("f", [Instruction("addq %r9, %rax", (3,))])).items[0]
    >>> made.text, made.lines
    ('addq %r8, %rax', (3,))
    """
    texts = [[item.mnemonic for item in f.items if isinstance(item, Instruction)] for f in (plain, other)]
    lines = [item.lines for item in other.items if isinstance(item, Instruction)]
    found = lines
    if texts[0] != texts[1]:
        found = [()] * len(texts[0])
        for start, begin, size in SequenceMatcher(None, texts[0], texts[1]).get_matching_blocks():
            found[start : start + size] = lines[begin : begin + size]
    given = iter(found)
    items = [Instruction(i.text, next(given)) if isinstance(i, Instruction) else i for i in plain.items]
    return Function(plain.name, items, plain.targets)


class _ClangLines:
    """The line of an instruction, with where it was inlined, in the remark after `.loc`."""

    def __init__(self) -> None:
        self._now: tuple[int, ...] = ()

    def read(self, line: str) -> None:
        if found := _LOC.match(line):
            places = re.findall(r"([^\s\[\]@:]*):(\d+)(?::\d+)?", found[3])
            self._now = tuple(int(number) if file == SOURCE else 0 for file, number in places)

    def now(self) -> tuple[int, ...]:
        return self._now


class _GccLines:
    """The line of an instruction by `.loc`; where it was inlined by the labels around and what is noted of these."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._called = dict(_inlined(lines))
        self._files: dict[str, str] = {}
        self._open: list[str] = []
        self._line = 0

    def read(self, line: str) -> None:
        if found := _FILE.match(line):
            self._files[found[1]] = found[2]
        elif found := _LOC.match(line):
            self._line = int(found[2]) if self._files.get(found[1]) == SOURCE else 0
        elif found := _SCOPE.match(line):
            if found[1] == "B":
                self._open.append(found[2])
            elif found[2] in self._open:
                self._open.remove(found[2])

    def now(self) -> tuple[int, ...]:
        called = [self._called[each] for each in reversed(self._open) if each in self._called]
        return (self._line, *called)


def _inlined(lines: Sequence[str]) -> Iterator[tuple[str, int]]:
    """The numbers of the scopes that are inlined functions, with the lines at which they were called."""
    ranges = list(_ranges(lines))
    tag, scopes, line = "", list[str](), 0
    for text in (*lines, "(DIE (0x0) end)"):
        if die := _DIE.search(text):
            if tag == "DW_TAG_inlined_subroutine":
                yield from ((scope, line) for scope in scopes)
            tag, scopes, line = die[1], [], 0
        elif attribute := _ATTRIBUTE.match(text):
            value, name = attribute.groups()
            if name == "DW_AT_low_pc" and (scope := _BEGIN.match(value)):
                scopes.append(scope[1])
            elif name == "DW_AT_ranges":
                scopes += _from(ranges, value)
            elif name == "DW_AT_call_line":
                line = int(value, 0)


def _ranges(lines: Sequence[str]) -> Iterator[str]:
    """Where each range of the section of ranges begins: a label, or 0 after the last one of a list."""
    inside, is_begin = False, True
    for line in lines:
        if _SECTION.match(line):
            inside, is_begin = ".debug_ranges" in line, True
        elif inside and (word := _WORD.match(line)):
            if is_begin:
                yield word[1]
            is_begin = not is_begin


def _from(ranges: Sequence[str], offset: str) -> Iterator[str]:
    """The scopes of the list of ranges at an offset."""
    at = int(offset.partition("+")[2] or "0", 0) // 16
    for begin in ranges[at:]:
        if begin in ("0", "0x0"):
            return
        if scope := _BEGIN.match(begin):  # else it is an address that the others count from
            yield scope[1]


def _shown(line: str) -> str:
    mnemonic, _, rest = line.replace("\t", " ").partition(" ")
    return f"{mnemonic:<7} {re.sub(' {2,}', '  ', rest.strip())}" if rest else mnemonic


_TYPE = re.compile(r"\s*\.type\s+([\w.$]+)\s*,\s*[@%]function")
_DEFINED = re.compile(r'"?([\w.$]+)"?:')
_OF_DEBUGGING = re.compile(r"\.(LBB\d+|LBE\d+|LBI\d+|LVL\d+|LFB\d+|LFE\d+|Ltmp\d+|Lfunc_\w+|LCFI\d+)$")
_LABEL = re.compile(r"\.L\w+")
_ENTRY = re.compile(r"\s*\.(?:long|word|quad|[48]byte|xword)\s+(\.L\w+)")
_LOC = re.compile(r"\s*\.loc\s+(\d+)\s+(\d+)(?:[^#/;@]*(?:#|//|;|@)(.*))?")
_FILE = re.compile(r'\s*\.file\s+(\d+)\s+(?:"[^"]*"\s+)?"([^"]*)"')
_SCOPE = re.compile(r"\.LB([BE])(\d+):")
_SECTION = re.compile(r"\s*\.(section|text|data|bss)\b")
_DIE = re.compile(r"\(DIE \(0x[0-9a-f]+\) (\w+)\)")
_ATTRIBUTE = re.compile(r"\s*\.\w+\s+(\S+)\s+\S+\s+(DW_AT_\w+)")
_BEGIN = re.compile(r"\.LBB(\d+)\b")
_WORD = re.compile(r"\s*\.(?:quad|8byte|xword|dword)\s+(\S+)")
