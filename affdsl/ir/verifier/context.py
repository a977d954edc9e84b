"""What the rules of the verifier may ask for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
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


class UnmetError(Exception):
    """What a rule needs does not hold, of which it has told: what else it asks means nothing then."""


def needed(problems: Iterable[str]) -> Iterator[str]:
    """Problems of a rule, which ends with them if there are any. Raises UnmetError."""
    found = [*problems]
    yield from found
    if found:
        raise UnmetError


Rule: TypeAlias = Callable[[Any, Context], Iterator[str]]
Rules: TypeAlias = dict[type[Op], Rule]


def of_types(rule: Callable[[Any], Iterator[str]]) -> Rule:
    """A rule that asks nothing of what is around an operation."""
    return lambda op, context: rule(op)
