"""The folders that affdsl has by a link in a checkout, and what is said where a link was lost."""

from __future__ import annotations

import os
from typing import NoReturn

LINKED = ("passes", "codegen")
"""In a checkout, links to the folders beside affdsl; folders in what is installed."""


def refuse(package: str, name: str) -> NoReturn:
    """Refuse to import a package in which a file stands for a link, as where an archive was unpacked without links.

    Raises
    ------
    ImportError
        With the file, and how to make the link.
    """
    path = os.path.join(package, name)
    raise ImportError(
        f"{path} is a file and must be a link to the folder {os.path.join(os.path.dirname(package), name)}: "
        "this tree was copied or unpacked without its symbolic links. "
        f"Get it with git, tar or unzip, which keep them, or make the link: ln -sf ../{name} {path}",
        path=path,
    )
