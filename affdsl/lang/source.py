"""Where the user is: the file and line being run, and the names they are assigning to."""

from __future__ import annotations

import contextlib
import dis
import functools
import linecache
import os
import sys
from collections import Counter
from collections.abc import Iterator
from contextvars import ContextVar
from functools import cache, lru_cache
from itertools import pairwise
from pathlib import Path
from traceback import walk_tb
from types import CodeType, FrameType

import numpy as np

from affdsl.errors import InternalError, ProgramError
from affdsl.ir.location import Location
from affdsl.lang.bindings import bound_names, instructions_of

_OURS = str(Path(__file__).parents[1]) + os.sep
# What calls us on behalf of the user: NumPy's functions, ExitStack, partial; also numba.prange.
_NUMPY = {str(path.parent) + os.sep for path in (Path(np.__file__), Path(np.__file__).resolve())}  # by links, or not
_BETWEEN = (*_NUMPY, contextlib.__file__, functools.__file__)
_NUMBA = f"{os.sep}numba{os.sep}"

_elsewhere: ContextVar[Location | None] = ContextVar("affdsl_elsewhere", default=None)
_latest: ContextVar[tuple[Location, type[ProgramError], str] | None] = ContextVar("affdsl_latest", default=None)
"""The latest problem: its line, its kind, and what it says."""


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
    found = _elsewhere.get()
    if found is not None:
        return found
    frame = user_frame()
    return Location(frame.f_code.co_filename, frame.f_lineno)


def called() -> str:
    """What the user has called, as they write it: `affdsl.for_(...)`; "this" for an operator or a method."""
    inner, frame = sys._getframe(0), sys._getframe(1)
    while frame.f_back is not None and _is_ours(frame.f_code.co_filename):
        inner, frame = frame, frame.f_back
    owner, _, name = inner.f_code.co_qualname.rpartition(".")
    match owner, name:
        case "DType", "__call__":
            return f"affdsl.{inner.f_locals['self']}(...)"
        case _, "__init__":
            return f"affdsl.{owner}(...)"
        case "", _:
            return f"affdsl.{name}(...)"
        case _:
            return "this"


@contextlib.contextmanager
def located(location: Location) -> Iterator[None]:
    """Take location for the user's line inside the block: what runs there was written there, but kept as text."""
    token = _elsewhere.set(location)
    try:
        yield
    finally:
        _elsewhere.reset(token)


def definition(code: CodeType) -> Location:
    """Where a function is defined: the line of its def, below the decorators."""
    lines = [line for _, _, line in code.co_lines() if line is not None and line > code.co_firstlineno]
    body = min(lines, default=code.co_firstlineno)
    text = (linecache.getline(code.co_filename, n) for n in range(code.co_firstlineno, body + 1))
    found = (n for n, line in enumerate(text, code.co_firstlineno) if line.lstrip().startswith(("def ", "async def ")))
    return Location(code.co_filename, next(found, code.co_firstlineno))


def problem(kind: type[ProgramError], what: str, *more: str, location: Location | None = None) -> ProgramError:
    """The error to raise: the user's file and line, what is wrong, and further lines that say why and what to do."""
    at = location or here()
    unplaced = "\n".join([what, *(f"    {line}" for line in more if line)])
    text = f"{at}: {unplaced}"
    made = kind(text)
    made.unplaced, made.place = unplaced, (at.file, at.line)
    _latest.set((at, kind, text))
    return made


@contextlib.contextmanager
def unhidden() -> Iterator[None]:
    """Raise our own error in the block for one that NumPy raises in its place.

    `np.zeros(3)[0] = x[i]` asks x[i] for a float, and takes whatever that raises for "setting an array element with a
    sequence"; `np.zeros(N)` takes it for "expected a sequence of integers". So where an error is raised in the line of
    the latest problem, which nobody has seen, it is that one.
    """
    token = _latest.set(None)
    try:
        yield
    except (TypeError, ValueError) as error:
        latest = _latest.get()
        if latest is None or isinstance(error, ProgramError) or latest[0] != _raised_at(error):
            raise
        _, kind, text = latest
        if isinstance(error, ValueError):
            text += f"\n    {_FILLED}"
        raise kind(text).with_traceback(error.__traceback__) from None
    finally:
        _latest.reset(token)


