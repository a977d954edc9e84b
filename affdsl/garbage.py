"""Garbage in cycles, which nobody looks for while hardly any is made."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def uncollected() -> Iterator[None]:
    """Do not look for garbage in cycles meanwhile: an eighth of the time to optimize a kernel went into that.

    Steps of a schedule, and modules that are imported, leave hardly any.

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
            gc.enable()
