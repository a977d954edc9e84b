"""What a pass has to say of operations: remarks, and messages that are more than that."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Literal, TypeAlias

from affdsl.frozen import FrozenValue
from affdsl.ir.core import Op
from affdsl.ir.dialects.func import Module


class Remarks(FrozenValue):
    """Messages of one severity about one operation, in order. Errors among them do not end the run.

    In a message with braces, as {} or {1}, operations of `named` stand there, as they are printed.
    """

    op: Op
    severity: Literal["error", "warning", "remark"]
    messages: tuple[str, ...]
    named: tuple[Op, ...] = ()


Analysis: TypeAlias = Callable[..., Iterator[Remarks]]
"""What a pass says of a module, which may be a part of the second one, with the options of the pass as keywords."""


def unchanged(module: Module) -> Module:
    """The module itself, which is what an analysis makes of it."""
    return module
