"""Modules that are imported when something of them is first asked for."""

from __future__ import annotations

from importlib import import_module


class Later:
    """A module, or a class of it, that nobody waits for who needs nothing of it.

    For type checkers it is what it stands for: its users import that `if TYPE_CHECKING`.

    >>> Later("math").gcd(8, 12), Later("datetime", "date").max.year
    (4, 9999)
    """

    def __init__(self, module: str, *path: str) -> None:
        self._module = module
        self._path = path

    def __getattr__(self, name: str) -> object:
        owner: object = import_module(self._module)
        for part in self._path:
            owner = getattr(owner, part)
        found = self.__dict__[name] = getattr(owner, name)
        return found
