"""Garbage in cycles, which nobody looks for while little is made."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

FIRST = 4
"""How often what was made counts as old: while modules are imported and a kernel is optimized, for two kernels."""
_times = 0


@contextmanager
def uncollected() -> Iterator[None]:
    """Do not look for garbage in cycles meanwhile: an eighth of the time to optimize a kernel went into that.

    What a process makes so at first counts as old afterwards. Else the next collection, which mostly comes at once,
    would go through all of it, for 20 ms after a first kernel. Of what comes later, some may be garbage, and is found.

    >>> with uncollected():
    ...     gc.isenabled()
    False
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            _count_as_old()
            gc.enable()


def _count_as_old() -> None:
    """Let the oldest generation have all that is young, without a look at it, if this is one of the first times."""
    global _times
    if _times < FIRST:
        _times += 1  # in any case: to count what is kept apart takes as long as to go through it
        if gc.get_freeze_count() == 0:  # else what somebody keeps apart would be put back
            gc.freeze()
            gc.unfreeze()
