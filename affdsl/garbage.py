"""Garbage in cycles, which nobody looks for while hardly any is made."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def uncollected() -> Iterator[None]:
    """Do not look for garbage in cycles meanwhile: an eighth of the time to optimize a kernel went into that.

    Steps of a schedule, and modules that are imported, leave hardly any. What was made meanwhile counts as old then:
    else the next collection, which mostly comes at once, would go through all of it, for 20 ms after one kernel.

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
            if gc.get_freeze_count() == 0:  # nobody keeps anything apart, which this would put back
                gc.freeze()
                gc.unfreeze()
            gc.enable()
