"""Where the user is: the file and line being run, and the names they are assigning to."""

from __future__ import annotations

import dis
import os
import sys
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from types import CodeType, FrameType

from affdsl.errors import InternalError, ProgramError
from affdsl.ir.location import Location

_ROOT = Path(__file__).resolve().parents[2]
_OURS = tuple(str(_ROOT / name) + os.sep for name in ("affdsl", "passes", "codegen"))


def user_frame() -> FrameType:
    """The innermost frame that runs the user's code."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and _is_ours(frame.f_code.co_filename):
        frame = frame.f_back
    if frame is None:
        raise InternalError("no frame outside of affdsl is running")
    return frame


def here() -> Location:
    """The user's current file and line."""
    frame = user_frame()
    return Location(frame.f_code.co_filename, frame.f_lineno)


def problem(kind: type[ProgramError], what: str, *more: str, location: Location | None = None) -> ProgramError:
    """The error to raise: the user's file and line, what is wrong, and further lines that say why and what to do."""
    at = location or here()
    lines = [f"{_shown(at)}: {what}", *(f"    {line}" for line in more)]
    return kind("\n".join(lines))


def assigned_names(frame: FrameType) -> tuple[str, ...]:
    """The names that the value being computed in this frame is about to be bound to.

    For `with f() as (i, j)` that is ("i", "j"), for `x = f()` it is ("x",), and () where there is none.
    It is read from the byte code, so that it works where there is no source.
    """
    return _stores(frame.f_code).get(frame.f_lasti, ())


def assigned_name() -> str:
    """The one name that the user is about to give to the value being computed, or an empty string."""
    names = assigned_names(user_frame())
    return names[0] if len(names) == 1 else ""


@lru_cache(maxsize=None)
def _is_ours(filename: str) -> bool:
    return filename.startswith(_OURS)


@lru_cache(maxsize=1024)
def _stores(code: CodeType) -> dict[int, tuple[str, ...]]:
    """For each instruction, the names that the instructions right after it store to."""
    instructions = [ins for ins in dis.get_instructions(code) if ins.opname not in ("CACHE", "EXTENDED_ARG", "NOP")]
    found = {}
    for ins, after in zip(instructions, instructions[1:], strict=False):
        if after.opname.startswith(("STORE_FAST", "STORE_NAME", "STORE_GLOBAL", "STORE_DEREF", "UNPACK_SEQUENCE")):
            position = instructions.index(after) if after.opname == "UNPACK_SEQUENCE" else -1
            names = tuple(_unpacked(instructions, position)) if position >= 0 else (_names(after)[0],)
            found[ins.offset] = names
    return found


def _unpacked(instructions: list[dis.Instruction], position: int) -> Iterator[str]:
    wanted = instructions[position].arg or 0
    for ins in instructions[position + 1 :]:
        if not ins.opname.startswith("STORE_"):
            return
        for name in _names(ins):
            if wanted == 0:
                return
            wanted -= 1
            yield name


def _names(ins: dis.Instruction) -> tuple[str, ...]:
    """The names that one instruction stores to; newer Pythons have instructions that store twice."""
    if ins.opname == "STORE_FAST_STORE_FAST":
        return tuple(ins.argval)
    if ins.opname in ("STORE_FAST_LOAD_FAST", "STORE_FAST_MAYBE_NULL"):
        return (ins.argval[0],) if isinstance(ins.argval, tuple) else (str(ins.argval),)
    return (str(ins.argval),)


def _shown(location: Location) -> str:
    """file:line, relative to the working directory where the file lies inside it."""
    file = location.file
    if os.path.isabs(file):
        relative = os.path.relpath(file)
        file = file if relative.startswith("..") else relative
    return f"{file}:{location.line}"
