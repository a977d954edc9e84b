"""How long threads of OpenMP wait busily for the next parallel loop before they sleep."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

SPINS = "10000"
"""How often a waiting thread of gcc's library looks whether it may go on: for about a tenth of a millisecond."""
CHOSEN = ("GOMP_SPINCOUNT", "OMP_WAIT_POLICY")
"""By what users say how their threads wait."""


@contextmanager
def waiting_briefly() -> Iterator[None]:
    """Where gcc's OpenMP library is loaded in the block, its threads wait briefly, unless the user has chosen.

    By itself it lets them wait busily for some milliseconds, and where another process has one of the cores, the thread
    that all wait for stands still meanwhile (decision 57). It reads the variable once, when it is loaded, so the
    environment is as it was behind the block.
    """
    if any(name in os.environ for name in CHOSEN):
        yield
        return
    os.environ["GOMP_SPINCOUNT"] = SPINS
    try:
        yield
    finally:
        os.environ.pop("GOMP_SPINCOUNT", None)
