"""How much each run of the suite tries of what is random, and of products: with AFFDSL_TEST_ALL set, all of it.

`AFFDSL_TEST_ALL=1 make test` is the long run. What else runs in it alone is listed in `long.txt`.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
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


def shares() -> dict[str, int]:
    """The tests of `long.txt`: of the cases of each, every so many-th runs each day; none of them where this is 0."""
    found: dict[str, int] = {}
    for line in Path(__file__).with_name("long.txt").read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            share, name = line.split()
            assert name not in found, f"long.txt names {name} twice"
            found[name] = 0 if share == "none" else int(share.removeprefix("1/"))
    return found


def everyday(names: Sequence[str]) -> list[bool]:
    """Which of these cases of tests, named as pytest names them, each run of the suite has."""
    known, seen = shares(), Counter[str]()
    found = []
    for name in names:
        test, _, _ = name.partition("[")
        share = known.get(test, 1)
        found.append(share > 0 and seen[test] % share == 0)
        seen[test] += 1
    return found
