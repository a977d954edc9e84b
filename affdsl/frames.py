"""What a traceback shows: the user's lines, and none of ours between and below them.

An error that affdsl raises on purpose says what is wrong with the user's line, so the frames that found it out are cut
from its traceback where it leaves affdsl, as are those around what the user's own code raises while a kernel is built.
Errors that nobody meant to raise keep theirs, and AFFDSL_FULL_TRACEBACK=1 keeps them all.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from types import TracebackType
from typing import ParamSpec, TypeVar

from affdsl.errors import AffdslError, InternalError

P = ParamSpec("P")
R = TypeVar("R")
C = TypeVar("C", bound=type)

_OURS = str(Path(__file__).parent) + os.sep


def plain_traceback(function: Callable[P, R]) -> Callable[P, R]:
    """function, whose errors leave it without frames of affdsl. A call that goes well costs one frame more."""

    @wraps(function)
    def call(*arguments: P.args, **keywords: P.kwargs) -> R:
        try:
            return function(*arguments, **keywords)
        except Exception as error:
            if _is_meant(error) and os.environ.get("AFFDSL_FULL_TRACEBACK", "0") in ("", "0"):
                error.__traceback__ = _of_user(error.__traceback__)
            raise

    return call


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


def _of_user(trace: TracebackType | None) -> TracebackType | None:
    """The part of a traceback that is not ours."""
    kept = []
    while trace is not None:
        if not _is_ours(trace):
            kept.append(trace)
        trace = trace.tb_next
    made: TracebackType | None = None
    for each in reversed(kept):
        made = TracebackType(made, each.tb_frame, each.tb_lasti, each.tb_lineno)
    return made


def _is_ours(trace: TracebackType) -> bool:
    return trace.tb_frame.f_code.co_filename.startswith(_OURS)
