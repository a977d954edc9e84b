"""How many random programs each run of the suite tries: with AFFDSL_TEST_ALL set, all that the tests name.

`AFFDSL_TEST_ALL=1 make test` is the long run.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")

TRIES_ALL = bool(os.environ.get("AFFDSL_TEST_ALL"))


def some(of: Sequence[T], count: int) -> Sequence[T]:
    """The first ones, so many; all of them in the long run."""
    return of if TRIES_ALL else of[:count]
