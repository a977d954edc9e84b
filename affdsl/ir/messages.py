"""How errors name operations and values, and what may have been meant."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches

from affdsl.ir.core import Op
from affdsl.ir.expr import Value
from affdsl.ir.spelling import hint


def op_name(op: Op) -> str:
    """The full name of an operation, its kind included: arith.addi."""
    kind: str = getattr(op, "kind", "")
    return ".".join(part for part in (op.name, kind) if part)


def where(op: Op) -> str:
    """Which operation a message is about, and its place in the user's source if that is known."""
    place = op.location
    if place is None:
        return op_name(op)
    return f"{place}:{place.column}: {op_name(op)}" if place.column else f"{place}: {op_name(op)}"


def shown(value: Value) -> str:
    """A value as MLIR writes it, or in words if it has no name."""
    text = hint(value).removeprefix("%")
    return text if " " in text else f"%{text}"


def nearest(name: str, known: Sequence[str]) -> str:
    """`; did you mean 'x'?` where something known is close to a name, else nothing."""
    close = get_close_matches(name, known, n=1, cutoff=0.6)
    return f"; did you mean '{close[0]}'?" if close else ""
