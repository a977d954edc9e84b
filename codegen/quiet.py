"""Whether the processor did other things meanwhile, in which case what was measured is slower than it would be."""

from __future__ import annotations

import os
from pathlib import Path
from time import monotonic

QUIET = 0.15
"""So many cores others use at most on a machine on which they are not noticed."""
_IDLE = (3, 4)
"""Of the numbers of the first line of /proc/stat, those of a processor that waits."""


class Watch:
    """Begins to look when it is made."""

    def __init__(self) -> None:
        self._begun = _times()

    def others(self) -> float:
        """How many cores other processes used on average since then; 0 where the system does not say."""
        busy, own, now = (after - before for after, before in zip(_times(), self._begun, strict=True))
        return max(busy - own, 0.0) / now if now else 0.0


def _times() -> tuple[float, float, float]:
    """The seconds that all cores have been busy, that this process has run, and of the clock."""
    own = os.times()
    return _busy(), own.user + own.system, monotonic()


def _busy() -> float:
    try:
        _, *ticks = Path("/proc/stat").read_text(encoding="ascii").split("\n", 1)[0].split()[:9]
    except OSError:  # not Linux
        return 0.0
    return sum(int(n) for k, n in enumerate(ticks) if k not in _IDLE) / os.sysconf("SC_CLK_TCK")
