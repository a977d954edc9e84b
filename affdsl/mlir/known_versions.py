"""Which versions of MLIR a text can be made for."""

from typing import Literal, TypeAlias

FIRST, LAST, NEXT = 14, 22, 24
"""The first one, that of today, and the last one, which is not released."""
TRIED = (14, 15, 16, 19, 22)
"""Those whose mlir-opt reads and lowers what is printed; of those between, what is known of when things changed."""
Version: TypeAlias = int | Literal["xdsl"]
"""A version of MLIR, or the implementation of it in Python."""
KNOWN: tuple[Version, ...] = (*range(FIRST, NEXT + 1), "xdsl")
"""All of them."""
