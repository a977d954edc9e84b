"""Modules that are imported, and regular expressions that are compiled, when something of them is first asked for."""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING


class Later:
    """A module, or a class of it, that nobody waits for who needs nothing of it.

    For type checkers it is what it stands for: its users import that `if TYPE_CHECKING`.

    >>> Later("math").gcd(8, 12), Later("datetime", "date").max.year
    (4, 9999)
    """

    def __init__(self, module: str, *path: str) -> None:
        self._module = module
        self._path = path

    def _owner(self) -> object:
        owner: object = import_module(self._module)
        for part in self._path:
            owner = getattr(owner, part)
        return owner

    def __getattr__(self, name: str) -> object:
        found = self.__dict__[name] = getattr(self._owner(), name)
        return found


class _Pattern(Later):
    def __init__(self, text: str, flags: int = 0) -> None:
        self._text = text
        self._flags = flags

    def _owner(self) -> object:
        return re.compile(self._text, self._flags)


if TYPE_CHECKING:
    pattern: Callable[..., re.Pattern[str]] = re.compile
else:
    pattern = _Pattern
"""`re.compile`, where few texts need the expression: most are compiled for a tenth of a millisecond."""
