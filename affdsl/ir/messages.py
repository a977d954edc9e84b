"""How errors about IR name operations and values."""

from __future__ import annotations

from affdsl.ir.core import Op
from affdsl.ir.expr import Value
from affdsl.ir.spelling import hint


def op_name(op: Op) -> str:
    """The full name of an operation, its kind included: arith.addi."""
    kind: str = getattr(op, "kind", "")
    return f"{op.name}.{kind}" if kind else op.name


def where(op: Op) -> str:
    """Which operation a message is about, and its place in the user's source if that is known."""
    return f"{op.location}: {op_name(op)}" if op.location is not None else op_name(op)


def shown(value: Value) -> str:
    """A value as MLIR writes it."""
    return f"%{hint(value).removeprefix('%')}"
