"""What the rules of the verifier may ask for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

from affdsl.frozen import FrozenValue, field
from affdsl.ir.core import Op
from affdsl.ir.dialects import func, memref
from affdsl.ir.verifier.positions import Positions


class Context(FrozenValue):
    """Positions of values, and the functions and global buffers of the module, if there is one.

    `runs` says whether the operations are those of a function that may be run: what stands in operations of other
    dialects never is.
    """

    positions: Positions
    functions: dict[str, func.Func] | None
    buffers: dict[str, memref.Global] | None = field(default=None)
    runs: bool = True


Rule: TypeAlias = Callable[[Any, Context], Iterator[str]]
Rules: TypeAlias = dict[type[Op], Rule]
