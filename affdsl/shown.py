"""Objects that a notebook shows as they print, or as tables, and not as Python would write them.

What is shown has the colours of the notebook, whether it is light or dark, and code stands in a monospaced face.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from html import escape
from typing import Protocol

CODE = "font-family:var(--jp-code-font-family,ui-monospace,monospace);font-size:90%"
PLAIN = "margin:0 0 .6em 0;padding:0;background:none;border:none;color:inherit"
CELL = "text-align:{align};vertical-align:top;padding:.1em .8em .1em 0;border-bottom:1px solid rgba(128,128,128,.4)"


class Printer(Protocol):
    """What IPython prints with."""

    def text(self, text: str) -> None:
        """Print."""


class ShownAsText:
    """What `str` gives is what a notebook shows."""

    __slots__ = ()

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "_repr_pretty_" not in cls.__dict__:  # IPython takes what a class has itself first, and so a __repr__ of it
            cls._repr_pretty_ = ShownAsText._repr_pretty_  # type: ignore[method-assign]

    def _repr_pretty_(self, printer: Printer, cycle: bool) -> None:
        printer.text(str(self))


class Text(ShownAsText, str):
    """Text that a notebook shows as it is, and not as Python would write it."""

    __slots__ = ()


def preformatted(text: str) -> str:
    """Text as HTML that shows it line by line, in a face whose letters are equally wide; "" for none."""
    return f'<pre style="{PLAIN};{CODE}">{escape(text)}</pre>' if text else ""


def html_table(
    head: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    title: str = "",
    notes: Sequence[str] = (),
    code: Collection[int] = (),
    numbers: Collection[int] = (),
) -> str:
    """A table as HTML.

    Parameters
    ----------
    title, notes
        What stands above it and below it.
    code, numbers
        Which columns are names and lines of programs, and which ones are numbers, that end at the right.

    >>> print(html_table(("loop", "runs"), [("i < j", "5")], numbers=(1,)).count("i &lt; j"))
    1
    """

    def row(cells: Sequence[str], kind: str) -> str:
        made = []
        for k, cell in enumerate(cells):
            style = CELL.format(align="right" if k in numbers else "left")
            face = f";{CODE};white-space:pre" if k in code and kind == "td" else ";white-space:pre-line"
            made.append(f'<{kind} style="{style}{face}">{escape(cell)}</{kind}>')
        return f"<tr>{''.join(made)}</tr>"

    above = f'<div style="{PLAIN}">{escape(title)}</div>' if title else ""
    below = "".join(f'<div style="{PLAIN}">{escape(note)}</div>' for note in notes)
    table = f'<table style="{PLAIN};border-collapse:collapse"><thead>{row(head, "th")}</thead>'
    return f"{above}{table}<tbody>{''.join(row(cells, 'td') for cells in rows)}</tbody></table>{below}"
