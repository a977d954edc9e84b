"""What `Kernel.explain()` gives: of some loops of the source what was done, why, for which sizes, and what to try."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from affdsl.frozen import FrozenValue
from affdsl.ir.location import Location
from affdsl.shown import Text

AS_WRITTEN = "as written"
"""What is said of loops to which nothing was done."""
NO_OTHER = 0.15
"""Times that the model expects to differ by less than this part are about the same."""


class SourceLoop(FrozenValue):
    """A loop as the user wrote it, by the name of its counter and its place."""

    name: str
    location: Location | None = None


class Hint(FrozenValue):
    """Something to write, or to allow, so that a loop can be faster.

    Attributes
    ----------
    kind
        The permission of `Kernel.optimize()` by its name, as "reassociate"; or "select", "type", "edge", "table" or
        "layout" for what is to be written in another way.
    text
        What to do and why, in words.
    gain
        How many times as fast the loop computes then at most, by the model; None where that is not known.
    line
        The line of the source that it is about; None for the loop as a whole.
    """

    kind: str
    text: str
    gain: float | None = None
    line: int | None = None

    def __str__(self) -> str:
        place = f" (line {self.line})" if self.line is not None else ""
        times = f"; up to {self.gain:.2g} times as fast by the model" if self.gain is not None else ""
        return f"{self.text}{place}{times}"


class Note(FrozenValue):
    """What became of some loops of the source.

    Attributes
    ----------
    loops
        The loops, outermost first; none where it is said of the whole kernel.
    done
        What was done; empty where the loops run as they are written.
    why
        What stood in the way of more, or decided.
    sizes
        For which sizes it holds, as "N of 16 and more"; empty for all.
    smaller
        What smaller sizes do, where that is not said elsewhere.
    gain
        How many times as fast as the loops as written the model expects it to be; None where nobody asked.
    more
        Further lines.
    instead
        What to write, or to allow, so that it can be faster.

    >>> loops = (SourceLoop("i", Location("k.py", 7)), SourceLoop("j", Location("k.py", 8)))
    >>> print(Note(loops, "j runs on vectors of 4", sizes="N of 16 and more", smaller="run as written"))
    i, j (k.py:7-8): for N of 16 and more: j runs on vectors of 4; smaller ones run as written
    >>> print(Note(loops[:1], why=("its sum is in order",), instead=(Hint("reassociate", "reassociate=True", 4.0),)))
    i (k.py:7): as written: its sum is in order
        try: reassociate=True; up to 4 times as fast by the model
    """

    loops: tuple[SourceLoop, ...]
    done: str = ""
    why: tuple[str, ...] = ()
    sizes: str = ""
    smaller: str = ""
    gain: float | None = None
    more: tuple[str, ...] = ()
    instead: tuple[Hint, ...] = ()

    def __str__(self) -> str:
        heading, why = self.done or AS_WRITTEN, self.why
        if why and not self.done:
            heading, why = f"{heading}: {why[0]}", why[1:]
        pieces = (self.place, f"for {self.sizes}" if self.sizes else "", heading)
        said = ": ".join(filter(None, pieces)) + (f"; smaller ones {self.smaller}" if self.smaller else "")
        below = (*map("why: {}".format, why), *self.more, *self._expected(), *map("try: {}".format, self.instead))
        return "\n".join([said, *(f"    {line}" for line in below)])

    @property
    def place(self) -> str:
        """The loops by their names, with the lines in which they stand."""
        names = ", ".join(loop.name for loop in self.loops)
        places = [loop.location for loop in self.loops if loop.location is not None]
        if not places:
            return names
        of_last = [each.line for each in places if each.file == places[-1].file]
        first = f"{min(of_last)}-" if min(of_last) < places[-1].line else ""
        before, _, line = str(places[-1]).rpartition(str(places[-1].line))
        return f"{names} ({before}{first}{places[-1].line}{line})"

    def _expected(self) -> Iterator[str]:
        if self.gain is not None:
            times = f"{self.gain:.2g} times" if abs(self.gain - 1) > NO_OTHER else "about"
            yield f"model: {times} as fast as written"


class Explained(Text):
    """The text of `Kernel.explain()`, with its notes as data.

    Attributes
    ----------
    notes
        Of each nest what was done and why, in the order of the text; none where a schedule was written by hand.
    """

    notes: tuple[Note, ...]

    def __new__(cls, text: str, notes: Iterable[Note] = ()) -> Explained:
        made = super().__new__(cls, text)
        made.notes = tuple(notes)
        return made
