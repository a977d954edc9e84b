"""Calls in the user's code that Python refuses, of functions of affdsl: which arguments these take instead."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import contextmanager
from types import FunctionType

from affdsl.errors import ProgramError, ProgramTypeError
from affdsl.ir.location import Location
from affdsl.lang.source import problem
from affdsl.lang.syntax import meaning, running
from affdsl.miscalled import miscalled


@contextmanager
def arguments_explained() -> Iterator[None]:
    """Raise our own error in the block for Python's, where a call has arguments that a function of ours does not take.

    Which function that is, the line says; so Python's error stays where there is no source.
    """
    try:
        yield
    except TypeError as error:
        if isinstance(error, ProgramTypeError):
            raise
        raise (_explained(error) or error) from None


def _explained(error: TypeError) -> ProgramError | None:
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None:
        return None
    nodes = running(trace.tb_frame, trace.tb_lasti)
    called = meaning(trace.tb_frame, nodes[0].func) if nodes and isinstance(nodes[0], ast.Call) else None
    if not isinstance(called, FunctionType | type) or not called.__module__.startswith("affdsl."):
        return None
    said = miscalled(called, str(error))
    location = Location(trace.tb_frame.f_code.co_filename, trace.tb_lineno)
    return problem(ProgramTypeError, *said, location=location).with_traceback(error.__traceback__) if said else None
