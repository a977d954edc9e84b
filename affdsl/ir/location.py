"""Where in the user's source something was written."""

from __future__ import annotations

import os
import re
import sys

from affdsl.frozen import FrozenValue

_IN_NOTEBOOK = re.compile(r"^<ipython-input-(\d+)-|[/\\]ipykernel_\d+[/\\]\d+\.py$")
"""What IPython calls the text of a cell: that of a terminal, and that of a notebook, a file that does not exist."""


class Location(FrozenValue):
    """A file and a line, counted from 1; column 0 where it is not known.

    `text` is the location as MLIR writes it where that says more than a place: a name, a call site, several places.
    """

    file: str
    line: int
    column: int = 0
    text: str = ""

    def __init__(self, file: str, line: int, column: int = 0, text: str = "") -> None:
        of = self.__dict__  # there are very many, and that is the quickest
        of["file"], of["line"], of["column"], of["text"] = file, line, column, text

    def __str__(self) -> str:
        """file:line, relative to the working directory where the file lies inside it; in a notebook the cell, line."""
        file = self.file
        if _IN_NOTEBOOK.search(file):
            return f"{_cell(file)}, line {self.line}"
        if os.path.isabs(file):
            relative = os.path.relpath(file)
            file = file if relative.startswith("..") else relative
        return f"{file}:{self.line}"

    @property
    def brief(self) -> str:
        """The place without the folder of its file, which says nothing to those who have another one."""
        file = self.file
        return str(self) if _IN_NOTEBOOK.search(file) else f"{os.path.basename(file)}:{self.line}"


def _cell(file: str) -> str:
    """What a person calls a cell: by its number, which IPython knows."""
    found = _IN_NOTEBOOK.search(file)
    number = found[1] if found is not None else None
    if number is None:
        shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
        number = getattr(getattr(shell, "compile", None), "_filename_map", {}).get(file)
    return f"cell {number}" if number is not None else "a cell"
