"""What a traceback shows: the user's lines, and none of ours between and below them.

An error that affdsl raises on purpose says what is wrong with the user's line, so the frames that found it out are cut
from its traceback where it leaves affdsl, as are those around what the user's own code raises while a kernel is built.
Errors that nobody meant to raise keep theirs, and AFFDSL_FULL_TRACEBACK=1 keeps them all.

What is found out after a line has run, by the proof of an access or by a check in compiled code, none of the user's
frames raises. Then the line that is at fault is put last, as a frame of its own: notebooks and editors lead there.
"""

from __future__ import annotations

import ast
import contextlib
import os
import sys
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from types import FrameType, FunctionType, TracebackType
from typing import ParamSpec, TypeVar

from affdsl.errors import AffdslError, InternalError, ProgramTypeError
from affdsl.ir.location import Location
from affdsl.miscalled import miscalled

P = ParamSpec("P")
R = TypeVar("R")
C = TypeVar("C", bound=type)

_OURS = str(Path(__file__).parent) + os.sep
_BETWEEN = contextlib.__file__
"""What leaves our with-blocks on our behalf."""


def plain_traceback(function: Callable[P, R]) -> Callable[P, R]:
    """function, whose errors leave it without frames of affdsl. A call that goes well costs one frame more.

    Arguments that it does not take are said to be so in our words, at the user's line.
    """

    @wraps(function)
    def call(*arguments: P.args, **keywords: P.kwargs) -> R:
        try:
            try:
                return function(*arguments, **keywords)
            except TypeError as error:
                if error.__traceback__ is None or error.__traceback__.tb_next is not None:
                    raise  # by the function, and not by its call
                raise (_refused_call(function, error) or error) from None
        except Exception as error:
            cut(error)
            raise

    return call


def _refused_call(function: Callable[..., object], error: TypeError) -> ProgramTypeError | None:
    """The error for arguments that a function does not take."""
    said, place = miscalled(function, str(error)), _running()
    if not said or place is None:
        return None
    what = "\n    ".join(said)
    made = ProgramTypeError(f"{Location(*place)}: {what}")
    made.unplaced, made.place = what, place
    return made


def cut(error: Exception) -> None:
    """Leave the user's part of the traceback of an error that was raised on purpose, or by the user's code."""
    if _is_meant(error) and os.environ.get("AFFDSL_FULL_TRACEBACK", "0") in ("", "0"):
        error.__traceback__ = _of_user(error.__traceback__, error.place if isinstance(error, AffdslError) else None)


def plain_tracebacks(*names: str) -> Callable[[C], C]:
    """A class decorator: some of its methods as `plain_traceback` makes them; without names all public ones."""

    def decorate(kind: C) -> C:
        chosen = names or [n for n, x in vars(kind).items() if n[0] != "_" and callable(x) and not isinstance(x, type)]
        for name in chosen:
            setattr(kind, name, plain_traceback(vars(kind)[name]))
        return kind

    return decorate


def _is_meant(error: Exception) -> bool:
    """Whether an error was raised on purpose, or in the user's code."""
    if isinstance(error, AffdslError):
        return not isinstance(error, InternalError)
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return trace is not None and not _is_ours(trace)


def _of_user(trace: TracebackType | None, place: tuple[str, int] | None) -> TracebackType | None:
    """The part of a traceback that is not ours, and the place that is at fault where it does not end there."""
    kept = []
    while trace is not None:
        if not _is_ours(trace):
            kept.append(trace)
        trace = trace.tb_next
    last = (kept[-1].tb_frame.f_code.co_filename, kept[-1].tb_lineno) if kept else _running()
    made = None if place in (None, last) else _at(*place)
    for each in reversed(kept):
        made = TracebackType(made, each.tb_frame, each.tb_lasti, each.tb_lineno)
    return made


def _running() -> tuple[str, int] | None:
    """The user's line that runs: the traceback will begin, or end, with it."""
    frame: FrameType | None = sys._getframe()
    while frame is not None and frame.f_code.co_filename.startswith(_OURS):
        frame = frame.f_back
    return None if frame is None else (frame.f_code.co_filename, frame.f_lineno)


def _at(file: str, line: int) -> TracebackType:
    """The end of a traceback: a line that runs no more. It has no columns, so none are marked."""
    tree = ast.parse("frame()", mode="eval")
    for node in ast.walk(tree):
        if isinstance(node, ast.expr):
            node.lineno = node.end_lineno = line
            node.col_offset = node.end_col_offset = -1
    code = compile(tree, file, "eval").replace(co_name="<kernel>", co_qualname="<kernel>")
    frame: FrameType = FunctionType(code, {"frame": sys._getframe})()
    return TracebackType(None, frame, frame.f_lasti, line)


def _is_ours(trace: TracebackType) -> bool:
    return trace.tb_frame.f_code.co_filename.startswith((_OURS, _BETWEEN))
