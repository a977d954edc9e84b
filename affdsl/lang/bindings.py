"""Which names the values that a function computes are about to get, and where they are read, from its byte code."""

from __future__ import annotations

import dis
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise
from types import CodeType
from typing import Literal

_STORES = ("STORE_FAST", "STORE_NAME", "STORE_GLOBAL", "STORE_DEREF")


@lru_cache(maxsize=16)
def instructions_of(code: CodeType) -> tuple[dis.Instruction, ...]:
    """The byte code of a function: four questions are asked of it where a kernel is defined, and reading it is slow."""
    return tuple(dis.get_instructions(code))


@lru_cache(maxsize=1024)
def bound_names(code: CodeType) -> dict[int, tuple[str, ...]]:
    """For each instruction whose value gets a name, or is unpacked to several: what they are.

    >>> def f(g):
    ...     a, (b, c) = g()
    ...     d, e = g(), g()
    >>> {("a", "(b, c)"), ("d",), ("e",)} <= {*bound_names(f.__code__).values()}
    True
    """
    instructions = [ins for ins in instructions_of(code) if ins.opname not in ("CACHE", "EXTENDED_ARG", "NOP")]
    found = {}
    for position, (ins, after) in enumerate(pairwise(instructions), 1):
        if after.opname == "UNPACK_SEQUENCE" and ins.opname != "BUILD_TUPLE":
            names = _unpacked(instructions, position)
        elif after.opname.startswith(_STORES):
            names = _names(after)[:1]
        else:
            names = _beside_others(instructions, position)
        if names:
            found.update(dict.fromkeys(range(ins.offset, after.offset, 2), names))  # or in its inline caches
    return found


def first_use(code: CodeType, name: str, start: int, end: int | None) -> Literal["read", "bound", ""]:
    """What is done first with a name between two instructions, in the order of the byte code."""
    for ins in instructions_of(code):
        if start < ins.offset and (end is None or ins.offset < end):
            if ins.opname.startswith(_STORES) and name in _names(ins):
                return "bound"
            if ins.opname.startswith(("LOAD", "STORE_FAST_LOAD")) and _reads(ins, name):
                return "read"
    return ""


def _reads(ins: dis.Instruction, name: str) -> bool:
    """Whether an instruction that loads loads this name; newer Pythons have instructions that load twice."""
    if not ins.opname.startswith(("LOAD_FAST", "LOAD_NAME", "LOAD_GLOBAL", "LOAD_DEREF", "STORE_FAST_LOAD")):
        return False
    return name in ins.argval if isinstance(ins.argval, tuple) else name == ins.argval


def _unpacked(instructions: list[dis.Instruction], position: int) -> tuple[str, ...]:
    """The names that an instruction unpacks to; () where something else than a name is among them."""
    try:
        return _pattern(_targets(instructions[position + 1 :]), instructions[position].arg or 0)
    except StopIteration:
        return ()


def _targets(instructions: list[dis.Instruction]) -> Iterator[str | int]:
    """What is stored to, one after the other: a name, or the number of names in parentheses that follow."""
    for ins in instructions:
        if ins.opname == "UNPACK_SEQUENCE":
            yield ins.arg or 0
        elif ins.opname.startswith(_STORES):
            yield from _names(ins)
        else:
            return


def _pattern(targets: Iterator[str | int], count: int) -> tuple[str, ...]:
    """So many of them; parentheses are one, written "(x, y)". Raises StopIteration where there are fewer."""
    found = []
    for _ in range(count):
        target = next(targets)
        if isinstance(target, int):
            inner = _pattern(targets, target)
            target = f"({', '.join(inner)}{',' * (len(inner) == 1)})"
        found.append(target)
    return tuple(found)


def _beside_others(instructions: list[dis.Instruction], position: int) -> tuple[str, ...]:
    """The name of the value that is on top of the stack before an instruction, where others get names with it.

    `x, y = f(), g()` computes both values before it stores one. What stands behind f() in the source is computed above
    its value; whatever else comes uses it, so that it gets no name.
    """
    end = _end(instructions[position - 1])
    above = 0  # values on top of it
    rest = iter(instructions[position:])
    for ins in rest:
        if ins.opname == "SWAP":
            deep = (ins.arg or 0) - 1
            above = deep if above == 0 else 0 if above == deep else above
        elif ins.opname.startswith(_STORES):
            names = _names(ins)
            if above < len(names):
                return (names[above],)
            above -= len(names)
        elif ins.opname == "BUILD_TUPLE" and above < (ins.arg or 0):
            if next(rest).opname != "UNPACK_SEQUENCE":
                return ()
            above = (ins.arg or 0) - 1 - above
        elif end is not None and end <= _start(ins) and ins.opcode not in (*dis.hasjrel, *dis.hasjabs):
            above += dis.stack_effect(ins.opcode, ins.arg)
            if above < 0:
                return ()
        else:
            return ()
    return ()


def _names(ins: dis.Instruction) -> tuple[str, ...]:
    """The names that one instruction stores to; newer Pythons have instructions that store twice."""
    if ins.opname == "STORE_FAST_STORE_FAST":
        return tuple(ins.argval)
    if ins.opname in ("STORE_FAST_LOAD_FAST", "STORE_FAST_MAYBE_NULL"):
        return (ins.argval[0],) if isinstance(ins.argval, tuple) else (str(ins.argval),)
    return (str(ins.argval),)


def _start(ins: dis.Instruction) -> tuple[int, int]:
    """Where the source of an instruction begins; before everything where that is not known."""
    at = ins.positions
    return (-1, -1) if at is None or at.lineno is None or at.col_offset is None else (at.lineno, at.col_offset)


def _end(ins: dis.Instruction) -> tuple[int, int] | None:
    at = ins.positions
    if at is None or at.end_lineno is None or at.end_col_offset is None:
        return None
    return at.end_lineno, at.end_col_offset
