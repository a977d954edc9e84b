"""A line on the terminal that says how far something is that takes more than a second, and that is gone when it ends.

Whoever works says so, and whoever works inside of that may, too; the innermost is what is shown.

>>> with progress("adding", total=3) as bar:
...     for n in range(3):
...         bar.advance()
>>> bar.line(60)
'adding [####################] 3 of 3'
>>> [n * n for n in tracked(range(3), "squaring")]
[0, 1, 4]

It is written to the standard error stream, and only where that is a terminal: not into files, pipes and notebooks.
AFFDSL_PROGRESS=0 switches it off. A thread writes it, so that the seconds count on while one step takes long.
"""

from __future__ import annotations

import os
import shutil
import sys
import threading
import time
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import TextIO, TypeVar

Item = TypeVar("Item")

PATIENCE = 1.0
"""So many seconds something takes before it is shown."""
PERIOD = 0.1
"""So many seconds lie between two looks at it."""
BAR = 20
"""So many characters a bar has."""
CLEAR = "\r\x1b[K"
"""What empties the line of a terminal."""


class Progress:
    """How far something is: written by whoever works, read by the thread that shows it."""

    def __init__(self, what: str, total: int | None = None) -> None:
        self.what = what
        """What is done, as in "validating blur"."""
        self.total = total
        """How many steps there are; None where nobody knows."""
        self.done = 0
        """How many are done."""
        self.detail = ""
        """What is done at the moment."""

    def advance(self, steps: int = 1) -> None:
        """So many steps more are done."""
        self.done += steps

    def at(self, detail: str) -> None:
        """Say what is done at the moment."""
        self.detail = detail

    def line(self, width: int, seconds: float | None = None) -> str:
        """What a line of a terminal shows, in at most `width` characters."""
        parts = [self.what]
        if self.total:
            share = min(self.done / self.total, 1.0)
            parts.append(f"[{'#' * int(share * BAR):<{BAR}}] {self.done} of {self.total}")
        elif self.done:
            parts.append(str(self.done))
        if seconds is not None:
            parts.append(f"{seconds:.0f} s")
        if self.detail:
            parts.append(self.detail)
        text = " ".join(parts)
        return text if len(text) <= width else f"{text[: max(width - 3, 0)]}..."


@contextmanager
def progress(what: str, total: int | None = None, *, stream: TextIO | None = None) -> Iterator[Progress]:
    """Show how far the block is, from a second after it began until it ends, however that is.

    Parameters
    ----------
    what
        What is done, in a few words.
    total
        How many steps there are, if that is known: then there is a bar.
    stream
        Where to: by default the standard error stream. Nothing is written where it is no terminal.
    """
    bar = Progress(what, total)
    stream = sys.stderr if stream is None else stream
    if not _shows(stream) or threading.current_thread() is not threading.main_thread():
        yield bar
        return
    _shown.append(bar)
    try:
        if len(_shown) > 1:
            yield bar
        else:
            with _drawn(stream):
                yield bar
    finally:
        _shown.remove(bar)


def tracked(items: Iterable[Item], what: str, total: int | None = None) -> Iterator[Item]:
    """Each of some items, while it is shown how many there were; `total` is their number if they have no length."""
    if total is None and isinstance(items, Collection):
        total = len(items)
    with progress(what, total) as bar:
        for item in items:
            yield item
            bar.advance()


@contextmanager
def _drawn(stream: TextIO) -> Iterator[None]:
    """A thread that writes what is shown last, and the empty line after it."""
    ended = threading.Event()
    thread = threading.Thread(target=_draw, args=(stream, ended), name="affdsl-progress", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def _draw(stream: TextIO, ended: threading.Event) -> None:
    start, before = time.monotonic(), ""
    if ended.wait(PATIENCE):
        return
    with suppress(OSError, ValueError):  # the terminal may be gone, or the stream closed
        while True:
            bars = _shown[-1:]
            # The last column stays free: some terminals begin a new line when it is written.
            width = shutil.get_terminal_size().columns - 1
            text = bars[0].line(width, time.monotonic() - start) if bars else ""
            if text != before:
                stream.write(f"{CLEAR}{text}")
                stream.flush()
                before = text
            if ended.wait(PERIOD):
                break
        stream.write(CLEAR)
        stream.flush()


def _shows(stream: TextIO) -> bool:
    """Whether a stream is a terminal that can be written to, and nobody wants it empty."""
    if os.environ.get("AFFDSL_PROGRESS", "") == "0" or os.environ.get("TERM", "") == "dumb":
        return False
    try:
        return stream.isatty()
    except (AttributeError, ValueError):  # there is none, as in pythonw, or it is closed
        return False


_shown: list[Progress] = []
