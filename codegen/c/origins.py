"""For which operation each line of a C file was written."""

from __future__ import annotations

from collections.abc import Iterator

from affdsl.ir.core import Op

_MARK = "\0"  # which no C text has


class Origins:
    """Filled while a file is written: the text of its lines stays what it would be without."""

    def __init__(self) -> None:
        self.lines: dict[int, tuple[Op, ...]] = {}
        """The operation of each line, counted from 1, behind those in whose blocks it stands, the outermost first.

        Nothing for the lines of helpers and of entry points.
        """
        self._ops: list[tuple[Op, ...]] = []

    def marked(self, lines: list[str], ops: tuple[Op, ...]) -> Iterator[str]:
        """Some lines that were written for the last of some operations, with a mark that stays wherever they go."""
        if not ops:
            yield from lines
            return
        self._ops.append(ops)
        yield from (f"{line}{_MARK}{len(self._ops) - 1}" for line in lines)

    def taken(self, text: str) -> str:
        """The text of the whole file, without the marks: it is known now where its lines are."""
        plain: list[str] = []
        for number, line in enumerate(text.split("\n"), 1):
            shown, mark, at = line.partition(_MARK)
            if mark:
                self.lines[number] = self._ops[int(at)]
            plain.append(shown)
        return "\n".join(plain)
