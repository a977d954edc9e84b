"""How much each run of the suite tries of what is random, and of products: with AFFDSL_TEST_ALL set, all of it.

`AFFDSL_TEST_ALL=1 make test` is the long run.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")
U = TypeVar("U")

TRIES_ALL = bool(os.environ.get("AFFDSL_TEST_ALL"))


def some(of: Sequence[T], count: int) -> Sequence[T]:
    """The first ones, so many; all of them in the long run."""
    return of if TRIES_ALL else of[:count]


def by_turns(rows: Sequence[T], columns: Sequence[U]) -> list[tuple[T, U]]:
    """Pairs in which each row and each column occurs: the next row meets the next column. All pairs in the long run."""
    if TRIES_ALL:
        return [(row, column) for row in rows for column in columns]
    return [(rows[k % len(rows)], columns[k % len(columns)]) for k in range(max(len(rows), len(columns)))]
