"""Where in the user's source something was written."""

from __future__ import annotations

import os
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Location:
    """A file and a line, counted from 1; column 0 where it is not known.

    `text` is the location as MLIR writes it where that says more than a place: a name, a call site, several places.
    """

    file: str
    line: int
    column: int = 0
    text: str = ""

    def __str__(self) -> str:
        """file:line, relative to the working directory where the file lies inside it."""
        file = self.file
        if os.path.isabs(file):
            relative = os.path.relpath(file)
            file = file if relative.startswith("..") else relative
        return f"{file}:{self.line}"
