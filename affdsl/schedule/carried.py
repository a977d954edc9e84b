"""Which loops carry values that may be in the way of a step, and can be kept in memory before it."""

from __future__ import annotations

from collections.abc import Iterator

from affdsl.ir.dialects import affine, scf
from affdsl.ir.traverse import walk
from affdsl.schedule.history import Entry
from affdsl.schedule.verbs import VERBS, VerbCall


def carrying(call: VerbCall, now: Entry) -> str:
    """The first loop that carries a value and that a step names, or that is inside of one that it names.

    Empty if there is none, or if the verb asks for nothing of what loops carry.
    """
    if not VERBS[call.verb].opens:
        return ""
    asked = set(_texts(call.arguments))
    loops = [op for op in walk(now.function) if isinstance(op, affine.For | scf.For)]
    named = [loop for loop in loops if now.names[loop.iv] in asked]
    inside = [op for loop in named for op in walk(loop) if isinstance(op, affine.For | scf.For)]
    return next((now.names[loop.iv] for loop in (*named, *inside) if loop.results), "")


def _texts(argument: object) -> Iterator[str]:
    if isinstance(argument, str):
        yield argument
    elif isinstance(argument, tuple):
        for each in argument:
            yield from _texts(each)
