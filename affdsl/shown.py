"""Objects that a notebook shows as they print, and not as Python would write them."""

from __future__ import annotations

from typing import Protocol


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
