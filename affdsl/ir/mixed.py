"""Numbers of which some are known and some are values: the sizes, offsets, strides and bases of operations."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

from affdsl.ir.expr import Value

Mixed: TypeAlias = tuple[int | Value, ...]
Static: TypeAlias = tuple[int | None, ...]
"""Known numbers, None where there is a value."""


def mixed(static: Static, values: tuple[Value, ...]) -> Mixed:
    """The known numbers, with the next of values for each None. Raises ValueError if there are not as many.

    >>> mixed((4, 8), ())
    (4, 8)
    """
    if static.count(None) != len(values):
        raise ValueError(f"{static.count(None)} numbers are left open, but {len(values)} values are given")
    rest = iter(values)
    return tuple(next(rest) if number is None else number for number in static)


def unmixed(parts: Iterable[int | Value]) -> tuple[Static, tuple[Value, ...]]:
    """What `mixed` puts together, taken apart again.

    >>> unmixed((4, 8))
    ((4, 8), ())
    """
    both = tuple(parts)
    return tuple(None if isinstance(p, Value) else p for p in both), tuple(p for p in both if isinstance(p, Value))