_FILLED = "an array of NumPy is filled before the kernel runs; it fills arguments, and affdsl.alloc(affdsl.f64[3])"


def _raised_at(error: Exception) -> Location | None:
    """The line of the user that an error comes from."""
    lines = ((frame.f_code.co_filename, line) for frame, line in walk_tb(error.__traceback__))
    found = [Location(file, line) for file, line in lines if not _is_ours(file)]
    return found[-1] if found else None


def assigned_names(frame: FrameType) -> tuple[str, ...]:
    """The names that the value being computed in this frame is about to be bound to.

    For `with f() as (i, j)` that is ("i", "j"), for `(i, (j, k)) = f()` it is ("i", "(j, k)"), for `x = f()` it is
    ("x",), and () where there is none, or no name.
    It is read from the byte code, so that it works where there is no source.
    """
    return bound_names(frame.f_code).get(frame.f_lasti, ())


def assigned_name() -> str:
    """The one name that the user is about to give to the value being computed, or an empty string."""
    if _elsewhere.get() is not None:
        return ""
    names = assigned_names(user_frame())
    return names[0] if len(names) == 1 else ""


def leaves_early(frame: FrameType) -> bool:
    """Whether a return, break or continue leaves the with-block that is ending in this frame.

    The byte code has one call of `__exit__` for each way out of a with-block, at the position of the statement.
    """
    entered, left = _ways_out(frame.f_code)
    position = _positions(frame.f_code).get(frame.f_lasti)
    return position is not None and 0 < entered[position] < left[position]


def returned_at(code: CodeType) -> int | None:
    """The line of the only `return` with a value in a function, or None where there are several or none."""
    pairs = pairwise(ins for ins in instructions_of(code) if ins.opname not in _SILENT)
    lines = {
        _line(ins) for before, ins in pairs
        if (ins.opname == "RETURN_VALUE" and not (before.opname == "LOAD_CONST" and before.argval is None))
        or (ins.opname == "RETURN_CONST" and ins.argval is not None)
    }  # fmt: skip
    return next(iter(lines)) if len(lines) == 1 else None


def means_itself(code: CodeType, name: str, qualified: str) -> bool:
    """Whether `name`, in the body of the function of that name, is the function itself."""
    if name in code.co_freevars:
        return True
    if qualified != name or name not in code.co_names:
        return False
    return any(ins.argval == name for ins in instructions_of(code) if ins.opname in ("LOAD_GLOBAL", "LOAD_NAME"))


@cache
def _is_ours(filename: str) -> bool:
    return filename.startswith((_OURS, *_BETWEEN)) or _NUMBA in filename


_SILENT = ("CACHE", "EXTENDED_ARG", "NOP", "PRECALL")
_Position = tuple[object, ...]


@lru_cache(maxsize=1024)
def _positions(code: CodeType) -> dict[int, _Position]:
    """For each instruction, which part of the source it is of."""
    return {2 * n: tuple(position) for n, position in enumerate(code.co_positions())}


@lru_cache(maxsize=1024)
def _ways_out(code: CodeType) -> tuple[Counter[_Position], Counter[_Position]]:
    """How often each with-statement is entered, and how often it is left without an exception."""
    positions = _positions(code)
    instructions = [ins for ins in instructions_of(code) if ins.opname not in _SILENT]
    entered = Counter(positions[ins.offset] for ins in instructions if ins.opname == "BEFORE_WITH")
    quads = zip(instructions, instructions[1:], instructions[2:], instructions[3:], strict=False)
    left = Counter(
        positions[call.offset] for *nones, call in quads
        if call.opname == "CALL" and all(x.opname == "LOAD_CONST" and x.argval is None for x in nones)
        and positions[call.offset] == positions[nones[0].offset]
    )  # fmt: skip
    return entered, left


def _line(ins: dis.Instruction) -> int | None:
    return ins.positions.lineno if ins.positions is not None else None
