"""The packages that pages are made with, which are imported where the first page is made."""

from __future__ import annotations

import importlib
from types import ModuleType

from affdsl.errors import ProgramError
from affdsl.lang.source import problem

PACKAGES = ("jinja2", "markupsafe", "matplotlib", "pygments")


def package(name: str) -> ModuleType:
    """A module of one of the packages. Raises ProgramError where it is not installed."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        missing = (error.name or "").partition(".")[0]
        if missing not in PACKAGES:
            raise
        why = f"a report needs {missing}, which is not installed"
        raise problem(ProgramError, why, "pip install 'affdsl[report]'") from None
